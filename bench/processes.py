"""Whole processes: what they print, and the user CPU time and memory they take."""

import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile

# The kernel counts what a process was before it became another program, so the peak of a child of this
# interpreter is never below the interpreter's own. GNU time is small and stands between.
GNU_TIME = pathlib.Path("/usr/bin/time")


@dataclasses.dataclass
class Run:
    """One process that printed a JSON document."""

    document: dict
    cpu_seconds: float
    peak_mib: float


def timed(command, core=None):
    """Runs a program to its end, on one core where that is given."""
    if not GNU_TIME.exists():
        raise SystemExit(f"{GNU_TIME} is not installed: apt-get install time")
    with tempfile.TemporaryDirectory() as folder:
        out, problems, peak = (pathlib.Path(folder) / name for name in ("out", "problems", "peak"))
        pin = [] if core is None else ["taskset", "-c", core]
        words = [str(word) for word in [*pin, GNU_TIME, "-q", "-f", "%M", "-o", peak, *command]]
        with out.open("w") as stdout, problems.open("w") as stderr:
            child = subprocess.Popen(words, stdout=stdout, stderr=stderr)
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"{' '.join(words)} failed:\n{problems.read_text()}")
        return Run(json.loads(out.read_text()), usage.ru_utime, int(peak.read_text()) / 1024)
