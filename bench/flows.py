#!/usr/bin/env python3
"""Does `trunkline watch flows` count what crosses a border, by application and way?

    apt-get install softflowd nfdump nftables && make build && sudo bench/flows.py [--megabytes N]

Two network namespaces, a veth between them, TCP of known ports both ways. softflowd looks at the veth and
sends NetFlow 5, NetFlow 9 and IPFIX in turn; what nftables counted at the same place is the truth. nfcapd and
nfdump, where they are installed, read the records of a second softflowd. Prints Markdown for bench/results, and
fails where trunkline is off by more than 2 %.
"""

import argparse
import csv
import io
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from common import TRUNKLINE, heading

INSIDE, OUTSIDE = ("10.77.0.1", "192.0.2.77")
NEAR, FAR = ("tl-flows-in", "tl-flows-out")
OURS, THEIRS = 2055, 2056
# Port of the server, its application, and which way its bytes go.
TRANSFERS = [(443, "https", "in"), (1094, "xrootd", "out"), (2811, "gridftp", "in"), (40001, "other-tcp", "out")]
VERSIONS = [5, 9, 10]
ALLOWED = 0.02

PLAN = f"""
[hosts]
a = {{ address = "127.0.0.1:5391" }}
b = {{ address = "127.0.0.2:5392" }}
[groups]
all = {{ mesh = ["a", "b"] }}
[tasks.trips]
kind = "ping"
group = "all"
every = "1h"
duration = "5s"
[flows]
listen = "127.0.0.1:{OURS}"
inside = ["10.77.0.0/24"]
interval = "10s"
"""

# Counts bytes of IP packets by the port of the server, each way.
RULES = "table inet flows {\n" + "".join(
    f" counter {way}{port} {{}}\n" for port, _, _ in TRANSFERS for way in ("in", "out")
) + " chain to { type filter hook input priority 0;\n" + "".join(
    f"  iifname tl-far tcp dport {port} counter name out{port}\n"
    f"  iifname tl-far tcp sport {port} counter name out{port}\n" for port, _, _ in TRANSFERS
) + " }\n chain from { type filter hook output priority 0;\n" + "".join(
    f"  oifname tl-far tcp dport {port} counter name in{port}\n"
    f"  oifname tl-far tcp sport {port} counter name in{port}\n" for port, _, _ in TRANSFERS
) + " }\n}\n"

# One end of a transfer: `serve PORT` or `call HOST PORT`, then `send BYTES` or `take`.
END = """
import socket, sys, time
role, host, port, what, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
if role == "serve":
    listener = socket.create_server((host, port))
    print("ready", flush=True)
    peer = listener.accept()[0]
else:
    peer = socket.create_connection((host, port))
if what == "send":
    block = bytes(1 << 16)
    while size > 0:
        peer.sendall(block[:size])
        # softflowd loses packets that come faster than it reads.
        time.sleep(0.004)
        size -= len(block)
    peer.shutdown(socket.SHUT_WR)
while peer.recv(1 << 16):
    pass
"""


def run(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, **more).stdout


def within(space, *words):
    return ["ip", "netns", "exec", space, *map(str, words)]


def lay():
    for space in (NEAR, FAR):
        run("ip", "netns", "add", space)
        run(*within(space, "ip", "link", "set", "lo", "up"))
    run("ip", "link", "add", "tl-near", "netns", NEAR, "type", "veth", "peer", "name", "tl-far", "netns", FAR)
    for space, device, address, other in [(NEAR, "tl-near", INSIDE, OUTSIDE), (FAR, "tl-far", OUTSIDE, INSIDE)]:
        run(*within(space, "ip", "address", "add", f"{address}/32", "dev", device))
        run(*within(space, "ip", "link", "set", device, "up"))
        run(*within(space, "ip", "route", "add", f"{other}/32", "dev", device))


def clear():
    for space in (NEAR, FAR):
        subprocess.run(["ip", "netns", "delete", space], capture_output=True)


def transfer(port, way, size):
    """The server is outside; bytes go in or out."""
    serve, call = ("send", "take") if way == "in" else ("take", "send")
    server = subprocess.Popen(within(FAR, sys.executable, "-c", END, "serve", OUTSIDE, port, serve, size),
                              stdout=subprocess.PIPE, text=True)
    assert server.stdout.readline() == "ready\n"
    run(*within(NEAR, sys.executable, "-c", END, "call", OUTSIDE, port, call, size))
    server.wait(60)


