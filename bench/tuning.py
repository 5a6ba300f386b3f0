#!/usr/bin/env python3
"""How close does a search come to the exhaustive best of random simulated paths, and what does it take?

Builds bench/tuning, runs every strategy on both halves of the paths and writes the tables to
bench/results/tuning-DATE.md. Long runs are kept in target/bench-tuning, so that a second time only the searches
are made again. The spread is over the seeds of the searches.

With --families: what does a user of `trunkline tune` see at the end, on families of paths? Promises, verdicts and
cost of its search, on the paths for development unless --halves says otherwise, in bench/results/families-DATE.md.
"""

import argparse
import csv
import datetime
import os
import pathlib
import statistics
import subprocess
import sys

from common import ROOT, heading

TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
HALVES = {"table": "Paths that no search was developed on", "dev": "Paths for development"}
OBJECTIVES = ["max", "knee", "gentle"]


def compare(half, search_seed, rows, more):
    """The tables of one half; its rows go to a file."""
    command = [str(TARGET / "release" / "tuning"), "--half", half, "--search-seed", str(search_seed),
               "--csv", str(rows), *more]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return run.stdout


def figures(rows, objective):
    """Per strategy: median and mean regret, 95th percentile."""
    regrets = {}
    for row in csv.DictReader(rows.open()):
        if row["objective"] == objective:
            regrets.setdefault(row["strategy"], []).append(100 * float(row["regret"]))
    tails = {name: statistics.quantiles(values, n=20, method="inclusive")[-1] for name, values in regrets.items()}
    return {name: (statistics.median(values), statistics.mean(values), tails[name])
            for name, values in regrets.items()}


def spread(files, objective):
    """What the seeds of the searches change."""
    lines = ["| strategy | regret median | mean | 95 in 100 below |", "|---|---|---|---|"]
    of_seeds = [figures(rows, objective) for rows in files]
    for name in of_seeds[0]:
        columns = zip(*(of_seed[name] for of_seed in of_seeds))
        cells = [f"{min(column):.1f} to {max(column):.1f} %" for column in columns]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def overall(page):
    """The rows over all families."""
    kept = [line for line in page.splitlines() if line.startswith(("## ", "| family", "|---", "| all"))]
    return "\n".join(f"\n{line}" if line.startswith(("## ", "| family")) else line for line in kept)


def families(halves, seeds, more):
    """What a user sees at the end, on families of paths."""
    today = datetime.date.today()
    text = [heading("What a search promises, and what a minute carries"),
            "How the figures are made: bench/README.md. The command: `python3 bench/tuning.py --families`.", ""]
    for half in halves:
        pages = [compare(half, seed, TARGET / f"families-{half}-{seed}.csv", ["--families", *more]) for seed in seeds]
        text += [f"# {HALVES[half]}", "", pages[0]]
        for seed, page in zip(seeds[1:], pages[1:]):
            text += [f"# Over all families, seed {seed} of the searches", overall(page), ""]
    file = ROOT / "bench" / "results" / f"families-{today}.md"
    file.write_text("\n".join(text))
    print(f"{file} is written", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--search-seeds", type=int, default=3, help="how often every search is made")
    parser.add_argument("--halves", nargs="*", choices=list(HALVES))
    parser.add_argument("--families", action="store_true", help="what a user sees, on families of paths")
    arguments, more = parser.parse_known_args()
    build = ["cargo", "build", "--release", "--locked", "-p", "trunkline-bench-tuning"]
    subprocess.run(build, cwd=ROOT, check=True)
    seeds = range(1, arguments.search_seeds + 1)
    if arguments.families:
        return families(arguments.halves or ["dev"], seeds, more)
    results = ROOT / "bench" / "results"
    results.mkdir(exist_ok=True)
    today = datetime.date.today()
    text = [heading("Searches against the exhaustive best of random paths"),
            "How the figures are made: bench/README.md. The command: `make bench-tuning`.", ""]
    for half in arguments.halves or HALVES:
        files = {1: results / f"tuning-{half}-{today}.csv"}
        files.update({seed: TARGET / f"tuning-{half}-{seed}.csv" for seed in seeds[1:]})
        tables = [compare(half, seed, file, more) for seed, file in files.items()]
        text += [f"# {HALVES[half]}", "", tables[0]]
        for objective in OBJECTIVES if len(files) > 1 else []:
            text += [f"## {objective}, spread over {len(files)} seeds of the searches", "",
                     spread(list(files.values()), objective), ""]
        print(f"{half} is done", file=sys.stderr)
    file = results / f"tuning-{today}.md"
    file.write_text("\n".join(text))
    print(f"{file} is written", file=sys.stderr)


if __name__ == "__main__":
    main()
