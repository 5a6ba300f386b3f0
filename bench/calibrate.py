#!/usr/bin/env python3
"""Do slac-cern and slac-caltech reproduce the two settings that SLAC published in 2000-2001?

Each setting SEEDS times for SECONDS; the median is compared, as the publication gives medians.
"""

import argparse
import datetime
import statistics

from common import ROOT, goodput, heading, measure, spread

PUBLISHED = {  # path: {(streams, window): Mbit/s}
    "slac-cern": {(2, "256k"): 9.45, (8, "64k"): 26.8},
    "slac-caltech": {(2, "256k"): 46.5, (8, "64k"): 63.5},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=20)
    arguments = parser.parse_args()
    lines = [heading("calibration of slac-cern and slac-caltech"),
             f"{arguments.seeds} seeds of {arguments.seconds} s each; Mbit/s, median (range).", "",
             "| path | setting | published | here | ratio | loaded RTT ms |", "|---" * 6 + "|"]
    for path, rows in PUBLISHED.items():
        for (streams, window), published in rows.items():
            seeds = range(1, arguments.seeds + 1)
            runs = [measure(f"emu:{path}", streams, window, arguments.seconds, "--seed", seed) for seed in seeds]
            rates = [goodput(run) for run in runs]
            rtts = [run["rtt"]["loaded"]["mean_seconds"] * 1e3 for run in runs]
            ratio = statistics.median(rates) / published
            lines.append(f"| {path} | {streams} x {window} | {published} | {spread(rates)} | {ratio:.3f} | {spread(rtts)} |")
            print(lines[-1])
    file = ROOT / "bench" / "results" / f"calibrate-{datetime.date.today()}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
