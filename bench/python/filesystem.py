"""Files of a far host from Python: trunkline's filesystem, sshfs, and fsspec's clients of sftp.

Two questions over an emulated path of 80 ms that loses one packet in a thousand: how long does one
column of many Parquet files take, and how long do many small files? The second also of `trunkline
copy`. Each way runs in a process of its own, the ways in turn. Prints tables in Markdown.

Needs root, sshd and sshfs, and from PyPI pyarrow, fsspec, sshfs and paramiko.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COLUMNS = 20
LONGEST = 1800
SSH_PORT, PORT = 2222, 5201
WAYS = {
    "column": ["trunkline", "sshfs", "sftp of fsspec", "ssh of fsspec"],
    "files": ["trunkline", "trunkline copy", "sshfs", "sftp of fsspec", "ssh of fsspec"],
}


def prepare(root: Path, megabytes: int, files: int, small: int) -> None:
    """Parquet files of random numbers, which do not compress, and a folder of small files."""
    import numpy
    import pyarrow
    from pyarrow import parquet

    draw = numpy.random.default_rng(7)
    rows = megabytes * 1_000_000 // files // COLUMNS // 8
    (root / "parquet").mkdir(parents=True)
    for number in range(files):
        columns = {f"column{one}": draw.random(rows) for one in range(COLUMNS)}
        table = pyarrow.table(columns)
        parquet.write_table(table, root / f"parquet/{number:03}.parquet", use_dictionary=False)
    for number in range(small):
        place = root / f"small/{number % 20:02}/{number:05}.dat"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(draw.bytes(int(draw.integers(1_000, 20_000))))


class Ssh:
    """Keys and configuration for an sshd that only this run knows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("host", "key"):
            make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(make, check=True)
        shutil.copy(folder / "key.pub", folder / "authorized_keys")
        Path("/run/sshd").mkdir(exist_ok=True)
        self.known = folder / "known_hosts"
        host = (folder / "host.pub").read_text().split()
        self.known.write_text(f"[198.18.0.2]:{SSH_PORT} {host[0]} {host[1]}\n")

    def server(self) -> list[str]:
        lines = [
            f"Port {SSH_PORT}", f"HostKey {self.folder / 'host'}", "StrictModes no", "UsePAM no",
            f"AuthorizedKeysFile {self.folder / 'authorized_keys'}", "PermitRootLogin yes",
            f"PidFile {self.folder / 'sshd.pid'}", "Subsystem sftp internal-sftp",
        ]
        conf = self.folder / "sshd.conf"
        conf.write_text("\n".join(lines) + "\n")
        return ["/usr/sbin/sshd", "-D", "-e", "-f", str(conf)]


def filesystem(way: str, folder: Path):
    """The filesystem of a way, the folder of the files in it, and what ends it."""
    root = str(folder / "root")
    if way == "trunkline":
        import fsspec

        return fsspec.filesystem(
            "trunkline", host="198.18.0.2", port=PORT, token_file=str(folder / "token")
        ), ""
    if way == "sftp of fsspec":
        from fsspec.implementations.sftp import SFTPFileSystem

        return SFTPFileSystem(
            "198.18.0.2", port=SSH_PORT, username="root", key_filename=str(folder / "key")
        ), root
    from sshfs import SSHFileSystem

    return SSHFileSystem(
        "198.18.0.2", port=SSH_PORT, username="root", client_keys=[str(folder / "key")],
        known_hosts=str(folder / "known_hosts"),
    ), root


def mounted(folder: Path) -> Path:
    """The far files below a folder here, by sshfs with its defaults."""
    place = Path(tempfile.mkdtemp(prefix="sshfs-"))
    options = ["-p", str(SSH_PORT), "-o", f"IdentityFile={folder / 'key'}"]
    options += ["-o", f"UserKnownHostsFile={folder / 'known_hosts'}"]
    subprocess.run(["sshfs", f"root@198.18.0.2:{folder / 'root'}", place, *options], check=True)
    return place


def read_column(way: str, folder: Path) -> float:
    """Reads one column of all files, and gives its sum."""
    import pyarrow
    import pyarrow.compute as compute
    from pyarrow import dataset, parquet

    files = sorted(one.name for one in (folder / "root/parquet").iterdir())
    if way == "sshfs":
        base, there = str(mounted(folder)), None
    else:
        there, base = filesystem(way, folder)
    names = [f"{base}/parquet/{one}" for one in files]
    if way == "sftp of fsspec":
        # Its one connection breaks when several threads read from it (2026.9.0): one by one.
        tables = []
        for name in names:
            with there.open(name) as file:
                one = parquet.ParquetFile(file, pre_buffer=False)
                tables.append(one.read(["column7"], use_threads=False))
        table = pyarrow.concat_tables(tables)
    else:
        read = dataset.dataset(names, filesystem=there, format="parquet")
        table = read.to_table(["column7"])
    return float(compute.sum(table["column7"]).as_py())


