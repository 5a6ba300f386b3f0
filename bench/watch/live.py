#!/usr/bin/env python3
"""Six hosts in network namespaces watch each other with the kernel's TCP while things go wrong.

One after another: a link at two fifths of its rate, 3 % loss, an agent killed with signal 9, a link
that is cut, a collector that is down. Times are counted in cycles of the plan, as detectors count
visits. Afterwards every result that an agent had is in the database once, and each trouble is
compared with the events of its host's pairs and their first causes. Writes a page in Markdown on
standard output. Needs root, `ip`, `tc` and `nft`.

    python3 bench/watch/live.py --every 30 > bench/results/watch-live-$(date -u +%F).md
"""

import argparse
import datetime
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from common import processor

HOSTS = ["amsterdam", "berlin", "cern", "delft", "edinburgh", "fermi"]
RATE, NARROW = "20mbit", "8mbit"
# Each host sends to the next.
PAIRS = list(zip(HOSTS, HOSTS[1:] + HOSTS[:1]))
# Kind, host, first cycle, cycles that it lasts; what should be found.
TROUBLES = [
    ("rate", "amsterdam", 14, 7, "step of goodput: rate of the path"),
    ("loss", "delft", 16, 7, "step of goodput or resent share: loss"),
    ("kill", "edinburgh", 18, 1, "the visit that it was in is stored as failed"),
    ("cut", "berlin", 25, 5, "no data"),
    ("down", "collector", 33, 6, "nothing lost"),
]
CYCLES = 44
PLAN_HEAD = 'gap = "1s"\n'


def run(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True)


class Network:
    """Six hosts and a collector on one switch, each behind a link of 20 Mbit/s."""

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
        # BBR would carry on through 3 % loss: goodput would show nothing to be found.
        run("ip", "netns", "exec", self.ns(name), "sh", "-c",
            "echo reno > /proc/sys/net/ipv4/tcp_congestion_control")
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

    def lose(self, name, is_lossy):
        """Drops 3 % of what comes to a host."""
        words = ["ip", "netns", "exec", self.ns(name), "nft"]
        if not is_lossy:
            run(*words, "delete table inet loss")
            return
        run(*words, "add table inet loss")
        run(*words, "add chain inet loss arriving { type filter hook prerouting priority 0; }")
        run(*words, "add rule inet loss arriving numgen random mod 100 < 3 drop")

    def wait_for_visit(self, name, patience):
        """Returns three seconds into a visit of a host to the next one."""
        far = f"10.78.0.{(self.names.index(name) + 1) % len(HOSTS) + 1}"
        until = time.monotonic() + patience
        while time.monotonic() < until:
            words = ["ip", "netns", "exec", self.ns(name), "ss", "-Htn", "state", "established"]
            if run(*words, "dst", far).stdout.strip():
                time.sleep(3)
                return
            time.sleep(0.2)

    def remove(self):
        for name in self.names + ["switch"]:
            run("ip", "netns", "del", self.ns(name), check=False)


