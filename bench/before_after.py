#!/usr/bin/env python3
"""Processor time of two trunkline programs, by turns: a simulation, searches, a copy on loopback.

    python3 bench/before_after.py OLD/trunkline NEW/trunkline --pairs 10

Each pair runs both, and every other pair in the other order. Prints a table in Markdown: medians in
seconds, user and system, and the ratio of the pairs with its quartiles. Two programs of one commit
show what the machine scatters.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

COPY_BYTES = 300_000_000
PORT = 5377


def cpu(words, environment):
    """Processor time of a command that has to succeed, in seconds."""
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    complaint = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(map(str, words))}: {complaint}")
    return usage.ru_utime + usage.ru_stime


class Tasks:
    """What is measured, below a folder that goes away."""

    def __init__(self, folder, program):
        self.folder = pathlib.Path(folder)
        self.environment = os.environ | {"TRUNKLINE_STATE": str(self.folder / "state")}
        (self.folder / "source").write_bytes(os.urandom(COPY_BYTES))
        words = [program, "serve", "--tokens", self.folder / "tokens", "--new-token", "bench"]
        made = subprocess.run(words, env=self.environment, capture_output=True, text=True, check=True)
        self.token = self.folder / "token"
        self.token.touch(mode=0o600)
        self.token.write_text(made.stdout)

    def simulate(self, program):
        words = [program, "simulate", "oc12-100ms", "-P", "100", "-t", "400s", "--no-cache"]
        return cpu(words, self.environment)

    def tune(self, program):
        words = [program, "tune", "sim:slac-cern", "--no-history", "--objective", "max", "--seed"]
        return sum(cpu([*words, str(seed)], self.environment) for seed in range(5))

    def copy(self, program):
        """Both ends."""
        root = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        words = [program, "serve", "--port", str(PORT), "--root", root]
        words += ["--tokens", self.folder / "tokens"]
        server = subprocess.Popen(
            words, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            self.wait_for_port(server)
            words = [program, "copy", self.folder / "source", f"trunkline://127.0.0.1:{PORT}/file"]
            words += ["--token-file", self.token, "--no-history"]
            seconds = cpu(words, self.environment)
        finally:
            server.terminate()
            _, _, usage = os.wait4(server.pid, 0)
            (root / "file").unlink(missing_ok=True)
        return seconds + usage.ru_utime + usage.ru_stime

    def wait_for_port(self, server):
        port = f":{PORT:04X} "
        for _ in range(100):
            if server.poll() is not None:
                raise SystemExit(f"the server ended: is port {PORT} taken?")
            listening = pathlib.Path("/proc/net/tcp6").read_text()
            listening += pathlib.Path("/proc/net/tcp").read_text()
            if any(port in line and " 0A " in line for line in listening.splitlines()):
                return
            time.sleep(0.05)
        raise SystemExit(f"no server on port {PORT} within 5 s")


def compare(task, programs, pairs):
    """One row: medians, and the ratios of the pairs."""
    seconds = {program: [] for program in range(2)}
    for pair in range(pairs):
        for program in ((0, 1), (1, 0))[pair % 2]:
            seconds[program].append(task(programs[program]))
    ratios = [after / before for before, after in zip(*seconds.values())]
    low, middle, high = statistics.quantiles(ratios, n=4)
    before, after = (statistics.median(all) for all in seconds.values())
    return f"{before:.3f} | {after:.3f} | {middle:.3f} | {low:.3f} to {high:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=os.path.abspath)
    parser.add_argument("after", type=os.path.abspath)
    parser.add_argument("--pairs", type=int, default=10, help="at least two")
    arguments = parser.parse_args()
    programs = [arguments.before, arguments.after]
    print("| task | pairs | before | after | ratio | quartiles |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="before-after-") as folder:
        tasks = Tasks(folder, arguments.after)
        for task in (tasks.simulate, tasks.tune, tasks.copy):
            row = compare(task, programs, arguments.pairs)
            print(f"| {task.__name__} | {arguments.pairs} | {row} |", flush=True)
    print(f"\nLoad average of five minutes {os.getloadavg()[1]:.1f}.")


if __name__ == "__main__":
    main()
