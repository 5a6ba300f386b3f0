"""Copies as jobs: Slurm, with a controller and a node of its own; what the program says to both."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ROOT, skip

import trunkline as tl


@pytest.fixture
def far(tmp_path):
    """A server in this process, and what a copy to it is told."""
    root = tmp_path / "store"
    root.mkdir()
    token = tl.add_token(tmp_path / "tokens", "ana")
    (tmp_path / "token").write_text(token)
    (tmp_path / "token").chmod(0o600)
    source = tmp_path / "run7"
    source.mkdir()
    (source / "hits.bin").write_bytes(random.Random(3).randbytes(12_000_000))
    with tl.serve(root=root, tokens=tmp_path / "tokens") as server:
        words = ["-r", str(source), server.place(), "--token-file", str(tmp_path / "token")]
        yield words, source / "hits.bin", root / "run7/hits.bin"


def caught(pid):
    """Signals that a process catches, one bit each: none before the program has begun."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("SigCgt:")[1].split()[0], 16)


def test_a_signal_ends_a_copy_cleanly_and_its_code_says_go_on(program, far):
    words, sent, arrived = far
    for number in (signal.SIGTERM, signal.SIGINT):
        slow = [program, "copy", *words, "--max-rate", "16M", "--no-history"]
        copy = subprocess.Popen(slow, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        while copy.poll() is None and not caught(copy.pid) >> (number - 1) & 1:
            time.sleep(0.05)
        time.sleep(1)
        copy.send_signal(number)
        _, said = copy.communicate(timeout=20)
        assert copy.returncode == 75, said
        assert "goes on; what has arrived is not sent again" in said
        assert not arrived.exists()
    rest = subprocess.run([program, "copy", *words, "--no-history"], capture_output=True, text=True)
    assert rest.returncode == 0, rest.stderr
    assert arrived.read_bytes() == sent.read_bytes()


def test_a_slurm_job_goes_on_with_the_copy_after_its_limit(slurm, program, far):
    """The limit is sent here as Slurm sends it, since real ones are minutes."""
    words, sent, arrived = far
    recipe = ROOT / "packaging/slurm/trunkline-copy.sbatch"
    slurm.env["PATH"] = f"{Path(program).parent}:{slurm.env['PATH']}"
    slurm.env["TRUNKLINE_STATE"] = str(slurm.folder / "state-of-copies")
    log = slurm.folder / "log/job"
    told = slurm.run(
        "sbatch", "--parsable", f"--output={log}", str(recipe), *words, "--max-rate", "16M"
    )
    job = told.strip()
    assert job.isdigit(), told
    slurm.wait(lambda: list(arrived.parent.glob(".*trunkline-part")), 40)
    time.sleep(1)
    slurm.run("scancel", "--batch", "--signal=USR1", job)
    slurm.wait(lambda: "queued again" in log.read_text(), 30)
    # Slurm waits two minutes before it starts a job again, unless told otherwise.
    slurm.wait(lambda: "PENDING" in slurm.run("squeue", "-h", "-o", "%T"), 30)
    slurm.run("scontrol", "update", f"JobId={job}", "StartTime=now")
    slurm.run("scontrol", "release", job)
    slurm.wait(arrived.exists, 200)
    assert arrived.read_bytes() == sent.read_bytes()
    state = slurm.wait(lambda: "COMPLETED" in slurm.run("scontrol", "show", "job", job), 20)
    assert state
    assert "Restarts=1" in slurm.run("scontrol", "show", "job", job)


def test_scancel_ends_it_for_good(slurm, program, far):
    words, _, arrived = far
    recipe = ROOT / "packaging/slurm/trunkline-copy.sbatch"
    slurm.env["PATH"] = f"{Path(program).parent}:{slurm.env['PATH']}"
    log = slurm.folder / "log/job"
    job = slurm.run(
        "sbatch", "--parsable", f"--output={log}", str(recipe), *words, "--max-rate", "8M"
    ).strip()
    slurm.wait(lambda: list(arrived.parent.glob(".*trunkline-part")), 40)
    slurm.run("scancel", job)
    slurm.wait(lambda: not slurm.run("squeue", "-h").strip(), 30)
    assert "goes on" in log.read_text() or "stopped" in log.read_text(), log.read_text()
    assert not arrived.exists()
    assert "queued again" not in log.read_text()


MODULE = ROOT / "packaging/nextflow/trunkline.nf"


def script_of(process: str, **values: str) -> str:
    """The script of a Nextflow process, as Nextflow writes it into `.command.sh`."""
    body = MODULE.read_text().partition(f"process {process} {{")[2]
    script = body.partition("script:")[2].split('"""')[1]
    for name, value in values.items():
        script = script.replace(f"${{{name}}}", value)
    assert "${" not in script.replace("\\${", "")
    return script.replace("\\$", "$")


def test_the_scripts_of_the_nextflow_module_copy_and_go_on(program, far, tmp_path):
    """Nextflow cannot be installed here, so its part is played: a folder and bash -ue."""
    words, sent, arrived = far
    source, place = words[1], words[2]
    env = os.environ | {
        "PATH": f"{Path(program).parent}:{os.environ['PATH']}",
        "TRUNKLINE_TOKEN": Path(words[4]).read_text(),
        "TRUNKLINE_STATE": str(tmp_path / "state"),
    }

    def task(name: str, script: str) -> tuple[subprocess.Popen, Path]:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "run7").symlink_to(source)
        run = ["bash", "-ue", "-c", script]
        return subprocess.Popen(run, cwd=folder, env=env, stderr=subprocess.PIPE, text=True), folder

    put = script_of("TRUNKLINE_PUT", files="run7", target=place.rstrip("/"))
    assert "--max-rate" not in put
    slow, _ = task("slow", put.replace("--copy-links", "--copy-links --max-rate 16M"))
    deadline = time.monotonic() + 20
    while not list(arrived.parent.glob(".*trunkline-part")):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    # As Slurm does, which signals what the job runs.
    children = Path(f"/proc/{slow.pid}/task/{slow.pid}/children").read_text().split()
    for child in children:
        os.kill(int(child), signal.SIGTERM)
    _, said = slow.communicate(timeout=20)
    assert slow.returncode == 75, said
    again, _ = task("again", put)
    assert again.wait(60) == 0
    assert arrived.read_bytes() == sent.read_bytes()
    get = script_of("TRUNKLINE_GET", source=f"{place}run7", cache=str(tmp_path / "cache"))
    got, folder = task("got", get)
    assert got.wait(60) == 0
    assert (folder / "got/run7/hits.bin").read_bytes() == sent.read_bytes()
    # A task that is tried again finds what arrived.
    assert "goesOn(task.exitStatus) ? 'retry'" in MODULE.read_text()
