#!/usr/bin/env python3
"""Does a pipe deliver all of its input or say that it did not, whatever is killed or cut, and whenever?

    bench/crash/pipe_faults.py                     200 trials
    bench/crash/pipe_faults.py --trials 2000 --seed 7

Each trial pipes some megabytes over ssh (this script takes its place, with a proxy before the far end's port): into a file, into a
program that gives a file its name once its input has ended, or out of a file. Meanwhile one of these happens at a drawn moment:
nothing; the near end gets SIGINT, SIGTERM or SIGKILL; the far end SIGTERM or SIGKILL; ssh SIGKILL; connections are cut, streams
alone or the control connection with them. What counts:

* The final name is all of the input, or not there.
* The exit code is 0 only where it is all of the input, and it is 0 where streams alone were cut, or the control connection.
* The command ends within 20 s of the fault.
* Ten seconds later no process of the trial is left, and no temporary file; where the far end was killed, that file may be.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from common import TRUNKLINE, heading

KINDS = ("file", "program", "get")
FAULTS = ("none", "near INT", "near TERM", "near KILL", "far TERM", "far KILL", "ssh KILL", "cut streams", "cut control")
# A program that takes the end of its input for the end of a whole one.
TAKES = "cat > {0}.part && mv {0}.part {0}"
LIMIT = 20.0
MARK = "TRUNKLINE_PIPE_TRIAL"


def as_ssh():
    """What ssh does, with a proxy before the port that the far end names."""
    if sys.argv[1] == "-G":
        print("hostname 127.0.0.1")
        return
    plan = json.loads(os.environ["PIPE_PLAN"])
    command = sys.argv[-1]
    environment = {**os.environ, "SSH_CONNECTION": "127.0.0.1 1 127.0.0.1 22"}
    far = subprocess.Popen(["sh", "-c", "exec " + command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=plan["folder"],
                           env=environment)
    pathlib.Path(plan["folder"], "far.pid").write_text(str(far.pid))
    threading.Thread(target=feed, args=(sys.stdin.buffer.raw, far.stdin), daemon=True).start()
    line = far.stdout.readline()
    if line:
        answer = json.loads(line)
        answer["port"] = Proxy(answer["port"], plan).port
        print(json.dumps(answer, separators=(",", ":")), flush=True)
    sys.exit(far.wait())


def feed(source, sink):
    while part := source.read(65536):
        try:
            sink.write(part)
            sink.flush()
        except OSError:
            return
    try:
        sink.close()
    except OSError:
        pass


class Proxy:
    """Carries connections to a port, and cuts those that the plan says after so many bytes."""

    def __init__(self, port, plan):
        self.to, self.draw, self.plan = port, random.Random(plan["seed"]), plan
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.open, self.cuts, self.lock = [], plan["cuts"], threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        number = 0
        while True:
            near, _ = self.listener.accept()
            try:
                far = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                near.close()
                continue
            is_control = number == 0 or not self.open
            number += 1
            pair = (near, far)
            with self.lock:
                self.open.append(pair)
            left = [self.life(is_control)]
            for one, other in (pair, pair[::-1]):
                threading.Thread(target=self.carry, args=(one, other, pair, left), daemon=True).start()

    def life(self, is_control):
        which = self.plan["cut"]
        if which == "streams" and not is_control:
            return self.draw.randrange(200_000, 3_000_000)
        if which == "control" and is_control:
            return self.draw.randrange(2_000, 6_000)
        return None

    def carry(self, one, other, pair, left):
        try:
            while part := one.recv(65536):
                if left[0] is not None and self.cuts > 0:
                    left[0] -= len(part)
                    if left[0] < 0:
                        with self.lock:
                            self.cuts -= 1
                            cut = list(self.open) if self.plan["cut"] == "control" else [pair]
                            self.open = [it for it in self.open if it not in cut]
                        for near, far in cut:
                            broken(near), broken(far)
                        return
                other.sendall(part)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            broken(one), broken(other)
        with self.lock:
            if pair in self.open and other.fileno() < 0:
                self.open.remove(pair)


def broken(one):
    """The other end sees a reset."""
    try:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.shutdown(socket.SHUT_RD)
    except OSError:
        pass
    try:
        one.close()
    except OSError:
        pass


class Trial:
    def __init__(self, given, number):
        self.given, self.draw = given, random.Random(f"{given.seed}/{number}")
        self.kind = self.draw.choice(KINDS)
        self.fault = self.draw.choice(FAULTS)
        self.moment = self.draw.uniform(0.0, 0.8)
        self.size = self.draw.choice((0, 1, 70_000, 3_000_000, 30_000_000))
        self.pause = self.draw.uniform(0.0, 0.5)
        self.name = f"{number} {self.kind}, {self.fault} after {self.moment:.2f} s, {self.size} bytes"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pipe-", dir=given.folder))

    def run(self):
        self.source = self.folder / "source"
        self.source.write_bytes(self.draw.randbytes(self.size))
        ssh = self.folder / "ssh"
        ssh.write_text(f"#!/bin/sh\nexec python3 {HERE / 'pipe_faults.py'} \"$@\"\n")
        ssh.chmod(0o700)
        self.final = self.folder / ("got" if self.kind == "get" else "final")
        words = {"file": ["-", f"h:{self.final}"],
                 "program": ["h", "--", "sh", "-c", TAKES.format(self.final)],
                 "get": [f"h:{self.source}", "-"]}[self.kind]
        rate = ["--max-rate", "200M"] if self.draw.random() < 0.6 else []
        cut = {"cut streams": "streams", "cut control": "control"}.get(self.fault)
        plan = {"seed": self.draw.random(), "cut": cut, "cuts": self.draw.randrange(1, 6), "folder": str(self.folder)}
        environment = {**os.environ, "PIPE_PLAN": json.dumps(plan), MARK: self.folder.name}
        command = [self.given.trunkline, "pipe", "-m", "4M", "--patience", "8s", *rate, "-e", str(ssh), "--far-program",
                   self.given.trunkline, *words]
        output = open(self.folder / "out", "wb")
        near = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.PIPE, env=environment)
        threading.Thread(target=self.write, args=(near.stdin,), daemon=True).start()
        near.stdin = None
        hit = self.strike(near)
        try:
            said = near.communicate(timeout=self.moment + LIMIT)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            near.kill()
            self.stop_all()
            return f"hangs: {self.left()}"
        return self.judge(near.returncode, said, hit)

    def write(self, pipe):
        """With a pause in the middle, so that the fault also meets a pipe that stands still."""
        data = self.source.read_bytes() if self.kind != "get" else b""
        try:
            pipe.write(data[: len(data) // 2])
            pipe.flush()
            time.sleep(self.pause)
            pipe.write(data[len(data) // 2:])
            pipe.close()
        except OSError:
            pass

    def strike(self, near):
        """Whether anything was there to be hit."""
        who, _, how = self.fault.partition(" ")
        if who not in ("near", "far", "ssh"):
            return False
        time.sleep(self.moment)
        try:
            pid = {"near": near.pid, "far": self.far(), "ssh": self.child(near.pid)}[who]
            if pid is None or near.poll() is not None:
                return False
            os.kill(pid, getattr(signal, f"SIG{how}"))
            return True
        except ProcessLookupError:
            return False

    def far(self):
        try:
            return int((self.folder / "far.pid").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def child(self, pid):
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if int(fields[1]) == pid and any(b"pipe_faults" in word for word in words) and b"-G" not in words:
                return int(entry.name)
        return None

    def left(self):
        """Processes of this trial, by the variable that all of them inherit."""
        mark, found = f"{MARK}={self.folder.name}".encode(), []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append((int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:90]))
            except OSError:
                continue
        return found

    def stop_all(self):
        for pid, _ in self.left():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def judge(self, code, said, hit):
        until = time.time() + 10.0
        while (left := self.left()) and time.time() < until:
            time.sleep(0.02)
        self.stop_all()
        where = self.folder / "out" if self.kind == "get" else self.final
        got = where.read_bytes() if where.exists() else None
        is_whole = got == self.source.read_bytes()
        temporary = [it.name for it in self.folder.glob(".*trunkline-part")]
        wrong = []
        if left:
            wrong.append(f"still runs: {left}")
        if got is not None and not is_whole and self.kind != "get":
            wrong.append(f"{len(got)} of {self.size} bytes under the final name")
        if code == 0 and not is_whole:
            wrong.append("ends with 0 and is not whole")
        if code != 0 and not hit:
            wrong.append(f"ends with {code} although nothing was killed")
        if temporary and self.fault != "far KILL":
            wrong.append(f"leaves {temporary}")
        if "panicked" in said:
            wrong.append("panics")
        return "; ".join(wrong + [said[-600:]]) if wrong else None


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first trial")
    parser.add_argument("--seed", type=int, help="drawn and printed without this")
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--trunkline", type=os.path.abspath, default=str(TRUNKLINE), help="the program to try")
    return parser.parse_args()


def main():
    given = arguments()
    given.seed = random.randrange(1 << 30) if given.seed is None else given.seed
    print(heading(f"Pipes that are killed and cut, seed {given.seed}"))
    failed, counts = 0, {}
    for number in range(given.first, given.first + given.trials):
        trial = Trial(given, number)
        wrong = trial.run()
        counts[(trial.kind, trial.fault)] = counts.get((trial.kind, trial.fault), 0) + 1
        if wrong:
            failed += 1
            print(f"{trial.name}: {wrong}", flush=True)
        shutil.rmtree(trial.folder, ignore_errors=True)
    print(f"{given.trials} trials, {failed} failed; " + ", ".join(f"{kind}/{fault} {n}" for (kind, fault), n in sorted(counts.items())))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    as_ssh() if "PIPE_PLAN" in os.environ else main()
