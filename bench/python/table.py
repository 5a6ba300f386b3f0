"""A table of a million samples: from a result, and by json and pandas from the same result.

Each way runs in a process of its own, which reports its time and its peak of memory beside the
result itself. Prints a table in Markdown: median, quartiles, ratio.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = int(os.environ.get("ROUNDS", "5"))
SAMPLES = int(os.environ.get("SAMPLES", "1000000"))


def document(samples: int) -> str:
    """A measurement that lasted long enough on 100 streams, as the program would save it."""
    import trunkline as tl

    measured = tl.measure("sim:slac-cern", streams=100, duration=10, history=False)
    data = measured.document.to_dict()
    readings = sum(len(stream["tcp"]) for stream in data["streams"])
    for stream in data["streams"]:
        times = -(-samples // readings)
        once = stream["tcp"]
        stream["tcp"] = [
            reading | {"at_seconds": reading["at_seconds"] + round_ * 10}
            for round_ in range(times)
            for reading in once
        ]
        stream["delivery"]["progress"] = []
    return json.dumps(data)


def rss() -> int:
    """Memory of this process now, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak() -> int:
    """The most memory that this process had, in bytes."""
    with open("/proc/self/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def forget_peak() -> None:
    with open("/proc/self/clear_refs", "w", encoding="ascii") as refs:
        refs.write("5")


def by_table(result) -> int:
    import polars

    return polars.DataFrame(result.samples).height


def by_json(result) -> int:
    import pandas

    data = json.loads(result.to_json())
    rows = [
        {"stream": stream["number"], "direction": stream["direction"], **reading}
        for stream in data["streams"]
        for reading in stream["tcp"]
    ]
    return len(pandas.DataFrame(rows))


def one(way: str, file: str) -> None:
    """Takes the time and the memory of one way, with its library loaded before."""
    import pandas  # noqa: F401
    import polars  # noqa: F401

    import trunkline as tl

    result = tl.load(file)
    run = {"table": by_table, "json and pandas": by_json}[way]
    forget_peak()
    before, begun = rss(), time.perf_counter()
    rows = run(result)
    took = time.perf_counter() - begun
    print(json.dumps({"seconds": took, "bytes": peak() - before, "rows": rows}))


def main() -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(document(SAMPLES))
        file.flush()
        ways = ["table", "json and pandas"]
        seen: dict[str, list[dict]] = {way: [] for way in ways}
        for _ in range(ROUNDS):
            for way in ways:
                run = [sys.executable, __file__, way, file.name]
                done = subprocess.run(run, capture_output=True, text=True, check=True)
                seen[way].append(json.loads(done.stdout))
    print(f"{seen['table'][0]['rows']} samples, {ROUNDS} rounds, the ways in turn\n")
    print("| way | time, ms (quartiles) | memory beside the result, MB |\n|---|---|---|")
    for way in ways:
        times = [one["seconds"] * 1e3 for one in seen[way]]
        low, middle, high = statistics.quantiles(times, n=4)
        memory = statistics.median(one["bytes"] for one in seen[way]) / 1e6
        print(f"| {way} | {middle:.0f} ({low:.0f} to {high:.0f}) | {memory:.0f} |")
    pairs = list(zip(seen["table"], seen["json and pandas"], strict=True))
    time_ratio = statistics.median(b["seconds"] / a["seconds"] for a, b in pairs)
    memory_ratio = statistics.median(b["bytes"] / max(a["bytes"], 1) for a, b in pairs)
    print(f"\nThe table takes 1/{time_ratio:.0f} of the time and 1/{memory_ratio:.0f} of the memory.")


if __name__ == "__main__":
    one(*sys.argv[1:]) if len(sys.argv) > 2 else main()
