#!/usr/bin/env python3
"""Six hosts in network namespaces watch each other with the kernel's TCP while things go wrong.

Troubles overlap: a link at two fifths of its rate, 3 % loss, an agent killed with signal 9, a router
that stops to answer, a link that is cut, a queue that shrinks to 3 kB, a collector that is killed.
Times are counted in cycles of the plan, as detectors count visits. Afterwards each trouble is
compared with the incidents that the collector's page shows, and every result that an agent had is
in the database once. Writes a page in Markdown on standard output. Needs root, `ip`, `tc`, `nft`.

    python3 bench/watch/live.py --every 30 > bench/results/watch-live-$(date -u +%F).md
"""

import argparse
import datetime
import html
import json
import os
import pathlib
import re
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
# Kind, host, first cycle, cycles that it lasts; pairs that it touches; what should be found.
TROUBLES = [
    ("rate", "amsterdam", 14, 10, [("amsterdam", "berlin")], "goodput down by 60 %: rate"),
    ("loss", "delft", 18, 10, [("cern", "delft")], "resent share up, or goodput down: loss"),
    ("kill", "edinburgh", 21, 2, [("edinburgh", "fermi")], "no incident, or no data with its end"),
    ("silent", "delft", 24, 8, [], "no incident: a router that does not answer is no trouble"),
    ("cut", "berlin", 31, 6, [("amsterdam", "berlin"), ("berlin", "cern")], "nothing in or out"),
    ("queue", "edinburgh", 34, 10, [("edinburgh", "fermi")], "goodput down, or resent share up"),
    ("down", "collector", 40, 6, [], "no incident, nothing lost"),
]
CYCLES = 58
PLAN_HEAD = 'gap = "1s"\n'


def run(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True)


class Network:
    """Six hosts and a collector around one router, each behind a link of 20 Mbit/s."""

    def __init__(self):
        self.names = HOSTS + ["collector"]
        self.prefix = f"tw{os.getpid()}"
        run("ip", "netns", "add", self.ns("router"))
        self.set("router", "net.ipv4.ip_forward=1")
        # Each hop answers each probe.
        self.set("router", "net.ipv4.icmp_ratelimit=0")
        for name in self.names:
            self.attach(name)

    def ns(self, name):
        return f"{self.prefix}-{name}"

    def set(self, name, what):
        run("ip", "netns", "exec", self.ns(name), "sysctl", "-qw", what)

    def network(self, name):
        return f"10.78.{self.names.index(name) + 1}"

    def address(self, name):
        return f"{self.network(name)}.2"

    def attach(self, name):
        run("ip", "netns", "add", self.ns(name))
        run("ip", "-n", self.ns(name), "link", "set", "lo", "up")
        # BBR would carry on through 3 % loss: goodput would show nothing to be found.
        self.set(name, "net.ipv4.tcp_congestion_control=reno")
        run("ip", "link", "add", "eth0", "netns", self.ns(name), "type", "veth",
            "peer", "name", name, "netns", self.ns("router"))
        for place, device, last in [(name, "eth0", 2), ("router", name, 1)]:
            run("ip", "-n", self.ns(place), "addr", "add", f"{self.network(name)}.{last}/24",
                "dev", device)
            run("ip", "-n", self.ns(place), "link", "set", device, "up")
        run("ip", "-n", self.ns(name), "route", "add", "default", "via", f"{self.network(name)}.1")
        self.whole(name)

    def shape(self, name, rate, burst, queue):
        """Another queue in place of the one before: one that is changed to a burst below the
        packet that it holds never lets that one go."""
        device = ["dev", "eth0", "root"]
        run("tc", "-n", self.ns(name), "qdisc", "del", *device, check=False)
        run("tc", "-n", self.ns(name), "qdisc", "add", *device, "tbf",
            "rate", rate, "burst", burst, "latency", queue)

    def whole(self, name):
        self.shape(name, RATE, "64k", "40ms")

    def cut(self, name, is_cut):
        run("ip", "-n", self.ns("router"), "link", "set", name, "down" if is_cut else "up")

    def filter(self, place, hook, rule):
        """Drops packets at a host or the router; without a rule, nothing any more."""
        words = ["ip", "netns", "exec", self.ns(place), "nft"]
        if rule is None:
            run(*words, "delete table inet trouble")
            return
        run(*words, "add table inet trouble")
        run(*words, f"add chain inet trouble here {{ type filter hook {hook} priority 0; }}")
        run(*words, f"add rule inet trouble here {rule} drop")

    def lose(self, name, is_lossy):
        """Drops 3 % of what comes to a host."""
        self.filter(name, "prerouting", "numgen random mod 100 < 3" if is_lossy else None)

    def silence(self, name, is_silent):
        """The router does not tell a host any more where its packets die."""
        rule = f"ip daddr {self.address(name)} icmp type time-exceeded"
        self.filter("router", "output", rule if is_silent else None)

    def wait_for_visit(self, name, patience):
        """Returns three seconds into a visit of a host to the next one."""
        far = self.address(HOSTS[(HOSTS.index(name) + 1) % len(HOSTS)])
        until = time.monotonic() + patience
        while time.monotonic() < until:
            words = ["ip", "netns", "exec", self.ns(name), "ss", "-Htn", "state", "established"]
            if run(*words, "dst", far).stdout.strip():
                time.sleep(3)
                return
            time.sleep(0.2)

    def pages(self, path):
        """A page of the collector."""
        words = ["ip", "netns", "exec", self.ns("collector"), "curl", "-s", "--max-time", "20"]
        return run(*words, f"http://127.0.0.1:8080{path}", check=False).stdout

    def remove(self):
        for name in self.names + ["router"]:
            run("ip", "netns", "del", self.ns(name), check=False)