def probe(folder, version, port):
    words = ["softflowd", "-i", "tl-far", "-n", f"127.0.0.1:{port}", "-v", version, "-d", "-t", "maxlife=30s", "-B", 1 << 26,
             "-p", folder / f"{port}.pid", "-c", folder / f"{port}.ctl"]
    return subprocess.Popen(within(FAR, *words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def end(process):
    process.send_signal(signal.SIGTERM)
    process.wait(30)


def nfcapd(folder):
    if not shutil.which("nfcapd"):
        return None
    flows = folder / "nfcapd"
    flows.mkdir()
    for option in ("-w", "-l"):
        words = within(FAR, "nfcapd", "-p", THEIRS, "-b", "127.0.0.1", option, flows)
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1)
        if process.poll() is None:
            return process
    return None


def of_nfdump(folder):
    """Bytes by port of the server and way."""
    text = run("nfdump", "-R", folder / "nfcapd", "-q", "-N", "-o", "fmt:%sa,%sp,%dp,%byt")
    sums = {}
    for row in csv.reader(io.StringIO(text)):
        if len(row) != 4:
            continue
        source, one, other, size = (cell.strip() for cell in row)
        for port, _, _ in TRANSFERS:
            if str(port) in (one, other):
                key = (port, "out" if source == INSIDE else "in")
                sums[key] = sums.get(key, 0) + int(float(size))
    return sums


def truth():
    rules = json.loads(run(*within(FAR, "nft", "-j", "list", "counters")))
    counters = [entry["counter"] for entry in rules["nftables"] if "counter" in entry]
    return {counter["name"]: counter["bytes"] for counter in counters}


def measure(folder, version, size):
    folder.mkdir()
    (folder / "plan.toml").write_text(PLAN)
    run(TRUNKLINE, "serve", "--tokens", folder / "tokens", "--new-token", "a")
    database = folder / "watch.db"
    collector = subprocess.Popen(
        within(FAR, TRUNKLINE, "watch", "serve", folder / "plan.toml", "--tokens", folder / "tokens",
               "--database", database, "--port", 5299),
        stderr=subprocess.PIPE, text=True)
    while "taking flow records" not in (line := collector.stderr.readline()):
        assert line, "the collector ended"
    threading.Thread(target=collector.stderr.read, daemon=True).start()
    theirs = nfcapd(folder)
    probes = [probe(folder, version, OURS)] + ([probe(folder, version, THEIRS)] if theirs else [])
    time.sleep(2)
    run(*within(FAR, "nft", "-f", "-"), input=RULES)
    for port, _, way in TRANSFERS:
        transfer(port, way, size)
    time.sleep(1)
    sent = truth()
    run(*within(FAR, "nft", "delete", "table", "inet", "flows"))
    for process, port in zip(probes, (OURS, THEIRS)):
        run("softflowctl", "-c", folder / f"{port}.ctl", "expire-all")
        end(process)
    time.sleep(2)
    end(collector)
    found = json.loads(run(TRUNKLINE, "watch", "flows", "--database", database, "--json"))
    ours = {one["application"]: one for one in found["applications"]}
    dumped = {}
    if theirs:
        end(theirs)
        dumped = of_nfdump(folder)
    rows = []
    for port, application, _ in TRANSFERS:
        for way in ("in", "out"):
            counted = ours.get(application, {}).get(way, {}).get("bytes", 0)
            rows.append((application, way, sent[f"{way}{port}"], counted, dumped.get((port, way))))
    return rows, found["routers"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=50, help="of each transfer")
    arguments = parser.parse_args()
    missing = [name for name in ("softflowd", "nft", "ip") if not shutil.which(name)]
    if missing:
        raise SystemExit(f"{', '.join(missing)} missing: apt-get install softflowd nfdump nftables iproute2")
    print(heading("What crosses a border by application, beside nftables and nfdump"))
    print("| records | application | way | sent, bytes | trunkline | ratio | nfdump |\n|---|---|---|---|---|---|---|")
    wrong = []
    clear()
    lay()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for version in VERSIONS:
                rows, routers = measure(pathlib.Path(folder) / str(version), version, arguments.megabytes * 1_000_000)
                name = "IPFIX" if version == 10 else f"NetFlow {version}"
                for application, way, sent, counted, dumped in rows:
                    ratio = counted / max(sent, 1)
                    theirs = "-" if dumped is None else f"{dumped / max(sent, 1):.4f}"
                    print(f"| {name} | {application} | {way} | {sent} | {counted} | {ratio:.4f} | {theirs} |")
                    if abs(ratio - 1) > ALLOWED:
                        wrong.append(f"{name}, {application} {way}: {ratio:.4f}")
                wrong += [f"{name}: {router}" for router in routers if router["lost"] or router["unreadable"]]
    finally:
        clear()
    print()
    print("; ".join(wrong) if wrong else f"All within {ALLOWED:.0%}.")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
