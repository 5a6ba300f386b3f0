#!/usr/bin/env python3
"""Does a copy that was stopped or killed go on when the same command is given again at once?

    bench/stops/again.py                        200 of each way to put, and some to get
    bench/stops/again.py --count 2 --jobs 8     a sample, for `make test`
    bench/stops/again.py --only 'put ssh' --seed 7

Each trial copies 800 small files, ends the copy at a random moment, and gives the same command again as soon as the caller of
the first has its output. As expected is: the first ends with 75 or by the signal, the second with 0 and all files, no output
is held for more than five seconds, and no process is there five seconds later. Needs root, `ip` and sshd.
"""

import argparse
import collections
import dataclasses
import datetime
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "copy")]

from common import ROOT, TRUNKLINE, heading
from ends import wait_for
from run import skip
from stage import SERVER, Stage, end, environment, in_own_namespaces, marked
from states import ssh

FILES, BYTES = 800, 9_000
# How long the output of a copy that was killed may be held, and how long its processes may be there.
HELD, LINGERS = 5.0, 5.0
NEAR = {"SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT, "SIGKILL": signal.SIGKILL}
FAR = "SIGKILL of the far end"
GROUP = "SIGKILL of the near end and ssh"
# The repeat waits for nothing longer than the 15 s of a server that hears nothing over UDP.
REPEAT_MAX = 60


@dataclasses.dataclass
class Trial:
    stage: Stage
    number: int
    way: str
    over: str
    how: str
    seed: int

    def __post_init__(self):
        self.name = f"{self.way} {self.over}, {self.how}"
        self.drawn = random.Random(f"{self.seed} {self.name} {self.number}")
        self.run = self.stage.folder / f"again-{abs(hash((self.name, self.number)))}"
        self.environment = environment(self.run, self.run.name)

    def words(self):
        small, place = self.stage.files / "small", self.run / "there"
        if self.over == "ssh":
            near, far = small, f"127.0.0.1:{place}"
            if self.way == "get":
                near, far = f"127.0.0.1:{small}/", place
            words = [self.stage.program, "copy", "-r", "--no-history", *ssh(self.stage, self.run), f"{near}/", far]
        else:
            near, far = small, self.stage.at(SERVER, place.relative_to(self.stage.folder))
            if self.way == "get":
                near, far = self.stage.at(SERVER, "files/small"), place
            words = self.stage.copy(f"{near}/", far, "--transport", self.over)
        return list(map(str, words))

    def start(self):
        return subprocess.Popen(self.words(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                cwd=self.run, env=self.environment, start_new_session=True)

    def strike(self, process):
        """Ends it so; whether there was something to end."""
        if self.how == FAR:
            far = [pid for pid, words in marked(self.run.name) if words.endswith(" copy-far") and "ssh" not in words
                   and not words.startswith("sh ")]
            for pid in far:
                end(pid)
            return bool(far)
        if self.how == GROUP:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.send_signal(NEAR[self.how])
        return True

    def play(self, usual):
        """`None` where it was over before; else what was not as expected, the first code, how long the output was held, how
        long the repeat took."""
        process = self.start()
        time.sleep(self.drawn.uniform(0.02, usual))
        if process.poll() is not None or not self.strike(process):
            process.communicate()
            return None
        if self.how != FAR:
            process.wait(REPEAT_MAX)
        at = time.monotonic()
        first_said, _ = process.communicate(timeout=REPEAT_MAX * 20)
        held, first = time.monotonic() - at, process.returncode
        wrong = list(self.wrong_first(first, held))
        at = time.monotonic()
        again = self.start()
        said, _ = again.communicate(timeout=REPEAT_MAX)
        took = time.monotonic() - at
        if again.returncode != 0:
            wrong.append(f"the repeat ended with {again.returncode}: {' / '.join(said.splitlines()[-3:])[:300]}")
        there = self.run / "there"
        whole = sum(one.stat().st_size == BYTES for one in there.iterdir() if not one.name.startswith(".")) if there.exists() else 0
        left = [one.name for one in there.iterdir() if one.name.startswith(".")] if there.exists() else []
        if whole != FILES or left:
            wrong.append(f"{whole} files are there, and {left[:2]}")
        has_ended = wait_for(lambda: not marked(self.run.name), LINGERS)
        # Without ssh a far end cannot know whether the network is out: it stays for two minutes.
        if not has_ended and self.how != GROUP:
            wrong.append(f"left running: {marked(self.run.name)[:2]}")
        for pid, _ in marked(self.run.name):
            end(pid)
        if first not in (0, 75, -9, -15, -2):
            wrong.append(f"the first said: {' / '.join(first_said.splitlines()[-3:])[:300]}")
        return wrong, first, held, took

    def wrong_first(self, code, held):
        allowed = {"SIGKILL": {-9}, GROUP: {-9}, FAR: {0, 75}, "SIGTERM": {75, -15, 0}, "SIGINT": {75, -2, 0}}[self.how]
        if code not in allowed:
            yield f"the first ended with {code}"
        if held > HELD and self.how != FAR:
            yield f"its output was held for {held:.1f} s"


def cases(given):
    ends = {"tcp": list(NEAR), "udp": list(NEAR), "ssh": [*NEAR, GROUP, FAR]}
    for way, share in (("put", 1.0), ("get", 0.2)):
        for over, hows in ends.items():
            for how in hows:
                if f"{way} {over}, {how}".startswith(given.only):
                    yield way, over, how, max(1, round(given.count * share / len(hows)))


def play_all(given, stage):
    usual = {}
    for way, over in {(way, over) for way, over, _, _ in cases(given)}:
        trial = Trial(stage, 0, way, over, "unstopped", given.seed)
        at = time.monotonic()
        trial.start().communicate()
        usual[way, over] = time.monotonic() - at
    work = iter([case[:3] for case in cases(given) for _ in range(case[3])])
    lock, results, numbers = threading.Lock(), [], iter(range(1, 1_000_000))

    def take():
        while True:
            with lock:
                case = next(work, None)
            if case is None:
                return
            played = None
            while played is None:
                with lock:
                    number = next(numbers)
                trial = Trial(stage, number, *case, given.seed)
                try:
                    played = trial.play(usual[case[:2]])
                except subprocess.TimeoutExpired as error:
                    played = [f"it hung: {error}"], 0, 0, 0
            with lock:
                results.append((trial, *played))
                for one in played[0]:
                    print(f"{trial.name}, {number}: {one}", file=sys.stderr, flush=True)
            subprocess.run(["rm", "-rf", trial.run], check=True)

    with ThreadPoolExecutor(given.jobs) as pool:
        for worker in [pool.submit(take) for _ in range(given.jobs)]:
            worker.result()
    return results


def table(results):
    rows = collections.defaultdict(list)
    for one in results:
        rows[one[0].name].append(one)
    yield "| copy, what ended it | trials | as expected | its exit codes | output held, most [s] | repeat, longest [s] |"
    yield "|---" * 6 + "|"
    for name, group in sorted(rows.items()):
        codes = collections.Counter(one[2] for one in group)
        yield (f"| {name} | {len(group)} | {sum(not one[1] for one in group)} | "
               f"{', '.join(f'{code} ({count})' for code, count in sorted(codes.items()))} | "
               f"{max(one[3] for one in group):.2f} | {max(one[4] for one in group):.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="trials of each way to put")
    parser.add_argument("--jobs", type=int, default=4, help="trials at a time")
    parser.add_argument("--only", default="", help="beginning of `put|get tcp|udp|ssh, how`")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--page", action="store_true", help="write bench/results/again-DATE.md")
    parser.add_argument("--trunkline", type=os.path.abspath, default=str(TRUNKLINE))
    given = parser.parse_args()
    if os.geteuid() != 0 or not os.path.exists("/usr/sbin/sshd"):
        sys.exit(skip("needs root and sshd"))
    head = heading("Copies that were stopped, given again at once")
    in_own_namespaces()
    print(f"seed {given.seed}", file=sys.stderr)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="trunkline-again-", dir="/dev/shm"))
    with Stage(folder, given.trunkline, given.seed) as stage:
        (stage.files / "small").mkdir()
        for number in range(FILES):
            (stage.files / "small" / f"f{number}").write_bytes(stage.drawn.randbytes(BYTES))
        results = play_all(given, stage)
    good = sum(not one[1] for one in results)
    page = "\n".join([head, f"Seed {given.seed}, {given.jobs} trials at a time: {good} of {len(results)} as expected.", "",
                      *table(results)])
    print(page)
    if given.page:
        (ROOT / "bench" / "results" / f"again-{datetime.date.today()}.md").write_text(page + "\n")
    subprocess.run(["rm", "-rf", folder], check=True)
    sys.exit(good != len(results))


if __name__ == "__main__":
    main()
