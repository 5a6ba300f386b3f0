#!/usr/bin/env python3
"""A campaign beside fpsync with rsync and beside rclone, over the same long links.

Each of 16 links is an emulated path (`trunkline emulate`) of its own rate, with a round trip of 80
ms and the kernel's real TCP; its far end is a server of the mover. The files are drawn as in
`hosts.py`: as many bytes for each link as it carries in the time of the optimum. fpsync (with an
rsync daemon, which encrypts nothing) and rclone (over SFTP) first try some settings on three of the
links with a part of the files, and get the best one. Prints a table of times and their ratios.
Needs root, fpsync, rsync, rclone, and a Python with trunkline:

    target/python/python3.11/bin/python bench/campaign/peers.py --rates 0.6 3 \\
        > bench/results/campaign-peers-$(date -u +%F).md
"""

import argparse
import dataclasses
import os
import pathlib
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

from hosts import ROOT, Site, options, prepared
from common import heading

FAR = "198.18.0.2"
PROGRAM = str(ROOT / os.environ.get("TRUNKLINE", "target/release/trunkline"))
# Waits until the far end listens, and notes when the mover begins and ends.
NEAR = """
until (exec 3<>/dev/tcp/far/{port}) 2>/dev/null; do sleep 0.1; done
date +%s.%N >{times}
{command} || echo failed >>{times}
date +%s.%N >>{times}
"""


@dataclasses.dataclass
class Mover:
    """A program with a setting, and the commands of both ends for a link."""

    name: str
    port: int
    far: object
    near: object


def trunkline(site):
    def far(link):
        root = store(site, link)
        return f"{PROGRAM} serve --root {root} --tokens {site.folder}/tokens-{link[1]}"

    def near(link):
        return f"{PROGRAM} campaign run {site.folder}/campaign -q --link {'-'.join(link)} --host {link[0]}"

    prepared(site.folder, site.sides)
    return Mover("trunkline campaign", 5201, far, near)


def fpsync(site, jobs):
    def far(link):
        config = site.folder / f"rsyncd-{'-'.join(link)}"
        config.write_text(
            f"use chroot = no\nuid = 0\ngid = 0\n[to]\npath = {store(site, link)}\nread only = no\n"
        )
        return f"rsync --daemon --no-detach --config={config}"

    def near(link):
        folder = source(site, link)
        count = sum(file.is_file() for file in folder.rglob("*"))
        own = site.folder / f"fpsync-{'-'.join(link)}"
        (store(site, link) / link[0]).mkdir(exist_ok=True)
        return (f"fpsync -n {jobs} -f {max(1, count // (3 * jobs))} -t {own} -d {own} -o '-lptgoD' "
                f"{folder}/ rsync://far/to/{link[0]}/ >/dev/null")

    return Mover(f"fpsync -n {jobs}, rsync", 873, far, near)


def rclone(site, transfers):
    secret = subprocess.run(["rclone", "obscure", "secret"], check=True, capture_output=True, text=True)

    def far(link):
        return f"rclone serve sftp --addr :2022 --user me --pass secret {store(site, link)}"

    def near(link):
        remote = f":sftp,host={FAR},port=2022,user=me,pass={secret.stdout.strip()}:{link[0]}"
        return (f"rclone copy --config /dev/null --transfers {transfers} --checkers {transfers} "
                f"--sftp-set-modtime {source(site, link)} {shlex.quote(remote)}")

    return Mover(f"rclone --transfers {transfers}, SFTP", 2022, far, near)


def source(site, link):
    return site.folder / "from" / link[0] / link[1]


def store(site, link):
    """Where files of a link's destination go."""
    folder = site.folder / "to" / link[1]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def path_file(site, link, path):
    """A queue of one bandwidth-delay product, and at least of 64 kB. Hosts have reno, as programs
    that do not choose a congestion control get what their host has, here bbr."""
    rate = site.rates[link]
    queue = max(64_000, int(rate / 8 * path.rtt / 1000))
    file = site.folder / f"{'-'.join(link)}.toml"
    file.write_text(f"""[forward]
rate = "{round(rate)}bit/s"
delay = "{path.rtt / 2}ms"
queue = {{ kind = "drop-tail", limit = "{queue}B" }}
loss = {{ kind = "random", rate = {path.loss / 100} }}

[hosts]
congestion = "reno"
""")
    return file


