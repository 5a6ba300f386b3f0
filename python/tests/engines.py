"""Engines that tests start and end: Slurm, Dask, and the ssh that Dask reaches hosts by."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest


def free_port() -> int:
    """A port of this machine that nothing listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class OwnCluster:
    """A scheduler and workers, each a process that can be killed."""

    def __init__(self, folder: Path, *names: str) -> None:
        """With a worker of each name, or one whose name is its address."""
        port = str(free_port())
        self.address = f"tcp://127.0.0.1:{port}"
        place = ["--host", "127.0.0.1", "--port", port, "--no-dashboard"]
        self.scheduler = self._start("dask_scheduler", *place)
        wait_for_port(int(port))
        self._folder = folder / "dask"
        self.workers = [self.start_worker(name) for name in names or [None]]

    def start_worker(self, name: str | None = None) -> subprocess.Popen[bytes]:
        words = ["--nthreads", "2", "--no-dashboard", "--no-nanny"]
        words += ["--local-directory", str(self._folder)] + (["--name", name] if name else [])
        return self._start("dask_worker", self.address, *words)

    def _start(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{name}", *words]
        return subprocess.Popen(command, stderr=subprocess.DEVNULL)

    def __enter__(self) -> OwnCluster:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self.scheduler):
            process.terminate()
            process.wait()


def wait_for_port(port: int) -> None:
    """Until a server listens there."""
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return


SLURM = """
ClusterName=trunkline
SlurmctldHost=localhost
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
SchedulerParameters=requeue_setup_env_fail
SchedulerTimeSlice=5
KillWait=5
MinJobAge=60
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=localhost CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """A controller and one node, on ports of their own, until closed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("state", "spool", "log"):
            (folder / name).mkdir()
        key = folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        conf = folder / "slurm.conf"
        conf.write_text(SLURM.format(controller=free_port(), node=free_port(), folder=folder))
        self.env = os.environ | {"SLURM_CONF": str(conf)}
        self.processes: list[subprocess.Popen] = []
        munge = [f"--{one}={folder / two}" for one, two in [
            ("socket", "munge.socket"), ("key-file", "munge.key"), ("pid-file", "munge.pid"),
            ("log-file", "log/munge"), ("seed-file", "munge.seed"),
        ]]
        self.start("munged", "--foreground", "--force", *munge)
        self.start("slurmctld", "-D", "-c", "-f", str(conf))
        self.start("slurmd", "-D", "-N", "localhost", "-f", str(conf))

    def start(self, name: str, *arguments: str) -> None:
        program = shutil.which(name, path=f"/usr/sbin:{os.environ['PATH']}")
        log = open(self.folder / "log" / f"{name}.out", "w", encoding="utf-8")
        self.processes.append(
            subprocess.Popen([program, *arguments], env=self.env, stdout=log, stderr=log)
        )

    def run(self, *command: str) -> str:
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, cwd=self.folder)
        return done.stdout + done.stderr

    def wait(self, what, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not (found := what()):
            if time.monotonic() > deadline:
                logs = [one.read_text()[-600:] for one in (self.folder / "log").iterdir()]
                pytest.fail("\n".join(["nothing after so long", *logs, self.run("squeue")]))
            time.sleep(0.5)
        return found

    def close(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Sshd:
    """An ssh server of this user, with a key of its own for those who come."""

    def __init__(self, folder: Path) -> None:
        self.port, self.key = free_port(), folder / "user"
        for name in ("host", "user"):
            keygen = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(keygen, check=True)
        (folder / "sshd.conf").write_text(
            f"Port {self.port}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\n"
            "StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n"
        )
        # Where it parts with its rights, as the package makes it.
        os.makedirs("/run/sshd", exist_ok=True)
        words = ["-D", "-f", str(folder / "sshd.conf"), "-E", str(folder / "sshd.log")]
        self.process = subprocess.Popen(["/usr/sbin/sshd", *words])
        wait_for_port(self.port)

    def __enter__(self) -> Sshd:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    def options(self) -> dict[str, Any]:
        """What asyncssh needs to come in."""
        return {"port": self.port, "client_keys": [str(self.key)], "known_hosts": None}
