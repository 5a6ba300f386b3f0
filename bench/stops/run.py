#!/usr/bin/env python3
"""Does every command that waits end when it is told to, whatever it waits for?

    bench/stops/run.py                          every state, 20 moments each
    bench/stops/run.py --rounds 1 --jobs 8      a sample, for `make test`
    bench/stops/run.py --only 'campaign run' --seed 7
    bench/stops/run.py --list

Each trial starts a command, brings it into a state, and sends SIGTERM, SIGINT or SIGHUP to the process or its group at a
random moment. As expected is: it ends in time, with a documented exit code, says at most a few lines more, and leaves no
process, port or temporary file. At SIGHUP servers that read tokens go on, and what was started with it ignored (`nohup`).
Every command of `trunkline --help` has states here, or is one that never waits. Needs root and `ip`.
"""

import argparse
import collections
import datetime
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "copy")]

from common import ROOT, TRUNKLINE, heading
from ends import listens, wait_for
from stage import Stage, catches, end, environment, in_own_namespaces, marked
from states import ALL, HUP, INT, NEVER_WAIT, TERM

# A process that has not ended by then hangs, however loaded the machine is.
GIVE_UP = 15
TOO_LATE = "it ended before the signal"
# So soon after its start a program may not have its handlers yet.
STARTING = 0.5


class Trial:
    """One command with one signal."""

    def __init__(self, stage, state, number, seed):
        self.stage, self.state, self.number = stage, state, number
        name = re.sub(r"\W+", "-", f"{state.command} {state.name}")
        self.drawn = random.Random(f"{seed} {name} {number}")
        self.signal = (TERM, INT, HUP)[number % 3]
        self.is_group = self.drawn.random() < 0.5
        self.run, self.helpers, self.port = stage.folder / f"{name}-{number}", [], None
        self.log = self.run / "log"
        self.environment = environment(self.run, self.run.name)
        self.listens = listens

    def helper(self, *words):
        with open(self.run / "helpers.log", "ab") as log:
            started = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.run,
                                       env={**self.environment, "TRUNKLINE_STOP": ""}, start_new_session=True)
        self.helpers.append(started)
        return started

    def play(self):
        """What was not as expected, seconds until the end, lines after the signal, exit code.

        On a fast machine a command may be over before its moment comes; then an earlier one is drawn."""
        within = self.state.within
        while (played := self.once(within))[0] == [TOO_LATE] and within > 0.03:
            within /= 3
        return played

    def once(self, within):
        try:
            if self.state.prepare:
                self.state.prepare(self.stage, self)
            arguments = (self.stage, self.run, self)[:self.state.words.__code__.co_argcount - len(self.state.words.__defaults__ or ())]
            words = list(map(str, [*self.state.prefix, self.stage.program, *self.state.words(*arguments)]))
            with open(self.log, "wb") as log:
                began = time.monotonic()
                process = subprocess.Popen(words, stdin=subprocess.PIPE if self.state.holds_input else subprocess.DEVNULL,
                                           stdout=log, stderr=log, cwd=self.run, env=self.environment, start_new_session=True)
            return self.stop(process, began, within)
        finally:
            for helper in self.helpers:
                helper.kill()
                helper.wait()

    def stop(self, process, began, within):
        if self.state.begins and not wait_for(lambda: self.state.begins(self.run, self.log),
                                              self.state.begins_within):
            process.kill()
            return ["its state did not begin"], 0, 0, process.wait()
        time.sleep(self.drawn.uniform(0.02, max(within, 0.02)))
        if process.poll() is not None:
            return [TOO_LATE], 0, 0, process.returncode
        is_caught, age = catches(process.pid, self.signal), time.monotonic() - began
        before, at = self.lines(), time.monotonic()
        (os.killpg if self.is_group else os.kill)(process.pid, self.signal)
        if self.signal == HUP and self.state.outlives_hangup and (is_caught or self.state.prefix):
            time.sleep(0.3)
            if process.poll() is not None:
                return ["SIGHUP ended it"], 0, 0, process.returncode
            at = time.monotonic()
            process.terminate()
        try:
            process.wait(GIVE_UP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        took, after = time.monotonic() - at, self.lines() - before
        return list(self.wrong(process.returncode, took, after, is_caught, age)), took, after, process.returncode

    def wrong(self, code, took, after, is_caught, age):
        allowed = set(self.state.codes)
        if not is_caught and (age < STARTING * self.stage.slack or self.state.is_plain):
            allowed.add(-self.signal)
        if took > GIVE_UP:
            yield f"it did not end within {GIVE_UP} s"
        elif took > self.state.seconds * self.stage.slack:
            yield f"it took {took:.1f} s"
        if code not in allowed and took <= GIVE_UP:
            yield f"exit code {code} instead of {' or '.join(map(str, sorted(allowed)))}"
        if after > self.state.lines:
            yield f"{after} lines after the signal"
        if "panicked" in self.log.read_text(errors="replace"):
            yield "it panicked"
        mark = self.run.name
        if not wait_for(lambda: not marked(mark), self.state.lingers * self.stage.slack):
            left = marked(mark)
            for pid, _ in left:
                end(pid)
            yield f"left running: {left[0][1][:80]}"
        if left := os.listdir(self.run / "tmp"):
            yield f"left in its folder for temporary files: {left[:2]}"

    def lines(self):
        return self.log.read_bytes().count(b"\n")


def commands(program, above=()):
    """All commands by their own help, as words."""
    text = subprocess.run([program, *above, "--help"], capture_output=True, text=True, check=True).stdout
    listed = re.search(r"^Commands:\n((?:  .*\n|\n)+?)(?=\n?\S)", text, re.M)
    names = re.findall(r"^  (\w\S*) ", listed[1], re.M) if listed else []
    for name in names:
        words = (*above, name)
        inner = list(commands(program, words)) if name != "help" else []
        yield from inner or [" ".join(words)]


def without_states(program):
    known = {state.command for state in ALL} | NEVER_WAIT
    return [name for name in commands(program) if name not in known and not name.endswith(" help")]


def play_all(given, stage, chosen):
    work = iter([(state, number + given.first) for number in range(given.rounds) for state in chosen])
    lock, results = threading.Lock(), []

    def take():
        while True:
            with lock:
                state, number = next(work, (None, 0))
            if state is None:
                return
            trial = Trial(stage, state, number, given.seed)
            try:
                result = trial.play()
            except (OSError, subprocess.SubprocessError) as error:
                result = [f"it could not be played: {error}"], 0, 0, 0
            with lock:
                results.append((trial, *result))
                if result[0]:
                    tell(trial, *result)
            if not result[0]:
                shutil.rmtree(trial.run, ignore_errors=True)

    with ThreadPoolExecutor(given.jobs) as pool:
        for worker in [pool.submit(take) for _ in range(given.jobs)]:
            worker.result()
    return results


def tell(trial, wrong, took, after, code):
    whom = "its group" if trial.is_group else "it"
    said = trial.log.read_text(errors="replace").strip().splitlines()[-3:] if trial.log.exists() else []
    print(f"{trial.state.command}, {trial.state.name}, {trial.number}: {trial.signal.name} to {whom}: {'; '.join(wrong)} "
          f"(code {code}, {took:.2f} s); said last: {' / '.join(said)[:300]}", file=sys.stderr, flush=True)


def table(results):
    rows = collections.defaultdict(list)
    for one in results:
        rows[one[0].state.command, one[0].state.name].append(one)
    yield "| command | state | signals | longest [s] | lines after, most | exit codes | not as expected |"
    yield "|---" * 7 + "|"
    for (command, name), group in sorted(rows.items()):
        codes = collections.Counter(one[4] for one in group)
        wrong = collections.Counter(f"{one[0].signal.name}: {word}" for one in group for word in one[1])
        told = "; ".join(f"{word} ({count})" for word, count in wrong.most_common(3))
        yield (f"| {command} | {name} | {len(group)} | {max(one[2] for one in group):.2f} | {max(one[3] for one in group)} | "
               f"{', '.join(f'{code} ({count})' for code, count in sorted(codes.items()))} | {told} |")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60, help="moments of each state; the three signals take turns")
    parser.add_argument("--jobs", type=int, default=4, help="trials at a time")
    parser.add_argument("--slack", type=float, default=1.0, help="times the longest that an end may take")
    parser.add_argument("--only", default="", help="beginnings of `command, state`, separated by semicolons")
    parser.add_argument("--seed", type=int, help="drawn and printed without this")
    parser.add_argument("--first", type=int, help="number of the first moment; with --seed, to repeat one")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--page", action="store_true", help="write bench/results/stops-DATE.md")
    parser.add_argument("--trunkline", type=os.path.abspath, default=str(TRUNKLINE))
    given = parser.parse_args()
    if given.seed is None:
        given.seed = random.SystemRandom().randrange(1 << 30)
    if given.first is None:
        given.first = random.Random(given.seed).randrange(3)
    return given


