#!/usr/bin/env python3
"""What becomes of a third-party copy when its controller, its source and its destination are killed?

Two servers of this host and a controller, each killed with signal 9 at random moments and started
again. A round ends when the same command has ended with 0; then both folders must be equal. No file
may ever have its name and another content. Writes a page in Markdown:

    bench/third_party/run.py --rounds 40 > bench/results/third-party-$(date -u +%F).md
"""

import argparse
import collections
import hashlib
import os
import pathlib
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import TRUNKLINE, heading

RATE = "60M"
TRIES = 12


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Site:
    """Two servers, the tokens for them, and a tree at the source."""

    def __init__(self, folder, program, seed):
        self.folder, self.program, self.seed = folder, program, seed
        self.environment = os.environ | {"TRUNKLINE_STATE": str(folder / "state")}
        self.ports = {name: free_port() for name in ("source", "destination")}
        self.servers = {}
        for name in self.ports:
            (folder / name).mkdir()
            token = self.run("serve", "--tokens", folder / f"{name}.tokens", "--new-token", "me").stdout
            (folder / f"{name}.token").write_text(token)
            (folder / f"{name}.token").chmod(0o600)
        tokens = folder / "source.tokens"
        tokens.write_text(f"{tokens.read_text().rstrip()} to=127.0.0.1:{self.ports['destination']}\n")
        for name in self.ports:
            self.serve(name)

    def run(self, *words):
        return subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, env=self.environment)

    def serve(self, name):
        words = ["serve", "--files-only", "--bind", "127.0.0.1", "--port", self.ports[name]]
        words += ["--root", self.folder / name, "--tokens", self.folder / f"{name}.tokens"]
        with open(self.folder / f"{name}.log", "ab") as log:
            self.servers[name] = subprocess.Popen([self.program, *map(str, words)], stderr=log, env=self.environment)
        for _ in range(200):
            try:
                return socket.create_connection(("127.0.0.1", self.ports[name])).close()
            except OSError:
                time.sleep(0.02)
        raise SystemExit(f"the {name} does not listen")

    def kill(self, name, pause):
        self.servers[name].kill()
        self.servers[name].wait()
        time.sleep(pause)
        self.serve(name)

    def fill(self, number):
        """Files of many sizes; none of them are those of the round before."""
        draw = random.Random(self.seed * 1000 + number)
        for name in self.ports:
            shutil.rmtree(self.folder / name / "run7", ignore_errors=True)
        for at in range(40):
            file = self.folder / "source" / "run7" / f"d{at % 5}" / f"f{at}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(draw.randbytes(draw.choice([0, 1, 100, 5_000, 200_000, 3_000_000])))
        (self.folder / "source" / "run7" / "large").write_bytes(draw.randbytes(15_000_000))
        return digests(self.folder / "source" / "run7")

    def copy(self):
        place = lambda name, path: f"trunkline://127.0.0.1:{self.ports[name]}/{path}"
        words = ["copy", "-r", "--no-history", "--max-rate", RATE, "--source-token-file", self.folder / "source.token"]
        words += ["--token-file", self.folder / "destination.token", place("source", "run7/"), place("destination", "run7")]
        return subprocess.Popen(
            [self.program, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment
        )

    def logs(self):
        """The last lines of both servers."""
        lines = lambda name: (self.folder / f"{name}.log").read_text().splitlines()[-12:]
        return "\n".join(f"{name}: {line}" for name in self.ports for line in lines(name))

    def end(self):
        for server in self.servers.values():
            server.kill()


def digests(folder):
    """Of what has its final name."""
    files = [file for file in folder.rglob("*") if file.is_file() and ".trunkline-" not in file.name]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def play(site, draw, number, killed, codes):
    """One round: how often the command was given, and how long it took."""
    wanted = site.fill(number)
    kills, begun = draw.randint(1, 4), time.monotonic()
    for tries in range(1, TRIES + 1):
        copy = site.copy()
        while kills and copy.poll() is None:
            try:
                copy.wait(draw.uniform(0.05, 2.5))
                break
            except subprocess.TimeoutExpired:
                kills -= 1
            part = draw.choice(["controller", "source", "destination"])
            killed[part] += 1
            if part == "controller":
                copy.kill()
            else:
                site.kill(part, draw.choice([0, 0.3, 1]))
        told = copy.communicate(timeout=300)[0]
        codes[copy.returncode] += 1
        there = digests(site.folder / "destination" / "run7")
        wrong = [name for name, digest in there.items() if wanted.get(name) != digest]
        assert not wrong, f"round {number}: wrong content of {wrong}: {told}"
        if copy.returncode == 0:
            assert there == wanted, f"round {number}: {set(wanted) ^ set(there)}"
            left = [file for file in (site.folder / "destination").rglob("*.trunkline-*")]
            assert not left, f"round {number}: {left} are left"
            return tries, time.monotonic() - begun
        # The older copy has not let its files go yet: on a busy disk that may take seconds.
        is_early = copy.returncode == 1 and "another copy is writing" in told
        assert copy.returncode == -9 or is_early, f"round {number}: ended with {copy.returncode}: {told}{site.logs()}"
        if is_early:
            time.sleep(1)
    raise SystemExit(f"round {number}: not done after {TRIES} commands")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1125)
    parser.add_argument("--trunkline", default=str(TRUNKLINE))
    given = parser.parse_args()
    head, draw = heading("Third-party copies whose parts are killed"), random.Random(given.seed)
    killed, codes, rounds = collections.Counter(), collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        site = Site(pathlib.Path(folder), given.trunkline, given.seed)
        try:
            rounds = [play(site, draw, number, killed, codes) for number in range(given.rounds)]
        finally:
            site.end()
    times = [seconds for _, seconds in rounds]
    print(head)
    print(f"Seed {given.seed}, {given.rounds} rounds of 41 files from nothing to 15 MB, {RATE}bit/s, on loopback.\n")
    print("| killed with signal 9 | how often |\n|---|---|")
    for part in ("controller", "source", "destination"):
        print(f"| {part} | {killed[part]} |")
    commands = sum(tries for tries, _ in rounds)
    print(
        f"\nThe same command was given {commands} times: {codes[0]} ended with 0, {codes[-9]} were killed, "
        f"{codes[1]} came before the killed copy had let its files go, and said so. No kill of a source or a destination ended a command. "
        "Both folders were equal after each round, no file ever had its name and another content, and nothing was left "
        f"behind. A round took {statistics.median(times):.1f} s ({min(times):.1f} to {max(times):.1f})."
    )


if __name__ == "__main__":
    main()
