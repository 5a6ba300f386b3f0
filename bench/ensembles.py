#!/usr/bin/env python3
"""Does a grid of simulations use all processors, and does it go on after `kill -9` as if nothing had been?

Makes a grid of 10,000 cells (two variants, ten windows, 500 numbers of streams) with an empty folder of finished
runs, `--rounds` times, and tells the share of the processors: user and system time over wall time times processors.
Then the same grid with another folder is killed with SIGKILL at drawn moments and begun again until it is done; its
document has to be that of the undisturbed run but for the cost. Once more with all runs kept tells what looking them
up takes. With --families NAMES the share of `tuning --families NAMES` (bench/tuning.py builds it) is told, too.
Exit code 1: the documents differ, or a run that was kept was lost.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from common import ROOT, TRUNKLINE, heading, spread

TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROCESSORS = len(os.sched_getaffinity(0))


class Outcome:
    """What a program took."""

    def __init__(self, command, out, kill_after=None):
        """Runs `command` with its output in the file `out`; kills it after so many seconds."""
        begun = time.monotonic()
        with open(out, "wb") as stdout:
            child = subprocess.Popen(list(map(str, command)), stdout=stdout, stderr=subprocess.PIPE)
        status, usage = None, None
        while status is None:
            pid, seen, usage = os.wait4(child.pid, os.WNOHANG if kill_after is not None else 0)
            if pid:
                status = seen
            elif time.monotonic() - begun >= kill_after:
                os.kill(child.pid, signal.SIGKILL)
                kill_after = None
            else:
                time.sleep(0.002)
        self.wall = time.monotonic() - begun
        self.processor = usage.ru_utime + usage.ru_stime
        self.system = usage.ru_stime
        self.code = os.waitstatus_to_exitcode(status)
        child.returncode = self.code
        self.said = child.stderr.read().decode(errors="replace")
        child.stderr.close()
        if self.code not in (0, -signal.SIGKILL):
            raise SystemExit(f"{' '.join(map(str, command))} ended with {self.code}:\n{self.said}")

    @property
    def share(self):
        return 100 * self.processor / (self.wall * PROCESSORS)


def grid(arguments, folder):
    return [TRUNKLINE, "simulate", arguments.path, "-P", f"1..{arguments.streams}", "-w", "16k..8m", "--variant",
            "sack,cubic", "-t", arguments.duration, "--cache", folder, "--no-history", "--json"]


def kept(folder):
    """Finished runs, files that have no name yet, and the most files in one folder."""
    runs = [len(list(below.glob("*.run"))) for below in folder.iterdir() if below.is_dir()]
    new = folder / "new"
    return sum(runs), len(list(new.iterdir())) if new.is_dir() else 0, max(runs, default=0)


def lasting(file):
    """The document without what differs each time, and how many runs it found kept."""
    document = json.loads(pathlib.Path(file).read_text())
    for key in ("created", "command_line"):
        document.pop(key)
    cached = document.pop("cost")["cached_runs"]
    for cell in document["cells"]:
        cell.pop("cost")
    return document, cached


def undisturbed(arguments, place):
    """The rounds, and the document of the last one."""
    rounds = []
    for number in range(arguments.rounds):
        folder = place / f"whole{number}"
        rounds.append(Outcome(grid(arguments, folder), place / "whole.json"))
    again = Outcome(grid(arguments, folder), place / "again.json")
    document, cached = lasting(place / "whole.json")
    cells = len(document["cells"])
    runs, _, most = kept(folder)
    print(f"| {cells} cells, {PROCESSORS} processors | |\n|---|---|")
    print(f"| seconds | {spread([one.wall for one in rounds])} |")
    print(f"| processor seconds | {spread([one.processor for one in rounds])} |")
    print(f"| of these in the kernel | {spread([one.system for one in rounds])} |")
    print(f"| share of the processors, % | {spread([one.share for one in rounds])} |")
    print(f"| the same with all runs kept, seconds | {again.wall:.3g} |")
    print(f"| files kept, the most in one folder | {runs}, {most} |", flush=True)
    found = lasting(place / "again.json")
    if cached != 0 or runs < cells or found != (document, cells):
        raise SystemExit("a run that was kept was not found, or came back as another")
    return document, rounds[-1]


def disturbed(arguments, place, whole):
    """Kills the grid at drawn moments until `kills` have hit it, then lets it end."""
    draw = random.Random(arguments.seed)
    folder, out = place / "killed", place / "killed.json"
    print(f"\n| killed after, s (seed {arguments.seed}) | runs kept | unnamed files |\n|---|---|---|")
    processor, before = 0.0, 0
    for _ in range(arguments.kills):
        moment = draw.uniform(0.0, 2.0 * whole.wall / arguments.kills)
        one = Outcome(grid(arguments, folder), out, kill_after=moment)
        processor += one.processor
        runs, unnamed, _ = kept(folder) if folder.exists() else (0, 0, 0)
        if runs < before:
            raise SystemExit(f"{before} runs were kept before this kill, {runs} after it")
        before = runs
        print(f"| {moment:.3f} | {runs} | {unnamed} |", flush=True)
        if one.code == 0:
            break
    last = Outcome(grid(arguments, folder), out)
    document, cached = lasting(out)
    print(f"\nThe last command found {cached} runs kept and took {last.wall:.3g} s. All together took "
          f"{processor + last.processor:.4g} processor seconds, undisturbed {whole.processor:.4g}.")
    if cached < before:
        raise SystemExit(f"{before} runs were kept, {cached} were found")
    return document


def families(names, place):
    """The share of the processors of the families of bench/tuning."""
    command = [TARGET / "release" / "tuning", "--families", names, "--cache", place / "families"]
    one = Outcome(command, place / "families.md")
    print(f"\nFamilies {names}: {one.wall:.4g} s, {one.processor:.4g} processor seconds, {one.share:.1f} % of "
          f"{PROCESSORS} processors.", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", default="slac-cern", help="a named path or a path file, without cross traffic")
    parser.add_argument("--streams", type=int, default=500, help="from 1 to so many; 20 cells each")
    parser.add_argument("--duration", default="4s", help="of each run, in simulated time")
    parser.add_argument("--rounds", type=int, default=3, help="how often the undisturbed grid is made")
    parser.add_argument("--kills", type=int, default=12, help="how often the other one is killed")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument("--families", metavar="NAMES", help="of bench/tuning, separated by commas")
    arguments = parser.parse_args()
    if arguments.rounds < 1 or arguments.kills < 1 or arguments.streams < 1:
        parser.error("--rounds, --kills and --streams are at least 1")
    print(heading("Grids of simulations: processors, and kill -9"))
    print(f"`{' '.join(map(str, grid(arguments, 'DIR')[1:]))}`\n")
    with tempfile.TemporaryDirectory(prefix="trunkline-ensembles-") as place:
        place = pathlib.Path(place)
        document, whole = undisturbed(arguments, place)
        same = disturbed(arguments, place, whole) == document
        print(f"\nThe document {'is' if same else 'IS NOT'} that of the undisturbed grid.")
        if arguments.families:
            families(arguments.families, place)
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
