"""What a call costs beside the program: the same prediction and the same simulation, in turn.

Prints a table in Markdown. Also the time of the import, by itself.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import trunkline as tl

ROUNDS = 30
PAIRS = {
    "predict slac-cern": (
        lambda: tl.predict("slac-cern").to_json(),
        ["predict", "slac-cern", "--json"],
    ),
    "simulate slac-cern, 8 streams": (
        lambda: tl.simulate("slac-cern", streams=8, cache=False, history=False).to_json(),
        ["simulate", "slac-cern", "-P", "8", "--no-cache", "--no-history", "--json"],
    ),
}


def timed(work) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1e3


def shown(times: list[float]) -> str:
    low, middle, high = statistics.quantiles(times, n=4)
    return f"{middle:.1f} ({low:.1f} to {high:.1f})"


def imported(what: str) -> float:
    script = f"import time; b = time.perf_counter(); import {what}; print(time.perf_counter() - b)"
    run = [sys.executable, "-c", script]
    return float(subprocess.run(run, capture_output=True, text=True, check=True).stdout) * 1e3


def main() -> None:
    program = tl.program()
    print("| what | call, ms (quartiles) | program, ms (quartiles) |\n|---|---|---|")
    for name, (call, words) in PAIRS.items():
        calls, programs = [], []
        for _ in range(ROUNDS):
            calls.append(timed(call))
            run = [program, *words]
            programs.append(timed(lambda: subprocess.run(run, capture_output=True, check=True)))
        print(f"| {name} | {shown(calls)} | {shown(programs)} |")
    print("\n| import of | ms (quartiles) |\n|---|---|")
    for what in ("trunkline", "json", "pandas", "polars"):
        print(f"| {what} | {shown([imported(what) for _ in range(10)])} |")


if __name__ == "__main__":
    main()
