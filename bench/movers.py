#!/usr/bin/env python3
"""Other programs as targets: does the search find what all of a program's grid would show?

    bench/movers.py                                    every program on every path: hours
    bench/movers.py --movers iperf2,gridftp --paths slac-cern --rounds 2

On each path, and for each program, `trunkline measure` runs every cell of the program's grid once, in random order;
`trunkline tune --objective max --budget 60s` searches the same path; then the best cells of the grid and what the search
recommends run in turn. The ratio is of their means there: the best of a noisy grid has luck that it does not keep.

Both ends run on an emulated path, the program's own server at the far one.
"""

import argparse
import concurrent.futures
import datetime
import getpass
import itertools
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "copy"))
from common import ROOT, TRUNKLINE, heading  # noqa: E402
import tools  # noqa: E402

PATHS = ["slac-cern", "slac-caltech", "slac-in2p3", "shallow-queue", "lossy-wifi", "capped-buffers"]
FAR = "198.18.0.2"
SSH_PORT = tools.SSH_PORT
BUDGET = 60
BEST = 2  # cells of the grid that meet the search's answer again

STREAMS = [1, 2, 4, 8, 16, 32]
WINDOWS = ["auto", "256k", "1M"]
GRIDS = {
    "iperf2": {"-P": STREAMS, "-w": WINDOWS},
    "gridftp": {"-P": STREAMS, "-w": WINDOWS},
    "nuttcp": {"-P": STREAMS, "-w": WINDOWS},
    "xrootd": {"-P": [1, 4, 15], "--requests": [None, 8], "--block": [None, "2M"]},
    "rclone": {"-P": [1, 4, 16], "--requests": [None, 256], "--block": [None, "255k"]},
    "scp": {"--requests": [None, 256], "--block": [None, "255k"]},
}


def server(mover, folder):
    """The command of the far end."""
    store = folder / "store"
    if mover == "iperf2":
        return "while true; do iperf -s >/dev/null 2>&1; sleep 0.2; done"
    if mover == "nuttcp":
        return "while true; do nuttcp -S --nofork >/dev/null 2>&1; sleep 0.2; done"
    if mover == "gridftp":
        return (f"exec globus-gridftp-server -aa -anonymous-user {getpass.getuser()} -allow-root -c /dev/null -p 2811 "
                f"-l {folder}/gridftp.log -data-interface {FAR}")
    if mover == "xrootd":
        admin = folder / "xrootd"
        admin.mkdir(mode=0o777)
        admin.chmod(0o777)
        store.chmod(0o777)
        (folder / "xrootd.cfg").write_text(f"all.export {store}\nall.adminpath {admin}\nall.pidpath {admin}\n"
                                           f"xrd.port 1094\nxrd.network nodnr\n")
        as_nobody = " -R nobody" if os.geteuid() == 0 else ""
        return f"exec xrootd -c {folder}/xrootd.cfg -l - -n bench{as_nobody} >/dev/null 2>&1"
    tools.prepare_keys(folder)
    return f"exec /usr/sbin/sshd -D -e -f {folder}/sshd_config"


def target(mover, folder):
    """What `trunkline` is told."""
    file = folder / "store" / "file"
    if mover == "rclone":
        remote = f":sftp,host={FAR},port={SSH_PORT},user={getpass.getuser()},key_file={folder}/user_key:{file}"
        return [f"sftp+rclone:{remote}", "--mover-option", "--config", "--mover-option", "/dev/null"]
    return {
        "iperf2": [f"iperf2://{FAR}"],
        "nuttcp": [f"nuttcp://{FAR}"],
        "gridftp": [f"gridftp://{FAR}{file}"],
        "xrootd": [f"root://{FAR}/{file}"],
        "scp": [f"scp://{FAR}:{SSH_PORT}{file}", "--mover-option", "-F", "--mover-option", f"{folder}/ssh_config"],
    }[mover]


def cells(mover):
    grid = GRIDS[mover]
    return [dict(zip(grid, values)) for values in itertools.product(*grid.values())]


def flags(cell):
    return [str(word) for flag, value in cell.items() if value is not None for word in (flag, value)]


