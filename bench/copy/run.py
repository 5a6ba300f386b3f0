#!/usr/bin/env python3
"""How long do trunkline and others take to copy files over emulated paths, and what does it cost?

    bench/copy/run.py                      everything: hours
    bench/copy/run.py --minutes 25         the whole table with smaller files: all once, then who leads again and again
    bench/copy/run.py --quick              loopback and slac-cern, small data, one round: a rehearsal
    bench/copy/run.py --paths slac-cern,lan --data file --tools trunkline,scp --rounds 5

Every run has fresh namespaces, so no run knows what TCP remembered of another. Rounds are shuffled. Slow paths are run side
by side as long as their rates together stay below `--beside`; one round's runs never share a path's link. Each result is
compared with its source by SHA-256. Needs root (for the paths' congestion control in programs that do not choose their own).
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import data
import table
import tools
from common import ROOT, TRUNKLINE

ENDS = HERE / "ends.py"

# Each path with its rate in Mbit/s, which is its weight when runs are side by side, and the size of the one file when time
# is short: 8 to 11 s at the full rate. Loopback is one host to itself.
PATHS = {
    "slac-cern": ("slac-cern", 45, 60),
    "oc3-80ms": ("oc3-80ms", 155, 150),
    "twaren-cesnet-quarter": (str(HERE / "paths" / "twaren-cesnet-quarter.toml"), 135, 150),
    "capped-buffers": ("capped-buffers", 100, 100),
    "shallow-queue": ("shallow-queue", 50, 60),
    "lan": ("lan", 1000, 300),
    "loopback": ("lan", 10_000, 300),
}
DATA = ["file", "tree", "mixed"]
# Where the network is so fast that the processor may bind: only here do variants matter that differ in processor time alone.
FAST = ("lan", "loopback")
# Peers that are this much slower than the fastest one are not run again in later rounds when time is short.
CONTENDS = 1.5


class Weights:
    """Lets runs go side by side up to a sum of weights; a heavier one runs alone."""

    def __init__(self, limit):
        self.limit, self.taken, self.condition = limit, 0, threading.Condition()

    def __call__(self, weight):
        self.weight = threading.local()
        return _Share(self, min(weight, self.limit))


class _Share:
    def __init__(self, weights, weight):
        self.weights, self.weight = weights, weight

    def __enter__(self):
        with self.weights.condition:
            self.weights.condition.wait_for(lambda: self.weights.taken + self.weight <= self.weights.limit)
            self.weights.taken += self.weight

    def __exit__(self, *_):
        with self.weights.condition:
            self.weights.taken -= self.weight
            self.weights.condition.notify_all()


class Bench:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.keys = folder / "keys"
        self.keys.mkdir()
        tools.prepare_keys(self.keys)
        self.weights = Weights(arguments.beside)
        self.sources, self.expected = {}, {}

    def source(self, path, kind):
        """The data of a cell, made once, and its hashes."""
        megabytes = self.arguments.file_megabytes or (PATHS[path][2] if self.arguments.short else 300)
        size = megabytes * 1_000_000 if kind == "file" else 0
        key = (kind, size)
        if key not in self.sources:
            folder = self.folder / f"source-{kind}-{megabytes}"
            maker = {
                "file": lambda: data.file(folder, size),
                "tree": lambda: data.tree(folder, self.arguments.tree_files),
                "mixed": lambda: data.mixed(folder, self.arguments.mixed_scale),
            }[kind]
            self.sources[key] = made = maker()
            self.expected[made] = data.hashes(made)
        return self.sources[key]

    def run(self, number, path, kind, tool, until=None):
        """One run; gives its figures, or why there are none. Nothing when its turn comes after `until`."""
        source = self.source(path, kind)
        cell = self.folder / f"{path}-{kind}"
        cell.mkdir(exist_ok=True)
        run = pathlib.Path(tempfile.mkdtemp(prefix=f"{number}-", dir=cell))
        target = run / "target"
        target.mkdir()
        # A server that refuses to be root writes here, and ssh's user comes through.
        for folder in (run, target):
            folder.chmod(0o777)
        local = path == "loopback"
        host = "localhost" if local else ("near" if tool.pulls else "far")
        place = tools.Place(self.keys, run, source, target, host, self.arguments.trunkline, self.arguments.syq)
        try:
            # What is ours counts only where it was seen to its end.
            cap = self.arguments.cap * (1 if tool.kind == "peer" else 4)
            plan = tool.plan(place) | {"cap_seconds": cap}
        except (OSError, subprocess.CalledProcessError) as error:
            return {"error": f"no plan: {error}"}
        (run / "plan.json").write_text(json.dumps(plan))
        with self.weights(PATHS[path][1]):
            began = time.monotonic()
            if until and began > until:
                return None
            self.emulate(run, path, tool, local, number)
            result = read(run / "client.json") or {"error": "the client left nothing: " + tail(run / "emulate.log")}
            result["server"] = read(run / "server.json") or {}
            self.judge(result, place)
            if "error" not in result or not self.arguments.keep:
                shutil.rmtree(run, ignore_errors=True)
            else:
                result["error"] += f" (kept: {run})"
            result["occupied_seconds"] = time.monotonic() - began
        return result

    def emulate(self, run, path, tool, local, seed):
        end = lambda role: [sys.executable, str(ENDS), role, str(run)]
        command = [self.arguments.trunkline_of_the_path, "emulate", PATHS[path][0], "--seed", str(seed)]
        if local:
            command += ["--", *end("both")]
        else:
            near, far = ("serve", "client") if tool.pulls else ("client", "serve")
            command += ["--far", " ".join(end(far)), "--", *end(near)]
        with open(run / "emulate.log", "wb") as log:
            subprocess.run(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, check=False)

    def judge(self, result, place):
        expected = self.expected[place.source]
        result["bytes"] = data.bytes_of(place.source)
        result["files"] = len(expected)
        if result.get("capped"):
            result["arrived"] = min(data.bytes_of(place.target), result["bytes"])
        elif "error" not in result:
            found = data.hashes(place.result) if place.result.exists() else {}
            wrong = sorted(name for name in expected if found.get(name) != expected[name])
            result["right"] = found == expected
            if not result["right"]:
                result["error"] = f"{len(wrong)} of {len(expected)} files missing or different, {len(found)} there"


def read(file):
    return json.loads(file.read_text()) if file.exists() else None


def tail(file):
    return file.read_text(errors="replace")[-300:] if file.exists() else ""


def chosen(text, known):
    """Names of a list, or parts of names."""
    if not text:
        return list(known)
    words = [word.strip() for word in text.split(",")]
    exact = [name for name in known if name in words]
    rest = [word for word in words if word not in exact]
    parts = [name for name in known if any(name.startswith(word) for word in rest)]
    return [name for name in known if name in exact or name in parts]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paths", help="of " + ", ".join(PATHS))
    parser.add_argument("--data", help="of " + ", ".join(DATA))
    parser.add_argument("--tools", help="names or beginnings of names, separated by commas; `--list` shows them")
    parser.add_argument("--without", default="", help="beginnings of names to leave out")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cap", type=float, default=600, help="seconds after which a run is ended; what arrived counts")
    parser.add_argument("--file-megabytes", type=int, help="size of the one file (300)")
    parser.add_argument("--tree-files", type=int, default=2000)
    parser.add_argument("--mixed-scale", type=float, default=1.0)
    parser.add_argument("--short", action="store_true", help="files of 75 to 300 MB, by the path's rate")
    parser.add_argument("--minutes", type=float, help="stop after about so long; implies --short and a cap of 25 s")
    parser.add_argument("--quick", action="store_true", help="a rehearsal of a few minutes")
    parser.add_argument("--beside", type=float, default=300, help="Mbit/s of paths that are run side by side")
    parser.add_argument("--folder", default="/dev/shm", help="where the files of both ends are")
    parser.add_argument("--seed", type=int, default=1, help="of the order")
    parser.add_argument("--keep", action="store_true", help="keep the folders of runs that failed")
    parser.add_argument("--list", action="store_true", help="show the tools")
    parser.add_argument("--trunkline", default=str(TRUNKLINE))
    parser.add_argument("--trunkline-of-the-path", help="the program that emulates (the same)")
    parser.add_argument("--syq", default=shutil.which("syq") or "syq")
    parser.add_argument("--output", help="the table's file (bench/results/copy-DATE.md)")
    given = parser.parse_args()
    given.trunkline_of_the_path = given.trunkline_of_the_path or given.trunkline
    if given.quick:
        given.paths = given.paths or "loopback,slac-cern"
        given.file_megabytes, given.tree_files, given.mixed_scale = given.file_megabytes or 20, 300, 0.2
        given.rounds, given.cap = 1, min(given.cap, 40)
    if given.minutes:
        given.short, given.rounds, given.cap = True, max(given.rounds, 5), min(given.cap, 25)
    return given


def is_there(tool, given):
    program = {"trunkline": given.trunkline, "syq": given.syq}.get(tool.needs, tool.needs)
    return shutil.which(program) is not None


def plan_of(given):
    """All cells that were asked for, as (path, data, tool)."""
    names = chosen(given.tools, [tool.name for tool in tools.ALL])
    left_out = [word for word in given.without.split(",") if word]
    asked = [tool for tool in tools.ALL if tool.name in names and not any(map(tool.name.startswith, left_out))]
    missing = {tool.needs for tool in asked if not is_there(tool, given)}
    for program in sorted(missing):
        print(f"not installed, left out: {program}", file=sys.stderr)
    there = [tool for tool in asked if tool.needs not in missing]
    return [
        (path, kind, tool)
        for path in chosen(given.paths, PATHS) for kind in chosen(given.data, DATA) for tool in there
        if (not tool.only or kind in tool.only) and (path in FAST or not (tool.fast and given.short))
    ]


def contenders(cells, results):
    """Who is run again when time is short: ours, what they are compared with, and peers near the fastest."""
    def seconds(path, kind, tool):
        runs = table.good(results.get((path, kind, tool.name), []))
        return table.median(runs) if runs else None

    again = []
    for path, kind in dict.fromkeys((path, kind) for path, kind, _ in cells):
        there = [tool for a, b, tool in cells if (a, b) == (path, kind)]
        times = {tool.name: seconds(path, kind, tool) for tool in there}
        peers = [times[tool.name] for tool in there if tool.kind == "peer" and times[tool.name]]
        near = CONTENDS * min(peers, default=0)
        again += [(path, kind, tool) for tool in there if times[tool.name] and (tool.kind != "peer" or times[tool.name] <= near)]
    return again


def main():
    given = arguments()
    if given.list:
        print("\n".join(tool.name for tool in tools.ALL))
        return
    cells = plan_of(given)
    began = time.monotonic()
    started = table.beginning(given)
    results = {}
    folder = pathlib.Path(tempfile.mkdtemp(prefix="trunkline-copy-", dir=given.folder))
    folder.chmod(0o755)
    try:
        bench = Bench(given, folder)
        for path, kind, _ in cells:
            bench.source(path, kind)
        order = random.Random(given.seed)
        until = began + given.minutes * 60 if given.minutes else None
        for number in range(1, given.rounds + 1):
            shuffled = contenders(cells, results) if given.minutes and number > 1 else cells[:]
            order.shuffle(shuffled)
            play_round(bench, number, shuffled, results, began, until if number > 1 else None)
        text = table.text(started, given, results, time.monotonic() - began)
    finally:
        if not given.keep:
            shutil.rmtree(folder, ignore_errors=True)
    file = pathlib.Path(given.output or ROOT / "bench" / "results" / f"copy-{datetime.date.today()}.md")
    file.write_text(text)
    print(text)


def play_round(bench, number, cells, results, began, until):
    """Each cell once, as many at a time as their weights allow; none begins after `until`."""
    def one(cell):
        if until is None or time.monotonic() < until:
            return bench.run(number, *cell, until)
        return None

    with concurrent.futures.ThreadPoolExecutor(len(cells) or 1) as pool:
        waiting = {pool.submit(one, cell): cell for cell in cells}
        for done, future in enumerate(concurrent.futures.as_completed(waiting), 1):
            path, kind, tool = waiting[future]
            if (result := future.result()) is not None:
                results.setdefault((path, kind, tool.name), []).append(result)
                say(f"{number}: {done}/{len(cells)}", path, kind, tool, result, time.monotonic() - began)


def say(at, path, kind, tool, result, elapsed):
    """One line for who watches."""
    what = result.get("error") or (f"{result['seconds']:.2f} s" + (" capped" if result.get("capped") else ""))
    print(f"{elapsed:6.0f} s  {at}  {path} {kind} {tool.name}: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
