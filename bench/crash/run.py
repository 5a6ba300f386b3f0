#!/usr/bin/env python3
"""Is a copy whole after its end was killed, or its disk refused, at any system call?

    bench/crash/run.py                                  every point: about an hour
    bench/crash/run.py --sample 150 --seed 7            so many, drawn evenly over roles, ways and calls
    bench/crash/run.py --every 20                       each 20th
    bench/crash/run.py --only 'receiver/put/ssh/fsync*/KILL/*'
    bench/crash/run.py --list

For the sender and the receiver, by put and by get, over ssh (a local command takes its place) and to a server on loopback, strace ends that
process at the Kth call of each kind that changes the disk or talks to the peer, or has the call fail. Then the same command is given
once more, without strace. What counts:

* After the first command each final name has the old or the new content, whole.
* The second command ends with 0. The destination then is the source: names, bytes, links, modes, times; nothing else lies about.
* It sends at most what was neither published nor noted in a journal.
* Where a call on a file failed, the first command's error names the file and the cause.

The kill comes before the call is made; that it was made is the point of the next call. How calls of several threads are
counted is in `points.py`.
"""

import argparse
import collections
import itertools
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "copy")]

import points
import trial
from common import TRUNKLINE, heading


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names of points with * and ?, as --list shows them")
    parser.add_argument("--every", type=int, help="each Nth point")
    parser.add_argument("--sample", type=int, help="so many points at random")
    parser.add_argument("--seed", type=int, help="of the files and the sample; drawn and printed without this")
    parser.add_argument("--minutes", type=float, help="begin no point later than this")
    parser.add_argument("--jobs", type=int, default=2, help="points at a time")
    parser.add_argument("--rounds", type=int, default=1, help="try each point so often")
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="on the disk that is to be tried")
    parser.add_argument("--trunkline", type=os.path.abspath, default=str(TRUNKLINE), help="the program to try")
    parser.add_argument("--output", help="file of the table")
    parser.add_argument("--keep", action="store_true", help="keep the folders of points that failed")
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    given.seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 30)
    return given


def why_not():
    """What keeps strace from tracing here."""
    if not shutil.which("strace"):
        return "`strace` is not installed"
    words = ["strace", "-qf", "-b", "execve", "-e", "trace=fsync", "-e", "inject=fsync:error=EIO:when=1", "true"]
    tried = subprocess.run(words, capture_output=True, text=True)
    return f"strace cannot trace here: {tried.stderr.strip()[:200]}" if tried.returncode != 0 else None


def skip(reason):
    """As `testkit::skip` does it."""
    line = f"skipped: make crash: {reason}"
    print(line, file=sys.stderr)
    if log := os.environ.get("TRUNKLINE_SKIPS"):
        with open(log, "a") as file:
            file.write(line + "\n")
    sys.exit(1 if "CI" in os.environ else 0)


def all_points(bench):
    kinds = itertools.product(points.ROLES, points.WAYS, points.TRANSPORTS)
    found = []
    for number, kind in enumerate(kinds):
        found += points.all_of(*kind, *trial.count_calls(bench, *kind, f"count-{number}"))
    return found


def try_all(given, bench, chosen):
    """Point by point, some at a time. Where the last of a kind was reached, the next one is tried too."""
    until = time.monotonic() + 60 * given.minutes if given.minutes else float("inf")
    waiting, results, taking = collections.deque(chosen * given.rounds), [], threading.Lock()
    is_all = not (given.sample or given.every or given.only)
    last = {(one.group, one.call): one for one in chosen if not one.is_storm} if is_all else {}
    numbers = itertools.count()

    def take():
        with taking:
            return (waiting.popleft(), next(numbers)) if waiting and time.monotonic() < until else None

    def work():
        while taken := take():
            result = one_trial(given, bench, *taken)
            with taking:
                results.append(result)
                say(result, given)
                if len(results) % 200 == 0:
                    print(f"{len(results)} of {len(results) + len(waiting)} tried", file=sys.stderr, flush=True)
                point = taken[0]
                if result["fired"] and last.get((point.group, point.call)) == point:
                    last[point.group, point.call] = point.next()
                    waiting.append(point.next())

    with ThreadPoolExecutor(given.jobs) as pool:
        for worker in [pool.submit(work) for _ in range(given.jobs)]:
            worker.result()
    return results


