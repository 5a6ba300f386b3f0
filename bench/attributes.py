#!/usr/bin/env python3
"""Whether copies keep hard links, extended attributes, ACLs, owners and times of access as rsync does.

Draws trees, copies them over ssh's protocol (a far end started on this host), some after kills at
drawn moments, and has `rsync -aHAXUn --delete -i` look for differences; it compares times of
access of files alone, and those of folders are looked at here. Without the options it has to find some. As root on ext4 (an image, mounted) and on tmpfs; in a user namespace without owners of
others.

python3 bench/attributes.py PROGRAM [--trees N] [--seed N]
"""
import argparse
import os
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from pathlib import Path

ALL = ["-H", "-X", "-A", "-U", "--owner=numbers"]


def acl(rng, mode, numbers):
    """The bytes of an ACL with one named user and one named group."""
    user, group, other = mode >> 6 & 7, mode >> 3 & 7, mode & 7
    entry = lambda tag, rights, who=0xFFFFFFFF: struct.pack("<HHI", tag, rights, who)  # noqa: E731
    named = sorted(rng.sample(numbers, 2))
    return (struct.pack("<I", 2) + entry(1, user) + b"".join(entry(2, rng.randrange(8), who) for who in named)
            + entry(4, group) + entry(8, rng.randrange(8), named[0]) + entry(0x10, rng.randrange(8)) + entry(0x20, other))


def dress(rng, path, numbers, is_folder):
    """Draws owner, attributes, ACLs and mode."""
    if rng.random() < 0.5:
        os.chown(path, rng.choice(numbers), rng.choice(numbers))
    for number in range(rng.choice([0, 0, 1, 3])):
        value = rng.randbytes(rng.choice([0, 1, 40, 900]))
        os.setxattr(path, f"user.{rng.choice('abc')}{number}", value)
    mode = rng.choice([0o644, 0o600, 0o755, 0o440, 0o4755, 0o2750] if not is_folder else [0o755, 0o700, 0o555, 0o2775, 0o1777])
    if rng.random() < 0.4:
        os.setxattr(path, "system.posix_acl_access", acl(rng, mode, numbers))
    if is_folder and rng.random() < 0.4:
        os.setxattr(path, "system.posix_acl_default", acl(rng, 0o750, numbers))
    os.chmod(path, mode)
    os.utime(path, ns=(rng.randrange(10**18), rng.randrange(10**18)))


def draw(rng, top, numbers):
    """A tree of files, links, hard links and folders, all dressed. Returns its folders."""
    top.mkdir()
    folders, files = [top], []
    for number in range(rng.randrange(3, 40)):
        parent = rng.choice(folders)
        path = parent / f"{rng.choice(['a', 'b c', 'ü'])}{number}"
        kind = rng.random()
        if kind < 0.2:
            path.mkdir()
            folders.append(path)
        elif kind < 0.55 or not files:
            path.write_bytes(rng.randbytes(rng.choice([0, 10, 5_000, 300_000, 3_000_000])))
            files.append(path)
        elif kind < 0.85:
            os.link(rng.choice(files), path, follow_symlinks=False)
            files.append(path)
        else:
            path.symlink_to(rng.choice(["nowhere", "a0", "../x"]))
            if rng.random() < 0.5:
                os.lchown(path, rng.choice(numbers), rng.choice(numbers))
            files.append(path)
    for path in files:
        if not path.is_symlink():
            dress(rng, path, numbers, False)
    for path in reversed(folders):
        dress(rng, path, numbers, True)
    return folders


def accessed(folders, top):
    """When each was accessed last. Nothing is listed for it, which would change that."""
    return {str(path.relative_to(top)): os.stat(path).st_atime_ns for path in folders}


