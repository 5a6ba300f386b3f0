#!/usr/bin/env python3
"""Copies over two links at once: what share of both do they reach, and what becomes of them when one is cut?

    make build && bench/ways.py [sum] [cut] [mptcp] [--all] [--runs N] [--seconds S]

Two network namespaces with two links between them, of 100 and 300 Mbit/s; a server in one, `trunkline copy --via` or
`--mptcp` in the other, both ways. With `--all` the server tells its addresses. Prints Markdown for bench/results, and
ends with 1 where a copy is wrong or a bound is missed. Needs root.
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from common import TRUNKLINE, heading, spread

# Mbit/s of each link.
RATES = [100, 300]
PORT = 5395
# Of what the two links carry one at a time, both together have to reach this share.
SHARE_MIN = 0.95
# The same of multipath TCP, whose streams the kernel deals.
MPTCP_SHARE_MIN = 0.8
# A copy whose link is cut takes at most so many times what the other link alone takes for the rest, and 30 s more: 15 s
# until a lost conversation is noticed, and what it takes to begin again.
CUT_TIMES, CUT_MORE = 1.3, 30


def run(*words, check=True):
    return subprocess.run([str(word) for word in words], check=check, capture_output=True, text=True)


class Links:
    """`near` and `far`, and links 1 and 2 between them."""

    def __init__(self):
        self.prefix = f"tv{os.getpid()}"

    def __enter__(self):
        for name in ("near", "far"):
            run("ip", "netns", "add", self.ns(name))
            run("ip", "-n", self.ns(name), "link", "set", "lo", "up")
        for link, rate in enumerate(RATES, 1):
            run("ip", "link", "add", f"link{link}", "netns", self.ns("near"), "type", "veth",
                "peer", "name", f"link{link}", "netns", self.ns("far"))
            for last, name in enumerate(("near", "far"), 1):
                run("ip", "-n", self.ns(name), "addr", "add", f"10.79.{link}.{last}/24", "dev", f"link{link}")
                run("ip", "-n", self.ns(name), "link", "set", f"link{link}", "up")
                run("tc", "-n", self.ns(name), "qdisc", "add", "dev", f"link{link}", "root", "tbf",
                    "rate", f"{rate}mbit", "burst", "64k", "latency", "40ms")
        return self

    def __exit__(self, *_):
        for name in ("near", "far"):
            run("ip", "netns", "del", self.ns(name), check=False)

    def ns(self, name):
        return f"{self.prefix}-{name}"

    def inside(self, name, *words):
        return ["ip", "netns", "exec", self.ns(name), *map(str, words)]

    def name_endpoints(self):
        """The far end tells the near one of its address on link 2; subflows go there."""
        run("ip", "-n", self.ns("near"), "mptcp", "limits", "set", "subflows", 2, "add_addr_accepted", 2)
        run("ip", "-n", self.ns("far"), "mptcp", "limits", "set", "subflows", 2)
        run("ip", "-n", self.ns("far"), "mptcp", "endpoint", "add", "10.79.2.2", "dev", "link2", "signal")

    def set(self, link, state):
        """Of the far end's device: the near end sees no error, only silence."""
        run("ip", "-n", self.ns("far"), "link", "set", f"link{link}", state)


