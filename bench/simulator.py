#!/usr/bin/env python3
"""What does a simulated data packet cost, in trunkline, in ns-2 and in ns-3?

User CPU time and peak memory of whole processes, one at a time on one core. The programs take turns, so
that what else the machine does meanwhile meets them alike. ns-2 runs without a monitor on its queue and
with only the packet headers that it needs; trunkline with the TCP settings of the scripts for ns-2 and
with its own. ns-3 runs for NS3_SECONDS only; its cost per packet is what can be compared. ns-2 takes about 2 ms of
CPU to make one stream, before any packet is sent; where that matters it has a line of its own, and ns-2
is left out where that alone takes minutes. The group `flows` has more and more streams, each with its share
of 1 Mbit/s and of one packet in the queue: what a packet costs there is set beside what it costs with the
fewest, and the memory beside the number of streams.
"""

import argparse
import dataclasses
import datetime
import statistics
import tempfile

from common import ROOT, heading, spread
from ns2 import build_ns3, ns2_command, ns3_command
from processes import timed
from simulate import AS_NS2, command, data_packets, path_file, per_seed

NS3_SECONDS = 6
NS3 = f"ns-3, {NS3_SECONDS} s"
SET_UP = "ns-2, set-up alone"
MANY_STREAMS = 1000  # from which on it matters
RTT = 0.05
BUFFER_PACKETS = 16 * 2**20 // 1460  # of the hosts' 16 MiB: no window is bounded by them but those of a few fast streams
COLUMNS = ["scenario", "program", "goodput Mbit/s", "data packets", "user CPU s", "ns per data packet", "peak MiB",
           "CPU, ns-2 / this", "per packet, ns-2 / this", "per packet, this / fewest streams", "KiB a stream"]


@dataclasses.dataclass
class Scenario:
    streams: int
    rate: float  # bit/s
    queue_packets: int
    seconds: int
    repeats: int = 5
    ns3: bool = False
    ns2: bool = True

    def __str__(self):
        return f"{self.streams} streams, {self.rate / 1e6:g} Mbit/s, queue {self.queue_packets}, {self.seconds} s"


GROUPS = {
    "main": [Scenario(100, 1e9, 1000, 60, ns3=True), Scenario(10, 100e6, 100, 60, ns3=True)],
    "streams": [Scenario(10, 1e9, 1000, 20), Scenario(100, 1e9, 1000, 20), Scenario(1000, 1e9, 1000, 20),
                Scenario(10000, 1e9, 1000, 20, 3)],
    "scaled": [Scenario(10, 10e6, 50, 600), Scenario(100, 100e6, 100, 60), Scenario(1000, 1e9, 1000, 20),
               Scenario(10000, 10e9, 10000, 10, 3)],
    "flows": [Scenario(10, 10e6, 10, 600), Scenario(1000, 1e9, 1000, 20), Scenario(10000, 10e9, 10000, 10, 3),
              Scenario(100000, 100e9, 100000, 4, 3, ns2=False)],
    "fast": [Scenario(16, 10e9, 10000, 10, 3)],
    "memory": [Scenario(1000, 100e6, 100, 60, ns3=True),
               Scenario(10, 100e6, 100, 10), Scenario(10, 100e6, 100, 100), Scenario(10, 100e6, 100, 1000, 3)],
}


def commands(scenario, folder, ns3):
    """Program -> its command line. Every run has the seed 1."""
    settings = {"streams": scenario.streams, "rate": scenario.rate, "rtt": RTT, "window_packets": BUFFER_PACKETS,
                "queue_packets": scenario.queue_packets, "seed": 1}
    path = path_file(folder, "dumbbell", scenario.rate, RTT, scenario.queue_packets)
    words = [path, scenario.streams, 1, "--duration", f"{scenario.seconds}s", "--warmup", "0s"]
    programs = {}
    if scenario.ns2:
        programs["ns-2"] = ns2_command(settings | {"duration": scenario.seconds, "warmup": 0, "monitor": 0})
    programs["trunkline, as ns-2"] = command(*words, *AS_NS2)
    programs["trunkline"] = command(*words)
    if scenario.ns2 and scenario.streams >= MANY_STREAMS:
        programs[SET_UP] = ns2_command(settings | {"duration": 0.001, "warmup": 0, "monitor": 0})
    if scenario.ns3 and ns3:
        programs[NS3] = ns3_command(ns3, settings | {"duration": NS3_SECONDS})
    return programs


def packets_of(run):
    return int(run.document.get("data_packets_whole_run") or data_packets(run.document))


def goodput_of(run):
    figures = per_seed(run.document)[0] if "runs" in run.document else run.document
    return figures["goodput_mbps"]


def rows(scenario, runs, fewest):
    """One line of the table for each program; `fewest` keeps the costs per packet of a group's first scenario."""
    cpu = {name: statistics.median(run.cpu_seconds for run in several) for name, several in runs.items()}
    packets = {name: packets_of(several[0]) for name, several in runs.items()}
    each = {name: cpu[name] / packets[name] * 1e9 for name in runs}
    for name, several in runs.items():
        sends, whole = name != SET_UP, name not in (SET_UP, NS3)
        peak = max(run.peak_mib for run in several)
        first = fewest.setdefault(name, each[name])
        yield [
            str(scenario), name,
            f"{goodput_of(several[0]):.1f}" if sends else "",
            f"{packets[name]:,}" if sends else "",
            spread([run.cpu_seconds for run in several]),
            f"{each[name]:.0f}" if sends else "",
            f"{peak:.1f}",
            f"{cpu['ns-2'] / cpu[name]:.2f}" if whole and scenario.ns2 else "",
            f"{each['ns-2'] / each[name]:.2f}" if sends and scenario.ns2 else "",
            f"{each[name] / first:.2f}" if whole else "",
            f"{peak * 1024 / scenario.streams:.1f}" if whole else "",
        ]


def side_by_side(scenario, folder, ns3, core, fewest):
    programs = commands(scenario, folder, ns3)
    runs = {name: [] for name in programs}
    for _ in range(scenario.repeats):
        for name, words in programs.items():
            runs[name].append(timed(words, core))
    return list(rows(scenario, runs, fewest))


def line(cells):
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", default=list(GROUPS), help=f"any of {', '.join(GROUPS)}")
    parser.add_argument("--core", type=int, default=0, help="the processor that everything runs on")
    arguments = parser.parse_args()
    lines = [heading("simulators side by side"),
             f"RTT {RTT * 1e3:g} ms, drop-tail queue in packets, SACK, one core; user CPU of whole processes, median "
             "(range) of 5 runs, or 3 of the slow ones; peak memory is the largest of them.", ""]
    with tempfile.TemporaryDirectory() as folder:
        ns3 = build_ns3(folder)
        if ns3 is None:
            lines += ["ns-3 was not there.", ""]
        for group in arguments.groups:
            lines += [f"## {group}", "", line(COLUMNS), "|---" * len(COLUMNS) + "|"]
            fewest = {}
            for scenario in GROUPS[group]:
                measured = side_by_side(scenario, folder, ns3, arguments.core, fewest)
                lines += map(line, measured)
                print("\n".join(map(line, measured)), flush=True)
            lines.append("")
    file = ROOT / "bench" / "results" / f"simulator-{datetime.date.today()}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(lines))
    print(file)


if __name__ == "__main__":
    main()
