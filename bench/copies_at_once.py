#!/usr/bin/env python3
"""How many connections do plain copies to one server have that run at the same time, how long do they take, and what is sent again?

    bench/copies_at_once.py [PATH] [--copies N] [--megabytes M] [--runs N] [--get] [--program FILE]...

On an emulated path, with the kernel's TCP; needs root or user namespaces. With several programs they take turns. Prints Markdown.
"""

import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

from common import TRUNKLINE, heading, spread

PORT = 5392
ESTABLISHED = "01"
SETTLED = 20  # seconds of the start that "later" leaves out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", nargs="?", default="slac-cern")
    parser.add_argument("--copies", type=int, default=4)
    parser.add_argument("--megabytes", type=int, default=150, help="of each copy")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--get", action="store_true", help="the server sends")
    parser.add_argument("--stagger", type=float, default=0, help="seconds between the copies' beginnings")
    parser.add_argument("--program", action="append", type=pathlib.Path)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        return inside(arguments)
    programs = arguments.program or [TRUNKLINE]
    print(heading(f"{arguments.copies} copies at once over {arguments.path}"))
    way = "from" if arguments.get else "to"
    print(f"{arguments.megabytes} MB each {way} one server, begun {arguments.stagger:g} s after each other; "
          f"{arguments.runs} runs of each program, alternating. Connections of all copies together, read twice a second "
          f"at the near host; \"later\" is from {SETTLED} s on.\n")
    runs = {program: [] for program in programs}
    for number in range(arguments.runs):
        for program in programs:
            runs[program].append(run(program, arguments, number + 1))
            print(program.name, summary(runs[program][-1]), "load", os.getloadavg(), file=sys.stderr, flush=True)
    print("| program | time, s | all together, Mbit/s | connections, mean | later, mean | most | dropped | slowest copy over fastest |")
    print("|---|---|---|---|---|---|---|---|")
    for program, seen in runs.items():
        columns = zip(*map(summary, seen))
        print(f"| {program.name} | " + " | ".join(spread(values) for values in columns) + " |")


def run(program, arguments, seed):
    """What the copies told, the connections, and the counters of the path."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        root, tokens, source = folder / "root", folder / "tokens", folder / "source"
        root.mkdir()
        made = subprocess.run([program, "serve", "--tokens", tokens, "--new-token", "bench"], capture_output=True, text=True, check=True)
        with open(root / "source" if arguments.get else source, "wb") as out:
            for _ in range(arguments.megabytes):
                out.write(os.urandom(1_000_000))
        serve = shlex.join([str(program), "serve", "--port", str(PORT), "--root", str(root), "--tokens", str(tokens)])
        near = [sys.executable, __file__, "--inside", str(folder), "--copies", str(arguments.copies), "--program", str(program),
                "--stagger", str(arguments.stagger), *(["--get"] if arguments.get else [])]
        command = [str(program), "emulate", arguments.path, "--seed", str(seed), "--json", "--far", serve, "--", *near]
        environment = os.environ | {"TRUNKLINE_TOKEN": made.stdout.strip(), "TRUNKLINE_STATE": str(folder / "state")}
        ran = subprocess.run(command, capture_output=True, text=True, env=environment)
        if ran.returncode:
            raise SystemExit(f"{shlex.join(command)} failed:\n{ran.stderr}")
        seen = json.loads((folder / "seen.json").read_text())
        path = json.loads(ran.stdout)["reverse" if arguments.get else "forward"]
        return seen | {"path": path, "bytes": arguments.copies * arguments.megabytes * 1_000_000}


def summary(seen):
    """Figures of one run."""
    counts = [count for _, count in seen["connections"]]
    later = [count for at, count in seen["connections"] if at >= SETTLED] or counts
    path = seen["path"]
    dropped = path["dropped_queue_full"]["packets"] + path["dropped_wire_loss"]["packets"]
    return (round(seen["seconds"], 1), round(seen["bytes"] * 8e-6 / seen["seconds"], 2), round(statistics.mean(counts), 1),
            round(statistics.mean(later), 1), max(counts), round(dropped / max(path["offered"]["packets"], 1), 4),
            round(max(seen["each"]) / min(seen["each"]), 3))


def inside(arguments):
    """On the near host: all copies, and the connections meanwhile."""
    folder, program = pathlib.Path(arguments.inside), arguments.program[0]
    server = f"trunkline://far:{PORT}/"
    began, running, each, connections = time.monotonic(), [], [], []
    while len(each) < arguments.copies:
        now = time.monotonic() - began
        if len(running) + len(each) < arguments.copies and now >= arguments.stagger * (len(running) + len(each)):
            number = len(running) + len(each)
            places = [server + "source", folder / f"copied{number}"] if arguments.get else [folder / "source", server + f"copied{number}"]
            command = [program, "copy", "--no-history", "--json", *map(str, places)]
            running.append((time.monotonic(), subprocess.Popen(command, stdout=subprocess.DEVNULL)))
            continue
        for begun, one in list(running):
            if one.poll() is not None:
                if one.returncode:
                    raise SystemExit(f"a copy exited with {one.returncode}")
                running.remove((begun, one))
                each.append(time.monotonic() - begun)
        connections.append((round(now, 2), count()))
        time.sleep(0.5 if not arguments.stagger else 0.25)
    seen = {"seconds": time.monotonic() - began, "each": each, "connections": connections}
    (folder / "seen.json").write_text(json.dumps(seen))


def count():
    """Established connections to the server."""
    port = f":{PORT:04X}"
    lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    words = [line.split() for line in lines]
    return sum(1 for one in words if one[2].endswith(port) and one[3] == ESTABLISHED)


if __name__ == "__main__":
    main()
