#!/usr/bin/env python3
"""Six hosts in network namespaces watch each other with the kernel's TCP while things go wrong.

Links are cut and narrowed, agents are killed with signal 9, the collector is down for minutes, at
random moments. Afterwards every result that an agent had is in the database once, and each cut
link is an event. Writes a page in Markdown on standard output. Needs root, `ip` and `tc`.

    python3 bench/watch/live.py --minutes 20 > bench/results/watch-live-$(date -u +%F).md
"""

import argparse
import datetime
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HOSTS = ["amsterdam", "berlin", "cern", "delft", "edinburgh", "fermi"]
RATE = "50mbit"
PLAN_HEAD = 'gap = "1s"\n'


def run(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True)


class Network:
    """Six hosts and a collector on one switch, each behind a link of 50 Mbit/s."""

    def __init__(self):
        self.names = HOSTS + ["collector"]
        self.prefix = f"tw{os.getpid()}"
        run("ip", "netns", "add", self.ns("switch"))
        run("ip", "-n", self.ns("switch"), "link", "add", "name", "br0", "type", "bridge")
        run("ip", "-n", self.ns("switch"), "link", "set", "br0", "up")
        for index, name in enumerate(self.names):
            self.attach(index, name)

    def ns(self, name):
        return f"{self.prefix}-{name}"

    def attach(self, index, name):
        run("ip", "netns", "add", self.ns(name))
        run("ip", "-n", self.ns(name), "link", "set", "lo", "up")
        run("ip", "link", "add", "eth0", "netns", self.ns(name), "type", "veth",
            "peer", "name", f"p{index}", "netns", self.ns("switch"))
        run("ip", "-n", self.ns(name), "addr", "add", f"10.78.0.{index + 1}/24", "dev", "eth0")
        run("ip", "-n", self.ns(name), "link", "set", "eth0", "up")
        run("ip", "-n", self.ns("switch"), "link", "set", f"p{index}", "master", "br0", "up")
        run("tc", "-n", self.ns(name), "qdisc", "add", "dev", "eth0", "root", "tbf",
            "rate", RATE, "burst", "64k", "latency", "40ms")

    def cut(self, name, is_cut):
        state = "down" if is_cut else "up"
        port = f"p{self.names.index(name)}"
        run("ip", "-n", self.ns("switch"), "link", "set", port, state)

    def narrow(self, name, rate):
        run("tc", "-n", self.ns(name), "qdisc", "change", "dev", "eth0", "root", "tbf",
            "rate", rate, "burst", "64k", "latency", "40ms")

    def remove(self):
        for name in self.names + ["switch"]:
            run("ip", "netns", "del", self.ns(name), check=False)


class Watch:
    """The collector and an agent on each host."""

    def __init__(self, network, trunkline, folder):
        self.network, self.trunkline, self.folder = network, trunkline, folder
        self.processes = {}
        self.logs = {}
        hosts = "".join(
            f'[hosts.{name}]\naddress = "10.78.0.{index + 1}"\nlink = "50Mbit/s"\n'
            for index, name in enumerate(HOSTS)
        )
        tasks = (
            '[groups]\nall = { mesh = ' + json.dumps(HOSTS) + ' }\n'
            '[tasks.trips]\nkind = "ping"\ngroup = "all"\nevery = "2min"\nduration = "6s"\n'
            '[tasks.goodput]\nkind = "throughput"\ngroup = "all"\nevery = "2min"\nduration = "6s"\n'
        )
        (folder / "plan.toml").write_text(PLAN_HEAD + hosts + tasks)
        for name in HOSTS:
            made = run(trunkline, "serve", "--tokens", str(folder / "agents.tokens"),
                       "--new-token", name, "--write-only")
            (folder / f"{name}.token").write_text(made.stdout)

    def start(self, name):
        log = open(self.folder / f"{name}.log", "ab")
        words = ["ip", "netns", "exec", self.network.ns(name), self.trunkline, "watch"]
        plan = str(self.folder / "plan.toml")
        if name == "collector":
            words += ["serve", plan, "--tokens", str(self.folder / "agents.tokens"),
                      "--database", str(self.folder / "watch.db")]
        else:
            words += ["run", plan, "--host", name, "--collector", "10.78.0.7",
                      "--token-file", str(self.folder / f"{name}.token"),
                      "--state", str(self.folder / f"state-{name}")]
        self.processes[name] = subprocess.Popen(words, stdout=log, stderr=log)

    def kill(self, name, number=signal.SIGKILL):
        process = self.processes.pop(name)
        process.send_signal(number)
        process.wait()

    def usage(self, name):
        """Resident memory in MiB and processor time in seconds."""
        pid = self.processes[name].pid
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        resident = next(l for l in status.splitlines() if l.startswith("VmHWM")).split()[1]
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks = int(stat[11]) + int(stat[12])
        return int(resident) / 1024, ticks / os.sysconf("SC_CLK_TCK")


def troubles(draw, seconds):
    """Moments and hosts, drawn: cuts, narrow links, killed agents, a collector that is down."""
    moments = sorted(draw.uniform(150, seconds - 260) for _ in range(9))
    kinds = ["cut", "kill", "kill", "narrow", "cut", "kill", "kill-collector", "down", "kill"]
    draw.shuffle(kinds)
    return [(at, kind, draw.choice(HOSTS)) for at, kind in zip(moments, kinds)]


