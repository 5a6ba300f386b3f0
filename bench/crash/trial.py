"""One copy with one fault, and the same command once more."""

import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys

import disk
import points
from ends import listens, wait_for

# Least that a copy takes: a far end that is gone is not waited for.
PATIENCE = "1s"
LIMIT = 60
# And where each stream breaks anew: who gives up then has to find all in order too.
STORM = 4
# Tries to count calls. strace makes an end slow, and that alone must not break a copy; it is told when it does.
COUNTS = 5
# The system's words for what was injected, or ours.
SAID = {"EIO": ("I/O error", "Input/output error"), "ENOSPC": ("No space left",), "EDQUOT": ("quota",), "EINTR": ("Interrupted",)}
# What takes ssh's place: the command runs here.
SSH = """#!/bin/sh
for word; do [ "$word" = -G ] && { echo "hostname 127.0.0.1"; exit; }; last=$word; done
SSH_CONNECTION="127.0.0.1 1 127.0.0.1 22" exec sh -c "$last"
"""
# The far program: the first one started is tampered with.
FAR = """#!/bin/sh
echo $$ >> {PIDS}
mkdir {STARTED} 2>/dev/null || {again}
{first}
"""


@dataclasses.dataclass
class Bench:
    """What all trials share."""
    folder: pathlib.Path
    trunkline: str
    seed: int
    judge: object = None

    @property
    def source(self):
        return self.folder / "source"

    def prepare(self):
        disk.make_source(self.source, self.seed)
        disk.make_target(self.folder / "old", self.seed)
        self.judge = disk.Judge(self.source, self.folder / "old")
        make = [self.trunkline, "serve", "--tokens", str(self.folder / "tokens"), "--new-token", "bench"]
        made = subprocess.run(make, capture_output=True, text=True, check=True)
        (self.folder / "token").write_text(made.stdout)
        (self.folder / "token").chmod(0o600)


