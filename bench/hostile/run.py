#!/usr/bin/env python3
"""What do hostile peers, strangers, agents, browsers, leftovers and words do to copy, serve, copy-far, watch serve and campaign?

    bench/hostile/run.py                      all cases: about two minutes of two processors
    bench/hostile/run.py --only 'get/*name*'  some
    bench/hostile/run.py --list

The peer is written from docs/reference/copy-protocol.md and shares no code with trunkline. What each case asks beside its own question: no panic, bounded memory
and time, no file outside what was asked for, no character that steers a terminal.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from common import TRUNKLINE

VENV = ROOT / "target" / "hostile-python"
PACKAGES = "pyOpenSSL>=24,<27", "blake3>=1,<2", "fsspec>=2024.2"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names of cases with * and ?, as --list shows them")
    parser.add_argument("--jobs", type=int, default=12, help="cases at a time; most wait most of the time")
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="where files go; on a disk that reserves room")
    parser.add_argument("--trunkline", type=os.path.abspath, default=str(TRUNKLINE), help="the program to try")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--times", action="store_true", help="how long each case took")
    return parser.parse_args()


def skip(reason):
    """As `testkit::skip` does it."""
    line = f"skipped: hostile peers: {reason}"
    print(line, file=sys.stderr)
    if log := os.environ.get("TRUNKLINE_SKIPS"):
        with open(log, "a") as file:
            file.write(line + "\n")
    return "CI" in os.environ


def enter_environment():
    """Goes on in a Python that has what the peer needs, which it makes the first time. Returns where there can be none."""
    python = VENV / "bin" / "python"
    if pathlib.Path(sys.prefix) == VENV:
        return None
    wanted = "\n".join(PACKAGES)
    mark = VENV / "packages"
    try:
        if not mark.exists() or mark.read_text() != wanted:
            shutil.rmtree(VENV, ignore_errors=True)
            for words in (
                [sys.executable, "-m", "venv", VENV],
                [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *PACKAGES],
            ):
                subprocess.run(words, check=True, stdout=sys.stderr)
            mark.write_text(wanted)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no Python environment with {' and '.join(PACKAGES)}: {error}"
    os.execv(python, [python, __file__, *sys.argv[1:]])


class Bench:
    """What all cases share."""

    def __init__(self, folder, trunkline):
        self.folder, self.trunkline = folder, trunkline
        make = [trunkline, "serve", "--tokens", str(folder / "tokens"), "--new-token", "ana"]
        self.token = subprocess.run(make, capture_output=True, text=True, check=True).stdout


def cases_of(only):
    import campaigns, far_words, files, fsspec_names, get, get_messages, get_who, holder, holder_floods, holder_reach, holder_streams, integrity, pages, put, reports, sources, strangers, test_port, third_party, words

    groups = (
        get,
        get_messages,
        get_who,
        put,
        holder,
        holder_reach,
        holder_streams,
        holder_floods,
        strangers,
        test_port,
        third_party,
        files,
        integrity,
        sources,
        words,
        far_words,
        campaigns,
        fsspec_names,
        pages,
        reports,
    )
    every = [case for group in groups for case in group.CASES]
    names = collections.Counter(case.whole_name for case in every)
    assert not [name for name, count in names.items() if count > 1], names.most_common(3)
    chosen = [case for case in every if not only or fnmatch.fnmatchcase(case.whole_name, only)]
    # Who waits longest begins first.
    return sorted(chosen, key=lambda case: not case.long)


def play(bench, case):
    """The reason why it failed or was left out, and how long it took."""
    from stage import Stage
    from watching import Skipped

    begin, stage = time.monotonic(), None
    try:
        stage = Stage(bench, case)
        case.play(stage)
        stage.settle()
        return case, None, time.monotonic() - begin
    except Skipped as skipped:
        return case, skipped, time.monotonic() - begin
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)
        here = [f"{pathlib.Path(one.filename).name}:{one.lineno}" for one in where]
        return case, AssertionError(f"{type(error).__name__} at {' '.join(here[-4:])}: {error}"), time.monotonic() - begin
    finally:
        if stage:
            stage.close()


def main():
    given = arguments()
    if reason := enter_environment():
        sys.exit(skip(reason))
    cases = cases_of(given.only)
    if given.list:
        print("\n".join(case.whole_name + (f"  {case.finding}" if case.finding else "") for case in cases))
        return
    folder = pathlib.Path(tempfile.mkdtemp(prefix="trunkline-hostile-", dir=given.folder))
    folder.chmod(0o755)
    counts, skips, failed = collections.defaultdict(collections.Counter), [], 0
    try:
        bench = Bench(folder, given.trunkline)
        with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
            for case, wrong, seconds in pool.map(lambda case: play(bench, case), cases):
                is_skipped = type(wrong).__name__ == "Skipped"
                counts[case.group]["skipped" if is_skipped else "failed" if wrong else "passed"] += 1
                if is_skipped:
                    skips.append(f"{case.whole_name}: {wrong}")
                elif wrong:
                    print(f"FAILED {case.whole_name} {case.finding}: {wrong}", file=sys.stderr, flush=True)
                if given.times:
                    print(f"{seconds:6.1f} s  {case.whole_name}", file=sys.stderr)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for group, count in counts.items():
        print(f"{group}: " + ", ".join(f"{number} {what}" for what, number in sorted(count.items())))
    passed, failed = (sum(count[what] for count in counts.values()) for what in ("passed", "failed"))
    print(f"{passed} passed, {failed} failed")
    is_ci = [skip(reason) for reason in skips]
    sys.exit(bool(failed or not passed or any(is_ci)))


if __name__ == "__main__":
    main()
