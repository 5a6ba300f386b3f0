"""One trial at the near end: its commands, what they said, and what stands on the disk."""

import hashlib
import json
import os
import pathlib
import random
import signal
import subprocess
import time

import data
import journal
import tools

# Bytes that have arrived at the far end.
ARRIVED = "far.arrived"
# Names that a copy gives to what is not finished.
UNFINISHED = ("trunkline-part", "trunkline-journal", "trunkline-link")


class Play:
    """One trial at the near end: gives commands, looks at files, counts bytes."""

    def __init__(self, run, plan):
        self.run, self.plan = run, plan
        self.draws = random.Random(plan["seed"] ^ 0x5eed)
        self.source, self.target = run / "source", run / "target"
        # Taken before the scene was set: some of it may be out of reach now.
        self.before = json.loads((run / "before.json").read_text())
        # All contents that a name may have: more where the source changes.
        self.allowed = {name: {digest} for name, digest in self.before.items()}
        self.grows = None       # a file that is written to at its end: any beginning of it was its content once
        self.bytes = plan["bytes"]
        self.tries, self.wrong, self.errors, self.kills = [], {}, [], 0
        self.met_cut = False
        self.missed = False     # the fault came when there was nothing left to break
        self.prefix, self.environment = [], {}

    # --- commands ---------------------------------------------------------------------------------------------------

    def command(self):
        plan, far = self.plan, self.plan["by"] == "ssh"
        end = (lambda path: f"far:{path}") if far else \
            (lambda path: f"trunkline://far:{plan.get('far_port', tools.COPY_PORT)}/{path.relative_to(self.run)}")
        ends = [str(self.source), end(self.target)] if plan["way"] == "put" else [end(self.source), str(self.target)]
        options = ["--plain"] if plan["plain"] else []
        if far:
            options += ["-e", f"ssh -F {plan['keys']}/ssh_config", "--far-program", plan["trunkline"]]
        else:
            options += ["--token-file", str(self.run / "token")]
        return [*self.prefix, plan["trunkline"], "copy", "-r", "--patience", plan["patience"], *options, *ends]

    def start(self):
        number = len(self.tries)
        log = open(self.run / f"try-{number}.log", "wb")
        home = {"XDG_DATA_HOME": str(self.run / "data"), "XDG_STATE_HOME": str(self.run / "state"), "RUST_BACKTRACE": "1"}
        process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.run,
                                   env={**os.environ, **home, **self.environment}, start_new_session=True)
        self.tries.append({"began": time.monotonic(), "log": log.name})
        process.number = number
        return process

    def finish(self, process):
        """Waits for the end of a try and looks at what is there."""
        try:
            code = process.wait(self.plan["give_up"])
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = "hung"
        this = self.tries[process.number]
        this.update(code=code, seconds=time.monotonic() - this["began"], said=said(pathlib.Path(this["log"])))
        if code not in (0, -signal.SIGKILL):
            self.errors.append(this["said"])
        self.look()
        return code

    def copy(self):
        return self.finish(self.start())

    def again(self, most=6):
        """Gives the command until it says that all is done."""
        for _ in range(most):
            if self.copy() == 0:
                return
            time.sleep(0.3)

    def moment(self, longest=None):
        time.sleep(self.draws.uniform(0.02, longest or self.lasts()))

    def lasts(self):
        """Seconds of a copy that nothing happens to: 100 Mbit/s and what it takes to begin and to end."""
        return self.bytes * 8 / 100e6 * 1.1 + 1.2

    def kill_receiver(self, process):
        if self.plan["way"] == "put":
            return self.kill_far()
        process.kill()

    def unfinished(self, name="large"):
        """The temporary file of a file and its journal."""
        return [self.target / "source" / f".{name}.{word}" for word in UNFINISHED[:2]]

    def noted(self, name="large"):
        """Pieces that are noted, as (offset, length)."""
        part, beside = self.unfinished(name)
        noted = journal.read(beside) if part.exists() else None
        return noted.pieces if noted else []

    def kill_far(self):
        (self.run / "far.kill").touch()

    # --- what is there ----------------------------------------------------------------------------------------------

    def files(self):
        """Final names with their hashes, and names of what is unfinished."""
        root, final, left = self.target / "source", {}, []
        for folder, _, names in os.walk(self.target):
            for name in names:
                whole = pathlib.Path(folder) / name
                if any(word in name for word in UNFINISHED):
                    left.append(str(whole.relative_to(self.target)))
                elif whole.is_relative_to(root):
                    with open(whole, "rb") as opened:
                        final[str(whole.relative_to(root))] = hashlib.file_digest(opened, "sha256").hexdigest()
                else:
                    final["../" + str(whole.relative_to(self.target))] = "outside"
        return final, left

    def look(self):
        """Whatever has its final name has to be something that the source was."""
        for name, digest in self.files()[0].items():
            path = self.target / "source" / name
            if digest not in self.allowed.get(name, ()) and not (name == self.grows and self.was_once(name, path)):
                self.wrong[name] = path.stat().st_size if path.exists() else 0

    def was_once(self, name, path):
        """Whether the growing file had this content at some time."""
        there, least = path.read_bytes(), (self.run / "before.size").read_text()
        return len(there) >= int(least) and (self.source / name).read_bytes().startswith(there)

    def is_complete(self):
        final, left = self.files()
        try:
            return final == data.hashes(self.source) and not left
        except OSError:
            return False

    def sent(self):
        """Bytes that reached the receiver's interface: what the path's queue drops is TCP's doing."""
        if self.plan["way"] == "get":
            return arrived()
        time.sleep(0.1)     # the far end writes it down every 10 ms
        return int((self.run / ARRIVED).read_text())

    def error(self):
        return self.errors[0] if self.errors else ""


def arrived():
    """Bytes that have come in over this namespace's path."""
    for line in open("/proc/net/dev"):
        name, _, numbers = line.partition(":")
        if name.strip().startswith("wan"):
            return int(numbers.split()[0])
    return 0


def note_arrived(run):
    """For the other end to read, whole at any time."""
    fresh = run / f"{ARRIVED}.new"
    fresh.write_text(str(arrived()))
    fresh.replace(run / ARRIVED)


def said(log):
    """The error as the user saw it, or the last line."""
    lines = [line.strip() for line in log.read_text(errors="replace").replace("\r", "\n").splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "failed", "thread", "panicked"))]
    return (errors or lines or [""])[-1][:300]


def wait(condition, seconds=10):
    """Until the condition is true, or so long."""
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.003)
