"""Builds the package with maturin, and the program with it; the source distribution has both.

The hooks of PEP 517, around those of maturin. `TRUNKLINE_PROGRAM` names a program that was built
before, and is then packed as it is.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import maturin
from maturin import (  # noqa: F401
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "python/trunkline.data"
# What the source distribution has no use for.
LEFT_OUT = ("bench/results/", "docs/", "fuzz/corpus", "python/notebooks/", ".ci/")
# Paths of python/pyproject.toml, seen from the root of the source distribution.
MOVED = {
    'backend-path = ["packaging"]': 'backend-path = ["python/packaging"]',
    'readme = "README.md"': 'readme = "python/README.md"',
    'manifest-path = "Cargo.toml"': 'manifest-path = "python/Cargo.toml"',
    'python-source = "."': 'python-source = "python"',
    'data = "trunkline.data"': 'data = "python/trunkline.data"',
    'path = "trunkline/py.typed"': 'path = "python/trunkline/py.typed"',
}


def pack_program() -> None:
    """Puts the program where maturin takes scripts from."""
    built = os.environ.get("TRUNKLINE_PROGRAM")
    if not built:
        cargo = ["cargo", "build", "--release", "--locked", "--bin", "trunkline"]
        subprocess.run(cargo, cwd=ROOT, check=True)
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        built = str(target / "release/trunkline")
    shutil.rmtree(DATA, ignore_errors=True)
    (DATA / "scripts").mkdir(parents=True)
    shutil.copy2(built, DATA / "scripts/trunkline")


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    # maturin looks for the folder already now.
    DATA.mkdir(exist_ok=True)
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    DATA.mkdir(exist_ok=True)
    return maturin.prepare_metadata_for_build_editable(metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    pack_program()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    pack_program()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    """All sources that git knows: the program needs them all, and maturin would take its own."""
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]
    name = f"trunkline-{version}"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    files = [one for one in listed.stdout.decode().split("\0") if one]
    files = [one for one in files if not one.startswith(LEFT_OUT)]
    target = Path(sdist_directory) / f"{name}.tar.gz"
    with tarfile.open(target, "w:gz") as archive:
        for file in files:
            if (ROOT / file).is_file() and file != "python/pyproject.toml":
                archive.add(ROOT / file, f"{name}/{file}", recursive=False)
        project = (ROOT / "python/pyproject.toml").read_text()
        for here, there in MOVED.items():
            if here not in project:
                raise ValueError(f"python/pyproject.toml lacks `{here}`")
            project = project.replace(here, there)
        readme = (ROOT / "python/README.md").read_text()
        about = re.search(r'^description = "(.*)"', project, re.M)[1]
        requires = re.search(r'^requires-python = "(.*)"', project, re.M)[1]
        information = (
            f"Metadata-Version: 2.4\nName: trunkline\nVersion: {version}\nSummary: {about}\n"
            f"License-Expression: Apache-2.0\nRequires-Python: {requires}\n"
            f"Description-Content-Type: text/markdown\n\n{readme}"
        )
        for file, text in (("pyproject.toml", project), ("PKG-INFO", information)):
            entry = tarfile.TarInfo(f"{name}/{file}")
            data = text.encode()
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return target.name
