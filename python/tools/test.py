"""Tests the package with each Python of this machine: `make test-python`.

The core is what `cargo build --workspace --all-targets` left in target/debug, so that nothing is
compiled twice. Packages come from PyPI into target/python/VERSION, once.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
REQUIREMENTS = ROOT / "python/tests/requirements.txt"
# The oldest that the package takes, and the newest that machines have.
MINORS = (11, 12, 13, 14)


def interpreters() -> list[Path]:
    """The oldest and the newest Python of this machine that the package runs on."""
    found: dict[int, Path] = {}
    for minor in MINORS:
        places = [shutil.which(f"python3.{minor}", path="/usr/bin:/usr/local/bin")]
        pyenv = Path.home() / ".pyenv/versions"
        places += map(str, sorted(pyenv.glob(f"3.{minor}.*/bin/python3.{minor}"), reverse=True))
        for place in filter(None, places):
            has = [place, "-c", "import venv, ensurepip"]
            if subprocess.run(has, capture_output=True).returncode == 0:
                found[minor] = Path(place)
                break
    ends = dict.fromkeys([min(found, default=0), max(found, default=0)])
    return [found[minor] for minor in ends if minor in found]


def environment(python: Path, installer: str | None) -> Path:
    """A virtual environment with what tests need; made again when the list changes."""
    digest = hashlib.sha256(REQUIREMENTS.read_bytes() + str(python).encode()).hexdigest()
    place = TARGET / "python" / python.name
    mark = place / "requirements.sha256"
    if not mark.exists() or mark.read_text() != digest:
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run([python, "-m", "venv", place], check=True)
        pip = [installer, "pip", "install", "--python", place / "bin/python"] if installer else None
        pip = pip or [place / "bin/python", "-m", "pip", "install"]
        subprocess.run([*pip, "-q", "-r", REQUIREMENTS], check=True)
        mark.write_text(digest)
    install(place, python)
    return place


def install(place: Path, python: Path) -> None:
    """The package of this folder with the core that was built, as links."""
    library = place / "lib" / python.name / "site-packages/trunkline"
    shutil.rmtree(library, ignore_errors=True)
    library.mkdir()
    for file in (ROOT / "python/trunkline").iterdir():
        if file.suffix in {".py", ".pyi", ".typed"}:
            (library / file.name).symlink_to(file)
    (library / "_trunkline.abi3.so").symlink_to(TARGET / "debug/lib_trunkline.so")
    entry_points(library.parent / "trunkline-0.dist-info")


def entry_points(folder: Path) -> None:
    """What other packages find ours by, as an installed wheel says it."""
    project = tomllib.loads((ROOT / "python/pyproject.toml").read_text())["project"]
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {where}" for name, where in points.items())]
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: trunkline\nVersion: 0\n")
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")


def main() -> int:
    pythons = interpreters()
    if not pythons:
        print("error: no Python from 3.11 on with the modules venv and ensurepip", file=sys.stderr)
        print("\nhint: apt-get install python3-venv", file=sys.stderr)
        return 1
    if not (TARGET / "debug/lib_trunkline.so").exists():
        print("error: the core is not built: cargo build --workspace --all-targets", file=sys.stderr)
        return 1
    worst = 0
    for python in pythons:
        place = environment(python, shutil.which("uv"))
        # The installed package, not the folder of this name that tests run in.
        env = os.environ | {"TRUNKLINE_PROGRAM": str(TARGET / "debug/trunkline")}
        env["PYTHONSAFEPATH"] = "1"
        env.pop("TRUNKLINE_TOKEN", None)
        # The sources in the current folder have no core; the environment's package has.
        env["PYTHONSAFEPATH"] = "1"
        print(f"== {python}", flush=True)
        command = [place / "bin/python", "-m", "pytest", "-p", "no:cacheprovider", *sys.argv[1:]]
        worst = max(worst, subprocess.run(command, cwd=ROOT / "python", env=env).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
