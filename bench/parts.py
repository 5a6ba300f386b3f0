#!/usr/bin/env python3
"""One file over two hosts at each end: what share of what one host reaches twice?

    make build && bench/parts.py [--runs N] [--seconds S] [--rate MBIT]

Four network namespaces on one switch: near1 and near2 at the source, far1 and far2 with a server each in front of one
folder. Each host's device carries `--rate` each way. A campaign cuts the file into parts; `campaign run` on near1
alone, with far1 alone at the destination, then on both at once with both. The campaign verifies, and `cmp` compares.
Prints Markdown for bench/results, and ends with 1 where the bound is missed. Needs root.
"""

import argparse
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from common import TRUNKLINE, heading, spread

HOSTS = {"near1": 1, "near2": 2, "far1": 3, "far2": 4}
PORT = 5396
# Of twice what one host reaches.
SHARE_MIN = 0.9
PART = 64 << 20
# The exit code of a run whose last shards other hosts still copy.
OTHER_RUNS_IT = 75
PLAN = """[shards]
parts = "64MiB"

[hosts.near]
address = "near"

[hosts.far]
address = "trunkline://10.80.0.3:{port}"
{also}
token = "{folder}/token"

[links]
wan = {{ copies = 4 }}

[groups]
one = {{ from = "near:{source}", to = "far:/there", link = "wan" }}
"""


def run(*words, check=True):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if check and done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


class Hosts:
    """A switch and four hosts on it."""

    def __init__(self, rate):
        self.rate, self.prefix = rate, f"tp{os.getpid()}"

    def __enter__(self):
        run("ip", "netns", "add", self.ns("switch"))
        run("ip", "-n", self.ns("switch"), "link", "add", "bridge", "type", "bridge")
        run("ip", "-n", self.ns("switch"), "link", "set", "bridge", "up")
        for name, number in HOSTS.items():
            run("ip", "netns", "add", self.ns(name))
            run("ip", "-n", self.ns(name), "link", "set", "lo", "up")
            run("ip", "link", "add", "lan", "netns", self.ns(name), "type", "veth",
                "peer", "name", name, "netns", self.ns("switch"))
            run("ip", "-n", self.ns("switch"), "link", "set", name, "master", "bridge", "up")
            run("ip", "-n", self.ns(name), "addr", "add", f"10.80.0.{number}/24", "dev", "lan")
            run("ip", "-n", self.ns(name), "link", "set", "lan", "up")
            for ns, device in ((name, "lan"), ("switch", name)):
                run("tc", "-n", self.ns(ns), "qdisc", "add", "dev", device, "root", "tbf",
                    "rate", f"{self.rate}mbit", "burst", "256k", "latency", "20ms")
        return self

    def __exit__(self, *_):
        for name in ["switch", *HOSTS]:
            run("ip", "netns", "del", self.ns(name), check=False)

    def ns(self, name):
        return f"{self.prefix}-{name}"

    def start(self, name, *words):
        # Hosts have equal parts of a link's copies, and their names tell them apart.
        renamed = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', name]
        command = ["ip", "netns", "exec", self.ns(name), *renamed, *map(str, words)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Bench:
    def __init__(self, folder, hosts, size):
        self.folder, self.hosts, self.size = pathlib.Path(folder), hosts, size
        self.source, self.root = self.folder / "source", self.folder / "root"
        self.source.mkdir()
        self.root.mkdir()
        with open(self.source / "file", "wb") as out:
            for at in range(0, size, 1 << 20):
                out.write(os.urandom(min(1 << 20, size - at)))
        tokens = self.folder / "tokens"
        made = run(TRUNKLINE, "serve", "--tokens", tokens, "--new-token", "bench")
        token = self.folder / "token"
        token.write_text(made.stdout)
        token.chmod(0o600)
        os.environ["TRUNKLINE_STATE"] = str(self.folder / "state")
        serve = [TRUNKLINE, "serve", "--files-only", "--port", PORT, "--root", self.root, "--tokens", tokens]
        self.servers = [hosts.start(name, *serve) for name in ("far1", "far2")]
        time.sleep(1)

    def end(self):
        for server in self.servers:
            server.send_signal(signal.SIGTERM)
            server.wait(30)

    def campaign(self, name, near, also):
        """Mbit/s of the file from the start of the first `run` to the end of the last."""
        there, campaign = self.root / "there", self.folder / name
        shutil.rmtree(there, ignore_errors=True)
        there.mkdir()
        plan = self.folder / f"{name}.toml"
        also = f'also = ["trunkline://10.80.0.4:{PORT}"]' if also else ""
        plan.write_text(PLAN.format(port=PORT, folder=self.folder, source=self.source, also=also))
        self.said(self.hosts.start("near1", TRUNKLINE, "campaign", "plan", plan, campaign, "--host", "near"))
        begun = time.monotonic()
        runs = [self.hosts.start(host, TRUNKLINE, "campaign", "run", campaign, "--host", "near", "--quiet") for host in near]
        for one in runs:
            self.said(one, {0, OTHER_RUNS_IT})
        took = time.monotonic() - begun
        run("cmp", self.source / "file", there / "file")
        self.said(self.hosts.start("near1", TRUNKLINE, "campaign", "verify", campaign, "--host", "near"))
        return self.size * 8 / took / 1e6

    def said(self, process, fine=frozenset({0})):
        told = process.communicate(timeout=300)[0]
        if process.returncode not in fine:
            raise SystemExit(f"{' '.join(process.args)} ended with {process.returncode}:\n{told}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=50, help="that one host takes")
    parser.add_argument("--rate", type=int, default=700, help="Mbit/s of each host's device")
    asked = parser.parse_args()
    size = int(asked.seconds * asked.rate * 1e6 / 8) // PART * PART + 12345
    alone, both, shares = [], [], []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, Hosts(asked.rate) as hosts:
        print(heading(f"One file of {size / 1e9:.2f} GB over two hosts at each end, {asked.rate} Mbit/s each"))
        bench = Bench(folder, hosts, size)
        try:
            for turn in range(asked.runs):
                alone.append(bench.campaign(f"alone{turn}", ["near1"], False))
                both.append(bench.campaign(f"both{turn}", ["near1", "near2"], True))
                shares.append(both[-1] / alone[-1] / 2)
        finally:
            bench.end()
    print("| one host at each end, Mbit/s | two | share of twice one |\n|---|---|---|")
    print(f"| {spread(alone)} | {spread(both)} | {spread(shares)} |")
    print(f"\n{asked.runs} runs by turns; from the start of the first `campaign run` to the end of the last; parts of "
          f"{PART >> 20} MiB, in memory (tmpfs); every file is compared twice.")
    if statistics.median(shares) < SHARE_MIN:
        print(f"missed: {statistics.median(shares):.3f} is below {SHARE_MIN}")
        sys.exit(1)


main()
