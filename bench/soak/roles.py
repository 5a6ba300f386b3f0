"""The long-lived processes of a soak, and what is done to them."""

import collections
import dataclasses
import os
import pathlib
import signal
import subprocess
import time

# Once caches and pools are filled, seconds after a start.
WARM = 45.0
# Exit codes of what serves: stopped as it should be, killed.
SERVED = {0, -signal.SIGKILL}
# More lines than this in ten seconds fill a disk in days.
LINES_MAX = 200
# What a process may have more at its end than when it was warm: files, threads, and resident memory as a share and in MiB.
FILES, THREADS, SHARE, MEMORY = 8, 4, 1.25, 10.0


@dataclasses.dataclass
class Sample:
    at: float
    files: int
    threads: int
    memory: float


class Role:
    """A process that is started again when it has ended."""

    def __init__(self, name, host, words, network, folder, environment=None):
        self.name, self.host, self.words, self.network = name, host, [str(word) for word in words], network
        self.log, self.folder = folder / f"{name}.log", folder
        self.environment = {**os.environ, **(environment or {}), "RUST_BACKTRACE": "1"}
        self.process, self.codes, self.findings = None, collections.Counter(), []
        self.lives, self.starts, self.again = [], 0, 0.0
        self.disturbed, self.stopped, self.full_until = [], None, 0.0
        self.counted, self.lines, self.most_lines = time.monotonic(), 0, 0

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(["ip", "netns", "exec", self.network.ns(self.host), *self.words], cwd=self.folder,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)
        self.starts += 1
        self.lives.append([])

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        if self.is_running():
            self.process.send_signal(number)

    def disturb(self, seconds):
        """Its visits may be missing from now on for so long."""
        self.disturbed.append((time.time() - 15, time.time() + seconds))

    def look(self, drawn):
        """Notes how it ended and starts it again; samples one that runs."""
        now = time.monotonic()
        if self.process is not None and self.process.poll() is not None:
            code = self.process.returncode
            self.codes[code] += 1
            if code not in SERVED and now > self.full_until:
                self.findings.append(f"{self.name} ended with {code}: {last_line(self.log)}")
            self.process, self.again = None, now + drawn.uniform(0.2, 3.0)
            self.disturb(10)
        if self.process is None and now >= self.again:
            self.start()
        if now - self.counted >= 10:
            self.count(now)

    def count(self, now):
        lines = self.log.read_bytes().count(b"\n") if self.log.exists() else 0
        self.most_lines = max(self.most_lines, round((lines - self.lines) * 10 / (now - self.counted)))
        self.counted, self.lines = now, lines
        if self.is_running() and not self.stopped:
            try:
                self.lives[-1].append(sample(self.process.pid))
            except (OSError, KeyError):
                pass

    def growth(self):
        """Of the last life: the most in a minute once it was warm, and the end, when copies are over."""
        life = self.lives[-1] if self.lives else []
        warm = [one for one in life if WARM <= one.at - life[0].at <= 2 * WARM + 15]
        if not warm or life[-1].at <= warm[-1].at:
            return None
        most = lambda key: max(getattr(one, key) for one in warm)  # noqa: E731
        return Sample(0, most("files"), most("threads"), most("memory")), dataclasses.replace(life[-1], at=life[-1].at - life[0].at)

    def judge(self):
        if self.most_lines > LINES_MAX:
            yield f"{self.name}: {self.most_lines} lines of log in ten seconds"
        if self.log.exists() and b"panicked" in self.log.read_bytes():
            yield f"{self.name} panicked"
        if both := self.growth():
            warm, last = both
            for key, over in (("files", last.files - warm.files - FILES), ("threads", last.threads - warm.threads - THREADS),
                              ("memory", last.memory - warm.memory * SHARE - MEMORY)):
                if over > 0:
                    yield f"{self.name}: {key} grew from {getattr(warm, key):.0f} to {getattr(last, key):.0f} in {last.at:.0f} s"
        yield from self.findings


def sample(pid):
    process = pathlib.Path(f"/proc/{pid}")
    fields = dict(line.split(":", 1) for line in process.joinpath("status").read_text().splitlines())
    return Sample(time.monotonic(), len(os.listdir(process / "fd")), int(fields["Threads"]),
                  int(fields["VmRSS"].split()[0]) / 1024)


def last_line(log):
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


class Disk:
    """A small file system that is full at times."""

    def __init__(self, folder, megabytes):
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}M", "none", folder], check=True)
        self.folder, self.intervals = folder, []

    def fill(self):
        self.intervals.append([time.monotonic(), float("inf")])
        try:
            with open(self.folder / ".filler", "wb", buffering=0) as filler:
                while filler.write(bytes(1 << 20)):
                    pass
        except OSError:
            pass

    def empty(self):
        (self.folder / ".filler").unlink(missing_ok=True)
        if self.intervals and self.intervals[-1][1] == float("inf"):
            self.intervals[-1][1] = time.monotonic()

    def was_full(self, since):
        return any(end + 1 >= since for _, end in self.intervals)