def act(watch, network, kind, host, later):
    if kind == "cut":
        network.cut(host, True)
        later(430, lambda: network.cut(host, False))
    elif kind == "narrow":
        network.narrow(host, "20mbit")
    elif kind == "kill":
        watch.kill(host)
        later(8, lambda: watch.start(host))
    elif kind == "kill-collector":
        watch.kill("collector")
        later(2, lambda: watch.start("collector"))
    elif kind == "down":
        watch.kill("collector")
        later(240, lambda: watch.start("collector"))


def judge(folder):
    """Results in the database, in spools, put aside; and those that agents say they made."""
    database = sqlite3.connect(folder / "watch.db")
    stored = [row[0] for row in database.execute("SELECT hex(id) FROM visits")]
    events = [json.loads(row[0]) for row in database.execute("SELECT json FROM events")]
    waiting, refused, made, cut_off = 0, 0, 0, 0
    for name in HOSTS:
        spool = sqlite3.connect(folder / f"state-{name}" / "results.sqlite")
        waiting += spool.execute("SELECT count(*) FROM spool").fetchone()[0]
        aside = folder / f"state-{name}" / "refused.ndjson"
        refused += len(aside.read_text().splitlines()) if aside.exists() else 0
        log = (folder / f"{name}.log").read_text()
        made += sum(" done" in l or " failed: " in l for l in log.splitlines() if "#" not in l)
        cut_off += log.count("was cut off when this agent ended")
    failed = database.execute("SELECT count(*) FROM visits WHERE failure IS NOT NULL").fetchone()[0]
    return {
        "stored": len(stored), "distinct": len(set(stored)), "waiting": waiting,
        "refused": refused, "made": made, "cut_off": cut_off, "failed": failed, "events": events,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trunkline", default="target/release/trunkline")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    trunkline = os.path.abspath(arguments.trunkline)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="watch-live-"))
    network = Network()
    watch = Watch(network, trunkline, folder)
    done = []
    try:
        for name in ["collector"] + HOSTS:
            watch.start(name)
        begun = time.monotonic()
        seconds = arguments.minutes * 60
        planned = troubles(draw, seconds)
        agenda = [(at, kind, host, None) for at, kind, host in planned]
        while time.monotonic() - begun < seconds:
            now = time.monotonic() - begun
            due = [one for one in agenda if one[0] <= now]
            agenda = [one for one in agenda if one[0] > now]
            for at, kind, host, after in due:
                if after:
                    after()
                    continue
                gone = host not in watch.processes if kind == "kill" else False
                gone = gone or (kind in ("down", "kill-collector")
                                and "collector" not in watch.processes)
                if gone:
                    continue
                done.append((now, kind, host))
                print(f"{now:6.0f} s {kind} {host}", file=sys.stderr)
                later = lambda span, work: agenda.append((now + span, "after", host, work))
                act(watch, network, kind, host, later)
            time.sleep(0.2)
        for _, _, _, after in agenda:
            if after:
                after()
        usage = {name: watch.usage(name) for name in ["collector"] + HOSTS}
        # A minute for what waits, then agents first: each delivers once more.
        time.sleep(75)
        for name in HOSTS:
            watch.kill(name, signal.SIGTERM)
        watch.kill("collector", signal.SIGTERM)
        result = judge(folder)
        page(arguments, done, usage, result, seconds)
    finally:
        for name in list(watch.processes):
            watch.kill(name)
        network.remove()
    print(f"kept: {folder}", file=sys.stderr)


def page(arguments, done, usage, result, seconds):
    load = os.getloadavg()[0]
    made = result["made"] + result["cut_off"]
    kept = result["distinct"] + result["waiting"] + result["refused"]
    print("# Six hosts watch each other while things go wrong\n")
    print(f"{datetime.date.today()}, seed {arguments.seed}, {arguments.minutes:g} minutes, "
          f"{os.cpu_count()} processors, load average {load:.1f}. `bench/watch/live.py`.\n")
    print("Six hosts and a collector in network namespaces on one switch, links of 50 Mbit/s, the "
          "kernel's TCP; each pair is pinged and loaded every 2 minutes.\n")
    print("| second | trouble | host |\n|---|---|---|")
    for at, kind, host in done:
        print(f"| {at:.0f} | {kind} | {host if 'coll' not in kind and kind != 'down' else '-'} |")
    print("\n| results | count |\n|---|---|")
    print(f"| visits that agents ended, by their logs | {result['made']} |")
    print(f"| visits that a kill cut off, told as failed | {result['cut_off']} |")
    print(f"| stored | {result['stored']} |")
    print(f"| of them distinct | {result['distinct']} |")
    print(f"| waiting on agents' disks | {result['waiting']} |")
    print(f"| refused and put aside | {result['refused']} |")
    print(f"| stored as failed | {result['failed']} |")
    print(f"\n{made} made, {kept} kept: {made - kept} lost, "
          f"{result['stored'] - result['distinct']} doubled.\n")
    print("| event | count |\n|---|---|")
    counts = {}
    for event in result["events"]:
        counts[event["kind"]] = counts.get(event["kind"], 0) + 1
    for kind, count in sorted(counts.items()):
        print(f"| {kind} | {count} |")
    print("\n| process | most memory [MiB] | processor [s] | share |\n|---|---|---|---|")
    for name, (memory, processor) in usage.items():
        print(f"| {name} | {memory:.1f} | {processor:.1f} | {processor / seconds:.2%} |")


if __name__ == "__main__":
    main()
