#!/usr/bin/env python3
"""Does the page of `trunkline demo` show the tuned setting near its highest bar, and is its promise kept?

A demonstration for each seed, four minutes each. A bar is a measured run; the tuned one has to reach 0.9 of the
highest. The promise is what the search said of its recommendation before that was run once more.
"""

import argparse
import datetime
import pathlib
import tempfile

from common import ROOT, heading, trunkline

NEAR = 0.9


def demo(seed):
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "demo.html"
        return trunkline("demo", "--seed", seed, "--no-history", "--report", page)


def mbit(figures):
    """With its interval, where it has one."""
    text = f"{figures['goodput_bits_per_second'] / 1e6:.1f}"
    interval = figures.get("interval")
    if interval:
        low, high = (interval[f"{end}_bits_per_second"] / 1e6 for end in ("low", "high"))
        text += f" ({low:.1f} to {high:.1f})"
    return text


def row(seed):
    """Its line of the table, and whether the tuned bar is near the highest."""
    document = demo(seed)
    tune = document["tune"]
    recommended, samples = tune["recommended"], tune["samples"]
    tuned = document.get("tuned", samples[recommended["sample"]])
    runs = [one for one in tune["confirmations"] if samples[one["sample"]]["setting"] == tuned["setting"]]
    # What was said before it was run once more: the answer has seen that run.
    promise = runs[0]["promise"] if runs else recommended
    bars = [*document["runs"], tuned]
    share = tuned["goodput_bits_per_second"] / max(bar["goodput_bits_per_second"] for bar in bars)
    kept = tuned["goodput_bits_per_second"] / promise["goodput_bits_per_second"]
    setting = f"{recommended['streams']} x {recommended['window']}"
    usual = ", ".join(mbit(run) for run in document["runs"])
    cells = [seed, setting, mbit(promise), mbit(tuned), f"{kept:.2f}", usual, f"{share:.2f}"]
    return f"| {' | '.join(map(str, cells))} |", share >= NEAR


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="how many demonstrations")
    arguments = parser.parse_args()
    lines = [heading("Demonstrations"), f"`bench/demo.py --seeds {arguments.seeds}`; Mbit/s, with 95 % intervals.", "",
             "| seed | recommended | promised | carries once more | of the promise | usual settings | "
             "tuned over the highest bar |", "|---" * 7 + "|"]
    near = 0
    for seed in range(1, arguments.seeds + 1):
        line, is_near = row(seed)
        near += is_near
        lines.append(line)
        print(line, flush=True)
    lines += ["", f"The tuned bar reaches {NEAR} of the highest on {near} of {arguments.seeds} pages."]
    print(lines[-1])
    file = ROOT / "bench" / "results" / f"demo-{datetime.date.today()}.md"
    file.write_text("\n".join(lines) + "\n")
    raise SystemExit(near < arguments.seeds)


if __name__ == "__main__":
    main()
