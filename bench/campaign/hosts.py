#!/usr/bin/env python3
"""A campaign from eight hosts to eight, on Dask, while its parts are killed.

Sixteen network namespaces on one switch. Each source has a Dask worker, each destination a standing
server; 64 links have bounds of their own in the plan, and bytes for the same time at these. So the
max-min fair optimum is that all end after that time. At random moments a worker, a server, the
scheduler or the client is killed with signal 9; what was killed is started again. Writes a page in
Markdown: time beside the optimum, the highest mean of a second beside each link's bound, wrong
files, and bytes on the wire beside a run without kills. Needs root, `ip`, `tcpdump`, and a Python
with trunkline and distributed:

    target/python/python3.11/bin/python bench/campaign/hosts.py --kills 40 \\
        > bench/results/campaign-hosts-$(date -u +%F).md
"""

import argparse
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from common import heading

SIDES = 8
SCHEDULER = "10.79.0.100"


def run(*words, **options):
    return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout


class Network:
    """Sources s0 to s7, destinations d0 to d7, and a host for scheduler and client."""

    def __init__(self):
        self.prefix = f"tc{os.getpid()}"
        self.names = [f"{side}{at}" for side in "sd" for at in range(SIDES)] + ["ctl"]
        run("ip", "netns", "add", self.ns("sw"))
        run("ip", "-n", self.ns("sw"), "link", "add", "name", "br0", "type", "bridge")
        run("ip", "-n", self.ns("sw"), "link", "set", "br0", "up")
        for name in self.names:
            self.attach(name)

    def ns(self, name):
        return f"{self.prefix}-{name}"

    def address(self, name):
        if name == "ctl":
            return SCHEDULER
        return f"10.79.0.{(10 if name[0] == 's' else 50) + int(name[1:])}"

    def attach(self, name):
        ns, switch, port = self.ns(name), self.ns("sw"), f"p{name}"
        run("ip", "netns", "add", ns)
        run("ip", "-n", ns, "link", "set", "lo", "up")
        run("ip", "link", "add", "eth0", "netns", ns, "type", "veth", "peer", "name", port,
            "netns", switch)
        run("ip", "-n", ns, "addr", "add", f"{self.address(name)}/24", "dev", "eth0")
        run("ip", "-n", ns, "link", "set", "eth0", "up")
        run("ip", "-n", switch, "link", "set", port, "master", "br0", "up")

    def start(self, name, *words, **options):
        inside = ["ip", "netns", "exec", self.ns(name), *map(str, words)]
        return subprocess.Popen(inside, start_new_session=True, **options)

    def close(self):
        for name in [*self.names, "sw"]:
            subprocess.run(["ip", "netns", "del", self.ns(name)], check=False)


class Wire:
    """All packets to the destinations, as the switch gets them, with the kernel's times."""

    # Cooked frames: their own header, and enough of those of IP and TCP.
    HEADER, KEPT = 16, 80

    def __init__(self, network, folder):
        self.network, self.file = network, folder / "packets"

    def __enter__(self):
        pattern = f"ip and dst net {self.network.address('d0').rsplit('.', 1)[0]}.48/28"
        self.capture = self.network.start(
            "sw", "tcpdump", "-i", "any", "-Q", "in", "-y", "LINUX_SLL", "-B", "65536",
            "-s", self.KEPT, "-w", self.file, pattern, stderr=subprocess.PIPE, text=True,
        )
        self.capture.stderr.readline()
        return self

    def __exit__(self, *_):
        self.capture.send_signal(signal.SIGINT)
        said = self.capture.communicate()[1]
        self.missed = int(re.search(r"(\d+) packets? dropped by kernel", said)[1])

    def packets(self):
        """For each link times, bytes with IP's header, and bytes that TCP carries."""
        data, at, links = self.file.read_bytes(), 24, {}
        while at + 16 <= len(data):
            seconds, micros, kept, length = struct.unpack_from("<IIII", data, at)
            packet = data[at + 16 + self.HEADER : at + 16 + kept]
            at += 16 + kept
            if packet[9] != 6:
                continue
            ends = packet[15] - 10, packet[19] - 50
            ip = length - self.HEADER
            headers = (packet[0] & 15) * 4 + (packet[(packet[0] & 15) * 4 + 12] >> 4) * 4
            link = links.setdefault((f"s{ends[0]}", f"d{ends[1]}"), [])
            link.append((seconds + micros / 1e6, ip, ip - headers))
        return links


def highest(packets, which):
    """The highest mean of any second, in bit/s."""
    most = within = first = 0
    for packet in packets:
        within += packet[which]
        while packets[first][0] <= packet[0] - 1:
            within -= packets[first][which]
            first += 1
        most = max(most, within)
    return most * 8