def times_of(site, mover, links, path):
    """Seconds that each of the links took, all at once; infinite for one that failed."""
    shutil.rmtree(site.folder / "to", ignore_errors=True)
    running = {}
    for link in links:
        times = site.folder / f"times-{'-'.join(link)}"
        script = NEAR.format(port=mover.port, times=times, command=mover.near(link))
        words = [PROGRAM, "emulate", path_file(site, link, path), "--far", mover.far(link),
                 "--", "bash", "-c", script]
        with open(site.folder / "log", "a", encoding="utf-8") as log:
            running[link] = subprocess.Popen(words, stdout=log, stderr=log), times
    took = {}
    for link, (emulated, times) in running.items():
        emulated.wait()
        noted = times.read_text().split() if times.exists() else []
        took[link] = float(noted[1]) - float(noted[0]) if len(noted) == 2 else float("inf")
    return took


def best(site, movers, path):
    """The setting that is first at its end on the slowest, the middle and the fastest link."""
    by_rate = sorted(site.pairs, key=site.rates.get)
    links = [by_rate[0], by_rate[len(by_rate) // 2], by_rate[-1]]
    tried = {mover.name: sum(times_of(site, mover, links, path).values()) for mover in movers}
    for name, seconds in tried.items():
        print(f"{name}: {seconds / len(links):.1f} s", file=sys.stderr)
    return min(range(len(movers)), key=lambda at: tried[movers[at].name])


def site_in(folder, arguments, seconds):
    folder.mkdir()
    wanted = argparse.Namespace(**vars(arguments) | {"seconds": seconds})
    drawn = random.Random(arguments.seed)
    return Site(lambda _: FAR, folder, wanted, drawn, sides=arguments.sides, is_bound=False)


def main():
    parser = options(__doc__)
    parser.add_argument("--rtt", type=float, default=80, help="ms")
    parser.add_argument("--loss", type=float, default=0, help="percent of the packets, at random")
    parser.add_argument("--sides", type=int, default=4, help="sources, and destinations of each")
    arguments = parser.parse_args()
    title = heading("A campaign, fpsync and rclone over long links")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="campaign-peers-"))
    try:
        little = site_in(folder / "little", arguments, arguments.seconds / 3)
        kinds = [(fpsync, (2, 4, 8, 16)), (rclone, (4, 16, 32))]
        found = [
            (kind, settings[best(little, [kind(little, one) for one in settings], arguments)])
            for kind, settings in kinds
        ]
        site = site_in(folder / "all", arguments, arguments.seconds)
        movers = [trunkline(site), *(kind(site, setting) for kind, setting in found)]
        rows = []
        for mover in movers:
            took = times_of(site, mover, site.pairs, arguments)
            rows.append((mover.name, sorted(took.values()), site.wrong()))
    finally:
        if os.environ.get("KEEP"):
            print(folder, file=sys.stderr)
        else:
            shutil.rmtree(folder)
    rates = [rate / 1e6 for rate in site.rates.values()]
    print(f"{title}\nSeed {arguments.seed}. {len(site.pairs)} links of {min(rates):.1f} to "
          f"{max(rates):.1f} Mbit/s, {sum(rates):.0f} together, round trips of {arguments.rtt:.0f} ms, "
          f"{arguments.loss:g} % random loss; "
          f"{site.files} files, {site.bytes / 1e9:.2f} GB. The optimum is {arguments.seconds:.0f} s.\n")
    print("| mover | s, median and most of links | share of the optimum | times the campaign's | wrong |")
    print("|---|---|---|---|---|")
    ours = rows[0][1][-1]
    for name, took, wrong in rows:
        print(f"| {name} | {statistics.median(took):.1f}, {took[-1]:.1f} | "
              f"{arguments.seconds / took[-1]:.1%} | {took[-1] / ours:.2f} | {wrong} |")


if __name__ == "__main__":
    main()
