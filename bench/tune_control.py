#!/usr/bin/env python3
"""What a search recommends by default with two trunkline programs, by turns, on emulated paths.

    sudo python3 bench/tune_control.py OLD/trunkline NEW/trunkline --runs 3

The paths are those in paths/ that a search is mostly held against, and one that loses 1 % of its
packets. Real TCP, real time: about 25 s for each search. Prints a table in Markdown: what each run
recommended with its goodput in Mbit/s, and the ratio of the medians.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATHS = ["slac-cern", "slac-caltech", "oc3-80ms", "lan", "shallow-queue", "capped-buffers", "lossy-wifi"]
LOSSY = """
[forward]
rate  = "300Mbit/s"
delay = "50ms"
queue = { kind = "drop-tail", limit = "3750kB" }
loss  = { kind = "random", rate = 0.01 }

[hosts]
congestion = "cubic"
"""


def search(program, path, folder):
    """Streams, window, congestion control, goodput in Mbit/s and seconds of one search."""
    environment = os.environ | {"TRUNKLINE_STATE": str(folder)}
    words = [program, "tune", f"emu:{path}", "--json", "--brief", "--no-history"]
    run = subprocess.run(words, env=environment, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}: {run.stderr}")
    body = json.loads(run.stdout)
    chosen = body["recommended"]
    window = chosen["window"]
    name = f"{chosen['streams']} x {window if window == 'auto' else f'{window // 1024} KiB'}"
    name += f", {chosen['congestion']}" if chosen.get("congestion") else ""
    name += ", paced" if chosen.get("pacing_bits_per_second") else ""
    return name, chosen["goodput_bits_per_second"] / 1e6, body["cost"]["seconds"]


def cell(runs):
    """All runs of one program on one path."""
    rates = [rate for _, rate, _ in runs]
    text = "; ".join(f"{name}: {rate:.1f}" for name, rate, _ in runs)
    seconds = max(seconds for _, _, seconds in runs)
    return f"{text} | {statistics.median(rates):.1f} | {seconds:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--paths", nargs="*", default=["lossy-300", *PATHS])
    arguments = parser.parse_args()
    print("| path | before | Mbit/s | s | after | Mbit/s | s | after / before | load average |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        lossy = pathlib.Path(folder) / "lossy-300.toml"
        lossy.write_text(LOSSY)
        for name in arguments.paths:
            path = lossy if name == "lossy-300" else name
            runs = {arguments.old: [], arguments.new: []}
            for turn in range(arguments.runs):
                order = [arguments.old, arguments.new]
                for program in order if turn % 2 == 0 else order[::-1]:
                    runs[program].append(search(program, path, folder))
            old, new = runs[arguments.old], runs[arguments.new]
            ratio = statistics.median(run[1] for run in new) / statistics.median(run[1] for run in old)
            load = os.getloadavg()[0]
            print(f"| {name} | {cell(old)} | {cell(new)} | {ratio:.3f} | {load:.1f} |", flush=True)


if __name__ == "__main__":
    main()
