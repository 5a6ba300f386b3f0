#!/usr/bin/env python3
"""Do RED, CoDel and ECN in `trunkline simulate` do what they do in ns-2 and ns-3?

Streams over a dumbbell with a managed queue, the same settings in all three simulators, seed by seed. What
ns-2 and ns-3 said is kept in results/queues-*.csv and not asked again, so this can be stopped and continued;
`--reference` asks them alone, trunkline always runs anew. ns-2.35 has no CoDel. ns-3 takes 20 us a packet, so it
is asked only for cells of up to NS3_PACKETS.
"""

import argparse
import csv
import dataclasses
import datetime
import functools
import itertools
import json
import math
import statistics
import subprocess
import tempfile

from common import ROOT, heading
from ns2 import build_ns3, ns2_command, ns3_command
from simulate import AS_NS2, command, managed_path_file

GOODPUT_TOLERANCE = 0.02
SIGNIFICANT = 2  # standard errors
SECONDS_MIN = 20
CYCLES = 12  # of a stream's window, which a run should see; fewer where packets would be too many
CYCLES_MIN = 10
PACKETS_MAX = 3e6
NS3_PACKETS = 2e5
WARMUP = 0.3  # of the duration
BUFFER_PACKETS = 64 * 2**20 // 1460
FIGURES = ["goodput_mbps", "mean_queue_packets", "drops", "marks", "jain"]
REFERENCES = ["ns2", "ns3"]
# Thresholds and limit in packets, by the rate in Mbit/s; at 100 Mbit/s others as well.
RED = {10: (5, 15, 50), 100: (50, 150, 333), 622: (300, 900, 2000)}
OTHER_RED = [(10, 30, 100), (20, 60, 150), (100, 300, 700)]
# Target and interval.
CODEL = (0.005, 0.1)
OTHER_CODEL = [(0.001, 0.02), (0.005, 0.02), (0.02, 0.2)]


@dataclasses.dataclass(frozen=True)
class Cell:
    family: str
    queue: str  # RED or CoDel
    streams: int
    mbps: int
    rtt_ms: int
    setting: tuple  # of RED min, max and limit; of CoDel target and interval
    ecn: int
    gentle: int = 1
    wait: int = 0
    variant: str = "sack"

    def key(self):
        return "|".join(map(str, dataclasses.astuple(self)[1:]))

    def cycle(self):
        """How long a stream's window takes from one halving to the next, in seconds, roughly."""
        rtt = self.rtt_ms / 1e3
        window = self.mbps * 1e6 * rtt / 12000 / self.streams
        return max(rtt * window, 0.2)

    def duration(self):
        wanted = max(SECONDS_MIN, CYCLES * self.cycle())
        return round(min(wanted, PACKETS_MAX * 12000 / (self.mbps * 1e6)))

    def packets(self):
        return self.duration() * self.mbps * 1e6 / 12000

    def is_long_enough(self):
        return self.duration() >= CYCLES_MIN * self.cycle()

    def references(self):
        """Who is asked."""
        has_ns2 = self.queue == "RED" and self.variant == "sack"
        return (["ns2"] if has_ns2 else []) + (["ns3"] if self.packets() <= NS3_PACKETS else [])

    def queue_settings(self):
        """As bench/ns names them."""
        if self.queue == "CoDel":
            return {"target": self.setting[0], "interval": self.setting[1], "queue_packets": 1000}
        low, high, limit = self.setting
        return {"min": low, "max": high, "queue_packets": limit, "gentle": self.gentle, "wait": self.wait}

    def reference_settings(self, seed):
        return {"streams": self.streams, "rate": self.mbps * 1e6, "rtt": self.rtt_ms / 1e3, "queue": self.queue,
                "window_packets": BUFFER_PACKETS, "ecn": self.ecn, "duration": self.duration(),
                "warmup": WARMUP * self.duration(), "seed": seed} | self.queue_settings()

    def queue_text(self):
        """For a path file."""
        ecn = str(bool(self.ecn)).lower()
        if self.queue == "CoDel":
            target, interval = self.setting
            return (f'kind = "codel", limit = "1000packets", target = "{target * 1e3:g}ms", '
                    f'interval = "{interval * 1e3:g}ms", ecn = {ecn}')
        low, high, limit = self.setting
        gentle, wait = (str(bool(word)).lower() for word in (self.gentle, self.wait))
        return (f'kind = "red", limit = "{limit}packets", min = "{low}packets", max = "{high}packets", '
                f"gentle = {gentle}, wait = {wait}, ecn = {ecn}")


