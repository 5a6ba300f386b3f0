#!/usr/bin/env python3
"""How close do capacity and available bandwidth of `trunkline path` come on emulated paths, and what do they cost?

One link of 10, 100 and 600 Mbit/s with Poisson load of 0, 30 and 70 % of it: the truth is in the path file. The range
contains it or not, and is so wide; its width is given as a share of the capacity and of its own middle. Runs of
the cells come in turns, so that a machine that is busy for a while spoils one run of each rather than all of one.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from common import TRUNKLINE, heading

PATH = """
[forward]
rate  = "{rate}Mbit/s"
delay = "5ms"
queue = {{ kind = "drop-tail", limit = "{queue}kB" }}
{load}
"""
LOAD = 'load = {{ rate = "{mbits}Mbit/s", arrivals = "poisson", packets = "{packets}" }}'
QUEUE_SECONDS = 0.1
CAPACITY_WITHIN = 0.05
WIDTH_MAX = 0.15
COLUMNS = [
    "Mbit/s", "load %", "runs", "capacity error %: median (worst)", "within 5 %", "doubted", "contains", "at most 15 % wide",
    "range Mbit/s: median low to high", "width / capacity %", "width / middle %", "unmeasurable", "chirps / truth", "MB",
    "trains", "s",
]


@dataclasses.dataclass(frozen=True)
class Cell:
    rate: int
    load: int

    def truth(self):
        return self.rate * (1 - self.load / 100)

    def path(self, packets):
        load = LOAD.format(mbits=f"{self.rate * self.load / 100:g}", packets=packets) if self.load else ""
        return PATH.format(rate=self.rate, queue=round(self.rate * 1000 / 8 * QUEUE_SECONDS), load=load)


@dataclasses.dataclass
class Run:
    """One run, in Mbit/s, megabytes and seconds; what was not told is None."""

    capacity: float = None
    doubt: str = None
    low: float = None
    high: float = None
    why: str = None
    chirps: float = None
    megabytes: float = 0.0
    trains: int = 0
    seconds: float = 0.0

    def width(self):
        return self.high - self.low

    def contains(self, truth):
        return self.low <= truth <= self.high


def run(program, file):
    command = [program, "path", f"emu:{file}", "--no-load", "--ways", "forward", "--json", "--no-history"]
    begun = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return Run(why=done.stderr.strip().splitlines()[0], seconds=time.monotonic() - begun)
    document = json.loads(done.stdout)
    found = Run()
    found.seconds = sum(
        part.get("elapsed_seconds", 0) for part in document["costs"] if part["part"].split()[0] in ("capacity", "available")
    )
    for capacity in document.get("capacities", []):
        found.capacity = capacity["bits_per_second"] / 1e6
        found.doubt = capacity.get("doubt")
        found.megabytes += capacity["sent_bytes"] / 1e6
        found.trains += capacity["trains"]
    for left in document.get("left_out", []):
        if left["part"].split()[0] in ("capacity", "available"):
            found.why = left["why"]
    for available in document.get("available", []):
        found.low, found.high = (available.get(f"{end}_bits_per_second") for end in ("low", "high"))
        if found.low is not None:
            found.low, found.high = found.low / 1e6, found.high / 1e6
        found.why = available.get("unmeasurable_because")
        if "chirps" in available:
            found.chirps = available["chirps"]["bits_per_second"] / 1e6
        found.megabytes += available["sent_bytes"] / 1e6
        found.trains += available["trains"]
    return found


def median(values, digits=1):
    values = [value for value in values if value is not None]
    return f"{statistics.median(values):.{digits}f}" if values else "-"


def line(cell, runs):
    known = [run for run in runs if run.capacity]
    errors = [(run.capacity / cell.rate - 1) * 100 for run in known]
    ranges = [run for run in runs if run.low is not None]
    truth = cell.truth()
    worst = f"{max(errors, key=abs):+.1f}" if errors else "-"
    return [
        cell.rate, cell.load, len(runs), f"{median(errors)} ({worst})",
        f"{sum(abs(error) <= CAPACITY_WITHIN * 100 for error in errors)}/{len(runs)}",
        sum(run.doubt is not None for run in known),
        f"{sum(run.contains(truth) for run in ranges)}/{len(ranges)}",
        f"{sum(run.width() <= WIDTH_MAX * cell.rate for run in ranges)}/{len(ranges)}",
        f"{median([run.low for run in ranges])} to {median([run.high for run in ranges])}",
        median([run.width() / cell.rate * 100 for run in ranges]),
        median([run.width() / (run.high + run.low) * 200 for run in ranges]),
        len(runs) - len(ranges), median([run.chirps and run.chirps / truth for run in runs], 2),
        median([run.megabytes for run in runs]), median([run.trains for run in runs], 0),
        median([run.seconds for run in runs]),
    ]


def table(rows):
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--rates", type=int, nargs="+", default=[10, 100, 600], help="Mbit/s")
    parser.add_argument("--loads", type=int, nargs="+", default=[0, 30, 70], help="percent of the rate")
    parser.add_argument("--packets", default="1500B", help="sizes of the load's packets, as in a path file")
    parser.add_argument("--program", default=str(TRUNKLINE))
    parser.add_argument("--raw", type=pathlib.Path, help="keep every run in this file, one JSON object a line")
    options = parser.parse_args()
    cells = [Cell(rate, load) for rate in options.rates for load in options.loads]
    runs = {cell: [] for cell in cells}
    print(heading("Capacity and available bandwidth of emulated paths"))
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.runs):
            for cell in cells:
                file = pathlib.Path(folder) / f"link-{cell.rate}-{cell.load}.toml"
                file.write_text(cell.path(options.packets))
                found = run(options.program, file)
                runs[cell].append(found)
                if options.raw:
                    kept = {**dataclasses.asdict(cell), "run": number, "load_average": os.getloadavg()[0]}
                    with options.raw.open("a") as raw:
                        print(json.dumps({**kept, **dataclasses.asdict(found)}), file=raw)
    print(table([COLUMNS, *(line(cell, runs[cell]) for cell in cells)]))
    reasons = sorted({run.why or run.doubt for each in runs.values() for run in each if run.why or run.doubt})
    if reasons:
        print("\nReasons given where there was no range, or the capacity was doubted:\n")
        print("\n".join(f"- {reason}" for reason in reasons))


if __name__ == "__main__":
    main()