def differences(source, copy):
    """What rsync would change."""
    words = ["rsync", "-aHAXUn", "--numeric-ids", "--delete", "-i", f"{source}/", f"{copy}/"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()


class Server:
    """The far end, as ssh would start it: `copy-far` behind a client that only runs it."""

    def __init__(self, program, folder):
        self.script = folder / "ssh"
        self.script.write_text('#!/bin/sh\nif [ "$1" = -G ]; then echo "hostname 127.0.0.1"; exit; fi\n'
                               'for last; do :; done\nexec sh -c "$last"\n')
        self.script.chmod(0o755)
        self.words = [program, "copy", "-r", "-q", "--no-history", "-e", str(self.script), "--far-program", program]

    def copy(self, source, copy, *more):
        return [*self.words, *more, f"{source}/", f"localhost:{copy}"]


def run(rng, server, source, copy, options, kills):
    """Copies, killed so many times before; gives how often a kill hit."""
    hit = 0
    for _ in range(kills):
        process = subprocess.Popen(server.copy(source, copy, *options, "--max-rate", "60M"), start_new_session=True,
                                   stderr=subprocess.DEVNULL)
        try:
            process.wait(rng.uniform(0.02, 0.8))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            hit += 1
    for _ in range(3):
        done = subprocess.run(server.copy(source, copy, *options), capture_output=True, text=True)
        if done.returncode == 0:
            return hit
        if done.returncode != 75:
            break
        time.sleep(1)
    raise SystemExit(f"exit {done.returncode}: {done.stderr}")


def trial(rng, server, base, numbers, options):
    source, copy = base / "source", base / "copy"
    folders = draw(rng, source, numbers)
    if rng.random() < 0.3:
        # What is there already is brought into line.
        subprocess.run(["cp", "-r", source, copy], check=True)
        for path in [copy, *copy.rglob("*")]:
            if not path.is_symlink() and rng.random() < 0.3:
                os.setxattr(path, "user.old", b"old")
    kills = rng.choice([0, 0, 1, 3])
    before = accessed(folders, source)
    hit = run(rng, server, source, copy, options, kills)
    after = accessed([copy / path.relative_to(source) for path in folders], copy)
    stayed = accessed(folders, source)
    found = [f"time of access of folder {name}" for name in before if not before[name] == after[name] == stayed[name]]
    found += differences(source, copy)
    # A second copy changes nothing.
    run(rng, server, source, copy, options, 0)
    again = differences(source, copy)
    bare = base / "bare"
    run(rng, server, source, bare, [], 0)
    control = differences(source, bare)
    for folder in (source, copy, bare):
        shutil.rmtree(folder)
    return hit, found or again, control


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--trees", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--place", action="append", help="a folder to work in; twice and more for several")
    parser.add_argument("--users", default="0-70000", help="numbers of users that may own files: FIRST-LAST")
    asked = parser.parse_args()
    program = str(Path(asked.program).resolve())
    first, last = map(int, asked.users.split("-"))
    for place in asked.place or [tempfile.gettempdir()]:
        rng, bad, hits, controls = random.Random(asked.seed), 0, 0, 0
        with tempfile.TemporaryDirectory(dir=place) as folder:
            server = Server(program, Path(folder))
            for tree in range(asked.trees):
                numbers = sorted({first, *(rng.randrange(first, last + 1) for _ in range(5))})
                while len(numbers) < 3:
                    numbers.append(numbers[-1] + 1)
                hit, found, control = trial(rng, server, Path(folder), numbers, ALL)
                hits, controls = hits + hit, controls + bool(control)
                if found:
                    bad += 1
                    print(f"{place}: tree {tree} of seed {asked.seed} differs:", *found[:8], sep="\n  ")
        print(f"{place}: {asked.trees} trees, {hits} kills, {bad} differ; without the options {controls} differ")
        if bad:
            raise SystemExit(1)
        # A comparison that finds nothing without the options, or kills that hit nothing, show nothing.
        if not controls:
            raise SystemExit(1)
        if not hits:
            raise SystemExit(1)


main()
