#!/usr/bin/env python3
"""Does `trunkline tune` land near the best cell of a full grid?

For each path: every cell of streams x windows once, in shuffled order; the tuner RUNS times; then
the grid's best cell and each recommended setting side by side RUNS times more, because the best
of 24 noisy cells is partly luck. Writes a table to bench/results/.
"""

import argparse
import datetime
import itertools
import random
import statistics
import sys

from common import ROOT, goodput, heading, measure, spread, trunkline

PATHS = {  # path: seconds per cell, at least 60 round trips
    "slac-cern": 12,
    "slac-caltech": 5,
    "oc3-80ms": 6,
    "capped-buffers": 7,
    "lan": 4,
}
STREAMS = [1, 2, 4, 8, 16, 32]
WINDOWS = ["auto", "64k", "256k", "1M"]


def study(path, seconds, runs):
    target = f"emu:{path}"
    cells = list(itertools.product(STREAMS, WINDOWS))
    random.Random(1).shuffle(cells)
    grid = {}
    for streams, window in cells:
        grid[streams, window] = goodput(measure(target, streams, window, seconds))
        print(f"{path} {streams} x {window}: {grid[streams, window]:.1f}", file=sys.stderr)
    best = max(grid, key=grid.get)
    tunings = [trunkline("tune", target, "--seed", seed) for seed in range(1, runs + 1)]
    chosen = [(t["recommended"]["streams"], t["recommended"]["window"]) for t in tunings]
    again = {"best": [], "tuned": []}
    for (streams, window), seed in zip(chosen, range(1, runs + 1)):
        again["best"].append(goodput(measure(target, *best, seconds, "--seed", seed)))
        again["tuned"].append(goodput(measure(target, streams, window, seconds, "--seed", seed)))
    return grid, best, tunings, chosen, again


def table(grid):
    lines = ["| streams | " + " | ".join(WINDOWS) + " |", "|---" * (len(WINDOWS) + 1) + "|"]
    for streams in STREAMS:
        row = " | ".join(f"{grid[streams, window]:.1f}" for window in WINDOWS)
        lines.append(f"| {streams} | {row} |")
    return "\n".join(lines)


def setting(streams, window):
    size = window if window == "auto" else f"{window // 1024} KiB"
    return f"{streams} x {size}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", default=list(PATHS))
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    summary = ["| path | best cell | again | tuned | again | tuned / best again | reported / best cell | seconds |",
               "|---" * 8 + "|"]
    details = []
    for path in arguments.paths:
        grid, best, tunings, chosen, again = study(path, PATHS[path], arguments.runs)
        ratio = statistics.median(again["tuned"]) / statistics.median(again["best"])
        reported = [t["recommended"]["throughput_bits_per_second"] / 1e6 / grid[best] for t in tunings]
        seconds = [t["cost"]["seconds"] for t in tunings]
        row = [
            path,
            f"{best[0]} x {best[1]}: {grid[best]:.1f}",
            spread(again["best"]),
            "; ".join(setting(*one) for one in chosen),
            spread(again["tuned"]),
            f"{ratio:.3f}",
            spread(reported),
            spread(seconds),
        ]
        summary.append("| " + " | ".join(row) + " |")
        details.append(f"## {path}\n\n{PATHS[path]} s per cell, Mbit/s\n\n{table(grid)}\n")
        print(summary[-1], file=sys.stderr)
    text = "\n".join([heading("tune against the full grid"), "Goodput in Mbit/s; median (range).", "",
                      *summary, "", *details])
    file = ROOT / "bench" / "results" / f"tune_against_grid-{datetime.date.today()}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
