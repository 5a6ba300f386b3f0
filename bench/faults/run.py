#!/usr/bin/env python3
"""Does a copy survive what networks, disks and people do to it?

    bench/faults/run.py                        every fault, 10 rounds each
    bench/faults/run.py --faults kill,cut --rounds 50 --seed 7
    bench/faults/run.py --minutes 30 --jobs 3
    bench/faults/run.py --list

Each trial copies a folder (one large file, many small ones) over an emulated path of its own and has one fault at a random
moment. Where the copy does not come through by itself, the same command is given again, as a user would. What counts:

* wrong: files that have their final name and a content that the source never had. It has to be 0, after every try.
* completed: in the end the destination is the source, to the last byte, and nothing else lies about.
* sent: bytes that reached the receiver in all tries, against the bytes of the files. What was finished before the fault must not be sent
  again: a trial that sends more than `Scene.sent_most` allows is not as expected.

Needs root: it makes small file systems and loop devices in a mount namespace of its own.
"""

import argparse
import collections
import datetime
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "copy")]

import data
import scenes
import tools
from common import ROOT, TRUNKLINE, heading

ENDS = HERE / "sides.py"
# 250 kB in flight; a copy of 30 MB takes about 3 s, so that random moments fall into every phase of it.
PATH = """
[forward]
rate  = "100Mbit/s"
delay = "10ms"
queue = {{ kind = "drop-tail", limit = "500kB" }}
{faults}
[hosts]
congestion = "cubic"
"""


def make_source(folder, seed, given, megabytes):
    draws = random.Random(seed)
    source = folder / "source"
    data.fill(source / "large", megabytes * 1_000_000, draws)
    DATA[given.data](source, draws)
    return source


def many(source, draws):
    """Beside the large file one of a few pieces, and small ones in two folders."""
    data.fill(source / "middle", 2_500_000 + draws.randrange(1000), draws)
    for number in range(200):
        data.fill(source / f"{number % 2}" / f"{number:03}", draws.randrange(20_000), draws)


def sixty(source, draws):
    """Beside the large file sixty of 0 to 300 kB."""
    for number in range(60):
        name = "middle" if number == 0 else f"{number % 3}/{number:03}"
        data.fill(source / name, draws.randrange(300_001), draws)


# By name: what is beside the large file. Scenes need `large` and `middle`.
DATA = {"many": many, "sixty": sixty}
MEGABYTES = {"many": 30, "sixty": 60}
BESIDE = {"many": "201 smaller files", "sixty": "sixty files of 0 to 300 kB"}


def trial(given, folder, scene, number, seed):
    """One copy with one fault; gives what became of it."""
    # Of its own, or all faults of a round would have the same way and moment.
    own = zlib.crc32(f"{seed} {scene.name}".encode())
    draws = random.Random(own)
    run = folder / f"{scene.name}-{number}"
    run.mkdir()
    run.chmod(0o777)
    source = make_source(run, own, given, scene.megabytes or given.megabytes)
    (run / "target").mkdir()
    (run / "path.toml").write_text(PATH.format(faults=scene.path(draws)))
    plan = {
        "scene": scene.name, "seed": own, "trunkline": given.trunkline, "keys": str(folder / "keys"),
        "way": draws.choice(scene.ways), "by": draws.choice([by for by in scene.by if by in given.by]), "plain": scene.plain,
        "patience": scene.patience, "give_up": given.give_up,
    }
    (run / "before.json").write_text(json.dumps(data.hashes(source)))
    (run / "before.size").write_text(str((source / "large").stat().st_size))
    plan["bytes"] = data.bytes_of(source)
    (run / "plan.json").write_text(json.dumps(plan))
    scene.prepare(run, source, plan)
    end = lambda role: f"{sys.executable} {ENDS} {role} {run}"
    command = [given.trunkline, "emulate", str(run / "path.toml"), "--seed", str(own), "--far", end("far"), "--",
               *end("near").split()]
    try:
        with open(run / "emulate.log", "wb") as log:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=given.give_up + 60, check=False)
        file = run / "result.json"
        result = json.loads(file.read_text()) if file.exists() else {"broken": "the trial left no result"}
    except subprocess.TimeoutExpired:
        result = {"broken": f"the trial did not end within {given.give_up + 60} s"}
    finally:
        scene.clear(run)
    result |= {"scene": scene.name, "seed": seed, "number": number, "way": plan["way"], "by": plan["by"]}
    if not bad(result) and not given.keep:
        shutil.rmtree(run, ignore_errors=True)
    else:
        result["kept"] = str(run)
    return result


def bad(result):
    return bool(result.get("broken") or result.get("wrong") or not result.get("expected"))


def text(head, given, results):
    by_scene = collections.defaultdict(list)
    for result in results:
        by_scene[result["scene"]].append(result)
    lines = [
        head,
        f"Faults at random moments, seeds from {given.seed}, {given.jobs} trials at a time; {given.megabytes} MB in one large and "
        f"{BESIDE[given.data]} over 100 Mbit/s and 20 ms, files in memory. A fault `resumable` ended in an error, and the same command "
        "given again completed the copy. `sent` is what reached the receiver's interface in all tries, headers included, over the "
        "bytes of the files.",
        "",
        "| fault | tried | done by itself | error, and resumable | as expected | bytes wrong | left behind | sent, median | most | "
        "allowed | errors as users saw them |",
        "|---" * 11 + "|",
    ]
    for name, group in by_scene.items():
        lines.append(row(name, group))
    every = [result for group in by_scene.values() for result in group]
    wire, size = (sum(one.get(key) or 0 for one in every if one.get("completed")) for key in ("sent", "bytes"))
    lines += ["", f"{len(every)} faults tried, {sum(one.get('completed', False) for one in every)} copies done in the end, "
              f"{sum(one.get('wrong_bytes', 0) for one in every)} bytes wrong. Of the copies done {wire / 1e6:.0f} MB were sent for "
              f"{size / 1e6:.0f} MB of files.", ""]
    missed = collections.Counter(one["scene"] for one in every if one.get("missed"))
    if missed:
        told = ", ".join(f"{name} {count}" for name, count in missed.items())
        lines += [f"Came when there was nothing left to break: {told}.", ""]
    strange = [one for one in every if bad(one)]
    if strange:
        lines += ["## Not as expected", ""]
        lines += [f"- {one['scene']}, seed {one['seed']}, {one['way']} by {one['by']}: "
                  f"{one.get('broken') or one.get('why')}" for one in strange]
    return "\n".join(lines) + "\n"


