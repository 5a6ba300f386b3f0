"""What the benchmark scripts share: running the program, and saying where and when."""

import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRUNKLINE = pathlib.Path(os.environ.get("TRUNKLINE", ROOT / "target" / "release" / "trunkline"))


def trunkline(*arguments):
    """Runs the program with --json and gives the document."""
    command = [str(TRUNKLINE), *map(str, arguments), "--json"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{run.stderr}")
    return json.loads(run.stdout)


def measure(target, streams, window, seconds, *more):
    return trunkline("measure", target, "-P", streams, "-w", window, "-t", seconds, "--no-history", *more)


def goodput(document):
    """Mbit/s."""
    return document["goodput_bits_per_second"] / 1e6


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def commit():
    run = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return run.stdout.strip() or "unknown"


def heading(title):
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    return "\n".join([
        f"# {title}",
        "",
        f"{datetime.date.today()}, commit {commit()}, Linux {platform.release()}, "
        f"{os.cpu_count()} x {processor()}, load average at the start {load}.",
        "",
    ])


def spread(values):
    """Median and range."""
    return f"{statistics.median(values):.4g} ({min(values):.4g} to {max(values):.4g})"