def name(cell):
    return " ".join(flags(cell)) or "default"


class Near:
    """What happens at the near end of one path, with one program."""

    def __init__(self, plan):
        self.plan = plan
        self.target = plan["target"]
        self.errors = []

    def trunkline(self, *arguments):
        command = [plan_trunkline(self.plan), *arguments, "--json", "--brief", "--no-history"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if run.returncode != 0:
            self.errors.append(f"{' '.join(arguments)}: {run.stderr.strip()[-300:]}")
        return json.loads(run.stdout) if run.returncode == 0 else None

    def measure(self, cell):
        """Mbit/s; zero of a run that failed."""
        document = self.trunkline("measure", *self.target, *flags(cell), "-t", f"{self.plan['seconds']:g}s")
        return document["goodput_bits_per_second"] / 1e6 if document else 0.0

    def run(self):
        grid = [(cell, self.measure(cell)) for cell in shuffled(cells(self.plan["mover"]), self.plan["seed"])]
        grid.sort(key=lambda pair: -pair[1])
        began = time.monotonic()
        tuned = self.trunkline("tune", *self.target, "--objective", "max", "--budget", f"{BUDGET}s")
        took = time.monotonic() - began
        if not tuned or "recommended" not in tuned:
            return {"grid": named(grid), "errors": self.errors}
        found = cell_of(tuned["recommended"], self.plan["mover"])
        contenders = [cell for cell, _ in grid[:BEST]] + [found]
        again = {name(cell): [] for cell in contenders}
        for _ in range(self.plan["rounds"]):
            for cell in shuffled([dict(cell) for cell in unique(contenders)], self.plan["seed"]):
                again[name(cell)].append(self.measure(cell))
        return {"grid": named(grid), "found": name(found), "again": again, "seconds": took, "errors": self.errors,
                "samples": len(tuned["samples"]), "command": tuned["settings"][0]["command"], "cost": tuned["cost"],
                "left_behind": tuned.get("left_behind"), "default": name(cells(self.plan["mover"])[0])}


def plan_trunkline(plan):
    return plan["trunkline"]


def shuffled(things, seed):
    things = list(things)
    random.Random(seed).shuffle(things)
    return things


def unique(cells_):
    return list({name(cell): cell for cell in cells_}.values())


def named(grid):
    return [(name(cell), rate) for cell, rate in grid]


def cell_of(recommended, mover):
    """The recommendation as a cell, which may lie beside the grid."""
    cell = {}
    if "-P" in GRIDS[mover]:
        cell["-P"] = recommended["streams"]
    if "-w" in GRIDS[mover]:
        cell["-w"] = recommended["window"]
    moving = recommended.get("moving", {})
    cell["--requests"], cell["--block"] = moving.get("pipelining"), moving.get("block_bytes")
    cell["-C"] = recommended.get("congestion")
    return {flag: value for flag, value in cell.items() if value is not None or flag in GRIDS[mover]}


def seconds(given, path):
    """The length of a run: 40 round trips at the least, so that slow start is not most of it."""
    delay = tomllib.loads((ROOT / "paths" / f"{path}.toml").read_text())["forward"]["delay"]
    one_way = float(delay.removesuffix("ms")) / 1000
    return max(given.seconds, 40 * 2 * one_way)


def play(given, path, mover):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="trunkline-movers-", dir=given.folder))
    try:
        folder.chmod(0o755)
        (folder / "store").mkdir(mode=0o755)
        plan = {"mover": mover, "target": target(mover, folder), "seconds": seconds(given, path), "rounds": given.rounds,
                "seed": given.seed, "trunkline": str(given.trunkline)}
        command = [str(given.trunkline), "emulate", path, "--far", server(mover, folder), "--", sys.executable, __file__,
                   "--near", str(folder)]
        (folder / "plan.json").write_text(json.dumps(plan))
        with open(folder / "log", "wb") as log:
            subprocess.run(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, check=False,
                           env={**os.environ, "TMPDIR": str(folder)})
        result = folder / "result.json"
        if not result.exists():
            return {"errors": [(folder / "log").read_text(errors="replace")[-500:]]}
        result = json.loads(result.read_text())
        result["left"] = sorted(str(left) for left in (folder / "store").iterdir())
        result["left"] += [str(left) for left in folder.glob("trunkline-test-*")]
        return result
    finally:
        if not given.keep:
            shutil.rmtree(folder, ignore_errors=True)