class Site:
    """Files, plan and tokens.

    * `address_of`: a host's address by its name.
    * `sides`: sources, and destinations.
    * `is_bound`: the plan bounds links.
    """

    def __init__(self, address_of, folder, arguments, drawn, *, sides=SIDES, is_bound=True):
        self.folder, self.address_of, self.drawn = folder, address_of, drawn
        self.sides, self.is_bound = sides, is_bound
        self.pairs = [(f"s{i}", f"d{j}") for i in range(sides) for j in range(sides)]
        low, high = map(math.log, arguments.rates)
        self.rates = {pair: math.exp(drawn.uniform(low, high)) * 1e6 for pair in self.pairs}
        self.files = sum(self.fill(pair, arguments) for pair in self.pairs)
        self.bytes = sum(file.stat().st_size for file in self.sources())
        (folder / "plan.toml").write_text(self.plan())

    def sources(self):
        return [file for file in (self.folder / "from").rglob("*") if file.is_file()]

    def fill(self, pair, arguments):
        left, number = self.rates[pair] / 8 * arguments.seconds, 0
        place = self.folder / "from" / pair[0] / pair[1]
        low, high = math.log(1024), math.log(arguments.largest)
        while left >= 1:
            size = int(min(left, math.exp(self.drawn.uniform(low, high))))
            file = place / f"run{number % 9}" / f"f{number}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(self.drawn.randbytes(size))
            left, number = left - size, number + 1
        return number

    def plan(self):
        lines = ["[shards]", "files = 600", 'bytes = "30MB"']
        for at in range(self.sides):
            lines += [f"[hosts.s{at}]", f'address = "trunkline://{self.address_of(f"s{at}")}"']
            lines += [f"[hosts.d{at}]", f'address = "trunkline://{self.address_of(f"d{at}")}"']
            lines += [f'token = "{self.folder}/token-d{at}"']
        for source, destination in self.pairs:
            name, rate = f"{source}-{destination}", round(self.rates[source, destination])
            lines += [f"[links.{name}]", "copies = 1"]
            lines += [f'rate = "{rate}bit/s"'] if self.is_bound else []
            lines += [f"[groups.{name}]"]
            lines += [f'from = "{source}:{self.folder}/from/{source}/{destination}"']
            lines += [f'to = "{destination}:{source}"', f'link = "{name}"']
        return "\n".join(lines) + "\n"

    def wrong(self):
        """Files that are not at their destination as they are at their source."""
        wrong = 0
        for file in self.sources():
            source, destination, *rest = file.relative_to(self.folder / "from").parts
            there = self.folder / "to" / destination / source / pathlib.Path(*rest)
            wrong += not there.is_file() or there.read_bytes() != file.read_bytes()
        return wrong


CLIENT = """
import sys, trunkline as tl
from distributed import Client
campaign = tl.Campaign(sys.argv[1])
try:
    with Client(sys.argv[2], timeout=20) as client:
        client.wait_for_workers(int(sys.argv[3]), timeout=60)
        campaign.run_on(client, patience=60)
except (tl.NotFinished, OSError, TimeoutError) as why:
    print(why, file=sys.stderr)
    sys.exit(75)
"""


