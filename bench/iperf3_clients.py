#!/usr/bin/env python3
"""Do clients and servers of iperf3 understand ours? Each version by its own test, with users, and eight at once.

The words are those of iperf3's `test_commands.sh` less what no other server can have (SCTP, a fixed processor), shorter.
What counts: exit code 0, no error, and bytes that arrived in each way.

python3 bench/iperf3_clients.py [--rounds N] [iperf3 ...]
"""

import argparse
import hashlib
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import time

from common import TRUNKLINE, heading

PORT = 5938
WORDS = """
-V|-u -V|-i .3 -O 2|-i 1|-4|-4 -u|-6|-6 -u|--fq-rate 5m|-u --fq-rate 5m|-P 3|-u -P 3|-P 2 -R|-u -P 2 -R|-P 2 --bidir
-u -P 2 --bidir|-Z|-Z -R|-w 8M|-n 5M|-n 5M -u -b1G|-n 5M -R|-n 5M -u -b1G -R|-k 1K|-k 1K -u -b1G|-k 1K -R
-k 1K -u -b1G -R|-u -b1G/100|-C reno|-M 1000|-u -b 0|-u -b 0 -R|-u -l 16|-b 20M -P 2|-u --udp-counters-64bit
""".replace("\n", "|").strip("|").split("|")
OURS = ["", "-R", "--bidir", "-P 3", "-P 3 -R", "--udp 20M", "--udp 20M -R", "--udp 20M --bidir", "--udp 20M -P 2"]