def skip(reason):
    """As `testkit::skip` does it."""
    line = f"skipped: stops: {reason}"
    print(line, file=sys.stderr)
    if log := os.environ.get("TRUNKLINE_SKIPS"):
        with open(log, "a") as file:
            file.write(f"{line}\n")
    return os.environ.get("CI") == "true"


def main():
    given = arguments()
    words = [word.strip() for word in given.only.split(";") if word.strip()]
    chosen = [state for state in ALL if not words or any(f"{state.command}, {state.name}".startswith(word) for word in words)]
    if given.list:
        print("\n".join(f"{state.command}, {state.name}" for state in chosen))
        return
    if new := without_states(given.trunkline):
        sys.exit(f"no states in bench/stops/states.py for: {', '.join(new)}")
    missing = [name for name in ("ip", "unshare", "ssh-keygen") if not shutil.which(name)]
    if os.geteuid() != 0 or missing:
        sys.exit(skip(f"needs root and {', '.join(missing) or 'namespaces'}"))
    head = heading("Stops that stop")
    in_own_namespaces()
    print(f"seed {given.seed}", file=sys.stderr)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="trunkline-stops-", dir="/dev/shm"))
    with Stage(folder, given.trunkline, given.seed) as stage:
        stage.slack = given.slack
        results = play_all(given, stage, chosen)
    left = [name for name in os.listdir("/tmp") if not name.startswith("tmp")]
    bad = sum(bool(one[1]) for one in results)
    page = "\n".join([head, f"Seed {given.seed}, {given.jobs} trials at a time: {len(results)} signals, {bad} not as expected. "
                      f"Left in /tmp: {', '.join(left) or 'nothing'}.", "", *table(results)])
    print(page)
    if given.page:
        (ROOT / "bench" / "results" / f"stops-{datetime.date.today()}.md").write_text(page + "\n")
    if bad or left:
        print(f"kept: {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder)
    sys.exit(bool(bad or left))


if __name__ == "__main__":
    main()
