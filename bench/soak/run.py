#!/usr/bin/env python3
"""A watch, a campaign and plain copies together for many minutes, while everything that can happen to hosts happens.

    bench/soak/run.py --minutes 15 [--seed N] [--page]

Hosts are network namespaces on one switch: a collector, three agents, a source, two destinations and a client. At random
moments, all drawn from the printed seed, a role is killed (-9, TERM), stands still for a while, loses its network, finds its
disk full, or has its clock stepped (libfaketime; the machine's own clock stays). What has to hold, after each copy and at
the end:

* every file is the same at both ends, none is missing, none is left over;
* every visit that an agent reported is stored once; no round is missing that no fault explains;
* exit codes are documented ones, nobody panicked, logs are short, and files, threads and memory do not grow.

Needs root, `ip` and `tc`; clocks are stepped where libfaketime is installed.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), *(str(HERE.parent / name) for name in ("watch", "stops", "copy")), str(HERE.parent)]

import live
from common import ROOT, TRUNKLINE, heading
from roles import Disk, Role
from stage import in_own_namespaces
from work import Campaign, Copies

AGENTS = ["amsterdam", "berlin", "cern"]
HOSTS = [*AGENTS, "source", "near", "far", "client"]
EVERY = 15
PORT, COLLECTOR, WEB = 5201, 5203, 8080
FAKETIME = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
# So long servers have nothing to do at the end, before it is looked at what they still have open.
QUIET = 30
# How long a copy or a campaign may still take when the faults are over.
SETTLE = 240


class Soak:
    """The roles, the workers and the faults of one run."""

    # Destinations of copies and campaign; `far` has a small disk.
    servers = ("near", "far")

    def __init__(self, given, folder):
        self.folder, self.program, self.drawn = folder, given.trunkline, random.Random(given.seed)
        self.is_over = self.is_hurried = False
        live.HOSTS, live.PAIRS = HOSTS, list(zip(AGENTS, AGENTS[1:] + AGENTS[:1]))
        live.RATE = "100mbit"
        self.network = live.Network()
        self.disk = Disk(folder / "far", 320)
        self.state = Disk(folder / "states", 48)
        for name in ("source", "near"):
            (folder / name).mkdir()
        self.offsets = {name: folder / f"{name}.clock" for name in [*AGENTS, "collector"]}
        self.prepare_tokens()
        self.prepare_watch()
        self.roles = [self.role_of_agent(name) for name in AGENTS]
        self.roles += [self.role_of_collector(), *map(self.role_of_server, ("source", *self.servers))]
        self.workers = [Copies("copies-1", self, given.seed), Copies("copies-2", self, given.seed),
                        Campaign("campaign", self, given.seed)]
        self.told, self.pending = [], []

    # --- what is set up ---------------------------------------------------------------------------------------------------

    def address(self, host):
        return f"10.78.0.{self.network.names.index(host) + 1}"

    def root(self, server):
        return self.folder / server

    def token(self, server):
        return self.folder / f"{server}.token"

    def at(self, server, place):
        return f"trunkline://{self.address(server)}/{place}"

    def prepare_tokens(self):
        for name in [*AGENTS, "source", *self.servers]:
            file = self.folder / ("agents.tokens" if name in AGENTS else f"{name}.tokens")
            made = live.run(self.program, "serve", "--tokens", str(file), "--new-token", name,
                            *(["--write-only"] if name in AGENTS else []))
            self.token(name).write_text(made.stdout)
            self.token(name).chmod(0o600)
        places = ",".join(f"{self.address(server)}:{PORT}" for server in self.servers)
        tokens = self.folder / "source.tokens"
        tokens.write_text(tokens.read_text().rstrip("\n") + f" to={places}\n")

    def prepare_watch(self):
        hosts = "".join(f'[hosts.{name}]\naddress = "{self.address(name)}"\nlink = "100Mbit/s"\n' for name in AGENTS)
        tasks = ('[groups]\nmesh = { mesh = ' + json.dumps(AGENTS) + ' }\n'
                 f'[tasks.goodput]\nkind = "throughput"\ngroup = "mesh"\nevery = "{4 * EVERY}s"\nduration = "8s"\n'
                 f'[tasks.trips]\nkind = "ping"\ngroup = "mesh"\nevery = "{EVERY * 2}s"\nduration = "2s"\n')
        (self.folder / "plan.toml").write_text('gap = "1s"\n' + hosts + tasks)

    def with_clock(self, name):
        self.offsets[name].write_text("+0\n")
        if not FAKETIME.exists():
            return {}
        return {"LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(self.offsets[name]), "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "FAKETIME_CACHE_DURATION": "1"}

    def role_of_agent(self, name):
        words = [self.program, "watch", "run", self.folder / "plan.toml", "--host", name, "--collector", self.address("collector"),
                 "--token-file", self.token(name), "--state", self.state.folder / f"state-{name}"]
        return Role(name, name, words, self.network, self.folder, self.with_clock(name))

    def role_of_collector(self):
        words = [self.program, "watch", "serve", self.folder / "plan.toml", "--tokens", self.folder / "agents.tokens",
                 "--database", self.folder / "watch.db", "--web", f"127.0.0.1:{WEB}"]
        return Role("collector", "collector", words, self.network, self.folder, self.with_clock("collector"))

    def role_of_server(self, name):
        words = [self.program, "serve", "--root", self.root(name), "--tokens", self.folder / f"{name}.tokens"]
        return Role(name, name, words, self.network, self.folder)

    # --- what happens -----------------------------------------------------------------------------------------------------

    def play(self, minutes):
        began = time.monotonic()
        for one in [*self.roles, *self.workers]:
            one.start()
        due, faults_end = began + 20, began + 60 * minutes
        while (now := time.monotonic()) < faults_end and not self.is_fatal():
            if now >= due:
                due = now + self.drawn.expovariate(1 / 6)
                self.fault(now - began)
            self.tick()
        self.is_over = True
        for _, undo in self.pending:
            undo()
        self.pending = []
        self.wait_for_workers()
        self.wait_for_spools()
        for role in self.roles:
            role.count(time.monotonic())
        self.stop()

    def is_fatal(self):
        return all(worker.is_fatal for worker in self.workers)

    def tick(self):
        now = time.monotonic()
        for at, undo in [one for one in self.pending if one[0] <= now]:
            undo()
        self.pending = [one for one in self.pending if one[0] > now]
        for role in self.roles:
            role.look(self.drawn)
        time.sleep(0.1)

    def later(self, seconds, undo):
        self.pending.append((time.monotonic() + seconds, undo))

    def fault(self, elapsed):
        kind = self.drawn.choice(["kill", "kill", "kill", "term", "stand", "cut", "full", "clock", "worker", "worker"])
        what = getattr(self, f"fault_{kind}")()
        self.told.append(kind)
        print(f"{elapsed:6.0f} s {kind} {what}", file=sys.stderr, flush=True)

    def fault_kill(self, number=signal.SIGKILL):
        role = self.drawn.choice(self.roles)
        # What an agent has only in memory, because its disk is full, dies with it: as documented. It needs a moment to
        # write that when there is room again.
        if role.name in AGENTS and self.state.was_full(time.monotonic() - 20):
            return "nobody"
        role.disturb(20)
        role.signal(number)
        return role.name

    def fault_term(self):
        return self.fault_kill(signal.SIGTERM)

    def fault_stand(self):
        role, seconds = self.drawn.choice(self.roles), self.drawn.choice([1, 3, 8, 25])
        role.disturb(seconds + 30)
        self.stand(role, seconds)
        return f"{role.name} for {seconds} s"

    def stand(self, role, seconds):
        process = role.process
        if process and process.poll() is None:
            process.send_signal(signal.SIGSTOP)
            self.later(seconds, lambda: process.poll() is None and process.send_signal(signal.SIGCONT))

    def fault_cut(self):
        host, seconds = self.drawn.choice(self.network.names), self.drawn.choice([1, 4, 12, 30])
        self.network.cut(host, True)
        self.later(seconds, lambda: self.network.cut(host, False))
        return f"{host} for {seconds} s"

    def fault_full(self):
        disk, seconds = self.drawn.choice([self.disk, self.disk, self.state]), self.drawn.choice([2, 6, 15])
        disk.fill()
        for role in self.roles:
            role.full_until = time.monotonic() + seconds + 5
        self.later(seconds, disk.empty)
        return f"{disk.folder.name} for {seconds} s"

    def fault_clock(self):
        name = self.drawn.choice(sorted(self.offsets))
        step = self.drawn.choice([-90, -20, -3, 3, 20, 90])
        for role in self.roles:
            # Visits go by both ends' clocks; a collector that is behind takes none until it is right.
            role.disturb(180)
        self.offsets[name].write_text(f"{step:+}\n")
        self.later(self.drawn.uniform(15, 60), lambda: self.offsets[name].write_text("+0\n"))
        return f"of {name} by {step} s"

    def fault_worker(self):
        worker = self.drawn.choice(self.workers)
        number = self.drawn.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        process = worker.process
        if process and process.poll() is None:
            process.send_signal(number)
        return f"{worker.name} by {number.name}"

    # --- how it ends ------------------------------------------------------------------------------------------------------

    def wait_for_workers(self):
        until = time.monotonic() + SETTLE
        while any(worker.is_alive() for worker in self.workers) and time.monotonic() < until:
            self.tick()
        for worker in self.workers:
            if worker.is_alive():
                worker.findings.append(f"{worker.name}: still not done {SETTLE} s after the last fault")
        self.is_hurried = True

    def waiting(self):
        total = 0
        for name in AGENTS:
            spool = sqlite3.connect(self.state.folder / f"state-{name}" / "results.sqlite")
            total += spool.execute("SELECT count(*) FROM spool").fetchone()[0]
            spool.close()
        return total

    def wait_for_spools(self):
        """Until no agent has results, with at least one quiet round."""
        began, quiet = time.monotonic(), 0
        while (took := time.monotonic() - began) < 150 and (quiet < 20 or took < QUIET):
            quiet = quiet + 1 if self.waiting() == 0 else 0
            self.tick()
        self.are_delivered = quiet >= 20

    def stop(self):
        """Agents first: each delivers once more."""
        for role in self.roles:
            role.signal(signal.SIGTERM)
            if role.process:
                try:
                    role.codes[role.process.wait(15)] += 1
                except subprocess.TimeoutExpired:
                    role.findings.append(f"{role.name} did not end within 15 s of SIGTERM")
                    role.process.kill()
        for worker in self.workers:
            if worker.process and worker.process.poll() is None:
                worker.process.kill()

    def visits(self):
        live.HOSTS = AGENTS
        for name in AGENTS:
            place = self.folder / f"state-{name}"
            place.unlink(missing_ok=True)
            place.symlink_to(self.state.folder / place.name)
        result = live.judge(self.folder)
        made = result["made"] + result["cut_off"]
        kept = result["distinct"] + result["waiting"] + result["refused"]
        return result | {"all_made": made, "kept": kept}

    def gaps(self):
        """Rounds of a series that are missing although nothing had happened to its hosts, the collector or the clocks."""
        database = sqlite3.connect(self.folder / "watch.db")
        series = database.execute("SELECT s.id, s.from_host, s.task FROM series AS s").fetchall()
        roles, found = {role.name: role for role in self.roles}, []
        for number, sender, task in series:
            begun = sorted(row[0] for row in database.execute("SELECT at FROM visits WHERE series = ?", (number,)))
            begun = [at / 1e9 if at > 1e12 else at for at in begun]
            every = 4 * EVERY if task == "goodput" else 2 * EVERY
            for one, other in zip(begun, begun[1:]):
                if other - one > 1.7 * every and not any(start - every <= other and end + every >= one
                                                         for start, end in roles[sender].disturbed):
                    found.append(f"{sender}, {task}: nothing for {other - one:.0f} s")
        return len(series), found

    def findings(self, visits, gaps):
        for one in [*self.roles, *self.workers]:
            yield from (one.judge() if isinstance(one, Role) else one.findings)
        for worker in self.workers:
            if worker.most_lines > 200:
                yield f"{worker.name}: {worker.most_lines} lines in ten seconds"
        if visits["stored"] != visits["distinct"]:
            yield f"{visits['stored'] - visits['distinct']} visits are stored twice"
        if visits["all_made"] > visits["kept"]:
            yield f"{visits['all_made'] - visits['kept']} visits that agents made are nowhere"
        if not self.are_delivered:
            yield f"{visits['waiting']} visits were not delivered within 150 s"
        yield from gaps


def table(soak, minutes):
    yield "| process | starts | exit codes | files, threads, MiB when warm | at the end of the last life | lines in 10 s, most |"
    yield "|---" * 6 + "|"
    words = lambda one: f"{one.files}, {one.threads}, {one.memory:.1f}"  # noqa: E731
    for role in soak.roles:
        warm, last = role.growth() or (None, None)
        codes = ", ".join(f"{code} ({count})" for code, count in sorted(role.codes.items()))
        yield (f"| {role.name} | {role.starts} | {codes} | {words(warm) if warm else '-'} | "
               f"{f'{words(last)} after {last.at:.0f} s' if last else '-'} | {role.most_lines} |")
    yield ""
    yield "| work | done and compared | MB | commands with exit codes | lines in 10 s, most |"
    yield "|---" * 5 + "|"
    for worker in soak.workers:
        codes = ", ".join(f"{command} {code} ({count})" for (command, code), count in sorted(worker.codes.items()))
        yield f"| {worker.name} | {worker.done} | {worker.bytes / 1e6:.0f} | {codes} | {worker.most_lines} |"


def page(soak, given, took):
    visits = soak.visits()
    series, gaps = soak.gaps()
    findings = collections.Counter(soak.findings(visits, gaps))
    kinds = ", ".join(f"{soak.told.count(kind)} {kind}" for kind in sorted(set(soak.told)))
    lines = [f"Seed {given.seed}, {took / 60:.1f} minutes, {len(soak.told)} faults: {kinds}.", "", *table(soak, given.minutes), "",
             f"Visits of {series} series: {visits['all_made']} made by the agents' logs ({visits['cut_off']} of them cut off by kills), "
             f"{visits['stored']} stored, {visits['distinct']} distinct, {visits['waiting']} waiting, {visits['refused']} refused, "
             f"{visits['failed']} failed.", "", f"Findings: {len(findings) or 'none'}.", *(f"- {one} ({count})" for one, count in findings.items())]
    return "\n".join(lines), findings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--page", action="store_true", help="append to bench/results/soak-DATE.md")
    parser.add_argument("--trunkline", type=os.path.abspath, default=str(TRUNKLINE))
    given = parser.parse_args()
    if "--seed" not in sys.argv:
        sys.argv += ["--seed", str(given.seed)]
    head = heading("Soak")
    in_own_namespaces()
    print(f"seed {given.seed}", file=sys.stderr)
    os.makedirs("/run/netns", exist_ok=True)
    # Names of namespaces, and what libfaketime leaves of a process that was killed.
    for place in ("/run/netns", "/dev/shm"):
        subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="trunkline-soak-", dir="/var/tmp"))
    began = time.monotonic()
    soak = Soak(given, folder)
    soak.play(given.minutes)
    text, findings = page(soak, given, time.monotonic() - began)
    print(f"{head}\n{text}")
    if given.page:
        file = ROOT / "bench" / "results" / f"soak-{datetime.date.today()}.md"
        before = f"{file.read_text()}\n" if file.exists() else f"{head}\n"
        file.write_text(f"{before}## Seed {given.seed}\n\n{text}\n")
    if findings:
        print(f"kept: {folder}", file=sys.stderr)
    else:
        subprocess.run(["umount", "-l", soak.disk.folder, soak.state.folder], check=False)
        shutil.rmtree(folder)
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