class Bench:
    def __init__(self, folder, links, asks):
        self.folder, self.links, self.asks, self.failed = pathlib.Path(folder), links, asks, []
        self.root = self.folder / "root"
        self.root.mkdir()
        tokens = self.folder / "tokens"
        made = run(TRUNKLINE, "serve", "--tokens", tokens, "--new-token", "bench")
        os.environ["TRUNKLINE_TOKEN"] = made.stdout.strip()
        os.environ["TRUNKLINE_STATE"] = str(self.folder / "state")
        serve = links.inside("far", TRUNKLINE, "serve", "--port", PORT, "--root", self.root, "--tokens", tokens)
        self.server = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1)

    def end(self):
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(30)

    def file(self, seconds, rate):
        """One that takes so long."""
        size = int(seconds * rate / 8 * 1_000_000)
        file = self.folder / f"of-{size}"
        if not file.exists():
            with open(file, "wb") as out:
                for at in range(0, size, 1_000_000):
                    out.write(os.urandom(min(1_000_000, size - at)))
        return file

    def copy(self, way, source, links, meanwhile=None, over=None):
        """Copies over these links, dealt by the copy or as `over` says; the conversation begins on the first link. The
        document."""
        here, there = self.folder / "here", self.root / "there"
        for file in (here, there):
            file.unlink(missing_ok=True)
        place = f"trunkline://10.79.{links[0]}.2:{PORT}/there"
        via = "all" if self.asks and len(links) > 1 else ",".join(f"10.79.{link}.2" for link in links)
        over = over or ["--via", via]
        ends = [source, place] if way == "put" else [place, here]
        if way == "get":
            os.link(source, there)
        command = self.links.inside("near", TRUNKLINE, "copy", "--no-history", "--json", *over, *ends)
        copy = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if meanwhile:
            meanwhile()
        try:
            told, errors = copy.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            copy.kill()
            raise SystemExit(f"{' '.join(command)} hangs") from None
        got = there if way == "put" else here
        if copy.returncode or run("cmp", source, got, check=False).returncode:
            raise SystemExit(f"{' '.join(command)} ended with {copy.returncode}, or {got} is wrong:\n{errors}")
        return json.loads(told.splitlines()[-1])

    def bound(self, is_kept, what):
        if not is_kept:
            self.failed.append(what)

    def sum(self, runs, seconds):
        print("## Both links beside each alone\n")
        print("| way | link 1 | link 2 | both | share of the sum | of the copy's bytes, link 1 |\n|---|---|---|---|---|---|")
        for way in ("put", "get"):
            rates, shares, first = {}, [], []
            for _ in range(runs):
                alone = 0
                for links in ([1], [2], [1, 2]):
                    rate = sum(RATES[link - 1] for link in links)
                    document = self.copy(way, self.file(seconds, rate), links)
                    mbit = document["goodput_bits_per_second"] / 1e6
                    rates.setdefault(tuple(links), []).append(mbit)
                    alone += mbit if len(links) == 1 else 0
                shares.append(mbit / alone)
                of_first = next(one for one in document["pairs"] if one["addresses"] == "10.79.1.2")
                first.append(of_first["share_ratio"])
            shown = " | ".join(spread(rates[links]) for links in ((1,), (2,), (1, 2)))
            print(f"| {way} | {shown} | {spread(shares)} | {spread(first)} |", flush=True)
            self.bound(statistics.median(shares) >= SHARE_MIN, f"{way} over both links reaches {statistics.median(shares):.3f}")
        print(f"\nMbit/s of files over the whole copy, {runs} runs by turns; links of {RATES} Mbit/s with Ethernet's headers.\n")

    def cut(self, runs, seconds):
        print("## A link is cut in the middle\n")
        print("| way | cut | seconds | times the ideal | reconnects | the cut pair |\n|---|---|---|---|---|---|")
        for way in ("put", "get"):
            for name, links, back in (("the link of the conversation", [1, 2], None), ("the other link", [2, 1], None),
                                      ("the other link, for 6 s", [2, 1], 6)):
                took, times, lost, gone = [], [], [], []
                for _ in range(runs):
                    cut = links[0] if "conversation" in name else links[1]
                    source = self.file(seconds, sum(RATES))
                    document = self.copy(way, source, links, lambda: self.break_off(cut, seconds / 3, back))
                    self.links.set(cut, "up")
                    took.append(document["elapsed_seconds"])
                    left = RATES[links[1] - 1] if "conversation" in name else RATES[links[0] - 1]
                    # A third at the rate of both, and the rest over what is left.
                    ideal = seconds / 3 + seconds * 2 / 3 * sum(RATES) / left
                    times.append(took[-1] / ideal)
                    lost.append(document["reconnects"])
                    pair = next(one for one in document["pairs"] if one["addresses"] == f"10.79.{cut}.2")
                    gone.append(pair.get("gone_from_seconds"))
                    self.bound(took[-1] <= CUT_TIMES * ideal + CUT_MORE, f"{way}, {name}: {took[-1]:.1f} s, ideal {ideal:.1f} s")
                    self.bound((gone[-1] is None) == bool(back), f"{way}, {name}: gone from {gone[-1]} on")
                told = "back" if back else f"gone from {spread(gone)} s on" if None not in gone else "not noticed"
                print(f"| {way} | {name} | {spread(took)} | {spread(times)} | {spread(lost)} | {told} |", flush=True)
                time.sleep(2)
        print(f"\n{runs} runs each; every file is compared. The cut comes after {seconds / 3:.0f} s.\n")

    def mptcp(self, runs, seconds):
        self.links.name_endpoints()
        print("## Multipath TCP over both links, beside each alone\n")
        print("| way | link 1 | link 2 | `--mptcp` | share of the sum | of the subflows' bytes, link 1 |\n|---|---|---|---|---|---|")
        for way in ("put", "get"):
            rates, shares, first = {}, [], []
            for _ in range(runs):
                for links, over in (([1], None), ([2], None), ([1, 2], ["--mptcp"])):
                    source = self.file(seconds, sum(RATES[link - 1] for link in links))
                    document = self.copy(way, source, links, over=over)
                    rates.setdefault(tuple(links), []).append(document["goodput_bits_per_second"] / 1e6)
                shares.append(rates[1, 2][-1] / (rates[1,][-1] + rates[2,][-1]))
                first.append(self.of_link_1(way, document["mptcp"]))
            shown = " | ".join(spread(rates[links]) for links in ((1,), (2,), (1, 2)))
            print(f"| {way} | {shown} | {spread(shares)} | {spread(first)} |", flush=True)
            share = statistics.median(shares)
            self.bound(share >= MPTCP_SHARE_MIN, f"{way} over multipath TCP reaches {share:.3f}")
        print(f"\nMbit/s of files over the whole copy, {runs} runs by turns; `ip mptcp endpoint` at the far end.\n")

    def of_link_1(self, way, seen):
        """Its share of what all subflows carried, of which there has to be one on each link."""
        carried = {one["far"]: one["carried_bytes"] for one in seen["subflows"]}
        self.bound(seen["plain_connections"] == 0, f"{way}: {seen['plain_connections']} connections are plain TCP")
        self.bound(set(carried) == {"10.79.1.2", "10.79.2.2"}, f"{way}: subflows to {sorted(carried)}")
        return carried.get("10.79.1.2", 0) / max(1, sum(carried.values()))

    def break_off(self, link, after, back):
        time.sleep(after)
        self.links.set(link, "down")
        if back:
            time.sleep(back)
            self.links.set(link, "up")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=["sum", "cut", "mptcp", []], default=[])
    parser.add_argument("--all", action="store_true", help="the server tells its addresses")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=12)
    asked = parser.parse_args()
    print(heading(f"Copies over links of {RATES[0]} and {RATES[1]} Mbit/s at once"))
    with tempfile.TemporaryDirectory() as folder, Links() as links:
        bench = Bench(folder, links, asked.all)
        try:
            if "sum" in asked.parts or not asked.parts:
                bench.sum(asked.runs, asked.seconds)
            if "cut" in asked.parts or not asked.parts:
                bench.cut(asked.runs, asked.seconds * 1.5)
            if "mptcp" in asked.parts or not asked.parts:
                bench.mptcp(asked.runs, asked.seconds)
        finally:
            bench.end()
    for missed in bench.failed:
        print(f"missed: {missed}")
    sys.exit(bool(bench.failed))


main()
