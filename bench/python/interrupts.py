"""How soon Ctrl-C becomes KeyboardInterrupt: 200 random moments over all kinds of calls.

Also how soon `.cancel()` from another thread ends the wait. Prints a table in Markdown.
"""

from __future__ import annotations

import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import trunkline as tl

ROUNDS = int(os.environ.get("ROUNDS", "200"))


def calls(folder: Path, server: tl.Server, token: str):
    """Every call that takes long, each under its name."""
    source = folder / "source"
    slow = dict(streams=200, duration="2h", cache=False, history=False)
    archive = folder / "archive.sqlite"
    return {
        "simulate": lambda: tl.simulate.start("oc12-100ms", **slow),
        "measure sim": lambda: tl.measure.start(
            "sim:oc12-100ms", streams=128, duration="1000s", history=False
        ),
        "measure host": lambda: tl.measure.start(
            f"127.0.0.1:{server.port}", duration=60, pacing="10M", history=False
        ),
        "tune": lambda: tl.tune.start(f"127.0.0.1:{server.port}", history=False),
        "sweep": lambda: tl.sweep.start(f"127.0.0.1:{server.port}", history=archive),
        "examine": lambda: tl.examine.start(f"127.0.0.1:{server.port}", history=False),
        "responsiveness": lambda: tl.responsiveness.start(
            f"127.0.0.1:{server.port}", history=False
        ),
        "copy": lambda: tl.copy.start(
            source,
            server.place(f"{random.getrandbits(64):x}"),
            token=token,
            max_rate="8M",
            history=False,
        ),
    }


def interrupted(start, after: float) -> float:
    """Seconds from the signal to the exception."""
    sent: list[float] = []

    def send() -> None:
        time.sleep(after)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    try:
        call = start()
        sender.start()
        call.result()
    except KeyboardInterrupt:
        heard = time.perf_counter()
        sender.join()
        call.cancel()
        return heard - sent[0]
    raise AssertionError("the call ended before it was interrupted")


def cancelled(start, after: float) -> float:
    """Seconds from `.cancel()` to the end of the wait."""
    call, sent = start(), []

    def cancel() -> None:
        time.sleep(after)
        sent.append(time.perf_counter())
        call.cancel()

    threading.Thread(target=cancel).start()
    try:
        call.result()
    except tl.Error:
        return time.perf_counter() - sent[0]
    raise AssertionError("the call ended before it was cancelled")


def row(name: str, times: list[float]) -> str:
    times = sorted(one * 1e3 for one in times)
    p99 = times[min(len(times) - 1, int(0.99 * len(times)))]
    return f"| {name} | {len(times)} | {statistics.median(times):.0f} | {p99:.0f} | {times[-1]:.0f} |"


def main() -> None:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.SystemRandom().getrandbits(32)
    draw = random.Random(seed)
    folder = Path(tempfile.mkdtemp())
    (folder / "root").mkdir()
    (folder / "source").write_bytes(os.urandom(50_000_000))
    token = tl.add_token(folder / "tokens", "ana")
    seen: dict[str, list[float]] = {}
    ends: dict[str, list[float]] = {}
    with tl.serve(root=folder / "root", tokens=folder / "tokens") as server:
        kinds = calls(folder, server, token)
        for number in range(ROUNDS):
            name = list(kinds)[number % len(kinds)]
            seen.setdefault(name, []).append(interrupted(kinds[name], draw.uniform(0.01, 1.5)))
        for name, start in kinds.items():
            ends[name] = [cancelled(start, draw.uniform(0.01, 1.0)) for _ in range(5)]
    print(f"seed {seed}\n\n| call | interrupts | median, ms | p99, ms | most, ms |\n|---|---|---|---|---|")
    for name, times in seen.items():
        print(row(name, times))
    print(row("all", [one for times in seen.values() for one in times]))
    print("\n| `.cancel()` of | calls | median, ms | p99, ms | most, ms |\n|---|---|---|---|---|")
    for name, times in ends.items():
        print(row(name, times))


if __name__ == "__main__":
    main()
