#!/usr/bin/env python3
"""How fast do datagrams arrive over the loopback device, by trunkline and by iperf3 -u?

Each program with its own two ends, by turns, as fast as they go. What arrived counts; what was sent and lost, because
the receiver of this host is slower than its sender, stands beside it.
"""

import argparse
import json
import statistics
import subprocess
import time

from common import TRUNKLINE, heading, spread, trunkline

PORT = 5937
COLUMNS = ["datagram", "way", "program", "arrived Gbit/s", "sent Gbit/s", "lost %"]


def served(server, client):
    """What the client tells of a test at a server of its own."""
    far = subprocess.Popen(server, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        return client()
    finally:
        far.terminate()
        far.wait()


def ours(size, reverse, seconds):
    words = ["measure", f"127.0.0.1:{PORT}", "--udp", "1T", "-l", size, "-t", seconds, "--no-history", *reverse]
    way = served([TRUNKLINE, "serve", "--port", str(PORT)], lambda: trunkline(*words))["ways"][0]
    return way["goodput_bits_per_second"], way["sent_bits_per_second"], 100 * way["loss_ratio"]


def iperf3(size, reverse, seconds):
    words = ["iperf3", "-u", "-b", "0", "-c", "127.0.0.1", "-p", PORT, "-l", size, "-t", seconds, "-J", *reverse]

    def client():
        run = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True)
        return json.loads(run.stdout)["end"]
    end = served(["iperf3", "-s", "-1", "-p", str(PORT)], client)
    received = end["sum_received"]
    return received["bits_per_second"], end["sum_sent"]["bits_per_second"], received["lost_percent"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    asked = parser.parse_args()
    print(heading("Datagrams over loopback, as fast as they go"))
    print(f"Median and range of {asked.rounds} runs of {asked.seconds} s; of what was sent and lost the median.\n")
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + "---|" * len(COLUMNS))
    for size in (1_400, 8_192):
        for way, reverse in (("forward", []), ("reverse", ["-R"])):
            seen = {"trunkline": (ours, []), "iperf3 3.12": (iperf3, [])}
            for _ in range(asked.rounds):
                for program, runs in seen.values():
                    runs.append(program(size, reverse, asked.seconds))
            for name, (_, runs) in seen.items():
                arrived, sent, lost = zip(*runs)
                cells = [size, way, name, spread([one / 1e9 for one in arrived]),
                         f"{statistics.median(sent) / 1e9:.3g}", f"{statistics.median(lost):.3g}"]
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
