#!/usr/bin/env python3
"""Copies over UDP beside copies over TCP: on a path that loses packets, on the loopback device, and
what either takes from a CUBIC flow beside it, and what a code against losses could save at most.

    make build && bench/udp.py [lossy] [loopback] [harm] [tail] [--runs N]

Prints Markdown for bench/results. Emulated paths need root or user namespaces.
"""

import argparse
import json
import os
import pathlib
import resource
import shlex
import statistics
import subprocess
import tempfile
import time

from common import TRUNKLINE, heading, spread

LOSSY = """
[forward]
rate  = "300Mbit/s"
delay = "50ms"
queue = { kind = "drop-tail", limit = "3.75MB" }
loss  = { kind = "random", rate = 0.01 }
"""

SHARED = """
[forward]
rate  = "100Mbit/s"
delay = "20ms"
queue = { kind = "drop-tail", limit = "%s" }
"""

PORT = 5391


class Bench:
    def __init__(self, folder, runs):
        self.folder = pathlib.Path(folder)
        self.runs = runs
        (self.folder / "root").mkdir()
        tokens = self.folder / "tokens"
        made = subprocess.run([TRUNKLINE, "serve", "--tokens", tokens, "--new-token", "bench"],
                              capture_output=True, text=True, check=True)
        os.environ["TRUNKLINE_TOKEN"] = made.stdout.strip()
        os.environ["TRUNKLINE_STATE"] = str(self.folder / "state")
        self.serve = [str(TRUNKLINE), "serve", "--port", str(PORT), "--root", str(self.folder / "root"),
                      "--tokens", str(tokens)]

    def path(self, text):
        file = self.folder / "path.toml"
        file.write_text(text)
        return str(file)

    def file(self, megabytes):
        file = self.folder / f"{megabytes}MB"
        if not file.exists():
            with open(file, "wb") as out:
                for _ in range(megabytes):
                    out.write(os.urandom(1_000_000))
        return str(file)

    def clear(self):
        for file in (self.folder / "root").iterdir():
            file.unlink()

    def copy(self, file, host, words):
        return [str(TRUNKLINE), "copy", "--no-history", "--json", *words, file,
                f"trunkline://{host}:{PORT}/copied"]

    def emulated(self, path, near):
        """What the near command printed."""
        command = [str(TRUNKLINE), "emulate", path, "--far", shlex.join(self.serve), "--", *near]
        run = subprocess.run(command, capture_output=True, text=True)
        self.clear()
        if run.returncode:
            raise SystemExit(f"{shlex.join(command)} failed:\n{run.stderr}")
        return run.stdout


def document(text):
    return json.loads(text.strip().splitlines()[-1])


def lossy(bench):
    path = bench.path(LOSSY)
    ways = [("UDP", 1000, ["--transport", "udp"]), ("TCP, bbr", 1000, ["-C", "bbr"]),
            ("TCP, cubic", 200, ["-C", "cubic"])]
    rates = {name: [] for name, _, _ in ways}
    for _ in range(bench.runs):
        for name, megabytes, words in ways:
            copied = document(bench.emulated(path, bench.copy(bench.file(megabytes), "far", words)))
            rates[name].append(copied["bytes"] * 8e-6 / copied["elapsed_seconds"])
    print("## 300 Mbit/s, 100 ms, 1 % random loss, a queue of one product\n")
    print("| way | file MB | Mbit/s, median and range | share of 300 Mbit/s |\n|---|---|---|---|")
    for name, megabytes, _ in ways:
        share = statistics.median(rates[name]) / 300
        print(f"| {name} | {megabytes} | {spread(rates[name])} | {share:.0%} |")
    print(f"\nWhole copies, with connecting and the start; {bench.runs} runs, alternating.\n")


