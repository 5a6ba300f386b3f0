"""Where a process can be ended: which calls it makes, on which files, how often.

strace counts the calls that it tampers with per thread, so `when=K` strikes whichever thread is the first to make its Kth call of that
kind. Of calls that several threads make, `SYSCALL` alone therefore reaches as many points as the busiest thread makes
calls. `SYSCALL@FILE` counts only those that name one file or a descriptor of it, which reaches the calls of the threads that share
the work file by file. Calls on one file by several threads still share their numbers, and so do those on
sockets and on no file at all.
"""

import collections
import dataclasses
import fnmatch
import os
import random
import re

import disk

ROLES, WAYS, TRANSPORTS = ("receiver", "sender"), ("put", "get"), ("ssh", "serve")
DISK = ("pwrite64", "write", "rename", "renameat", "renameat2", "linkat", "symlinkat", "mkdirat", "unlink", "unlinkat", "fsync",
        "fdatasync", "syncfs", "ftruncate", "fallocate", "openat", "openat2", "fchmod", "fchmodat", "utimensat", "pread64")
PEER = ("sendto", "sendmsg", "writev", "recvfrom", "recvmsg", "read")
CALLS = (*DISK, *PEER)
KILL, NOTHING = "KILL", "SHORT"
FULL = ("EIO", "ENOSPC", "EDQUOT")
# What each call can give on Linux. Only nothing at all is a short write that strace can tell without a lie: a call
# that it tampers with is not made.
ERRORS = {
    "pwrite64": (*FULL, "EINTR", NOTHING), "write": (*FULL, "EINTR", NOTHING), "pread64": ("EIO", "EINTR"), "read": ("EIO", "EINTR"),
    "fsync": (*FULL, "EINTR"), "fdatasync": (*FULL, "EINTR"), "syncfs": FULL, "ftruncate": ("EIO", "EINTR"), "fallocate": (*FULL, "EINTR"),
    "openat": (*FULL, "EINTR"), "openat2": ("EIO",), "mkdirat": FULL, "symlinkat": FULL, "linkat": FULL, "rename": FULL,
    "renameat": FULL, "renameat2": FULL, "unlinkat": ("EIO",), "unlink": ("EIO",), "fchmod": ("EIO",), "fchmodat": ("EIO",),
    "utimensat": ("EIO",),
}
# Of connections. A stream that breaks is replaced, and strace has the Kth call of its successor fail too, so that a copy
# may get nowhere. Trials of these take seconds, so K goes in powers of two.
STORMS = {call: (*errors, "EINTR") for call, errors in {
    "recvfrom": ("ECONNRESET",), "recvmsg": ("ECONNRESET",), "writev": ("ECONNRESET", "EPIPE"), "sendto": ("ECONNRESET", "EPIPE"),
    "sendmsg": ("ECONNRESET", "EPIPE")}.items()}


@dataclasses.dataclass(frozen=True)
class Point:
    """The Kth call of a kind, and what becomes of it."""
    role: str
    way: str
    transport: str
    call: str       # `fsync`, or `fsync@large` for those on one file
    what: str       # `KILL`, an error, or `SHORT`
    k: int

    @property
    def name(self):
        return "/".join([self.role, self.way, self.transport, self.call.replace("/", ":"), self.what, str(self.k)])

    @property
    def group(self):
        """What is counted together."""
        return self.role, self.way, self.transport, self.call.partition("@")[0], self.what

    @property
    def victim_is_near(self):
        return (self.role == "sender") == (self.way == "put")

    @property
    def is_storm(self):
        return self.what in STORMS.get(self.call, ())

    def next(self):
        return dataclasses.replace(self, k=self.k + 1)

    def tampering(self, source, target):
        """The words for strace."""
        call, _, file = self.call.partition("@")
        what = {KILL: "signal=KILL", NOTHING: "retval=0"}.get(self.what, f"error={self.what}")
        words = ["-e", f"trace={call}", "-e", f"inject={call}:{what}:when={self.k}"]
        for path in paths_of(file, source, target) if file else ():
            words += ["-P", path]
        return words


def paths_of(file, source, target):
    """All that a call may say instead of a file: its descriptors' paths, and names below a folder."""
    folder, last = os.path.split(file)
    names = [last, f".{last}{disk.PART}", f".{last}{disk.JOURNAL}", f".{last}.trunkline-link"]
    whole = [str(target / "source" / folder / name) for name in names]
    return [*names, *whole, str(source / file)]


LINE = re.compile(r"^(\d+) +(\w+)\((.*)")


def count(log, files):
    """How often a thread makes each call at the most, of all and of those on one file: {call: times}, {call@file: times}."""
    every, by_file = collections.Counter(), collections.Counter()
    last = {os.path.basename(file): file for file in files}
    for line in log.read_text(errors="replace").splitlines():
        found = LINE.match(line)
        if not found or found[2] not in CALLS:
            continue
        thread, call, words = found.groups()
        every[call, thread] += 1
        if call == "symlinkat":
            words = words.partition(", ")[2]    # what a link says is no file of the call
        for file in {last[name] for name in names_in(words) if name in last}:
            by_file[f"{call}@{file}", thread] += 1
    return most(every), most(by_file)


def names_in(words):
    """Last components of all paths of a call, of unfinished files those that they will have."""
    for path in re.findall(r'<(/[^<>]*)>|"([^"]*)"', words):
        name = os.path.basename(path[0] or path[1])
        begin, unfinished, _ = name.partition(disk.UNFINISHED)
        yield begin[1:] if unfinished else name


def most(counted):
    result = {}
    for (call, _), times in counted.items():
        result[call] = max(times, result.get(call, 0))
    return result


def all_of(role, way, transport, every, by_file):
    """All points of one kind of copy."""
    points = []
    is_power = lambda k: k & (k - 1) == 0

    def add(call, what, times, of_use=None):
        points.extend(Point(role, way, transport, call, what, k) for k in range(1, times + 1) if of_use is None or of_use(k))

    for call, times in every.items():
        add(call, KILL, times)
        for error in STORMS.get(call, ()):
            add(call, error, times, is_power)
    for call, times in by_file.items():
        kind = call.partition("@")[0]
        for what in (KILL, *ERRORS.get(kind, ())):
            add(call, what, times)
    return points


def choose(points, given):
    """Those asked for; of a sample each kind has as good a chance as any other, however many points it has."""
    if given.only:
        points = [one for one in points if fnmatch.fnmatchcase(one.name, given.only)]
    if given.every:
        points = points[given.seed % given.every::given.every]
    if not given.sample:
        return points
    draws, groups = random.Random(given.seed), collections.defaultdict(list)
    for one in points:
        groups[one.group].append(one)
    queues = list(groups.values())
    draws.shuffle(queues)
    for queue in queues:
        draws.shuffle(queue)
    chosen = []
    while len(chosen) < given.sample and queues:
        chosen += [queue.pop() for queue in queues]
        queues = [queue for queue in queues if queue]
    return chosen[:given.sample]
