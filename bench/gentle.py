#!/usr/bin/env python3
"""Does `trunkline copy --gentle` give way: what does a default flow beside it keep, and what does it take of an idle path?

Each repetition has a path of its own. On it a CUBIC flow of iperf3 runs alone; then a gentle copy runs, alone for a while, beside the same
flow, and alone again. `--repetitions`, `--seconds` and names of paths as arguments; writes bench/results/gentle-DATE.md.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

from common import ROOT, TRUNKLINE, heading, spread

DEEP = """# A home uplink's buffer at 100 Mbit/s: more than four round trips wait.
[forward]
rate = "100Mbit/s"
delay = "20ms"
queue = { kind = "drop-tail", limit = "2MiB" }
[hosts]
congestion = "cubic"
"""
PATHS = ["slac-cern", "oc3-80ms", "lan", "shallow-queue", "deep-queue"]
PAYLOAD = 1448 / 1500
SETTLING = 8  # seconds of the copy's own start that are not counted
UNITS = {"Gbit/s": 1000, "Mbit/s": 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", default=PATHS)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=30, help="of the default flow")
    parser.add_argument("--idle", type=int, default=25, help="of the copy alone, before and after")
    parser.add_argument("--copy-args", default="", help="more for `trunkline copy`")
    parser.add_argument("--output", default=ROOT / "bench" / "results" / f"gentle-{datetime.date.today()}.md")
    parser.add_argument("--inside", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        return inside(arguments)
    rows = []
    for path in arguments.paths:
        runs = [run(path, seed, arguments) for seed in range(1, arguments.repetitions + 1)]
        rows.append(row(path, runs))
        print(rows[-1], file=sys.stderr)
    text = page(rows, arguments)
    print(text)
    pathlib.Path(arguments.output).write_text(text)


def file_of(path, folder):
    if path != "deep-queue":
        return path, ROOT / "paths" / f"{path}.toml"
    file = folder / "deep-queue.toml"
    file.write_text(DEEP)
    return file, file


def run(path, seed, arguments):
    """One repetition: what the near side saw."""
    # In memory: no disk is to hold a copy back.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = pathlib.Path(name)
        emulated, file = file_of(path, folder)
        tokens, root = folder / "tokens", folder / "root"
        root.mkdir()
        made = subprocess.run([TRUNKLINE, "serve", "--tokens", tokens, "--new-token", "bench"], capture_output=True, text=True, check=True)
        (folder / "token").write_text(made.stdout.strip().splitlines()[-1] + "\n")
        (folder / "token").chmod(0o600)
        with open(folder / "source", "wb") as source:
            # More than the link can carry meanwhile.
            seconds = arguments.seconds + 2 * arguments.idle + 10
            block = os.urandom(1 << 20)
            for _ in range(int(link_of(file) * 1e6 / 8 * seconds) // len(block)):
                source.write(block)
        far = f"iperf3 -s -p 5300 > {folder}/iperf3.log 2>&1 & exec {TRUNKLINE} serve --root {root} --tokens {tokens} > {folder}/serve.log 2>&1"
        near = [sys.executable, __file__, "--inside", name, path, "--seconds", str(arguments.seconds), "--idle", str(arguments.idle),
                f"--copy-args={arguments.copy_args}"]
        command = [TRUNKLINE, "emulate", "--seed", str(seed), emulated, "--far", f"sh -c '{far}'", "--", *near]
        before = processor_ticks()
        done = subprocess.run(command, capture_output=True, text=True)
        after = processor_ticks()
        if done.returncode != 0:
            raise SystemExit(f"{path}: {done.stdout}{done.stderr}{(folder / 'serve.log').read_text()}")
        seen = json.loads((folder / "seen.json").read_text())
        seen["link"] = link_of(file)
        seen["stolen"] = (after["stolen"] - before["stolen"]) / (after["all"] - before["all"])
        return figures(seen, arguments)


def processor_ticks():
    """Of this machine's processors since it started: all, and those that whoever runs the machine gave to others."""
    ticks = [int(word) for word in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return {"all": sum(ticks), "stolen": ticks[7]}


def link_of(file):
    """Mbit/s."""
    return rate(tomllib.loads(file.read_text())["forward"]["rate"])


def rate(text):
    number, unit = re.fullmatch(r"([\d.]+)(\w+/s)", text).groups()
    return float(number) * UNITS[unit]


def inside(arguments):
    """On the near host of the path."""
    folder = pathlib.Path(arguments.inside[0])
    # The flow beside the copy shall begin as the one alone did, not where the kernel remembers that one's slow start to have ended.
    pathlib.Path("/proc/sys/net/ipv4/tcp_no_metrics_save").write_text("1")
    time.sleep(1)
    alone = default_flow(arguments.seconds)
    time.sleep(1)
    pings = subprocess.Popen(["ping", "-D", "-i", "0.1", "far"], stdout=open(folder / "pings", "w"))
    time.sleep(2)
    copy = subprocess.Popen(
        [TRUNKLINE, "copy", "--json", "--gentle", "--token-file", folder / "token", *arguments.copy_args.split(), folder / "source", "trunkline://far/destination"],
        stdout=open(folder / "copy", "w"), stderr=open(folder / "copy.log", "w"))
    begun = time.time()
    time.sleep(arguments.idle)
    flow = time.time() - begun
    beside = default_flow(arguments.seconds)
    over = time.time() - begun
    time.sleep(arguments.idle)
    if copy.poll() is not None:
        raise SystemExit("the copy ended early:\n" + (folder / "copy.log").read_text())
    copy.send_signal(signal.SIGINT)
    copy.wait()
    pings.send_signal(signal.SIGINT)
    pings.wait()
    lines = [json.loads(line) for line in open(folder / "copy")]
    progress = [(line["at_seconds"], line["done_bytes"]) for line in lines if line.get("event") == "progress"]
    trips = re.findall(r"\[([\d.]+)\].*time=([\d.]+) ms", (folder / "pings").read_text())
    trips = [(float(at) - begun, float(ms)) for at, ms in trips]
    seen = {"alone": alone, "beside": beside, "flow": flow, "over": over, "progress": progress, "trips": trips}
    (folder / "seen.json").write_text(json.dumps(seen))


def default_flow(seconds):
    """Goodput in Mbit/s of one CUBIC flow."""
    command = ["iperf3", "-c", "far", "-p", "5300", "-C", "cubic", "-t", str(seconds), "-J"]
    done = subprocess.run(command, capture_output=True, text=True)
    end = json.loads(done.stdout).get("end", {})
    if "sum_received" not in end:
        raise SystemExit(f"iperf3: {done.stdout[-500:]}{done.stderr}")
    return end["sum_received"]["bits_per_second"] / 1e6


def figures(seen, arguments):
    def between(start, end):
        """Mbit/s of the copy."""
        within = [(at, done) for at, done in seen["progress"] if start <= at <= end]
        (first, before), (last, after) = within[0], within[-1]
        return (after - before) * 8e-6 / (last - first)

    def rates():
        steps = zip(seen["progress"], seen["progress"][2:])
        return [(after[0], (after[1] - before[1]) * 8e-6 / (after[0] - before[0])) for before, after in steps]

    def first(start, holds):
        """Seconds from `start` until the copy's rate over a second does as it should."""
        return next((at - start for at, value in rates() if at > start and holds(value)), float("nan"))

    idle = between(SETTLING, seen["flow"])
    trips = lambda start, end: [ms for at, ms in seen["trips"] if start <= at < end]
    base = min(trips(-2, seen["over"]))
    loaded = trips(SETTLING, seen["flow"])
    link = seen["link"] * PAYLOAD
    return {
        "kept": seen["beside"] / seen["alone"],
        "alone": seen["alone"],
        "taken": idle / link,
        "again": between(seen["over"] + SETTLING, seen["over"] + arguments.idle) / link,
        "beside": between(seen["flow"] + 5, seen["over"]) / link,
        "gives": first(seen["flow"], lambda value: value < idle / 4),
        "takes": first(seen["over"], lambda value: value > idle / 2),
        "added": statistics.median(loaded) - base,
        "added_95": statistics.quantiles(loaded, n=20)[-1] - base,
        "stolen": 100 * seen["stolen"],
    }


COLUMNS = [
    ("default flow alone, Mbit/s", "alone"),
    ("it keeps beside the copy", "kept"),
    ("copy alone, of the link's payload", "taken"),
    ("copy beside the flow", "beside"),
    ("copy alone again", "again"),
    ("s until it is below a quarter", "gives"),
    ("s until it is above half again", "takes"),
    ("RTT it adds when alone, median ms", "added"),
    ("95th percentile ms", "added_95"),
    ("processor time stolen, %", "stolen"),
]


def row(path, runs):
    return "| " + " | ".join([path] + [spread([one[key] for one in runs]) for _, key in COLUMNS]) + " |"


def page(rows, arguments):
    return "\n".join([
        heading("what a default flow keeps beside `trunkline copy --gentle`, and what the copy takes of an idle path"),
        f"{arguments.repetitions} repetitions of {arguments.seconds} s of the flow (iperf3, CUBIC, from its first second) alone and beside the copy, "
        f"{arguments.idle} s of the copy alone before and after; median (range). The first {SETTLING} s of the copy, and after the flow, are not counted. "
        "RTT by ping beside it, less the fastest. Where the flow is held back by losses and not by the link, `below a quarter` need not come.",
        "",
        "| path | " + " | ".join(name for name, _ in COLUMNS) + " |",
        "|---" * (len(COLUMNS) + 1) + "|",
        *rows,
        "",
    ])


if __name__ == "__main__":
    main()