class Watch:
    """The collector and an agent on each host."""

    def __init__(self, network, trunkline, folder, every):
        self.network, self.trunkline, self.folder = network, trunkline, folder
        self.every = every
        self.processes = {}
        self.logs = {}
        hosts = "".join(
            f'[hosts.{name}]\naddress = "10.78.0.{index + 1}"\nlink = "20Mbit/s"\n'
            for index, name in enumerate(HOSTS)
        )
        tasks = (
            "[groups]\nring = { list = " + json.dumps(PAIRS) + " }\n"
            f'[tasks.goodput]\nkind = "throughput"\ngroup = "ring"\nevery = "{every}s"\n'
            f'duration = "{max(2, every // 2 - 2)}s"\n'
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


def begin(watch, network, kind, host):
    if kind == "rate":
        network.narrow(host, NARROW)
    elif kind == "loss":
        network.lose(host, True)
    elif kind == "cut":
        network.cut(host, True)
    else:
        if kind == "kill":
            network.wait_for_visit(host, 2 * watch.every)
        watch.kill(host)


def end(watch, network, kind, host):
    if kind == "rate":
        network.narrow(host, RATE)
    elif kind == "loss":
        network.lose(host, False)
    elif kind == "cut":
        network.cut(host, False)
    else:
        watch.start(host)


def judge(folder):
    """Results in the database, in spools, put aside; and those that agents say they made."""
    database = sqlite3.connect(folder / "watch.db")
    stored = [row[0] for row in database.execute("SELECT hex(id) FROM visits")]
    found = database.execute("SELECT s.from_host, s.to_host, e.json FROM events AS e "
                             "JOIN series AS s ON s.id = e.series ORDER BY e.first_visit")
    events = [(row[0], row[1], json.loads(row[2])) for row in found]
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
    parser.add_argument("--every", type=int, default=30, help="seconds of a cycle of visits")
    arguments = parser.parse_args()
    trunkline = os.path.abspath(arguments.trunkline)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="watch-live-"))
    network = Network()
    watch = Watch(network, trunkline, folder, arguments.every)
    done = []
    try:
        for name in ["collector"] + HOSTS:
            watch.start(name)
        begun = time.monotonic()
        agenda = []
        for kind, host, first, cycles, _ in TROUBLES:
            agenda.append((first, begin, kind, host))
            agenda.append((first + cycles, end, kind, host))
        agenda.sort(key=lambda one: one[0])
        for cycle, work, kind, host in agenda:
            time.sleep(max(0.0, begun + cycle * arguments.every - time.monotonic()))
            done.append((work, kind, host, time.time()))
            print(f"{time.monotonic() - begun:6.0f} s {work.__name__} {kind} {host}",
                  file=sys.stderr)
            work(watch, network, kind, host)
        time.sleep(max(0.0, begun + CYCLES * arguments.every - time.monotonic()))
        seconds = time.monotonic() - begun
        usage = {name: watch.usage(name) for name in ["collector"] + HOSTS}
        load = os.getloadavg()[2]
        # Half a minute for what waits, then agents first: each delivers once more.
        time.sleep(35)
        for name in HOSTS:
            watch.kill(name, signal.SIGTERM)
        watch.kill("collector", signal.SIGTERM)
        page(arguments, done, usage, judge(folder), seconds, load)
    finally:
        for name in list(watch.processes):
            watch.kill(name)
        network.remove()
    print(f"kept: {folder}", file=sys.stderr)


def near(events, host, since, until):
    """Events of a host's pairs that began between two times."""
    return [one for one in events if host in one[:2]
            and since <= one[2]["first_visit_unix_seconds"] <= until]


def told(event, since, every):
    """An event in a few words."""
    sender, receiver, what = event
    shifts = ", ".join(f"{one['metric']} {one['before']:.3g} to {one['after']:.3g}"
                       for one in what.get("shifts", []))
    causes = what.get("causes") or [{"kind": "no cause"}]
    cause = causes[0]["kind"]
    if what["kind"] == "no-data":
        cause = "; ".join(sorted(what.get("failures", {})))[:80]
    late = (what["confirmed_unix_seconds"] - since) / every
    over = "over" if what.get("recovered_unix_seconds") else "open"
    return (f"{sender} to {receiver}: {what['kind']} {shifts} ({cause}), certain {late:.1f} cycles "
            f"after it began, {over}")


def compare(done, events, every):
    """One row for each trouble, and the events that belong to none."""
    claimed = []
    print("\n| trouble | should be | events of its pairs |\n|---|---|---|")
    for kind, host, _, cycles, expected in TROUBLES:
        since = next(at for work, k, h, at in done if (work, k, h) == (begin, kind, host))
        until = since + (cycles + 1) * every
        own = [one for one in events if since - every <= one[2]["first_visit_unix_seconds"] <= until
               ] if kind == "down" else near(events, host, since - every, until)
        own = [one for one in own if one not in claimed]
        claimed += own
        words = "<br>".join(told(one, since, every) for one in own) or "none"
        print(f"| {kind} at {host}, {cycles} cycles | {expected} | {words} |")
    rest = [one for one in events if one not in claimed]
    print(f"\nEvents that belong to none of these: {len(rest)}.")
    for one in rest:
        print(f"- {told(one, one[2]['first_visit_unix_seconds'], every)}")


def page(arguments, done, usage, result, seconds, load):
    made = result["made"] + result["cut_off"]
    kept = result["distinct"] + result["waiting"] + result["refused"]
    print("# Six hosts watch each other while things go wrong\n")
    print(f"{datetime.date.today()}, {seconds / 60:.0f} minutes, {os.cpu_count()} x {processor()}, load "
          f"average of 15 minutes {load:.1f}. `bench/watch/live.py --every {arguments.every}`.\n")
    print("Six hosts and a collector in network namespaces on one switch, links of 20 Mbit/s, the "
          f"kernel's TCP;\neach host sends to the next one every {arguments.every} s. Times are "
          "counted in visits, as detectors do.")
    compare(done, result["events"], arguments.every)
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
    print("\n| process | most memory [MiB] | processor [s] | share |\n|---|---|---|---|")
    for name, (memory, processor) in usage.items():
        print(f"| {name} | {memory:.1f} | {processor:.1f} | {processor / seconds:.2%} |")


if __name__ == "__main__":
    main()
