#!/usr/bin/env python3
"""How fast is `trunkline pipe` beside `trunkline copy`, ssh, nc and mbuffer, on one emulated path?

    bench/pipe.py                                       slac-cern, 20 MB, 5 rounds
    bench/pipe.py --path oc12-100ms --bytes 200000000
    bench/pipe.py --tools pipe,copy

Each round runs every tool once, in an order drawn anew, each in an emulation of its own: real TCP between two namespaces. A tool reads
the file through a pipe, but for `copy`, which reads it itself, and the far side writes what comes to a file, which is compared. The
time is that of the near command, of nc and mbuffer until the file has all bytes. Those that are not installed are left out, and said so. Needs root.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import shlex
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

from common import TRUNKLINE, heading

PORT, SSH_PORT = 5201, 2222
TOOLS = ("pipe", "copy", "ssh", "nc", "mbuffer")
# They end when the kernel has the last of it.
EARLY = ("nc", "mbuffer")
NEEDS = {"ssh": ("ssh", "sshd"), "nc": ("nc",), "mbuffer": ("mbuffer",)}


class Stage:
    def __init__(self, given):
        self.given, self.folder = given, pathlib.Path(tempfile.mkdtemp(prefix="pipe-bench-", dir=given.folder))
        (self.folder / "root").mkdir()
        self.source, self.target = self.folder / "source", self.folder / "root" / "got"
        self.source.write_bytes(random.Random(1).randbytes(given.bytes))
        self.digest = hashlib.sha256(self.source.read_bytes()).digest()
        tokens, token = self.folder / "tokens", self.folder / "token"
        made = subprocess.run([given.trunkline, "serve", "--tokens", tokens, "--new-token", "bench"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=True)
        token.touch(0o600)
        token.write_bytes(made.stdout)
        if all(map(shutil.which, NEEDS["ssh"])):
            os.makedirs("/run/sshd", exist_ok=True)
            for name in ("host", "user"):
                subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
            shutil.copy(self.folder / "user.pub", self.folder / "authorized")
            self.ssh = ["ssh", "-F", "none", "-i", self.folder / "user", "-p", str(SSH_PORT), "-o", "StrictHostKeyChecking=no", "-o",
                        "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "far"]

    def far(self, tool):
        serve = [self.given.trunkline, "serve", "--root", self.folder / "root", "--tokens", self.folder / "tokens"]
        sshd = [shutil.which("sshd") or "sshd", "-D", "-f", "none", "-p", SSH_PORT, "-h", self.folder / "host", "-o", "StrictModes=no", "-o",
                f"AuthorizedKeysFile={self.folder}/authorized", "-o", "PidFile=none"]
        return {"pipe": joined(serve), "copy": joined(serve), "ssh": joined(sshd),
                "nc": f"nc -l -p {PORT} > {self.target}", "mbuffer": f"mbuffer -q -I {PORT} -o {self.target}"}[tool]

    def near(self, tool):
        place, token = f"trunkline://far:{PORT}/got", self.folder / "token"
        source = f"cat {self.source} |"
        return {"pipe": f"{source} {joined([self.given.trunkline, 'pipe', '-q', '--token-file', token, '-', place])}",
                "copy": joined([self.given.trunkline, "copy", "-q", "--no-history", "--token-file", token, self.source, place]),
                "ssh": f"{source} {joined([*getattr(self, 'ssh', []), f'cat > {self.target}'])}",
                "nc": f"{source} nc -N far {PORT}", "mbuffer": f"{source} mbuffer -q -O far:{PORT}"}[tool]

    def run(self, tool):
        self.target.unlink(missing_ok=True)
        plan = {"port": SSH_PORT if tool == "ssh" else PORT if tool in ("pipe", "copy") else None, "command": self.near(tool),
                "done": str(self.folder / "done"), "target": str(self.target), "bytes": self.given.bytes, "ends_early": tool in EARLY}
        near = [sys.executable, __file__, "--near", json.dumps(plan)]
        emulate = [self.given.trunkline, "emulate", self.given.path, "--far", self.far(tool), "--", *near]
        ended = subprocess.run(emulate, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
        if ended.returncode != 0 or not self.target.exists():
            raise SystemExit(f"{tool} failed: {ended.stdout[-800:]}")
        if hashlib.sha256(self.target.read_bytes()).digest() != self.digest:
            raise SystemExit(f"{tool} delivered something else")
        return float((self.folder / "done").read_text())


def joined(words):
    return shlex.join(map(str, words))


def near(plan):
    """In the near namespace: waits for the far program, and times the command."""
    until = time.monotonic() + 20
    while plan["port"] and time.monotonic() < until:
        try:
            socket.create_connection(("far", plan["port"]), 5).close()
            break
        except OSError:
            time.sleep(0.05)
    time.sleep(0.5)
    began = time.monotonic()
    code = subprocess.run(["bash", "-c", f"set -o pipefail; {plan['command']}"]).returncode
    # Others confirm that all arrived.
    if plan["ends_early"]:
        target, until = pathlib.Path(plan["target"]), time.monotonic() + 60
        while code == 0 and time.monotonic() < until and not (target.exists() and target.stat().st_size == plan["bytes"]):
            time.sleep(0.002)
    pathlib.Path(plan["done"]).write_text(str(time.monotonic() - began))
    time.sleep(0.5)
    sys.exit(code)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", default="slac-cern", help="a named path or a path file")
    parser.add_argument("--bytes", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--trunkline", type=os.path.abspath, default=str(TRUNKLINE), help="the program to measure")
    parser.add_argument("--near", type=json.loads, help=argparse.SUPPRESS)
    return parser.parse_args()


def main(given):
    print(heading(f"Pipes beside other tools: {given.path}, {given.bytes / 1e6:.0f} MB"))
    wanted, stage, seconds = given.tools.split(","), Stage(given), {}
    tools = [tool for tool in wanted if all(map(shutil.which, NEEDS.get(tool, ())))]
    for tool in sorted(set(wanted) - set(tools)):
        print(f"{tool} is not installed here, and left out.")
    for number in range(given.rounds):
        for tool in random.Random(number).sample(tools, len(tools)):
            seconds.setdefault(tool, []).append(stage.run(tool))
    shutil.rmtree(stage.folder)
    print("\n| tool | s, median | range | Mbit/s | rate, of copy's in the same round: median and range |\n|---|---|---|---|---|")
    for tool in tools:
        all_of_it, median = seconds[tool], statistics.median(seconds[tool])
        ratios = [copy / own for copy, own in zip(seconds.get("copy", []), all_of_it)]
        ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})" if ratios else "-"
        print(f"| {tool} | {median:.2f} | {min(all_of_it):.2f} to {max(all_of_it):.2f} | {given.bytes * 8 / median / 1e6:.1f} | {ratio} |")


if __name__ == "__main__":
    asked = arguments()
    near(asked.near) if asked.near else main(asked)
