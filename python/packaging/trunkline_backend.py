"""Builds the package with maturin, and with it the program and the notice of what both link.

The hooks of PEP 517, around those of maturin. `TRUNKLINE_PROGRAM` names a program that was built
before, and is then packed as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import maturin
from maturin import (  # noqa: F401
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "python/trunkline.data"


def prepare() -> None:
    """Makes the folder of scripts, where maturin looks first, and the notice of what is linked."""
    shutil.rmtree(DATA, ignore_errors=True)
    (DATA / "scripts").mkdir(parents=True)
    parts = [sys.executable, "packaging/parts.py", "notice", "trunkline-cli", "trunkline-python"]
    with (ROOT / "THIRD-PARTY.md").open("w") as page:
        subprocess.run(parts, cwd=ROOT, stdout=page, check=True)


def pack(program: Path) -> None:
    """Puts the program where maturin takes scripts from."""
    prepare()
    shutil.copy2(program, DATA / "scripts/trunkline")


def built_program() -> Path:
    """The program that the environment names, or one built now."""
    named = os.environ.get("TRUNKLINE_PROGRAM")
    if named:
        return Path(named)
    cargo = ["cargo", "build", "--release", "--locked", "-p", "trunkline-cli"]
    subprocess.run(cargo, cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/trunkline"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    prepare()
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    return prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    pack(built_program())
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    pack(built_program())
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    prepare()
    return maturin.build_sdist(sdist_directory, config_settings)
