#!/usr/bin/env python3
"""Does `trunkline simulate` agree with ns-2, cell by cell?

Both simulators have the same seeds, and so the same start times. ns-2's figures are those that
ns2_reference.py has kept; trunkline runs now. Cells with few streams are chaotic: one loss more or less in slow
start decides the run, and the mean over a few seeds scatters widely. So the standard error of each difference
stands beside it, and a difference beyond the tolerance that is below two of them is called unclear.
"""

import argparse
import dataclasses
import datetime
import math
import statistics
import tempfile

from common import ROOT, heading
from families import FAMILIES, STRIPING, deviation
from processes import timed
from simulate import AS_NS2, command, path_file, per_seed

GOODPUT_TOLERANCE = 0.03
GOODPUT_TOLERANCE_FEW_LOSSES = 0.05
COMPLETION_TOLERANCE = 0.05
DROPS_TOLERANCE = 0.2
FEW_LOSSES = 10  # per run; drops are not compared below
SIGNIFICANT = 2  # standard errors

PRESETS = {0: "dadc-dumbbell", 5: "dadc-dumbbell-cross5", 12: "dadc-dumbbell-cross12"}
COLUMNS = ["quantity", "ns-2", "trunkline", "difference %", "tolerance %", "verdict"]


@dataclasses.dataclass
class Comparison:
    """One quantity of one cell: mean, standard deviation and number of runs on both sides."""

    cell: tuple
    quantity: str
    ns2: tuple
    ours: tuple
    tolerance: float

    def difference(self):
        return self.ours[0] / self.ns2[0] - 1

    def error(self):
        """Standard error of the difference."""
        variances = (deviation**2 / runs for _, deviation, runs in (self.ns2, self.ours))
        return math.sqrt(sum(variances)) / self.ns2[0]

    def verdict(self):
        if abs(self.difference()) <= self.tolerance:
            return "agrees"
        return "differs" if abs(self.difference()) > SIGNIFICANT * self.error() else "unclear"

    def line(self):
        figures = [f"{mean:.5g} ± {deviation:.2g}" for mean, deviation, _ in (self.ns2, self.ours)]
        difference = f"{self.difference() * 100:+.2f} ± {self.error() * 100:.2f}"
        cells = [*self.cell, self.quantity, *figures, difference, f"{self.tolerance * 100:g}", self.verdict()]
        return "| " + " | ".join(map(str, cells)) + " |"


class Simulator:
    """Runs cells in trunkline, each of them once."""

    def __init__(self, seeds, folder):
        self.seeds = seeds
        self.folder = folder
        self.known = {}

    def runs(self, family, cell):
        """One dictionary for each seed."""
        kind = family.name.split("-")[0]
        if (kind, cell) not in self.known:
            words = getattr(self, kind)(**dict(zip(family.keys, cell)))
            self.known[kind, cell] = per_seed(timed(command(*words, *AS_NS2)).document)
        return self.known[kind, cell]

    def balancing(self, cross, streams, buffer_kib):
        return [PRESETS[cross], streams, self.seeds, "-w", f"{buffer_kib}KiB", "-t", "100s", "--warmup", "20s"]

    def striping(self, payload, queue_packets, loss, streams):
        name = f"striping-{payload}-{queue_packets}-{loss}"
        path = path_file(self.folder, name, STRIPING["rate"], STRIPING["rtt"], queue_packets, loss, payload, "256MiB")
        return [path, streams, self.seeds, "-n", f"{STRIPING['transfer'] // 10**6}MB"]


def compared(row):
    """Which quantities of a cell are compared, with their tolerances."""
    losses = row["queue_drops_mean"] + row.get("wire_losses_mean", 0)
    few = losses < FEW_LOSSES
    if "completion_seconds_mean" in row:
        yield "completion_seconds", COMPLETION_TOLERANCE
    else:
        yield "goodput_mbps", GOODPUT_TOLERANCE_FEW_LOSSES if few else GOODPUT_TOLERANCE
        if row["cross"]:
            yield "cross_mbps", GOODPUT_TOLERANCE_FEW_LOSSES if few else GOODPUT_TOLERANCE
    if row["queue_drops_mean"] >= FEW_LOSSES:
        yield "queue_drops", DROPS_TOLERANCE


def comparisons(family, simulator):
    for cell, row in family.stored().items():
        runs = simulator.runs(family, cell)
        for quantity, tolerance in compared(row):
            values = [run[quantity] for run in runs]
            yield Comparison(
                cell, quantity,
                (row[f"{quantity}_mean"], row[f"{quantity}_sd"], row["seeds"]),
                (statistics.mean(values), deviation(values), len(values)),
                tolerance,
            )


def summary(name, found):
    verdicts = [one.verdict() for one in found]
    median = statistics.median(abs(one.difference()) for one in found) * 100
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in ("agrees", "unclear", "differs"))
    cells = len({one.cell for one in found})
    outside = len({one.cell for one in found if one.verdict() == "differs"})
    return (f"{name}: {len(found)} comparisons in {cells} cells: {counts}; the median difference is {median:.2f} %; "
            f"{cells - outside} cells of {cells} have nothing that differs.")


def table(family, found):
    header = "| " + " | ".join([*family.keys, *COLUMNS]) + " |"
    return [header, "|---" * (len(family.keys) + len(COLUMNS)) + "|", *(one.line() for one in found)]


def section(family, found):
    outside = [one for one in found if one.verdict() != "agrees"]
    lines = [f"## {family.name}", ""]
    if outside:
        lines += ["Beyond the tolerance:", "", *table(family, outside), ""]
    return [*lines, "All:", "", *table(family, found), ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [family.name for family in FAMILIES]
    parser.add_argument("families", nargs="*", default=names, help=f"any of {', '.join(names)}")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each cell in trunkline")
    arguments = parser.parse_args()
    top, below = [heading("trunkline simulate against ns-2")], []
    with tempfile.TemporaryDirectory() as folder:
        simulator = Simulator(arguments.seeds, folder)
        for family in FAMILIES:
            if family.name in arguments.families:
                found = list(comparisons(family, simulator))
                top.append(f"- {summary(family.name, found)}")
                below += section(family, found)
                print(top[-1], flush=True)
    note = [
        "", "Mean ± standard deviation over seeds; differences with their standard error. "
        f"Tolerances: goodput {GOODPUT_TOLERANCE * 100:g} %, {GOODPUT_TOLERANCE_FEW_LOSSES * 100:g} % where ns-2 lost fewer than "
        f"{FEW_LOSSES} packets a run; completion {COMPLETION_TOLERANCE * 100:g} %; drops {DROPS_TOLERANCE * 100:g} %, where "
        f"there were {FEW_LOSSES} or more. What is beyond the tolerance by less than {SIGNIFICANT} standard errors of the "
        "difference is unclear: more seeds would tell.", "",
    ]
    file = ROOT / "bench" / "results" / f"agreement-{datetime.date.today()}.md"
    file.write_text("\n".join([*top, *note, *below]))
    print(file)


if __name__ == "__main__":
    main()