def row(name, group):
    sent = [one["sent"] / one["bytes"] for one in group if one.get("sent") and one.get("completed")]
    allowed = [one["sent_most"] / one["bytes"] for one in group if one.get("sent_most")]
    errors = collections.Counter(without_names(one["error"]) for one in group if one.get("error"))
    said = "; ".join(f"{error} ({count})" for error, count in errors.most_common(3)).replace("|", "/").replace("\n", " ")
    count = lambda key: sum(bool(one.get(key)) for one in group)
    cells = [
        name, len(group), count("by_itself"), sum(bool(one.get("completed") and not one.get("by_itself")) for one in group),
        count("expected"), sum(one.get("wrong_bytes", 0) for one in group), sum(len(one.get("left", [])) for one in group),
        f"{statistics.median(sent):.3f}" if sent else "", f"{max(sent):.3f}" if sent else "", f"{max(allowed):.2f}" if allowed else "", said[:300],
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def without_names(error):
    """The same error of two trials is one."""
    return re.sub(r"/(dev|var)/\S*?/(?=source|target)", "", error)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", default="", help="beginnings of names, separated by commas")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--minutes", type=float, help="begin rounds until so much time is over, instead of --rounds")
    parser.add_argument("--jobs", type=int, default=1, help="trials at a time")
    parser.add_argument("--seed", type=int, help="of the first round; drawn and printed without this")
    parser.add_argument("--data", choices=list(DATA), default="many", help="large and 201 smaller files, or large and sixty of 0 to 300 kB")
    parser.add_argument("--megabytes", type=int, help="of the large file: 30, with sixty others 60")
    parser.add_argument("--by", default="ssh,serve", help="ways to the far end; without ssh no sshd is needed")
    parser.add_argument("--give-up", type=int, default=240, help="seconds for one trial")
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--keep", action="store_true", help="keep the folders of all trials")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--trunkline", type=os.path.abspath, default=str(TRUNKLINE))
    parser.add_argument("--output", help="file of the table (bench/results/faults-DATE.md)")
    given = parser.parse_args()
    given.by = given.by.split(",")
    given.megabytes = given.megabytes or MEGABYTES[given.data]
    return given


def in_own_mounts():
    """Starts again in a mount namespace, so that no mount of a trial is left on this host."""
    if os.environ.get("TRUNKLINE_FAULTS") != "inside":
        command = ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv]
        os.execvpe("unshare", command, {**os.environ, "TRUNKLINE_FAULTS": "inside"})


def run_all(given, folder, chosen):
    """Trial by trial as they end, some at a time."""
    until = time.monotonic() + 60 * given.minutes if given.minutes else None
    numbers = itertools.count() if until else range(given.rounds)
    trials = ((number, scene) for number in numbers for scene in chosen)
    if until:
        trials = itertools.takewhile(lambda _: time.monotonic() < until, trials)

    def take():
        with taking:
            return next(trials, None)

    def work():
        while one := take():
            result = trial(given, folder, one[1], one[0], given.seed + one[0])
            with taking:
                say(result)
                results.append(result)

    taking, results = threading.Lock(), []
    workers = [threading.Thread(target=work) for _ in range(given.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    order = [scene.name for scene in chosen]
    return sorted(results, key=lambda result: (order.index(result["scene"]), result["number"]))


def say(result):
    state = result.get("broken") or ("as expected" if result.get("expected") else f"NOT AS EXPECTED: {result.get('why')}")
    sent = f", sent {result['sent'] / result['bytes']:.3f}" if result.get("sent") else ""
    sent += ", came too late" if result.get("missed") else ""
    print(f"{result['scene']} {result['number']} ({result['way']} by {result['by']}, seed {result['seed']}): {state}{sent}; "
          f"tries {result.get('tries')} {result.get('error', '')[:200]}", file=sys.stderr, flush=True)


def main():
    given = arguments()
    words = [word for word in given.faults.split(",") if word]
    chosen = [one for one in scenes.ALL if set(one.by) & set(given.by) and
              (not words or any(one.name.startswith(word) for word in words))]
    if given.list:
        print("\n".join(f"{one.name}: {one.__doc__}" for one in chosen))
        return
    in_own_mounts()
    given.seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 30)
    print(f"seed {given.seed}", file=sys.stderr)
    head = heading("Faults and what copies make of them")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="trunkline-faults-", dir=given.folder))
    folder.chmod(0o755)
    (folder / "keys").mkdir()
    if "ssh" in given.by:
        tools.prepare_keys(folder / "keys")
    results = list(run_all(given, folder, chosen))
    if not any(map(bad, results)) and not given.keep:
        shutil.rmtree(folder, ignore_errors=True)
    page = text(head, given, results)
    pathlib.Path(given.output or ROOT / "bench" / "results" / f"faults-{datetime.date.today()}.md").write_text(page)
    print(page)
    sys.exit(any(map(bad, results)))


if __name__ == "__main__":
    main()