def get_files(way: str, folder: Path) -> float:
    """Fetches the folder of small files, and gives their number."""
    target = Path(tempfile.mkdtemp(prefix="got-", dir=folder))
    if way == "sshfs":
        shutil.copytree(mounted(folder) / "small", target / "small")
    elif way == "trunkline copy":
        place = f"trunkline://198.18.0.2:{PORT}/small"
        words = ["--token-file", str(folder / "token"), "--no-history", "-r", place, str(target)]
        subprocess.run([os.environ["TRUNKLINE"], "copy", *words], check=True, capture_output=True)
    else:
        there, base = filesystem(way, folder)
        if way == "ssh of fsspec":
            # It gets no folders within folders (2026.8.0), so it is told every file.
            names = there.find(f"{base}/small")
            there.get(names, [str(target / name[len(base) + 1 :]) for name in names])
        else:
            there.get(f"{base}/small", str(target), recursive=True)
    return float(sum(1 for one in target.rglob("*.dat")))


def one(task: str, way: str, folder: Path) -> None:
    """One way by itself: the time includes its connections, not its imports."""
    import fsspec  # noqa: F401
    import pyarrow.dataset  # noqa: F401

    if way.startswith("trunkline"):
        import trunkline.fs  # noqa: F401
    elif way == "sftp of fsspec":
        import fsspec.implementations.sftp  # noqa: F401
    elif way == "ssh of fsspec":
        import sshfs  # noqa: F401
    begun = time.perf_counter()
    seen = {"column": read_column, "files": get_files}[task](way, folder)
    print(json.dumps({"seconds": time.perf_counter() - begun, "seen": seen}), flush=True)
    # Threads of other clients do not end by themselves.
    os._exit(0)


def shown(times: list[float]) -> str:
    if len(times) == 1:
        return f"{times[0]:.1f}"
    return f"{statistics.median(times):.1f} ({min(times):.1f} to {max(times):.1f})"


def run_task(path, task: str, ways: list[str], folder: Path, rounds: int) -> None:
    seen: dict[str, list[float]] = {}
    values: set[float] = set()
    for number in range(rounds):
        for way in ways:
            run = [sys.executable, __file__, "--one", task, way, str(folder)]
            try:
                done = path.run(run, capture_output=True, text=True, timeout=LONGEST)
            except subprocess.TimeoutExpired:
                print(f"{task}, {way}: not done after {LONGEST} s", file=sys.stderr)
                continue
            if done.returncode != 0 or not done.stdout.strip():
                print(f"{task}, {way}: {done.stderr[-800:]}", file=sys.stderr)
                continue
            told = json.loads(done.stdout.splitlines()[-1])
            seen.setdefault(way, []).append(told["seconds"])
            values.add(round(told["seen"], 3))
            print(f"round {number}, {task}, {way}: {told['seconds']:.1f} s", file=sys.stderr)
    assert len(values) <= 1, f"the ways disagree: {values}"
    print(f"\n| {task} | rounds | s, median (least to most) | times as long as trunkline |")
    print("|---|---|---|---|")
    ours = statistics.median(seen["trunkline"])
    for way, times in seen.items():
        ratio = statistics.median(times) / ours
        print(f"| {way} | {len(times)} | {shown(times)} | {ratio:.1f} |")


def lossy_path(rate: str) -> tl.Path:
    """80 ms with 0.1 % loss each way."""
    import trunkline as tl

    way = {"rate": rate, "delay": "40ms", "loss": {"kind": "random", "rate": 1e-3},
           "queue": {"kind": "drop-tail", "limit": "4MiB"}}
    return tl.Path("far", forward=way, reverse=way)


def start_servers(path: tl.EmulatedPath, ssh: Ssh, folder: Path) -> None:
    """trunkline's server and sshd, at the far end."""
    import trunkline as tl

    serve = ["serve", "--bind", "198.18.0.2", "--port", str(PORT), "--root",
             str(folder / "root"), "--tokens", str(folder / "tokens")]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    path.popen([tl.program(), *serve], host="far", **quiet)
    path.popen(ssh.server(), host="far", **quiet)
    time.sleep(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=2000)
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--small", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", default="1Gbit/s")
    parser.add_argument("--tasks", nargs="*", default=list(WAYS))
    parser.add_argument("--ways", nargs="*")
    given = parser.parse_args()
    import trunkline as tl

    os.environ["TRUNKLINE"] = tl.program()
    folder = Path(tempfile.mkdtemp(prefix="filesystem-"))
    prepare(folder / "root", given.megabytes, given.files, given.small)
    (folder / "token").write_text(tl.add_token(folder / "tokens", "bench"))
    (folder / "token").chmod(0o600)
    both = lossy_path(given.rate)
    ssh = Ssh(folder)
    try:
        with tl.emulate(both) as path:
            start_servers(path, ssh, folder)
            for task in given.tasks:
                ways = [one for one in WAYS[task] if not given.ways or one in given.ways]
                run_task(path, task, ways, folder, given.rounds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], sys.argv[3], Path(sys.argv[4]))
    else:
        main()
