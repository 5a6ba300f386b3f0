"""What tests share: an archive of their own, and the program."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from engines import Slurm

ROOT = Path(__file__).resolve().parents[2]
# Before the package is used: tests neither read nor write what the user has.
_HOME = tempfile.mkdtemp(prefix="trunkline-python-")
os.environ |= {"TRUNKLINE_STATE": _HOME, "XDG_CACHE_HOME": _HOME}
# A shell starts what runs in its background with SIGINT ignored, and tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def home() -> Iterator[Path]:
    yield Path(_HOME)
    shutil.rmtree(_HOME, ignore_errors=True)


@pytest.fixture(scope="session")
def program() -> str:
    import trunkline

    try:
        return trunkline.program()
    except trunkline.RequestError as error:
        pytest.skip(str(error))


def skip(why: str) -> None:
    """Skips where that is seen: in the file that `make test` shows; never in CI."""
    if os.environ.get("CI"):
        pytest.fail(f"skipped in CI: {why}")
    if skips := os.environ.get("TRUNKLINE_SKIPS"):
        with open(skips, "a", encoding="utf-8") as out:
            out.write(f"skipped: python: {why}\n")
    pytest.skip(why, allow_module_level=True)


def loopback(case: str) -> str:
    """The address of loopback of a case: IPv4 and IPv6 take turns, unless `TRUNKLINE_FAMILY` decides."""
    turn = "46"[sum(case.encode()) % 2]
    return {"4": "127.0.0.1", "6": "::1"}[os.environ.get("TRUNKLINE_FAMILY") or turn]


@pytest.fixture
def as_root() -> None:
    if os.geteuid() != 0:
        skip("needs root")


@pytest.fixture
def slurm(tmp_path: Path, as_root: None) -> Iterator[Slurm]:
    """A Slurm of this machine alone."""
    if not all(shutil.which(one, path="/usr/sbin:/usr/bin") for one in ("slurmctld", "munged")):
        skip("no slurmctld: apt-get install slurm-wlm")
    folder = tmp_path / "slurm"
    folder.mkdir(mode=0o755)
    for above in [*folder.parents][:3]:
        above.chmod(above.stat().st_mode | 0o755)
    one = Slurm(folder)
    try:
        one.wait(lambda: "idle" in one.run("sinfo", "-h"), 30)
        yield one
    finally:
        one.close()
