"""A Snakemake run with many inputs at a far host: trunkline's storage plugin beside that of sftp.

One rule takes all inputs, over an emulated path of 80 ms that loses one packet in a thousand. The
sftp plugin asks once a second unless told otherwise, and is told 1,000. Prints a table in Markdown.

Needs root, sshd, and from PyPI snakemake, snakemake-storage-plugin-sftp and paramiko before 4.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from filesystem import PORT, SSH_PORT, Ssh, lossy_path, shown, start_servers

WORKFLOW = """
rule all:
    input: [storage("{root}/%04d.dat" % number) for number in range({inputs})]
    output: "sum.txt"
    run:
        with open(output[0], "w") as out:
            out.write(str(sum(os.path.getsize(one) for one in input)))
"""


def options(plugin: str, folder: Path) -> tuple[str, list[str]]:
    """The folder of the inputs as the plugin names it, and what else it is told."""
    if plugin == "trunkline":
        words = ["--storage-trunkline-token-file", str(folder / "token")]
        return f"trunkline://198.18.0.2:{PORT}/inputs", words
    words = ["--storage-sftp-username", "root", "--storage-sftp-max-requests-per-second", "1000"]
    return f"sftp://198.18.0.2:{SSH_PORT}{folder}/root/inputs", words


def run(path, plugin: str, folder: Path, inputs: int) -> tuple[float, int]:
    """Seconds of one run from nothing, and the bytes that its job saw."""
    place = Path(tempfile.mkdtemp(dir=folder))
    root, words = options(plugin, folder)
    (place / "Snakefile").write_text(WORKFLOW.format(root=root, inputs=inputs))
    env = os.environ | {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(place)}
    command = [sys.executable, "-m", "snakemake", "-c1", "--nocolor", *words]
    begun = time.perf_counter()
    done = path.run(command, cwd=place, env=env, capture_output=True, text=True)
    took = time.perf_counter() - begun
    if done.returncode != 0:
        raise SystemExit(f"{plugin}: {done.stderr[-2000:]}")
    return took, int((place / "sum.txt").read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sftp-rounds", type=int, default=1)
    given = parser.parse_args()
    import trunkline as tl

    folder = Path(tempfile.mkdtemp(prefix="snakemake-"))
    (folder / "root/inputs").mkdir(parents=True)
    for number in range(given.inputs):
        (folder / f"root/inputs/{number:04}.dat").write_bytes(os.urandom(1_000 + 19 * number))
    (folder / "token").write_text(tl.add_token(folder / "tokens", "bench"))
    (folder / "token").chmod(0o600)
    ssh = Ssh(folder)
    # The plugin takes keys and hosts from where ssh has them, and of keys those of RSA alone.
    (folder / "home/.ssh").mkdir(parents=True, mode=0o700)
    rsa = folder / "home/.ssh/id_rsa"
    make = ["ssh-keygen", "-q", "-t", "rsa", "-m", "PEM", "-N", "", "-f", str(rsa)]
    subprocess.run(make, check=True)
    with (folder / "authorized_keys").open("a") as keys:
        keys.write(rsa.with_suffix(".pub").read_text())
    shutil.copy(ssh.known, folder / "home/.ssh/known_hosts")
    times: dict[str, list[float]] = {"trunkline": [], "sftp": []}
    seen = set()
    try:
        with tl.emulate(lossy_path("1Gbit/s")) as path:
            start_servers(path, ssh, folder)
            for plugin, rounds in (("trunkline", given.rounds), ("sftp", given.sftp_rounds)):
                for _ in range(rounds):
                    took, size = run(path, plugin, folder, given.inputs)
                    times[plugin].append(took)
                    seen.add(size)
                    print(f"{plugin}: {took:.1f} s", file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert len(seen) == 1, seen
    print(f"{given.inputs} inputs, {seen.pop() / 1e6:.1f} MB\n")
    print("| plugin | rounds | s, median (least to most) |\n|---|---|---|")
    for plugin, all_ in times.items():
        if all_:
            print(f"| {plugin} | {len(all_)} | {shown(all_)} |")
    if all(times.values()):
        ratio = statistics.median(times["sftp"]) / statistics.median(times["trunkline"])
        print(f"\nThe sftp plugin takes {ratio:.0f} times as long.")


if __name__ == "__main__":
    main()
