#!/usr/bin/env python3
"""Does the simulator agree with the kernel's TCP on the same path?

Each cell runs `trunkline measure emu:PATH` (real TCP between two namespaces) and `trunkline measure sim:PATH`
(the simulator) with the same settings, and compares what was delivered over the whole run, slow start included.
Needs root or user namespaces, and a quiet machine.
"""

import argparse
import datetime
import statistics

from common import ROOT, heading, trunkline

PATHS = ["slac-caltech", "oc3-80ms", "lossy-wifi", "shallow-queue", "lan", "anl-lbnl"]
CONTROLS = ["reno", "cubic", "bbr"]
TOLERANCE = 0.10


def goodput(target, control, streams, seconds, seed):
    """Megabits a second over the whole run."""
    document = trunkline("measure", target, "-P", streams, "-C", control, "-t", seconds, "--seed", seed, "--no-history")
    return document["delivered_bytes"] * 8 / document["duration_seconds"] / 1e6


def line(path, control, arguments):
    """One cell of the table, and whether it agrees."""
    def runs(kind, seeds):
        return [
            goodput(f"{kind}:{path}", control, arguments.streams, arguments.seconds, seed)
            for seed in range(1, seeds + 1)
        ]

    kernel, ours = runs("emu", arguments.seeds), runs("sim", arguments.simulated)
    ratio = statistics.mean(ours) / statistics.mean(kernel)
    agrees = abs(ratio - 1) <= TOLERANCE
    spread = [f"{statistics.mean(runs):.4g} ± {statistics.stdev(runs):.2g}" for runs in (kernel, ours)]
    cells = [path, control, *spread, f"{ratio:.3f}", "agrees" if agrees else "differs"]
    return "| " + " | ".join(cells) + " |", agrees


def main():
    """Prints the table and keeps it under bench/results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=3, help="emulated runs of each cell")
    parser.add_argument("--simulated", type=int, default=9, help="simulated runs of each cell")
    parser.add_argument("paths", nargs="*", default=PATHS)
    arguments = parser.parse_args()

    title = heading("Simulated and emulated TCP side by side")
    intro = (
        f"{arguments.streams} streams with automatic windows for {arguments.seconds} s, Mbit/s delivered over the whole run; "
        f"mean ± standard deviation of {arguments.seeds} emulated and {arguments.simulated} simulated runs.\n"
    )
    lines = [title, intro, "| path | congestion | kernel | simulated | ratio | within 10 % |", "|---|---|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    verdicts = []
    for path in arguments.paths:
        for control in CONTROLS:
            text, agrees = line(path, control, arguments)
            verdicts.append(agrees)
            lines.append(text)
            print(text, flush=True)
    lines.append(f"\n{sum(verdicts)} of {len(verdicts)} cells agree.")
    print(lines[-1])
    kept = ROOT / f"bench/results/kernel-{datetime.date.today()}.md"
    kept.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