class Watch:
    """The collector and an agent on each host."""

    def __init__(self, network, trunkline, folder, every):
        self.network, self.trunkline, self.folder = network, trunkline, folder
        self.every = every
        self.processes = {}
        self.logs = {}
        hosts = "".join(
            f'[hosts.{name}]\naddress = "{network.address(name)}"\nlink = "20Mbit/s"\n'
            for name in HOSTS
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
                      "--database", str(self.folder / "watch.db"), "--web", "127.0.0.1:8080"]
        else:
            words += ["run", plan, "--host", name, "--collector",
                      self.network.address("collector"),
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
        network.shape(host, NARROW, "64k", "40ms")
    elif kind == "queue":
        network.shape(host, RATE, "2k", "1ms")
    elif kind == "loss":
        network.lose(host, True)
    elif kind == "silent":
        network.silence(host, True)
    elif kind == "cut":
        network.cut(host, True)
    else:
        if kind == "kill":
            network.wait_for_visit(host, 2 * watch.every)
        watch.kill(host)


def end(watch, network, kind, host):
    if kind in ("rate", "queue"):
        network.whole(host)
    elif kind == "loss":
        network.lose(host, False)
    elif kind == "silent":
        network.silence(host, False)
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
        begun, start = time.monotonic(), time.time()
        agenda = []
        for kind, host, first, cycles, _, _ in TROUBLES:
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
        incidents = cards(network.pages("/events"))
        for name in HOSTS:
            watch.kill(name, signal.SIGTERM)
        watch.kill("collector", signal.SIGTERM)
        page(arguments, done, usage, {**judge(folder), "incidents": incidents}, start, seconds, load)
    finally:
        for name in list(watch.processes):
            watch.kill(name)
        network.remove()
    print(f"kept: {folder}", file=sys.stderr)


def cards(page):
    """The incidents of a page: the words of each card, with the exact times."""
    page = re.sub(r'<time[^>]*datetime="([^"]*)"[^>]*>[^<]*</time>', r"\1", page)
    found = []
    for part in re.split(r'<li class="event', page)[1:]:
        part = part.split("</li>\n<li", 1)[0]
        inner = re.sub(r"<summary>", " MEMBERS ", part[part.index(">") + 1:])
        words = html.unescape(re.sub(r"<[^>]*>", " ", inner))
        found.append(re.sub(r"\s+", " ", words).strip())
    return found


def told(event, begun):
    """An event of the database in a few words; times are cycles of the watch."""
    sender, receiver, what = event
    shifts = ", ".join(f"{one['metric']} {one['before']:.3g} to {one['after']:.3g}"
                       for one in what.get("shifts", []))
    causes = what.get("causes") or [{"kind": "no cause"}]
    cause = causes[0]["kind"]
    if what["kind"] == "no-data":
        cause = "; ".join(sorted(what.get("failures", {})))[:80]
    since, until = begun(what["first_visit_unix_seconds"]), what.get("recovered_unix_seconds")
    end = f"to {begun(until):.1f}" if until else "open"
    return f"{sender} to {receiver}: {what['kind']} {shifts} ({cause}), {since:.1f} {end}"


def compare(done, result, every, start):
    """One row for each trouble with the events of its pairs, those that belong to none, and the
    incidents as the page has them."""
    def cycle(at):
        return (at - start) / every
    claimed = []
    print("\n| trouble | cycles | should be | events of its pairs, with the cycles |\n|---|---|---|---|")
    for kind, host, _, _, pairs, expected in TROUBLES:
        since, until = (next(at for work, k, h, at in done if (work, k, h) == (edge, kind, host))
                        for edge in (begin, end))
        own = [one for one in result["events"] if one not in claimed and one[:2] in pairs
               and since - every <= one[2]["first_visit_unix_seconds"] <= until + every]
        claimed += own
        words = "<br>".join(told(one, cycle) for one in own) or "none"
        print(f"| {kind} at {host} | {cycle(since):.1f} to {cycle(until):.1f} | {expected} | {words} |")
    rest = [one for one in result["events"] if one not in claimed]
    print(f"\nEvents that belong to none of these: {len(rest)}.\n")
    for one in rest:
        print(f"- {told(one, cycle)}")
    print(f"\nThe page has {len(result['incidents'])} incidents:\n")
    for card in result["incidents"]:
        print(f"- {card}")


def page(arguments, done, usage, result, start, seconds, load):
    made = result["made"] + result["cut_off"]
    kept = result["distinct"] + result["waiting"] + result["refused"]
    print("# Six hosts watch each other while things go wrong\n")
    print(f"{datetime.date.today()}, {seconds / 60:.0f} minutes, {os.cpu_count()} x {processor()}, "
          f"load average of 15 minutes {load:.1f}. `bench/watch/live.py --every {arguments.every}`.\n")
    print("Six hosts and a collector in network namespaces around one router, links of 20 Mbit/s, the "
          f"kernel's TCP;\neach host sends to the next one every {arguments.every} s. Times are "
          "counted in visits, as detectors do.")
    compare(done, result, arguments.every, start)
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
    for name, (memory, used) in usage.items():
        print(f"| {name} | {memory:.1f} | {used:.1f} | {used / seconds:.2%} |")


if __name__ == "__main__":
    main()
