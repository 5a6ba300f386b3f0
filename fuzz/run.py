#!/usr/bin/env python3
"""Builds all fuzz targets, runs each for an equal share of some minutes, and prints what came of it.

Usage: fuzz/run.py MINUTES [TARGET...]. Exit code 1 when something was found.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

FUZZ = pathlib.Path(__file__).resolve().parent
# As cargo-fuzz sets them.
FLAGS = (
    "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
    " -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
    " -Cllvm-args=-sanitizer-coverage-pc-table -Zsanitizer=address"
)
CARGO = [os.environ.get("CARGO", "cargo"), "+nightly"]
# Seconds for one input; the largest input in bytes.
PATIENCE = 20
LENGTH_MAX = 16384


def main():
    minutes, wanted = arguments()
    known = sorted(file.stem for file in (FUZZ / "fuzz_targets").glob("*.rs"))
    strangers = [name for name in wanted if name not in known]
    if strangers:
        sys.exit(f"no target {', '.join(strangers)}; there are {', '.join(known)}")
    programs = build()
    targets = wanted or known
    seconds = max(1, round(minutes * 60 / len(targets)))
    rows = [run(programs, name, seconds) for name in targets]
    print_table(rows)
    sys.exit(1 if any(row[3] for row in rows) else 0)


def arguments():
    try:
        minutes = float(sys.argv[1])
    except (IndexError, ValueError):
        sys.exit("usage: fuzz/run.py MINUTES [TARGET...], such as fuzz/run.py 30")
    if not 0 < minutes <= 100_000:
        sys.exit(f"{minutes} minutes are asked for; more than 0 and at most 100000 are possible")
    return minutes, sys.argv[2:]


def build():
    """Builds all targets with the versions that the workspace has; returns their folder."""
    shutil.copy(FUZZ.parent / "Cargo.lock", FUZZ / "Cargo.lock")
    host = subprocess.run(["rustc", "+nightly", "-vV"], capture_output=True, text=True)
    triple = re.search(r"^host: (.+)$", host.stdout, re.MULTILINE)
    if triple is None:
        sys.exit("fuzzing needs a nightly compiler: `rustup toolchain install nightly`")
    triple = triple.group(1)
    if shutil.which("cargo-fuzz"):
        command, environment = [*CARGO, "fuzz", "build", "--target", triple], {}
    else:
        command = [*CARGO, "build", "--release", "--target", triple]
        environment = {"RUSTFLAGS": FLAGS}
    built = subprocess.run(command, cwd=FUZZ, env={**os.environ, **environment})
    if built.returncode != 0:
        sys.exit("the fuzz targets cannot be built; see above")
    target = os.environ.get("CARGO_TARGET_DIR", FUZZ / "target")
    return pathlib.Path(target) / triple / "release"


def run(programs, name, seconds):
    """Runs one target; returns its name, executions, minutes and findings."""
    corpus, artifacts = FUZZ / "corpus" / name, FUZZ / "artifacts" / name
    corpus.mkdir(parents=True, exist_ok=True)
    artifacts.mkdir(parents=True, exist_ok=True)
    before = set(artifacts.iterdir())
    print(f"{name}: {seconds} s", file=sys.stderr, flush=True)
    command = [
        programs / name,
        corpus,
        *(folder for folder in [FUZZ / "seeds" / name] if folder.is_dir()),
        f"-max_total_time={seconds}",
        f"-max_len={LENGTH_MAX}",
        f"-timeout={PATIENCE}",
        f"-artifact_prefix={artifacts}/",
        "-print_final_stats=1",
    ]
    begun = time.monotonic()
    ended = subprocess.run(command, cwd=FUZZ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    minutes = (time.monotonic() - begun) / 60
    said = ended.stdout.decode(errors="replace")
    found = sorted(str(file.relative_to(FUZZ)) for file in set(artifacts.iterdir()) - before)
    if ended.returncode != 0:
        print(said[-4000:], file=sys.stderr, flush=True)
        found = found or [f"exit code {ended.returncode}"]
    executions = re.findall(r"number_of_executed_units:\s*(\d+)", said)
    return name, int(executions[-1]) if executions else 0, minutes, found


def print_table(rows):
    print("| target | executions | minutes | findings |\n|---|---|---|---|")
    for name, executions, minutes, found in rows:
        print(f"| `{name}` | {executions} | {minutes:.1f} | {', '.join(found) or 'none'} |")


if __name__ == "__main__":
    main()