def row(path, mover, result):
    """One line of the table, and the ratio."""
    if "again" not in result:
        return f"| {path} | {mover} | failed | | | | | | |", None
    again = {cell: rates for cell, rates in result["again"].items() if rates}
    best = max((cell for cell, _ in result["grid"][:BEST]), key=lambda cell: statistics.mean(again[cell]))
    found = again[result["found"]]
    ratio = statistics.mean(found) / max(statistics.mean(again[best]), 1e-9)
    default = dict(result["grid"]).get(result["default"], 0.0)
    return (f"| {path} | {mover} | {default:.1f} | {best} | {spread(again[best])} | {result['found']} | {spread(found)} | "
            f"{ratio:.3f} | {result['seconds']:.0f} s, {result['samples']} |"), ratio


def spread(rates):
    return f"{statistics.mean(rates):.1f} ({min(rates):.1f} to {max(rates):.1f})"


def page(given, results, head, took):
    lines = [head, __doc__.split("\n\n", 2)[2].strip(), "",
             f"Runs of {given.seconds:g} s or 40 round trips, {given.rounds} rounds, {given.beside} paths side by side, seed {given.seed}; "
             f"{took / 60:.0f} minutes in all. Mbit/s, mean (range) of the rounds.", "",
             "| path | program | default | best of the grid | carries | search | carries | ratio | search took, samples |",
             "|---|---|---|---|---|---|---|---|---|"]
    ratios = []
    for (path, mover), result in results.items():
        line, ratio = row(path, mover, result)
        lines.append(line)
        ratios += [ratio] if ratio is not None else []
    if ratios:
        reached = sum(ratio >= 0.97 for ratio in ratios)
        lines += ["", f"At least 0.97 of the best: {reached} of {len(results)}; median {statistics.median(ratios):.3f}, "
                  f"least {min(ratios):.3f}."]
    lines += ["", "Left behind at either end after the searches: "
              + str(sum(len(result.get("left", [])) for result in results.values())) + " files."]
    troubles = [f"- {path}, {mover}: `{' '.join(error.split())[:300]}`" for (path, mover), result in results.items()
                for error in result.get("errors", [])]
    if troubles:
        lines += ["", "Runs that failed:", "", *troubles]
    lines += ["", "Commands that the searches ended with:", ""]
    lines += [f"- {path}: `{result['command']}`" for (path, _), result in results.items() if "command" in result]
    return "\n".join(lines) + "\n"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--movers", default=",".join(GRIDS))
    parser.add_argument("--paths", default=",".join(PATHS))
    parser.add_argument("--seconds", type=float, default=8, help="length of a run")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--beside", type=int, default=1, help="paths that run side by side")
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--trunkline", default=TRUNKLINE)
    parser.add_argument("--output")
    parser.add_argument("--near", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    given = arguments()
    if given.near:
        folder = pathlib.Path(given.near)
        result = Near(json.loads((folder / "plan.json").read_text())).run()
        (folder / "result.json").write_text(json.dumps(result))
        return
    head, began, results = heading("other programs, tuned"), time.monotonic(), {}
    movers = given.movers.split(",")
    todo = [(path, mover) for mover in movers for path in given.paths.split(",")]
    file = pathlib.Path(given.output or ROOT / "bench" / "results" / f"movers-{datetime.date.today()}.md")
    with concurrent.futures.ThreadPoolExecutor(given.beside) as pool:
        running = {pool.submit(play, given, *cell): cell for cell in todo}
        for done in concurrent.futures.as_completed(running):
            cell = running[done]
            results[cell] = done.result()
            print(row(*cell, results[cell])[0], *results[cell].get("errors", [])[:2], file=sys.stderr, flush=True)
            ordered = {cell: results[cell] for cell in todo if cell in results}
            file.write_text(page(given, ordered, head, time.monotonic() - began))
    print(file.read_text())


if __name__ == "__main__":
    main()
