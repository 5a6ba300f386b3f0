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
LATE_MAX = 0.001  # of the packets; beyond it the emulator, and not TCP, decides what a short queue carries
TRIES = 4  # for each run that is wanted


def goodput(target, control, streams, seconds, seed):
    """Megabits a second over the whole run, and the share of late packets."""
    document = trunkline("measure", target, "-P", streams, "-C", control, "-t", seconds, "--seed", seed, "--no-history")
    return document["delivered_bytes"] * 8 / document["duration_seconds"] / 1e6, late(document)


def late(document):
    """The share of packets that an emulated path handed over late."""
    punctuality = document["target"].get("punctuality")
    return punctuality["late"] / max(1, punctuality["packets"]) if punctuality else 0.0


def line(path, control, arguments):
    """One cell of the table, and whether it agrees."""
    def runs(kind, wanted):
        kept, thrown = [], 0
        for seed in range(1, wanted * TRIES + 1):
            value, share = goodput(f"{kind}:{path}", control, arguments.streams, arguments.seconds, seed)
            if share <= LATE_MAX:
                kept.append(value)
            else:
                thrown += 1
            if len(kept) == wanted:
                break
        return kept, thrown

    (kernel, thrown), (ours, _) = runs("emu", arguments.seeds), runs("sim", arguments.simulated)
    if len(kernel) < 2:
        return f"| {path} | {control} | too late | | | {thrown} | not compared |", None
    ratio = statistics.mean(ours) / statistics.mean(kernel)
    agrees = abs(ratio - 1) <= TOLERANCE
    spread = [f"{statistics.mean(runs):.4g} ± {statistics.stdev(runs):.2g}" for runs in (kernel, ours)]
    cells = [path, control, *spread, f"{ratio:.3f}", thrown, "agrees" if agrees else "differs"]
    return "| " + " | ".join(map(str, cells)) + " |", agrees


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
        f"mean ± standard deviation of {arguments.seeds} emulated and {arguments.simulated} simulated runs. "
        f"Runs with more than {LATE_MAX:.1%} of late packets are thrown away and counted.\n"
    )
    lines = [title, intro, "| path | congestion | kernel | simulated | ratio | late runs | within 10 % |", "|---" * 7 + "|"]
    print("\n".join(lines), flush=True)
    verdicts = []
    for path in arguments.paths:
        for control in CONTROLS:
            text, agrees = line(path, control, arguments)
            verdicts += [agrees] if agrees is not None else []
            lines.append(text)
            print(text, flush=True)
    lines.append(f"\n{sum(verdicts)} of {len(verdicts)} cells agree.")
    print(lines[-1])
    kept = ROOT / f"bench/results/kernel-{datetime.date.today()}.md"
    kept.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
