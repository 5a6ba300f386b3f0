"""Runs the Rust tests, several programs side by side: `make test`.

`cargo test` runs one test program after the other, and most of them wait for clocks and networks.
Each line has the time of a program; what it printed follows where a test failed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CARGO = os.environ.get("CARGO", "cargo")
LANES = 2
# A program that has not ended by then hangs, in seconds; the longest takes two minutes alone.
HANGS = 1200
# Those that take longest begin first, so that none of them is alone at the end.
LONGEST = (
    "copy trunkline_watch tune browser path history limits sweep inference http sentences words "
    "watch loopback connections watch_plan flaws emulated growing both changes models life"
).split()
# Those whose tests only wait, for other processes and for clocks: eight tests at once.
WAITING = ("cli copy", "cli watch")
# Crates whose tests mostly wait: a lane of their own, beside those that compute.
ASIDE = "copy_net endpoints quic_net remote_files transfer watch_alerts watch_run".split()


@cache
def libraries() -> str:
    """Where the standard library is for what is linked while compiling."""
    rustc = os.environ.get("RUSTC", "rustc")
    return subprocess.check_output([rustc, "--print", "target-libdir"], text=True).strip()


@dataclass
class Job:
    """One program, or the examples of all documentation."""

    name: str
    command: list[str]
    folder: Path

    def waits(self) -> bool:
        return self.name in WAITING or self.name.split()[0] in ASIDE

    def rank(self) -> int:
        word = self.name.split()[-1]
        return LONGEST.index(word) if word in LONGEST else len(LONGEST)

    def run(self) -> tuple[Job, int, float, str]:
        began = time.monotonic()
        environment = dict(os.environ)
        # As cargo sets them: what tests ask for at run time, and where tests of macros find the
        # compiler's libraries. Not for cargo itself: for `ring` another folder is a new build, and
        # so for all that needs it. The job server of make is not handed on.
        if self.command[0] != CARGO:
            environment["CARGO_MANIFEST_DIR"] = str(self.folder)
            environment["LD_LIBRARY_PATH"] = libraries()
        if self.name in WAITING:
            environment["RUST_TEST_THREADS"] = "8"
        for name in ("MAKEFLAGS", "MFLAGS"):
            environment.pop(name, None)
        with tempfile.TemporaryFile() as output:
            files = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
            try:
                done = subprocess.run(
                    self.command, cwd=self.folder, env=environment, timeout=HANGS, **files
                )
                code, end = done.returncode, ""
            except subprocess.TimeoutExpired:
                code, end = 1, f"\nit did not end within {HANGS} s\n"
            output.seek(0)
            told = output.read().decode(errors="replace") + end
        return self, code, time.monotonic() - began, told


def programs() -> list[Job]:
    """The test programs of the workspace, built where they are not."""
    build = [CARGO, "test", "--workspace", "--locked", "--no-run"]
    build += ["--message-format", "json-render-diagnostics"]
    built = subprocess.run(build, stdout=subprocess.PIPE, text=True, check=True)
    jobs = []
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message["profile"]["test"]:
            folder = Path(message["manifest_path"]).parent
            name = f"{folder.name} {message['target']['name']}"
            if message["executable"]:
                jobs.append(Job(name, [message["executable"]], folder))
    return jobs


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    jobs = sorted(programs(), key=Job.rank)
    examples = [CARGO, "test", "--workspace", "--locked", "--no-fail-fast", "--doc"]
    jobs.insert(len(LONGEST), Job("examples of the documentation", examples, root))
    failed = []
    with ThreadPoolExecutor(LANES) as pool, ThreadPoolExecutor(1) as aside:
        runs = [(aside if job.waits() else pool).submit(job.run) for job in jobs]
        for done in as_completed(runs):
            job, code, seconds, output = done.result()
            print(f"{seconds:7.1f} s  {'ok    ' if code == 0 else 'FAILED'}  {job.name}", flush=True)
            if code != 0:
                failed.append(job.name)
                print(output, flush=True)
    if failed:
        print(f"{len(failed)} of {len(jobs)} test programs failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
