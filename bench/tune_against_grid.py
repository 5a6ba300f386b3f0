#!/usr/bin/env python3
"""Does `trunkline tune` land near the best cell of a full grid?

For each path: every cell of streams x windows once, in shuffled order; the tuner RUNS times; then
the grid's best cell and each recommended setting side by side RUNS times more, because the best
of 24 noisy cells is partly luck. Writes a table to bench/results/.

Cells are kept in a file as they are measured; a cell that is there is not measured again, so a grid
can be continued, and used again when only the tuner has changed.
"""

import argparse
import datetime
import itertools
import pathlib
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


class Cells:
    """Measured cells, one line each: `path streams x window: Mbit/s`."""

    def __init__(self, file):
        self.file = file
        lines = file.read_text().splitlines() if file.exists() else []
        self.known = dict(line.rsplit(": ", 1) for line in lines)

    def goodput(self, path, streams, window):
        name = f"{path} {streams} x {window}"
        if name not in self.known:
            measured = goodput(measure(f"emu:{path}", streams, window, PATHS[path]))
            self.known[name] = f"{measured:.1f}"
            with self.file.open("a") as log:
                log.write(f"{name}: {self.known[name]}\n")
        return float(self.known[name])


def study(path, seconds, runs, measured):
    target = f"emu:{path}"
    cells = list(itertools.product(STREAMS, WINDOWS))
    random.Random(1).shuffle(cells)
    grid = {(streams, window): measured.goodput(path, streams, window) for streams, window in cells}
    best = max(grid, key=grid.get)
    tunings = [trunkline("tune", target, "--seed", seed, "--no-history") for seed in range(1, runs + 1)]
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
    parser.add_argument("--cells", type=pathlib.Path,
                        default=ROOT / "bench" / "results" / f"cells-{datetime.date.today()}.txt")
    arguments = parser.parse_args()
    arguments.cells.parent.mkdir(exist_ok=True)
    measured = Cells(arguments.cells)
    summary = ["| path | best cell | again | tuned | again | tuned / best again | reported / best cell | seconds |",
               "|---" * 8 + "|"]
    details = []
    for path in arguments.paths:
        grid, best, tunings, chosen, again = study(path, PATHS[path], arguments.runs, measured)
        ratio = statistics.median(again["tuned"]) / statistics.median(again["best"])
        reported = [t["recommended"]["goodput_bits_per_second"] / 1e6 / grid[best] for t in tunings]
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