def ended(words, limit=60):
    """The answer as JSON, or why there is none."""
    try:
        run = subprocess.run(words, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, f"did not end within {limit} s"
    try:
        answer = json.loads(run.stdout)
    except ValueError:
        return None, (run.stderr or run.stdout)[-300:].strip()
    if run.returncode or "error" in answer:
        return None, f"exit {run.returncode}: {answer.get('error', run.stderr[-300:])}"
    return answer, None


def arrived(answer):
    """Bytes of each way."""
    end = answer["end"]
    keys = ["sum_received", "sum_received_bidir_reverse"] if "sum_sent_bidir_reverse" in end else ["sum_received"]
    return [end.get(key, end.get("sum", {})).get("bytes", 0) for key in keys]


def client(binary, words, seconds=2):
    """What is wrong with one run; `None` where nothing is."""
    length = [] if {"-n", "-k"} & set(words) else ["-t", str(seconds)]
    host = "::1" if "-6" in words else "127.0.0.1"
    command = [binary, "-c", host, "-p", str(PORT), *length, *words]
    if "-V" in words:
        # Its text and JSON exclude each other.
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return "did not end within 60 s"
        if not run.returncode and "receiver" not in run.stdout:
            return "no line of the receiver"
        return run.stderr[-300:] if run.returncode else None
    answer, why = ended([*command, "-J"])
    if why is None and not all(arrived(answer)):
        why = f"bytes that arrived: {arrived(answer)}"
    return why


def server_of(binary):
    return subprocess.Popen([binary, "-s", "-p", str(PORT + 1)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ours(words, host):
    command = [str(TRUNKLINE), "measure", f"{host}:{PORT + 1}", "-t", "2", "--no-history", "--json", *words]
    return ended(command)[1]


def own_tests(binary):
    bad = []
    for words in WORDS:
        why = client(binary, words.split())
        bad += [f"`{words}`: {why}"] if why else []
    return len(WORDS), bad


def our_client(binary):
    bad = []
    server = server_of(binary)
    time.sleep(0.5)
    try:
        # Both versions of the internet protocol take turns.
        for words, host in zip(OURS, itertools.cycle(["127.0.0.1", "[::1]"])):
            why = ours(words.split(), host)
            bad += [f"`measure {host} {words}`: {why}"] if why else []
            time.sleep(0.3)
    finally:
        server.terminate()
        server.wait()
    return len(OURS), bad


def padding_of(binary):
    """Of logins: another one since 3.17."""
    said = subprocess.run([binary, "--version"], capture_output=True, text=True).stdout
    major, minor = map(int, re.match(r"iperf (\d+)\.(\d+)", said).groups())
    return "pkcs1" if (major, minor) < (3, 17) else "oaep"


def keys(folder):
    """A key, its public part and a user `ana` with the password `right`."""
    for words in ["genrsa -out key.pem 2048", "rsa -in key.pem -pubout -out public.pem"]:
        subprocess.run(["openssl", *words.split()], cwd=folder, check=True, capture_output=True)
    (folder / "users").write_text(f"ana,{hashlib.sha256(b'{ana}right').hexdigest()}\n")
    return [str(folder / name) for name in ("key.pem", "public.pem", "users")]


def with_users(binary):
    """Its client at our server and ours at its server: those with the password are let in, and no others."""
    bad = []
    count = 0
    padding = padding_of(binary)
    with tempfile.TemporaryDirectory() as folder:
        key, public, users = keys(pathlib.Path(folder))
        servers = [
            [str(TRUNKLINE), "serve", "--port", str(PORT + 2), "--iperf3-users", users, "--iperf3-key", key, "--iperf3-padding", padding],
            [binary, "-s", "-p", str(PORT + 3), "--authorized-users-path", users, "--rsa-private-key-path", key],
        ]
        theirs = [binary, "-c", "127.0.0.1", "-p", str(PORT + 2), "-t", "1", "-J"]
        their_login = ["--username", "ana", "--rsa-public-key-path", public]
        ours_there = [str(TRUNKLINE), "measure", f"127.0.0.1:{PORT + 3}", "-t", "1", "--no-history", "--json"]
        our_login = ["--user", "ana", "--user-key", public, "--user-padding", padding]
        running = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for words in servers]
        time.sleep(0.5)
        try:
            for command, login, ways in [(theirs, their_login, ["", "-R", "-u -b 20M"]), (ours_there, our_login, ["", "-R", "--udp 20M"])]:
                for way in ways:
                    for password in ["right", "wrong", None]:
                        os.environ["IPERF3_PASSWORD"] = password or "none"
                        words = [*command, *way.split(), *(login if password else [])]
                        answer, why = ended(words)
                        count += 1
                        if (answer is not None) != (password == "right"):
                            bad.append(f"`{' '.join(words)}` with the password {password}: {why or 'was let in'}")
                        time.sleep(0.3)
        finally:
            for one in running:
                one.terminate()
                one.wait()
    return count, bad


def eight_at_once(binaries, chance):
    """TCP and UDP, both versions, drawn ways."""
    begun = []
    for number in range(8):
        words = ["-u", "-b", "20M"] if number % 2 else []
        words += chance.choice([[], ["-R"], ["--bidir"], ["-P", "3"]])
        binary = binaries[number // 2 % len(binaries)]
        command = [binary, "-c", "127.0.0.1", "-p", str(PORT), "-J", "-t", "3", *words]
        begun.append((words, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)))
    bad = []
    for words, run in begun:
        out, _ = run.communicate(timeout=90)
        answer = json.loads(out)
        if run.returncode or "error" in answer or not all(arrived(answer)):
            bad.append(f"eight at once, `{' '.join(words)}`: {answer.get('error', 'nothing arrived')}")
    return 8, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("iperf3", nargs="*", default=["iperf3"])
    asked = parser.parse_args()
    print(heading("iperf3 beside trunkline's two ends"))
    server = subprocess.Popen([str(TRUNKLINE), "serve", "--port", str(PORT)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    failed = 0
    print(f"Seed {asked.seed}.\n")
    chance = random.Random(asked.seed)
    try:
        rows = []
        for binary in asked.iperf3:
            version = subprocess.run([binary, "--version"], capture_output=True, text=True).stdout.split("(")[0].strip()
            rows += [(f"{version}: its own test", own_tests(binary)), (f"{version}: `trunkline measure` at its server", our_client(binary)), (f"{version}: users, at both servers", with_users(binary))]
        rows += [("eight at once", eight_at_once(asked.iperf3, chance)) for _ in range(asked.rounds)]
        print("| what | runs | failed |\n|---|---|---|")
        for name, (count, bad) in rows:
            print(f"| {name} | {count} | {len(bad)} |")
            failed += len(bad)
        print("".join(f"\n- {name}: {one}" for name, (_, bad) in rows for one in bad))
    finally:
        server.terminate()
        server.wait()
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