class Parts:
    """Servers, workers, the scheduler and the client; each is started again when it ends."""

    def __init__(self, network, site, folder):
        self.network, self.site, self.folder = network, site, folder
        self.log = open(folder / "log", "a", encoding="utf-8")
        self.running, self.starts, self.is_over = {}, {}, False
        self.program = str(ROOT / os.environ.get("TRUNKLINE", "target/release/trunkline"))

    def command(self, name):
        python, place = sys.executable, f"tcp://{SCHEDULER}:8786"
        if name == "ctl":
            return [python, "-m", "distributed.cli.dask_scheduler", "--host", SCHEDULER,
                    "--no-dashboard", "--port", "8786"]
        if name == "client":
            return [python, "-c", CLIENT, self.folder / "campaign", place, SIDES]
        if name[0] == "s":
            return [python, "-m", "distributed.cli.dask_worker", place, "--name", name,
                    "--nthreads", SIDES, "--no-dashboard", "--no-nanny", "--death-timeout", "60",
                    "--local-directory", self.folder / f"dask-{name}"]
        root = self.folder / "to" / name
        root.mkdir(parents=True, exist_ok=True)
        return [self.program, "serve", "--root", root, "--tokens", self.folder / f"tokens-{name}"]

    def start(self, name):
        where = "ctl" if name == "client" else name
        environment = os.environ | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}
        self.running[name] = self.network.start(
            where, *self.command(name), stdout=self.log, stderr=self.log, env=environment
        )
        self.starts[name] = self.starts.get(name, 0) + 1

    def kill(self, name):
        try:
            os.killpg(self.running[name].pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def keep(self):
        """Starts again what ended, until the client ends with 0."""
        while self.running["client"].poll() != 0:
            for name, part in list(self.running.items()):
                if part.poll() is not None:
                    time.sleep(0.5)
                    self.start(name)
            time.sleep(0.1)
        self.is_over = True

    def end(self):
        for name in self.running:
            self.kill(name)
        for part in self.running.values():
            part.wait()


def prepared(folder, sides=SIDES):
    """Tokens, and each source's part of the plan."""
    import trunkline as tl

    for at in range(sides):
        token, tokens = folder / f"token-d{at}", folder / f"tokens-d{at}"
        tokens.unlink(missing_ok=True)
        token.write_text(tl.add_token(tokens, "campaign"))
        token.chmod(0o600)
    shutil.rmtree(folder / "campaign", ignore_errors=True)
    shutil.rmtree(folder / "to", ignore_errors=True)
    for at in range(sides):
        campaign = tl.Campaign.plan(folder / "plan.toml", folder / "campaign", host=f"s{at}")
    return campaign


def trial(network, site, folder, kills, drawn):
    campaign = prepared(folder)
    shards = len(campaign.shards())
    parts = Parts(network, site, folder)
    for name in [f"d{at}" for at in range(SIDES)] + ["ctl"] + [f"s{at}" for at in range(SIDES)]:
        parts.start(name)
    time.sleep(6)
    with Wire(network, folder) as wire:
        begun = time.monotonic()
        parts.start("client")
        keeper = threading.Thread(target=parts.keep)
        keeper.start()
        killed = kill_some(parts, kills, site.spread, drawn)
        keeper.join()
        took = time.monotonic() - begun
    parts.end()
    links = wire.packets()
    return {"took": took, "killed": killed, "wrong": site.wrong(), "shards": shards,
            "wire": sum(packet[1] for packets in links.values() for packet in packets),
            "missed": wire.missed, "over": over(site, links, 1), "carried": over(site, links, 2),
            "client": parts.starts["client"], "sent_again": again(folder)}


def kill_some(parts, kills, spread, drawn):
    """Kills a part at random moments, over `spread` seconds; how many until the end."""
    kinds = [f"s{at}" for at in range(SIDES)] * 3 + [f"d{at}" for at in range(SIDES)] * 2
    kinds += ["ctl", "client"] * 2
    killed = 0
    while not parts.is_over and killed < kills:
        time.sleep(drawn.expovariate(kills / spread))
        parts.kill(drawn.choice(kinds))
        killed += 1
    return killed


def over(site, links, which):
    """The highest mean of a second of each link over its bound, in order."""
    return sorted(highest(packets, which) / site.rates[link] for link, packets in links.items())


def again(folder):
    results = (folder / "campaign" / "runs").glob("*/result.json")
    return sum(json.loads(result.read_text())["sent_again"] for result in results)


def options(description):
    """What files and links there are."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="what the optimum takes")
    parser.add_argument("--rates", type=float, nargs=2, default=(1, 20), help="Mbit/s, least and most")
    parser.add_argument("--largest", type=float, default=20e6, help="bytes of the largest file")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    return parser


def main():
    parser = options(__doc__)
    parser.add_argument("--kills", type=int, default=40)
    arguments = parser.parse_args()
    drawn = random.Random(arguments.seed)
    title = heading("A campaign of 64 links on Dask")
    network = Network()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="campaign-hosts-"))
    try:
        site = Site(network.address, folder, arguments, drawn)
        site.spread = arguments.seconds
        calm = trial(network, site, folder, 0, drawn)
        rough = trial(network, site, folder, arguments.kills, drawn) if arguments.kills else None
    finally:
        network.close()
    rates = [rate / 1e6 for rate in site.rates.values()]
    print(f"{title}\nSeed {arguments.seed}. {site.files} files, {site.bytes / 1e9:.2f} GB, "
          f"{calm['shards']} shards; links of {min(rates):.1f} to {max(rates):.1f} Mbit/s, "
          f"{sum(rates):.0f} together.\n")
    print("| | without kills | with kills |\n|---|---|---|")
    both = [calm, rough or calm]

    def row(name, of):
        print(f"| {name} | {of(both[0])} | {of(both[1])} |")

    row("kills", lambda one: one["killed"])
    row("files that are wrong or missing", lambda one: one["wrong"])
    row("s; the optimum is " + f"{arguments.seconds:.0f}", lambda one: f"{one['took']:.1f}")
    row("share of the optimum", lambda one: f"{arguments.seconds / one['took']:.1%}")
    row("bytes on the wire over bytes of files", lambda one: f"{one['wire'] / site.bytes:.4f}")
    row("known to be sent twice, share", lambda one: f"{one['sent_again'] / site.bytes:.2%}")
    name = "highest mean of any second over the bound, median and most of links"
    for which, what in ("over", "with headers of IP and TCP"), ("carried", "what TCP carries"):
        row(f"{name}: {what}", lambda one: f"{statistics.median(one[which]):.3f}, {one[which][-1]:.3f}")
    row("packets that the capture missed", lambda one: one["missed"])
    row("starts of the client", lambda one: one["client"])
    if os.environ.get("KEEP"):
        print(folder, file=sys.stderr)
    else:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
