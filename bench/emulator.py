#!/usr/bin/env python3
"""Is an emulated path what its file says: idle round trip, single-stream goodput, loss?

How much it carries at an MTU of 1500, with and without segmentation offload, and what the devices
alone carry beside it: `--rates` gives this table and that of idle round trips without the others,
which need the program."""

import datetime
import json
import pathlib
import subprocess
import sys
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


RATES = ["1Gbit/s", "10Gbit/s", "20Gbit/s"]
PATHS = ["lan", "oc3-80ms", "slac-cern"]


def example():
    """One round of `crates/path/emu/examples/throughput.rs`: the words of each line."""
    command = ["cargo", "run", "--quiet", "--release", "-p", "trunkline-emu", "--example", "throughput"]
    command += ["--", "1", *RATES, *PATHS]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{run.stderr}")
    return [line.split() for line in run.stdout.splitlines()]


def rates_and_round_trips():
    """Two tables. All cases of a round run one after the other, so that they share the machine."""
    figures = {}
    for _ in range(RUNS):
        for what, case, *values in example():
            figures.setdefault((what, case), []).append([float(value) for value in values])
    lines = ["One TCP stream at an MTU of 1500, 2 ms each way, over 1 s. Processor time is of both hosts' kernels,",
             "the emulator, sender and receiver; two processors without other work carry at most 16 Gbit/s",
             "divided by it.", "",
             "| rate | goodput Mbit/s | without offload | ratio | ns/byte | without offload |", "|---" * 6 + "|"]
    for rate in ["-", *RATES]:
        with_it, without = figures[rate, "offload"], figures[rate, "packets"]
        ratios = [one[0] / other[0] for one, other in zip(with_it, without)]
        name = "devices joined directly" if rate == "-" else rate
        cells = [spread([run[0] for run in with_it]), spread([run[0] for run in without]), spread(ratios),
                 spread([run[1] for run in with_it]), spread([run[1] for run in without])]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "| path | file's RTT ms | fastest ping less file | mean ping less file |", "|---" * 4 + "|"]
    for path in PATHS:
        said = figures[path, "ping"][0][0]
        low, mean = ([run[at] - said for run in figures[path, "ping"]] for at in (1, 2))
        lines.append(f"| {path} | {said:g} | {spread(low)} | {spread(mean)} |")
    return [*lines, ""]


def main():
    lines = [heading("the emulator against its path files"), f"{RUNS} runs each; median (range).", ""]
    lines += rates_and_round_trips()
    if "--rates" not in sys.argv:
        lines += against_files()
    text = "\n".join(lines) + "\n"
    file = ROOT / "bench" / "results" / f"emulator-{datetime.date.today()}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    print(text)


def against_files():
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        lines += ["| rate | RTT ms | goodput Mbit/s | of rate x payload/packet |", "|---" * 4 + "|"]
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
    return lines


def forward_counters(file, script):
    command = [TRUNKLINE, "emulate", file, "--json", "--", "sh", "-c", script]
    run = subprocess.run(command, capture_output=True, text=True)
    return json.loads(run.stdout)["forward"]


if __name__ == "__main__":
    main()