class Trial:
    """The processes and files of one point."""

    def __init__(self, bench, point, name):
        self.bench, self.point = bench, point
        self.run = disk.fresh(bench.folder / name)
        self.target = self.run / "target"
        disk.make_target(self.target, bench.seed)
        self.log, self.server, self.port = self.run / "strace.log", None, 0
        self.is_serve = point.transport == "serve"
        # Over both versions of the internet protocol, without a point more.
        self.address = "::1" if point.way == "get" else "127.0.0.1"
        self.strace = []

    def tamper(self, words):
        # What the near end starts is not its own doing. Not --seccomp-bpf: with it strace 6.1 loses signals that it was to inject.
        starts = self.point.victim_is_near and not self.is_serve
        self.strace = ["strace", "-q", "-f", *(["-b", "execve"] if starts else []), "-y", "-o", str(self.log), *words]

    # --- the two ends -------------------------------------------------------------------------------------------------

    def command(self):
        near, far = (self.bench.source, self.target) if self.point.way == "put" else (self.target, self.bench.source)
        if self.is_serve:
            host = f"[{self.address}]" if ":" in self.address else self.address
            told = f"trunkline://{host}:{self.port}/{far.relative_to(self.bench.folder)}"
            options = ["--token-file", str(self.bench.folder / "token")]
        else:
            told = f"far:{far}"
            options = ["-e", str(self.run / "ssh"), "--far-program", str(self.run / "far")]
        ends = [str(near), told] if self.point.way == "put" else [told, str(near)]
        return [self.bench.trunkline, "copy", "-r", "-P", "2", "--no-history", "--json", "--patience", PATIENCE, *options, *ends]

    def prepare_far(self, prefix, once):
        """What ssh or an init would start. `once` for a far host that does not come back."""
        if self.is_serve:
            self.start_server(prefix)
            return
        started, program = self.run / "started", shlex.quote(self.bench.trunkline)
        shutil.rmtree(started, ignore_errors=True)
        words = {"STARTED": str(started), "PIDS": str(self.run / "far.pids")}
        far = FAR.format(again="exit 1" if once else f'exec {program} "$@"', first=f'exec {shlex.join(prefix)} {program} "$@"',
                         **{name: shlex.quote(path) for name, path in words.items()})
        for name, text in (("ssh", SSH), ("far", far)):
            # In a process of its own: what another thread starts meanwhile would hold a file open that this one wrote, and
            # Linux runs no file that is open for writing.
            subprocess.run(["install", "-m", "755", "/dev/stdin", self.run / name], input=text, text=True, check=True)

    def start_server(self, prefix):
        self.port = self.port or free_port()
        serve = [self.bench.trunkline, "serve", "-B", self.address, "-p", str(self.port), "--root", str(self.bench.folder),
                 "--tokens", str(self.bench.folder / "tokens")]
        with open(self.run / "server.log", "ab") as log:
            self.server = subprocess.Popen([*prefix, *serve], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                           cwd=self.run, start_new_session=True)
        wait_for(lambda: listens(self.port) or self.server.poll() is not None, 20)

    def stop_server(self):
        """Whether it had ended by itself."""
        if self.server is None:
            return False
        gone = self.server.poll() is not None
        if not gone:
            os.killpg(self.server.pid, signal.SIGKILL)
            self.server.wait()
            # Under strace it is not this process's own child that listens.
            wait_for(lambda: not listens(self.port), 10)
        self.server = None
        return gone

    def copy(self, number, prefix, limit=LIMIT):
        """The status, or `None` where the command does not end."""
        home = {"XDG_DATA_HOME": str(self.run / "data"), "XDG_STATE_HOME": str(self.run / "state"), "RUST_BACKTRACE": "1"}
        with open(self.run / f"out-{number}", "wb") as out, open(self.run / f"err-{number}", "wb") as err:
            process = subprocess.Popen([*prefix, *self.command()], stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=self.run,
                                       env={**os.environ, **home}, start_new_session=True)
            try:
                return process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return None

    def processes(self):
        """All that the commands of this trial have started and that are still there."""
        def is_here(id):
            try:
                return os.readlink(f"/proc/{id}/cwd") == str(self.run)
            except OSError:
                return False
        return [id for id in os.listdir("/proc") if id.isdigit() and is_here(id)]

    def settle(self):
        """Whether whoever outlives the first command is done with its files: while they are open they are locked. A far end that
        ssh started waits for its near end to come back, and a server for everybody."""
        def holds_locks():
            mine = set(self.processes())
            return any(mine & set(line.split()) for line in open("/proc/locks"))
        return wait_for(lambda: not holds_locks(), 15)

    # --- what is asked of it ------------------------------------------------------------------------------------------

    def play(self):
        point, near = self.point, self.point.victim_is_near
        self.tamper(point.tampering(self.bench.source, self.target))
        self.prepare_far([] if near else self.strace, once=point.what == points.KILL)
        first = self.copy(1, self.strace if near else [], STORM if point.is_storm else LIMIT)
        settled = self.settle()
        if not near:
            self.stop_server()
        wrong = [] if settled else ["what the first command began is still locked 15 s after its end"]
        wrong += self.after_first(first)
        most = self.bench.judge.to_send(self.target)
        if not near or not self.is_serve:
            self.prepare_far([], once=False)
        second = self.copy(2, [])
        self.settle()
        self.stop_server()
        wrong += self.after_second(second, most)
        fired = self.fired()
        if fired and first and point.what != points.KILL:
            wrong += self.unclear(self.told(1))
        return {"point": point, "fired": fired, "first": first, "wrong": wrong}

    def fired(self):
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        if self.point.what == points.KILL:
            return "killed by SIGKILL" in text and "exited with" not in text.rsplit("killed by SIGKILL", 1)[1]
        return "(INJECTED)" in text

    def told(self, number):
        """What the user saw and each event."""
        return self.said(number) + (self.run / f"out-{number}").read_text(errors="replace")

    def said(self, number):
        return (self.run / f"err-{number}").read_text(errors="replace")

    def after_first(self, status):
        wrong = [f"after the first command {one}" for one in self.bench.judge.after_crash(self.target)]
        said = self.said(1)
        if status is None and not self.point.is_storm:
            wrong.append(f"the first command did not end within {LIMIT} s")
        panics = [line for line in (said + self.server_said()).splitlines() if "panicked" in line]
        # signal-hook panics where strace has the call on its own pipe fail, which no system does.
        panics = [line for line in panics if "signal-hook" not in line]
        if panics:
            wrong.append(f"a panic: {panics[0]}; {last_line(said)}")
        if status == 0:
            wrong += [f"the first command ended with 0, but {one}" for one in self.bench.judge.in_the_end(self.target)]
        return wrong

    def unclear(self, said):
        """An error has to name the file and the cause where the call was on a file."""
        file, causes = os.path.basename(self.point.call.partition("@")[2]), SAID.get(self.point.what)
        if "error" not in said:
            return ["the first command failed without a word"]
        if not file or causes is None:
            return []
        clear = any(cause.lower() in line.lower() and file in line for cause in causes for line in said.splitlines())
        return [] if clear else [f"no error names `{file}` and `{causes[0]}`: {last_line(said)}"]

    def server_said(self):
        log = self.run / "server.log"
        return log.read_text(errors="replace") if log.exists() else ""

    def after_second(self, status, most):
        said = self.said(2)
        if status != 0:
            ending = "did not end" if status is None else f"ended with {status}"
            return [f"the second command {ending}: {last_line(said)}"]
        wrong = [f"in the end {one}" for one in self.bench.judge.in_the_end(self.target)]
        sent = sent_bytes(self.run / "out-2")
        if sent is None:
            wrong.append("the second command left no document")
        elif sent > most:
            wrong.append(f"the second command sent {sent} bytes of files, {most} were not there")
        return wrong

    def close(self):
        self.stop_server()
        for id in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(id), signal.SIGKILL)


def count_calls(bench, role, way, transport, name):
    """A copy that nothing happens to: the calls of one of its ends."""
    for attempt in range(COUNTS):
        trial = Trial(bench, points.Point(role, way, transport, "", "", 0), f"{name}-{attempt}")
        trial.tamper(["-e", f"trace={','.join(points.CALLS)}"])
        near = trial.point.victim_is_near
        trial.prepare_far([] if near else trial.strace, once=False)
        status = trial.copy(1, trial.strace if near else [])
        trial.settle()
        trial.close()
        wrong = bench.judge.in_the_end(trial.target) if status == 0 else [last_line(trial.said(1))]
        if not wrong:
            files = [name for name, one in bench.judge.source.items() if one.kind != "folder"]
            return points.count(trial.log, files)
        print(f"a copy that nothing happens to ({role}, {way}, {transport}) ends with {status}: {wrong}", file=sys.stderr)
    raise SystemExit(f"{COUNTS} copies under strace that nothing else happens to failed; they are kept: {bench.folder}")


# Below the ports that the kernel gives to whoever asks for any, and each one once in a run.
PORTS = itertools.count(random.SystemRandom().randrange(20_000, 28_000))


def free_port():
    for port in PORTS:
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port


def last_line(text):
    lines = [line.strip() for line in re.split(r"[\r\n]+", text) if line.strip()]
    errors = [line for line in lines if "error" in line.lower() or "panicked" in line]
    return " / ".join((errors or lines or [""])[:4])[:400]


def sent_bytes(out):
    lines = out.read_text(errors="replace").strip().splitlines()
    try:
        return json.loads(lines[-1])["sent_bytes"]
    except (IndexError, ValueError, KeyError):
        return None
