#!/usr/bin/env python3
"""Does the verdict at the end of a copy name what limited it? Causes are made one at a time; needs root.

run.py [--runs 5] [--only WORD] [--trunkline FILE] [--write]"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import common
from causes import BLKIO, CAUSES, CPU, block_device, group, mbits, path_file, throttled_writes

# Processor time of a process that is made slow, as a share of one processor, for so many Mbit/s of its path.
QUOTA_US = 500_000
TIMEOUT = 120


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--trunkline", default=str(common.TRUNKLINE))
    arguments.add_argument("--cost", type=float, default=2.5e-4, help="processor seconds of one end for a megabit")
    arguments.add_argument("--write", action="store_true")
    chosen = arguments.parse_args()
    lines = [common.heading("verdicts of copies against causes that were made")]
    rows = []
    for cause in CAUSES:
        for path in cause.paths:
            if chosen.only in f"{cause.name} {path.name}":
                runs = chosen.runs * (2 if cause.name == "one host" else 1)
                rows.append(row(cause, path, [run(cause, path, chosen) for _ in range(runs)]))
                print(rows[-1]["line"], flush=True)
    lines += table(rows)
    text = "\n".join(lines) + "\n"
    print(text)
    if chosen.write:
        name = f"verdicts-{datetime.date.today()}.md"
        (common.ROOT / "bench" / "results" / name).write_text(text)


def row(cause, path, documents):
    counts = {"right": 0, "open": 0, "wrong": 0, "failed": 0}
    said, rates = [], []
    for document in documents:
        limit = (document or {}).get("limit")
        kind = judge(cause, document, limit)
        counts[kind] += 1
        rates.append((document or {}).get("goodput_bits_per_second", 0) / 1e6)
        said.append(f"{limit['by']} {100 * limit['share_ratio']:.0f} %" if limit else "-")
    line = (f"| {cause.name} | {path.name} | {common.spread(rates)} | {counts['right']} | {counts['open']} "
            f"| {counts['wrong']} | {counts['failed']} | {', '.join(said)} |")
    return {"line": line, **counts}


def judge(cause, document, limit):
    if document is None:
        return "failed"
    if limit is None:
        return "open"
    if limit["by"] in cause.right:
        return "right"
    return "open" if limit["by"] == "several" else "wrong"


def table(rows):
    total = {key: sum(row[key] for row in rows) for key in ("right", "open", "wrong", "failed")}
    runs = sum(total.values())
    return [
        "Right: the cause is named. Open: no single part is named. Wrong: another part is named with half of the time or more.",
        "",
        f"**{total['right']} of {runs} right, {total['open']} open, {total['wrong']} wrong, {total['failed']} failed.**",
        "",
        "| cause | path | Mbit/s | right | open | wrong | failed | said |",
        "|---|---|---|---|---|---|---|---|",
        *[row["line"] for row in rows],
    ]


def run(cause, path, chosen):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        source, store, near, far = slowed(cause, path, folder, stack, chosen)
        return copy(cause, path, folder, (source, store), (near, far), chosen)


def slowed(cause, path, folder, stack, chosen):
    """The source, the store, and the groups of the sender and the receiver."""
    size = max(1, int(cause.seconds * mbits(path) * 1e6 / 8))
    source, store = folder / "source", folder / "store"
    slow_rate = int(cause.part * mbits(path) * 1e6 / 8)
    near = far = None
    if cause.slow == "source":
        device, numbers, source = stack.enter_context(block_device(folder, "source", size // 1_000_000 + 64))
        fill(source, cause, size)
        # Nothing of it stays in the page cache.
        subprocess.run(["umount", source], check=True)
        subprocess.run(["mount", device, source], check=True)
        near = stack.enter_context(group(BLKIO, read_bps_device=f"{numbers} {slow_rate}"))
    else:
        source.mkdir()
        fill(source, cause, size)
    if cause.slow == "destination":
        _, numbers, store = stack.enter_context(block_device(folder, "store", size // 1_000_000 + 64))
        stack.enter_context(throttled_writes(numbers, slow_rate))
    else:
        store.mkdir()
    if cause.slow in ("sender", "receiver"):
        share = cause.part * mbits(path) * chosen.cost
        quota = max(1000, int(share * QUOTA_US))
        slow = stack.enter_context(group(CPU, period_us=str(QUOTA_US), quota_us=str(quota)))
        near, far = (slow, None) if cause.slow == "sender" else (None, slow)
    return source, store, near, far


def fill(folder, cause, size):
    for number in range(cause.files):
        (folder / f"file{number}").write_bytes(os.urandom(size if cause.files == 1 else 1000))


def within(place, command):
    """Runs it in a control group."""
    return f"echo $$ > {place}/cgroup.procs && exec {command}" if place else f"exec {command}"


def copy(cause, path, folder, places, groups, chosen):
    source, store = places
    near, far = groups
    environment = {**os.environ, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
    new = subprocess.run([chosen.trunkline, "serve", "--tokens", folder / "tokens", "--new-token", "ana"],
                         capture_output=True, text=True, check=True, env=environment)
    environment["TRUNKLINE_TOKEN"] = [word for word in new.stdout.split() if word.startswith("tl1-")][0]
    options = list(cause.options)
    if "--max-rate" in options:
        options.append(f"{mbits(path) // 4}M")
    host = "far" if path.mbits else "127.0.0.1:5231"
    command = (f"{chosen.trunkline} copy -r --json --no-history {' '.join(options)} "
               f"{source}/ trunkline://{host}/into/")
    serve = f"{chosen.trunkline} serve --root {store} --tokens {folder}/tokens"
    near_script, far_script = folder / "near.sh", folder / "far.sh"
    near_script.write_text(within(near, command))
    far_script.write_text(within(far, serve + ("" if path.mbits else " -p 5231")))
    if path.mbits:
        file = path_file(folder, path, cause)
        every = [chosen.trunkline, "emulate", file, "--far", f"sh {far_script}", "--", "sh", near_script]
        return document(every, environment)
    server = subprocess.Popen(["sh", far_script], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_port(5231)
        return document(["sh", near_script], environment)
    finally:
        server.terminate()
        server.wait()


def wait_for_port(port):
    import socket
    import time
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)


def document(command, environment):
    """The document of the copy; none where it failed."""
    try:
        ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return None
    for line in reversed(ran.stdout.splitlines()):
        with contextlib.suppress(json.JSONDecodeError):
            found = json.loads(line)
            if isinstance(found, dict) and "sent_bytes" in found:
                return found
    print(ran.stderr[-600:], file=sys.stderr)
    return None


if __name__ == "__main__":
    main()
