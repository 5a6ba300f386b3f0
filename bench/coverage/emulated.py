#!/usr/bin/env python3
"""How often does the 95 % interval of one emulated run hold the long-run mean?

Per setting: long runs give the truth, short ones the intervals; the settings run beside each other, each on an
emulated path of its own. Needs the rights of `emu:`, and a release build. The truth has an error of its own, that
of the long runs' mean; an interval that misses by less than twice that counts as holding.
"""

import argparse
import concurrent.futures
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import common  # noqa: E402

SETTINGS = [
    ("emu:slac-cern", 1, "auto"),
    ("emu:slac-cern", 4, "auto"),
    ("emu:capped-buffers", 1, "auto"),
    ("emu:lossy-wifi", 1, "auto"),
    ("emu:slac-in2p3", 2, "auto"),
    ("emu:shallow-queue", 4, "auto"),
]


def run(setting, seconds):
    """Mbit/s, and the ends of its interval where it gave one."""
    target, streams, window = setting
    document = common.measure(target, streams, window, seconds)
    interval = document.get("interval")
    ends = interval and (interval["low_bits_per_second"] / 1e6, interval["high_bits_per_second"] / 1e6)
    return common.goodput(document), ends


def long_run(setting, seconds):
    """Mean goodput of the steady part, which is nearly all of a long run."""
    return run(setting, seconds)[0]


def of_setting(setting, arguments):
    truths = [long_run(setting, arguments.truth_seconds) for _ in range(arguments.truths)]
    truth = statistics.mean(truths)
    error = statistics.stdev(truths) / len(truths) ** 0.5
    runs = [run(setting, seconds) for seconds in arguments.seconds for _ in range(arguments.runs)]
    given = [ends for _, ends in runs if ends]
    held = [low - 2 * error <= truth <= high + 2 * error for low, high in given]
    misses = [miss(truth, ends) for ends in given]
    return {
        "setting": f"{setting[0][4:]} {setting[1]} x {setting[2]}", "truth": truth, "error": error,
        "runs": len(runs), "given": len(given), "held": sum(held),
        "width": statistics.median([(high - low) / 2 / truth for low, high in given]) if given else None,
        "miss": max(misses, default=0.0),
    }


def miss(truth, ends):
    """How far outside the interval the truth lies, in half widths."""
    low, high = ends
    half = max((high - low) / 2, 1e-9)
    return max(0.0, abs(truth - (low + high) / 2) / half)


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def row(one):
    width = f"{100 * one['width']:.1f} %" if one["width"] is not None else "-"
    return (f"| {one['setting']} | {one['truth']:.2f} | {one['error']:.2f} | {one['runs']} | "
            f"{share(one['given'], one['runs'])} | {share(one['held'], one['given'])} | {width} | "
            f"{one['miss']:.1f} half widths |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="runs of each length for each setting")
    parser.add_argument("--seconds", type=int, nargs="*", default=[10, 30])
    parser.add_argument("--truths", type=int, default=4, help="long runs for each setting")
    parser.add_argument("--truth-seconds", type=int, default=150)
    arguments = parser.parse_args()
    print(common.heading("How often the 95 % interval of one emulated run holds the long-run mean"))
    with concurrent.futures.ThreadPoolExecutor(len(SETTINGS)) as pool:
        rows = list(pool.map(lambda setting: of_setting(setting, arguments), SETTINGS))
    print(f"`bench/coverage/emulated.py`: {arguments.truths} runs of {arguments.truth_seconds} s give the truth, "
          f"{arguments.runs} each of {', '.join(map(str, arguments.seconds))} s the intervals.\n")
    print("| setting | truth, Mbit/s | its standard error | runs | gave an interval | of those, hold the truth "
          "| half width, median | truth from the middle, at most |")
    print("|---|---|---|---|---|---|---|---|")
    for one in rows:
        print(row(one))
    total = [sum(one[key] for one in rows) for key in ("runs", "given", "held")]
    print(f"| all | | | {total[0]} | {share(total[1], total[0])} | {share(total[2], total[1])} | | |")


if __name__ == "__main__":
    main()
