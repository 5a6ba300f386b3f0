#!/usr/bin/env python3
"""Copies where nothing may run at the far end: `trunkline copy --sftp` beside sftp, scp and rclone, over one emulated
path, in alternating runs.

    make build && bench/sftp.py [small] [file] [tree] [--runs N] [--megabytes N] [--pull]

Prints Markdown for bench/results. Needs root or user namespaces, and what `bench/peers.sh` installs.
"""

import argparse
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "copy"))

import tools  # noqa: E402
from common import TRUNKLINE, heading, spread  # noqa: E402

PATH = """
[forward]
rate  = "155Mbit/s"
delay = "40ms"
queue = { kind = "drop-tail", limit = "1.5MB" }
"""


class Bench:
    def __init__(self, folder, pulls):
        self.folder = pathlib.Path(folder)
        self.pulls = pulls
        self.keys = self.folder / "keys"
        self.keys.mkdir()
        tools.prepare_keys(self.keys)
        os.environ["TRUNKLINE_STATE"] = str(self.folder / "state")
        (self.folder / "path.toml").write_text(PATH)
        self.to = self.folder / "to"

    def file(self, megabytes):
        file = self.folder / "file"
        with open(file, "wb") as out:
            for _ in range(megabytes):
                out.write(os.urandom(1_000_000))
        return file

    def tree(self, files):
        tree = self.folder / "tree"
        for at in range(files):
            below = tree / f"d{at % 20}"
            below.mkdir(parents=True, exist_ok=True)
            (below / f"f{at}").write_bytes(os.urandom(2000 + 37 * at))
        return tree

    def ways(self, source):
        """The programs, each with what its manual says for long paths."""
        ssh = f"ssh -F {self.keys}/ssh_config"
        recursive = ["-r"] if source.is_dir() else []
        ends = [f"far:{source}", f"{self.to}/"] if self.pulls else [str(source), f"far:{self.to}/"]
        yield "trunkline --sftp", [str(TRUNKLINE), "copy", "--no-history", "-q", "--sftp", "-e", ssh, *recursive, *ends]
        yield "scp", ["scp", "-F", f"{self.keys}/ssh_config", "-q", *recursive, *ends]
        word = "get" if self.pulls else "put"
        batch = f"{word} {'-R ' if recursive else ''}{source} {self.to}/"
        sftp = f"sftp -F {self.keys}/ssh_config -q -R 256 -B 261120 -b - far"
        yield "sftp -R 256 -B 261120", ["sh", "-c", f"echo {shlex.quote(batch)} | {sftp}"]
        for parts in (4, 16):
            if shutil.which("rclone"):
                place = tools.Place(keys=self.keys, run=self.folder, source=source, target=self.to, host="far",
                                    trunkline=str(TRUNKLINE), syq="")
                yield f"rclone, {parts} parts", tools.rclone(parts, self.pulls)(place)["client"]

    def run(self, source, near):
        shutil.rmtree(self.to, ignore_errors=True)
        self.to.mkdir()
        sshd = shlex.join(["/usr/sbin/sshd", "-D", "-e", "-f", str(self.keys / "sshd_config")])
        # The time of the near program alone: the far one needs a moment to listen.
        timed = f"sleep 0.5; s=$(date +%s.%N); {shlex.join(near)} >&2 && e=$(date +%s.%N) && echo took $s $e"
        command = [str(TRUNKLINE), "emulate", str(self.folder / "path.toml"), "--far", sshd, "--", "sh", "-c", timed]
        run = subprocess.run(command, capture_output=True, text=True)
        took = [line for line in run.stdout.splitlines() if line.startswith("took ")]
        if not took:
            raise SystemExit(f"{shlex.join(near)} failed:\n{run.stderr}")
        _, began, ended = took[-1].split()
        check(source, self.to / source.name)
        return float(ended) - float(began)


def check(source, copied):
    if subprocess.run(["diff", "-r", str(source), str(copied)], capture_output=True).returncode:
        raise SystemExit(f"{copied} is not {source}")


def table(bench, title, source, runs):
    took = {}
    for _ in range(runs):
        for name, near in bench.ways(source):
            took.setdefault(name, []).append(bench.run(source, near))
    own = statistics.median(took["trunkline --sftp"])
    print(f"## {title}\n")
    print("| program | seconds, median and range | times trunkline's |\n|---|---|---|")
    for name, seconds in took.items():
        print(f"| {name} | {spread(seconds)} | {statistics.median(seconds) / own:.2f} |")
    print(f"\n{runs} runs, alternating; the time of the near program, with connecting.\n", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=["small", "file", "tree", []], default=[])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=150)
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--pull", action="store_true")
    asked = parser.parse_args()
    way = "from" if asked.pull else "to"
    print(heading(f"SFTP alone, {way} a host over 155 Mbit/s and 80 ms"))
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, asked.pull)
        os.chmod(folder, 0o755)
        if "small" in asked.parts or not asked.parts:
            table(bench, "One file of 1 MB: connecting and round trips", bench.file(1), asked.runs)
        if "file" in asked.parts or not asked.parts:
            table(bench, f"One file of {asked.megabytes} MB", bench.file(asked.megabytes), asked.runs)
        if "tree" in asked.parts or not asked.parts:
            table(bench, f"A tree of {asked.files} files", bench.tree(asked.files), asked.runs)
    print(f"All of it took {time.monotonic() - began:.0f} s.")


main()