def cells():
    """The centre first; each cell once."""
    all_cells = [
        *(Cell("centre", "RED", 20, 100, 40, RED[100], ecn, 1, wait) for wait in (0, 1) for ecn in (0, 1)),
        *(Cell("centre", "CoDel", 20, 100, 40, CODEL, ecn) for ecn in (0, 1)),
        *(Cell("RED, thresholds", "RED", 20, 100, 40, setting, ecn, gentle)
          for setting in [RED[100], *OTHER_RED] for gentle in (1, 0) for ecn in (0, 1)),
        *(Cell("RED, wait", "RED", streams, 100, rtt, RED[100], ecn, 1, 1)
          for streams in (5, 50) for rtt in (20, 40) for ecn in (0, 1)),
        *(Cell("CoDel, targets", "CoDel", 20, 100, 40, setting, ecn) for setting in OTHER_CODEL for ecn in (0, 1)),
        *(Cell("CUBIC", queue, streams, 100, 40, setting, ecn, variant="cubic")
          for queue, setting in (("RED", RED[100]), ("CoDel", CODEL)) for streams in (5, 20) for ecn in (0, 1)),
        *(Cell("RED, paths", "RED", streams, mbps, rtt, RED[mbps], ecn)
          for mbps in (10, 100, 622) for streams in (1, 5, 20, 50) for rtt in (20, 40, 160) for ecn in (0, 1)),
        *(Cell("CoDel, paths", "CoDel", streams, mbps, rtt, CODEL, ecn)
          for mbps in (10, 100) for streams in (1, 5, 20, 50) for rtt in (20, 40, 160) for ecn in (0, 1)),
    ]
    once = {cell.key(): cell for cell in reversed(all_cells)}
    return [cell for cell in all_cells if once[cell.key()] is cell]


class Answers:
    """What a reference said: one row for each cell and seed."""

    def __init__(self, name):
        self.file = ROOT / "bench" / "results" / f"queues-{name}.csv"
        self.rows = {}
        if self.file.exists():
            for row in csv.DictReader(self.file.open()):
                figures = {name: float(row[name]) for name in FIGURES if row[name]}
                self.rows[row["cell"], int(row["seed"])] = figures

    def of(self, cell):
        return [figures for (key, _), figures in sorted(self.rows.items()) if key == cell.key()]

    def add(self, cell, seed, figures):
        self.rows[cell.key(), seed] = figures
        part = self.file.with_suffix(".part")
        with part.open("w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["cell", "seed", *FIGURES])
            for (key, seed), known in sorted(self.rows.items()):
                table.writerow([key, seed, *(f"{known[name]:.6g}" if name in known else "" for name in FIGURES)])
        part.replace(self.file)


def printed(words):
    run = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))} failed:\n{run.stderr}")
    return json.loads(run.stdout)


def ask_ns2(cell, seed):
    shown = printed(ns2_command(cell.reference_settings(seed) | {"jitter": 0.00012}))
    # The queue does not count its marks.
    return figures_of(shown | {"drops": shown["queue_drops"]}, cell)


def ask_ns3(program, cell, seed):
    variant = "cubic" if cell.variant == "cubic" else "newreno"
    shown = printed(ns3_command(program, cell.reference_settings(seed) | {"variant": variant}))
    return figures_of(shown | {"drops": shown["queue_drops"]}, cell)


