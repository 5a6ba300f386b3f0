#!/usr/bin/env python3
"""What does ns-2 say? Runs every cell of the two families and keeps the tables that agreement.py reads.

A cell that the table has with enough seeds is not run again, so this can be stopped and continued.
"""

import argparse
import concurrent.futures

from families import FAMILIES
from ns2 import ns2_command
from processes import timed


def documents(family, cell, seeds):
    settings = family.ns2_settings(cell)
    runs = [timed(["nice", *ns2_command(settings | {"seed": seed})]) for seed in range(1, seeds + 1)]
    return [run.document for run in runs]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", default=[family.name for family in FAMILIES])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="ns-2 processes at the same time")
    arguments = parser.parse_args()
    for family in FAMILIES:
        if family.name not in arguments.families:
            continue
        rows = family.stored()
        missing = [cell for cell in family.cells if cell not in rows or rows[cell]["seeds"] < arguments.seeds]
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            running = {pool.submit(documents, family, cell, arguments.seeds): cell for cell in missing}
            for done in concurrent.futures.as_completed(running):
                rows[running[done]] = family.row(running[done], done.result())
                family.store(rows)
        print(f"{family.file}: {len(rows)} of {len(family.cells)} cells")


if __name__ == "__main__":
    main()
