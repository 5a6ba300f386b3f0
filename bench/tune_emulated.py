#!/usr/bin/env python3
"""Does a search on an emulated path promise what a minute then carries?

Paths are drawn by families (`tuning --families FAMILY --show SEED`), those that this machine emulates without being
late. A search runs on each, then a minute of what it recommends and one of the default stream.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile

from common import ROOT, heading, measure, spread, trunkline

DRAW = ROOT / "target" / "release" / "tuning"
FAMILIES = ["full-link", "loss", "shallow-queue", "red", "receive-buffer", "policer", "others-elastic", "varying-rate"]
RATE_MAX = 300e6
RTT_MAX = 0.25
MINUTE = 60


def drawn(family, seed):
    """A path file of the family, or None where this machine should not emulate it."""
    run = subprocess.run([DRAW, "--families", family, "--show", str(seed)], capture_output=True, text=True, check=True)
    rates = [float(found) for found in re.findall(r'"([\d.]+)[a-zA-Z]*bit/s"', run.stdout)]
    delay = float(re.search(r'delay = "(\d+)us"', run.stdout)[1]) / 1e6
    return run.stdout if max(rates) <= RATE_MAX and 2 * delay <= RTT_MAX else None


def paths(count, first):
    """So many of them, the families in turn."""
    seed, found = first, []
    while len(found) < count:
        for family in FAMILIES:
            text = drawn(family, seed)
            if text and len(found) < count:
                found.append((family, seed, text))
        seed += 1
    return found


def minute(target, setting):
    more = ["-C", setting["congestion"]] if setting.get("congestion") else []
    more += ["--transport", setting["transport"]] if setting.get("transport") else []
    document = measure(target, setting["streams"], setting["window"], MINUTE, *more)
    return document["goodput_bits_per_second"] / 1e6, document["limit"]


def ends(figures):
    return [figures["interval"][f"{end}_bits_per_second"] / 1e6 for end in ("low", "high")]


def row(family, seed, text):
    """Its line of the table, and what the promise was kept to, whether its interval holds, and the seconds."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        target = f"emu:{file.name}"
        document = trunkline("tune", target, "--no-history")
        recommended = document["recommended"]
        carried, limit = minute(target, recommended)
        usual, _ = minute(target, {"streams": 1, "window": "auto"})
    promised = recommended["goodput_bits_per_second"] / 1e6
    low, high = ends(recommended)
    setting = f"{recommended['streams']} x {recommended['window']} {recommended.get('congestion') or ''}"
    seconds = document["cost"]["seconds"]
    cells = [f"{family} {seed}", setting.strip(), f"{promised:.1f} ({low:.1f} to {high:.1f})", f"{carried:.1f}",
             f"{carried / promised:.2f}", f"{usual:.1f}", document["limit"], limit, f"{seconds:.0f}"]
    print(f"| {' | '.join(cells)} |", flush=True)
    return carried / promised, low <= carried <= high, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=8, help="how many paths, two and a half minutes each")
    parser.add_argument("--first", type=int, default=100, help="the first seed that is drawn")
    arguments = parser.parse_args()
    print(heading("Searches on emulated paths"))
    print("Mbit/s; 'limit' is of the search, then of the minute alone.\n")
    print("| path | recommended | promised | carries | of it | default carries | limit | of the minute | s |")
    print("|---" * 9 + "|")
    rows = [row(*path) for path in paths(arguments.count, arguments.first)]
    kept, holds, seconds = zip(*rows)
    print(f"\nkept to 0.9: {sum(one >= 0.9 for one in kept)} of {len(rows)}; in the interval: {sum(holds)}; "
          f"carried over promised {spread(kept)}; seconds {spread(seconds)}")


if __name__ == "__main__":
    main()