def figures_of(shown, cell):
    """Drops and marks a second."""
    counted = cell.duration() * (1 - WARMUP)
    return {name: shown[name] / (counted if name in ("drops", "marks") else 1) for name in FIGURES if name in shown}


def ask(references, programs, seeds):
    """The cheapest cells first."""
    for seed, cell in itertools.product(range(1, seeds + 1), sorted(cells(), key=Cell.packets)):
        for name in cell.references():
            if name in programs and (cell.key(), seed) not in references[name].rows and cell.is_long_enough():
                references[name].add(cell, seed, programs[name](cell, seed))


def trunkline(cell, seeds, folder):
    path = managed_path_file(folder, "path", cell.mbps * 1e6, cell.rtt_ms / 1e3, cell.queue_text())
    duration = cell.duration()
    words = command(path, cell.streams, seeds, *AS_NS2, *(["--ecn"] if cell.ecn else []), "--no-history",
                    "-t", f"{duration}s", "--warmup", f"{WARMUP * duration:g}s", variant=cell.variant)
    runs = printed(words)["runs"]
    return [figures_of({"goodput_mbps": run["goodput_bits_per_second"] / 1e6, "drops": run["drops"],
                        "mean_queue_packets": run["queue"]["mean_packets"], **run}, cell) for run in runs]


@dataclasses.dataclass
class Mean:
    value: float
    deviation: float | None  # of one run; unknown from a single one
    runs: int

    @staticmethod
    def of(runs, name):
        values = [run[name] for run in runs if name in run]
        several = statistics.stdev(values) if len(values) > 1 else None
        return Mean(statistics.mean(values), several, len(values)) if values else None

    def error(self, otherwise=None):
        """Standard error of the mean, with the deviation of a like simulator where there is a single run."""
        spread = self.deviation if self.deviation is not None else otherwise
        return None if spread is None else spread / math.sqrt(self.runs)

    def __str__(self):
        error = self.error()
        return f"{self.value:.4g}" + ("" if error is None else f" ± {error:.2g}")


def difference(ours, theirs):
    """Relative, with its standard error, and a verdict."""
    if ours is None or theirs is None:
        return None
    part = ours.value / theirs.value - 1
    errors = ours.error(theirs.deviation), theirs.error(ours.deviation)
    if None in errors:
        return part, None, "agrees" if abs(part) <= GOODPUT_TOLERANCE else "unclear"
    error = math.hypot(*errors) / theirs.value
    if abs(part) <= GOODPUT_TOLERANCE:
        verdict = "agrees"
    else:
        verdict = "differs" if abs(part) > GOODPUT_TOLERANCE + SIGNIFICANT * error else "unclear"
    return part, error, verdict


def line(words):
    return "| " + " | ".join(map(str, words)) + " |"


PAIRS = [("trunkline", "ns2"), ("trunkline", "ns3"), ("ns3", "ns2")]
COLUMNS = ["queue", "streams", "Mbit/s", "RTT ms", "setting", "ECN", "gentle", "wait", "figure", "ns-2", "ns-3", "trunkline",
           *(f"{a} / {b} % ± SE" for a, b in PAIRS)]


def cell_words(cell):
    red = cell.queue == "RED"
    setting = "/".join(map(str, cell.setting if red else (f"{part * 1e3:g}ms" for part in cell.setting)))
    marks = ("ecn", "gentle", "wait") if red else ("ecn",)
    words = ["yes" if getattr(cell, name) else "no" for name in marks] + ["" for _ in range(3 - len(marks))]
    return [cell.queue, cell.streams, cell.mbps, cell.rtt_ms, setting, *words]


def lines_of(cell, runs):
    for name in FIGURES:
        means = {who: Mean.of(shown, name) for who, shown in runs.items()}
        if all(mean is None or mean.value == 0 for mean in means.values()):
            continue
        compared = []
        for a, b in PAIRS:
            found = difference(means.get(a), means.get(b)) if name == "goodput_mbps" else None
            compared.append("" if found is None else verdict_words(*found))
        yield line([*cell_words(cell), name, *(means.get(who) or "" for who in ("ns2", "ns3", "trunkline")), *compared])


