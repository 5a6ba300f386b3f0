"""Processes that are watched, folders that are looked at."""

import dataclasses
import hashlib
import json
import os
import pathlib
import re
import signal
import stat
import threading
import time

from ends import wait_for


class Skipped(Exception):
    """What a case needs is not here."""


@dataclasses.dataclass
class Result:
    """What a command came to."""

    code: int
    out: str
    err: str
    peak: int

    def events(self, kind=None):
        lines = [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]
        return [line for line in lines if kind is None or line.get("event") == kind]

    @property
    def document(self):
        return self.events()[-1]


class Watch(threading.Thread):
    """A process and the most memory that it had: the kernel forgets it with the process."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.peak = process, 0
        self.start()

    def run(self):
        while self.process.poll() is None:
            self.look()
            time.sleep(0.02)

    def look(self):
        self.peak = max(self.peak, status(self.process.pid, "VmHWM") * 1024)


def status(process, key):
    """A number of /proc/PID/status; zero once the process is gone."""
    try:
        text = pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    found = re.search(rf"^{key}:\s+(\d+)", text, re.M)
    return int(found[1]) if found else 0


def without_own_words(out):
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    own = "command_line", "sources", "destination", "asked"
    return "".join(json.dumps({key: value for key, value in line.items() if key not in own}, ensure_ascii=False) for line in lines)


def end(process):
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def look(folder):
    """All that is in a folder and the folder itself, with kind, mode and content; times are no matter."""
    found = {".": describe(folder)}
    for here, folders, files in os.walk(folder):
        for name in folders + files:
            path = pathlib.Path(here) / name
            found[os.path.relpath(path, folder)] = describe(path)
    return found


def describe(path):
    told = path.lstat()
    if stat.S_ISLNK(told.st_mode):
        return "link", os.readlink(path)
    if stat.S_ISREG(told.st_mode):
        return "file", oct(stat.S_IMODE(told.st_mode)), hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return "folder" if stat.S_ISDIR(told.st_mode) else "other", oct(stat.S_IMODE(told.st_mode))


def until(condition, seconds, what):
    """Something that comes about by itself, in generous time."""
    assert wait_for(condition, seconds), f"not within {seconds} s: {what}"
