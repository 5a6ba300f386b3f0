#!/usr/bin/env python3
"""Do the bounds of a server hold while its copies are killed, and does each copy end whole?

    bench/bounds.py [--seed N] [--copies N] [--kills N] [--program FILE]

A server on loopback with 200 Mbit/s and 12 streams for all, and two tokens, one of them with 80 Mbit/s, 4 streams and 2
copies. Copies of both, there and back, begin at random moments; near ends and the server are killed at random moments, and
the same commands given again. Twice a second the script reads what the server's sockets received and sent (TCP_INFO of `ss`)
and how many streams it has. Prints Markdown; ends with 1 where a file is wrong or missing. Needs `ss` of iproute2.
"""

import argparse
import filecmp
import os
import pathlib
import random
import re
import subprocess
import tempfile
import threading
import time

from common import TRUNKLINE, heading

PORT = 5397
RATE, STREAMS = 200e6, 12
OWN = "rate=80M streams=4 copies=2"
BYTES = 60_000_000
TICK = 0.5


class Server:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.start()

    def start(self):
        words = [self.program, "serve", "--root", "root", "--tokens", "tokens", "-B", "127.0.0.1", "-p", str(PORT),
                 "--copies-rate", f"{RATE / 1e6:.0f}M", "--copies-streams", str(STREAMS)]
        self.process = subprocess.Popen(words, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self):
        self.process.kill()
        self.process.wait()
        time.sleep(0.3)
        self.start()


class Counters(threading.Thread):
    """Bits per second in each direction and connections at the server, each half second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.rates, self.connections, self.is_over = {"received": [], "sent": []}, [], False

    def run(self):
        before, at = {}, time.monotonic()
        while not self.is_over:
            time.sleep(TICK)
            now, took = self.read(), time.monotonic() - at
            at += took
            for way, place in (("received", 0), ("sent", 1)):
                more = sum(one[place] - before.get(peer, (0, 0))[place] for peer, one in now.items())
                self.rates[way].append(8 * more / took)
            self.connections.append(len(now))
            before = now

    @staticmethod
    def read():
        """Bytes received and acknowledged of each connection, by the peer's port."""
        shown = subprocess.run(["ss", "-tinH", "state", "established", f"sport = :{PORT}"], capture_output=True, text=True).stdout
        found = {}
        for head, body in zip(*[iter(shown.splitlines())] * 2):
            count = lambda name: int((re.search(rf"{name}:(\d+)", body) or [0, 0])[1])  # noqa: E731
            found[head.split()[3]] = count("bytes_received"), count("bytes_acked")
        return found


class Copy:
    """A command that is given again until it ends well."""

    def __init__(self, program, folder, number, drawn):
        self.token, self.is_get = drawn.choice(["ana", "bob"]), drawn.random() < 0.5
        self.program, self.folder = program, folder
        self.source, self.target = f"file-{number}", f"copy-{number}"
        (folder / ("root" if self.is_get else ".") / self.source).write_bytes(drawn.randbytes(BYTES))
        self.starts, self.process = 0, None

    def go_on(self):
        """Whether it still runs."""
        code = self.process.poll() if self.process else 1
        if code == 0:
            return False
        if code is not None:
            remote = f"trunkline://127.0.0.1:{PORT}/"
            words = (remote + self.source, self.target) if self.is_get else (self.source, remote + self.target)
            environment = {**os.environ, "TRUNKLINE_STATE": str(self.folder / "state")}
            self.process = subprocess.Popen([self.program, "copy", *words, "--token-file", f"{self.token}.token", "-q"],
                                            cwd=self.folder, env=environment, stderr=subprocess.DEVNULL)
            self.starts += 1
        return True

    def is_whole(self):
        near, far = self.folder, self.folder / "root"
        source, target = (far, near) if self.is_get else (near, far)
        there = target / self.target
        return there.exists() and filecmp.cmp(source / self.source, there, shallow=False)


def prepared(program, folder):
    (folder / "root").mkdir()
    for name in ("ana", "bob"):
        make = [program, "serve", "--tokens", "tokens", "--new-token", name]
        token = subprocess.run(make, cwd=folder, check=True, capture_output=True, text=True).stdout
        file = folder / f"{name}.token"
        file.write_text(token)
        file.chmod(0o600)
    tokens = folder / "tokens"
    tokens.write_text(re.sub(r"^(ana .*)$", rf"\1 {OWN}", tokens.read_text(), flags=re.M))


def played(given, folder, drawn):
    """The copies, the counters, and how often what was killed."""
    prepared(given.program, folder)
    copies = [Copy(given.program, folder, number, drawn) for number in range(given.copies)]
    server, counters = Server(given.program, folder), Counters()
    counters.start()
    waiting, running, killed = list(copies), [], {"near ends": 0, "server": 0}
    until = time.monotonic() + given.minutes * 60
    while (waiting or running) and time.monotonic() < until:
        if waiting and drawn.random() < 0.3:
            running.append(waiting.pop())
        if running and sum(killed.values()) < given.kills and drawn.random() < 0.15:
            kill(server, drawn.choice(running), drawn, killed)
        running = [copy for copy in running if copy.go_on()]
        time.sleep(0.25)
    counters.is_over = True
    counters.join()
    server.process.kill()
    for copy in running:
        copy.process.kill()
    return copies, counters, killed


def kill(server, copy, drawn, killed):
    if drawn.random() < 0.25:
        server.kill()
        killed["server"] += 1
    elif copy.process and copy.process.poll() is None:
        copy.process.kill()
        killed["near ends"] += 1


def row(name, values, bound):
    """Means of two seconds over the bound: a part is told anew within one."""
    over = [sum(values[at : at + 4]) / 4 / bound for at in range(max(1, len(values) - 3))]
    busy = sorted(one for one in over if one > 0.5) or [0.0]
    return f"| {name} | {busy[len(busy) // 2]:.3f} | {busy[-1]:.3f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--copies", type=int, default=16)
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--minutes", type=float, default=5, help="given up after so long")
    parser.add_argument("--program", default=str(TRUNKLINE))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        copies, counters, killed = played(given, pathlib.Path(folder), random.Random(given.seed))
        wrong = [copy.target for copy in copies if not copy.is_whole()]
    print(heading("Bounds of a server while copies are killed"))
    print(f"Seed {given.seed}: {len(copies)} copies of {BYTES / 1e6:.0f} MB, {sum(copy.starts for copy in copies)} starts; "
          f"killed: {', '.join(f'{count} {what}' for what, count in killed.items())}. Wrong or missing: {len(wrong)}.\n")
    print("| over the bound | median while busy | most |")
    print("|---|---|---|")
    print(row("received, means of 2 s", counters.rates["received"], RATE))
    print(row("sent, means of 2 s", counters.rates["sent"], RATE))
    print(row("connections, control ones too", counters.connections, STREAMS))
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