def loopback(bench):
    ways = [("UDP", ["--transport", "udp"]), ("TCP, 1 stream", ["-P", "1"])]
    seen = {name: ([], [], []) for name, _ in ways}
    file = bench.file(2000)
    for _ in range(bench.runs):
        for name, words in ways:
            server = subprocess.Popen(bench.serve, stderr=subprocess.PIPE, text=True)
            while not server.stderr.readline().startswith("serving"):
                pass
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run = subprocess.run(bench.copy(file, "127.0.0.1", words), capture_output=True, text=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times = pathlib.Path(f"/proc/{server.pid}/stat").read_text().rsplit(")", 1)[1].split()
            far = (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
            server.kill()
            server.wait()
            bench.clear()
            copied = document(run.stdout)
            near = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            bits = copied["bytes"] * 8e-9
            for values, value in zip(seen[name], (bits / copied["elapsed_seconds"], bits / near, bits / far)):
                values.append(value)
    print("## Loopback, both ends on two processors\n")
    print("| way | Gbit/s | a core of the sender | a core of the receiver |\n|---|---|---|---|")
    for name, _ in ways:
        print(f"| {name} | " + " | ".join(spread(values) for values in seen[name]) + " |")
    print(f"\nA file of 2 GB, hashed, encrypted and written at the other end; {bench.runs} runs, "
          "alternating. Per core: bits over the process's processor time, all of it.\n")


def harm(bench):
    streams = {"one CUBIC flow": ["-P", "1", "-C", "cubic"],
               "16 CUBIC flows": ["-P", "16", "-C", "cubic"],
               "one bbr flow": ["-P", "1", "-C", "bbr"],
               "4 bbr flows": ["-P", "4", "-C", "bbr"],
               "a copy over UDP": ["--transport", "udp"]}
    copies = {name: shlex.join(bench.copy(bench.file(1000), "far", words)) for name, words in streams.items()}
    beside = {"nothing": "true", **copies}
    measure = f"{TRUNKLINE} measure far:{PORT} -P 1 -C cubic -t 20 --no-history --json"
    print("## What is left to one CUBIC flow on 100 Mbit/s, 40 ms\n")
    print("| queue | beside | Mbit/s of the flow | harm |\n|---|---|---|---|")
    for queue in ["25KB", "125KB", "500KB", "2MB"]:
        path = bench.path(SHARED % queue)
        rates = {name: [] for name in beside}
        for _ in range(bench.runs):
            for name, command in beside.items():
                script = f"{command} >/dev/null 2>&1 & sleep 3; {measure}; kill %1 2>/dev/null; exit 0"
                rates[name].append(document_of(bench.emulated(path, ["bash", "-c", script])))
        alone = statistics.median(rates["nothing"])
        for name, values in rates.items():
            print(f"| {queue} | {name} | {spread(values)} | {1 - statistics.median(values) / alone:.2f} |", flush=True)
    print(f"\n20 s each, {bench.runs} runs; harm: the share of its rate alone that it loses.\n")


def tail(bench):
    """What losses add to a whole copy, but for the bytes sent twice: forward error correction could
    take away no more."""
    clean = LOSSY.replace('loss  = { kind = "random", rate = 0.01 }', "")
    print("## What losses add to a copy over UDP: 300 Mbit/s, 100 ms\n")
    print("| file MB | without losses, s | with 1 % lost, s | more than the bytes sent twice explain |\n|---|---|---|---|")
    for megabytes in [1, 10, 100]:
        seconds = {text: [] for text in (clean, LOSSY)}
        for _ in range(5 * bench.runs):
            for text, values in seconds.items():
                words = ["--transport", "udp"]
                copied = document(bench.emulated(bench.path(text), bench.copy(bench.file(megabytes), "far", words)))
                values.append(copied["elapsed_seconds"])
        before, after = (statistics.median(values) for values in seconds.values())
        more = after - before - 0.01 * megabytes * 8 / 300
        print(f"| {megabytes} | {spread(seconds[clean])} | {spread(seconds[LOSSY])} | {more:.3f} s |", flush=True)
    print(f"\nWhole copies, {5 * bench.runs} of each, alternating.\n")


def document_of(text):
    return json.loads(text)["goodput_bits_per_second"] / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    parts = {"lossy": lossy, "loopback": loopback, "harm": harm, "tail": tail}
    print(heading("Copies over UDP"))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, arguments.runs)
        for name in arguments.parts or parts:
            began = time.monotonic()
            parts[name](bench)
            print(f"({name}: {time.monotonic() - began:.0f} s)\n", flush=True)


if __name__ == "__main__":
    main()
