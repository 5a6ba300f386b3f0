#!/usr/bin/env python3
"""Is an emulated path what its file says: idle round trip, single-stream goodput, loss?"""

import datetime
import json
import pathlib
import re
import subprocess
import tempfile

from common import ROOT, TRUNKLINE, goodput, heading, measure, spread

RUNS = 5
PAYLOAD = 1448 / 1500  # of each packet at MTU 1500, with TCP time stamps

QUEUE = 'queue = { kind = "drop-tail", limit = "%s" }'
HOSTS = '[hosts]\nsend_buffer_max = "64MiB"\nreceive_buffer_max = "64MiB"\n'


def path_file(folder, name, rate, delay, queue, more=""):
    file = pathlib.Path(folder) / f"{name}.toml"
    file.write_text(f'[forward]\nrate = "{rate}"\ndelay = "{delay}"\n{QUEUE % queue}\n{more}\n{HOSTS}')
    return file


def idle_round_trip(path):
    """Fastest and mean ping in milliseconds."""
    ping = ["ping", "-q", "-i", "0.05", "-c", "40", "far"]
    run = subprocess.run([TRUNKLINE, "emulate", path, "--", *ping], capture_output=True, text=True)
    low, mean = re.search(r"= ([\d.]+)/([\d.]+)/", run.stdout).groups()
    return float(low), float(mean)


def main():
    lines = [heading("the emulator against its path files"), f"{RUNS} runs each; median (range).", ""]
    with tempfile.TemporaryDirectory() as folder:
        lines += ["| path | file's RTT ms | fastest ping | mean ping | mean less file |", "|---" * 5 + "|"]
        for path, rtt in [("slac-cern", 165), ("lan", 0.3), ("oc3-80ms", 80)]:
            pings = [idle_round_trip(path) for _ in range(RUNS)]
            fastest, means = zip(*pings)
            over = [mean - rtt for mean in means]
            lines.append(f"| {path} | {rtt} | {spread(fastest)} | {spread(means)} | {spread(over)} |")
        lines += ["", "| rate | RTT ms | goodput Mbit/s | of rate x payload/packet |", "|---" * 4 + "|"]
        for name, rate, mbits, delay, queue in [
            ("a", "100Mbit/s", 100, "10ms", "1MiB"),
            ("b", "1Gbit/s", 1000, "20ms", "8MiB"),
        ]:
            file = path_file(folder, name, rate, delay, queue)
            rates = [goodput(measure(f"emu:{file}", 1, "auto", 8)) for _ in range(RUNS)]
            shares = [value / (mbits * PAYLOAD) for value in rates]
            lines.append(f"| {rate} | {2 * int(delay[:-2])} | {spread(rates)} | {spread(shares)} |")
        lines += ["", "| loss in the file | packets | lost | rate | standard errors off |", "|---" * 5 + "|"]
        for rate in [0.001, 0.01]:
            file = path_file(folder, f"loss{rate}", "100Mbit/s", "1ms", "1MiB",
                             f'loss = {{ kind = "random", rate = {rate} }}')
            flood = "for i in 1 2 3 4 5; do ping -q -f -c 10000 -l 100 far >/dev/null; done"
            counters = forward_counters(file, flood)
            offered, lost = counters["offered"]["packets"], counters["dropped_wire_loss"]["packets"]
            error = (lost / offered - rate) / (rate * (1 - rate) / offered) ** 0.5
            lines.append(f"| {rate} | {offered} | {lost} | {lost / offered:.5f} | {error:+.2f} |")
    text = "\n".join(lines) + "\n"
    file = ROOT / "bench" / "results" / f"emulator-{datetime.date.today()}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    print(text)


def forward_counters(file, script):
    command = [TRUNKLINE, "emulate", file, "--json", "--", "sh", "-c", script]
    run = subprocess.run(command, capture_output=True, text=True)
    return json.loads(run.stdout)["forward"]


if __name__ == "__main__":
    main()