def verdict_words(part, error, verdict):
    return f"{part * 100:+.2f} " + ("" if error is None else f"± {error * 100:.2f} ") + verdict


def summary(name, found):
    for a, b in PAIRS:
        pairs = [difference(Mean.of(runs.get(a, []), "goodput_mbps"), Mean.of(runs.get(b, []), "goodput_mbps"))
                 for runs in found.values()]
        pairs = [pair for pair in pairs if pair]
        if pairs:
            counts = [sum(pair[2] == verdict for pair in pairs) for verdict in ("agrees", "unclear", "differs")]
            sizes = [abs(pair[0]) * 100 for pair in pairs]
            yield line([name, f"{a} / {b}", len(pairs), *counts, f"{statistics.median(sizes):.2f}", f"{max(sizes):.2f}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--reference", choices=REFERENCES, nargs="*", help="ask these, if need be, and stop")
    parser.add_argument("--kept", action="store_true", help="ask neither ns-2 nor ns-3, compare with what they said")
    arguments = parser.parse_args()
    references = {name: Answers(name) for name in REFERENCES}
    with tempfile.TemporaryDirectory() as folder:
        wanted = [] if arguments.kept else REFERENCES if arguments.reference is None else arguments.reference
        programs = {"ns2": ask_ns2} if "ns2" in wanted else {}
        ns3 = build_ns3(folder) if "ns3" in wanted else None
        if ns3:
            programs["ns3"] = functools.partial(ask_ns3, ns3)
        ask(references, programs, arguments.seeds)
        if arguments.reference is None:
            compare(references, arguments.seeds, folder)


def compare(references, seeds, folder):
    families, skipped = {}, []
    for cell in cells():
        if not cell.is_long_enough():
            skipped.append(cell)
            continue
        runs = {name: references[name].of(cell) for name in REFERENCES} | {"trunkline": trunkline(cell, seeds, folder)}
        families.setdefault(cell.family, {})[cell] = {who: shown for who, shown in runs.items() if shown}
    head = ["family", "pair", "cells", "agrees", "unclear", "differs", "median difference %", "largest %"]
    lines = [heading("RED, CoDel and ECN in trunkline simulate, ns-2 and ns-3"), line(head), "|---" * len(head) + "|"]
    for name, found in families.items():
        lines += summary(name, found)
    everything = {cell: runs for found in families.values() for cell, runs in found.items()}
    lines += summary("all", everything)
    lines += ["", f"Goodput agrees within {GOODPUT_TOLERANCE * 100:g} %; beyond that by less than {SIGNIFICANT} standard errors "
              "of the difference it is unclear. Mean over the seeds ± standard error of the mean, without where there was a "
              "single run; a difference then takes the other side's deviation. Drops and marks are a "
              f"second, queues in packets without the one being sent. {seeds} seeds of trunkline; the references have as "
              "many as their tables hold. SACK with delayed acknowledgements (CUBIC in its family), "
              f"{WARMUP * 100:g} % of each run is warm-up. A run lasts {SECONDS_MIN} s or {CYCLES} cycles of a "
              f"stream's window. Left out, as {PACKETS_MAX:g} packets are less than {CYCLES_MIN} cycles: "
              + "; ".join(f"{cell.queue}, {cell.streams} x, {cell.mbps} Mbit/s, {cell.rtt_ms} ms"
                          for cell in skipped if not cell.ecn) + "."]
    for name, found in families.items():
        lines += ["", f"## {name}", "", line(COLUMNS), "|---" * len(COLUMNS) + "|"]
        for cell, runs in found.items():
            lines += lines_of(cell, runs)
    file = ROOT / "bench" / "results" / f"queues-{datetime.date.today()}.md"
    file.write_text("\n".join([*lines, ""]))
    print(file)


if __name__ == "__main__":
    main()