def one_trial(given, bench, point, number):
    now = trial.Trial(bench, point, f"point-{number}")
    try:
        result = now.play()
    except Exception as error:
        result = {"point": point, "fired": False, "first": None, "wrong": [f"the trial itself broke: {error!r}"]}
    finally:
        now.close()
    if result["wrong"] and given.keep:
        result["kept"] = str(now.run)
    else:
        shutil.rmtree(now.run, ignore_errors=True)
    return result


def say(result, given):
    if result["wrong"]:
        more = f"; kept: {result['kept']}" if "kept" in result else ""
        print(f"FAILED {result['point'].name}: {'; '.join(result['wrong'][:3])}{more}\n    again: {again(result['point'], given)}",
              file=sys.stderr, flush=True)


def again(point, given):
    words = ["bench/crash/run.py", "--only", point.name, "--seed", str(given.seed), "--rounds", "5", "--keep"]
    return shlex.join(words + (["--trunkline", given.trunkline] if given.trunkline != str(TRUNKLINE) else []))


def text(head, given, found, results):
    there = collections.Counter(one.group for one in found)
    tried, reached, failed = (collections.Counter(one["point"].group for one in results if holds(one))
                              for holds in (bool, lambda one: one["fired"], lambda one: one["wrong"]))
    lines = [head, f"Seed {given.seed}. A point that was not reached is one whose number no thread came to this time.", "",
             "| role | way | transport | call | what | points | tried | reached | failed |", "|---" * 9 + "|"]
    lines += ["| " + " | ".join(map(str, [*group, there[group], tried[group], reached[group], failed[group]])) + " |"
              for group in sorted(set(there) | set(tried)) if tried[group] or not (given.sample or given.only)]
    sums = [f"{sum(one.values())} {word}" for one, word in
            ((there, "points"), (tried, "tried"), (reached, "reached"), (failed, "failed"))]
    lines += ["", ", ".join(sums) + ".", ""]
    kinds = collections.Counter(kind_of(wrong) for one in results for wrong in one["wrong"])
    if kinds:
        lines += ["## What failed", "", *(f"- {count} times: {kind}" for kind, count in kinds.most_common(20)), ""]
        lines += [f"- {one['point'].name}: {one['wrong'][0]}\n  `{again(one['point'], given)}`" for one in results if one["wrong"]]
    return "\n".join(lines) + "\n"


def kind_of(wrong):
    """The same failure of two points is one."""
    words = trial.re.sub(r"/\S*?/(?=target|source)", "", wrong)
    return trial.re.sub(r"\d+", "N", words)[:160]


def main():
    given = arguments()
    if reason := why_not():
        skip(reason)
    print(f"seed {given.seed}", file=sys.stderr)
    head = heading("Crashes at system calls and what copies make of them")
    bench = trial.Bench(pathlib.Path(tempfile.mkdtemp(prefix="trunkline-crash-", dir=given.folder)), given.trunkline, given.seed)
    bench.prepare()
    found = all_points(bench)
    chosen = points.choose(found, given)
    if given.list:
        print("\n".join(one.name for one in chosen))
        return shutil.rmtree(bench.folder)
    results = try_all(given, bench, chosen)
    page = text(head, given, found, results)
    if given.output:
        pathlib.Path(given.output).write_text(page)
    print(page)
    failed = any(one["wrong"] for one in results)
    if not (failed and given.keep):
        shutil.rmtree(bench.folder, ignore_errors=True)
    sys.exit(failed or not results)


if __name__ == "__main__":
    main()
