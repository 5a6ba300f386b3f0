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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
REQUIREMENTS = ROOT / "python/tests/requirements.txt"
SNAKEMAKE = ROOT / "python/tests/requirements-snakemake.txt"
PLUGIN = ROOT / "python/snakemake-storage-plugin-trunkline"
# The oldest that the package takes, and the newest that machines have.
MINORS = (11, 12, 13, 14)
# What depends on the version of Python is marked `each_python`: what the interpreter is asked for
# (threads, signals, tasks, processes, pickles, buffers), a call of each module, and types at run
# time. The oldest runs that alone: the core is one build for all, and mypy reads the package as the
# oldest would. These files have nothing of it, and want what the newest alone has installed.
ONCE = tuple(f"tests/test_{name}.py" for name in ("docs", "notebooks", "recipes", "snakemake"))
# Whole files that wait or reckon for long: the newest's first half, with those above.
LONG = ("tests/test_campaign.py", "tests/test_watch.py")


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


def installer(python: Path) -> Path:
    """uv: it installs in seconds what takes pip minutes.

    It trusts whom this machine trusts, as pip does; the name of that wish has changed.
    """
    os.environ |= {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"}
    place = TARGET / "python/tools"
    found = shutil.which("uv") or place / "bin/uv"
    if not Path(found).exists():
        subprocess.run([python, "-m", "venv", "--clear", place], check=True)
        subprocess.run([place / "bin/python", "-m", "pip", "install", "-q", "uv"], check=True)
    return Path(found)


def environment(python: Path, uv: Path, with_snakemake: bool) -> Path:
    """A virtual environment with what tests need; made again when the lists change."""
    lists = REQUIREMENTS.read_bytes() + (SNAKEMAKE.read_bytes() if with_snakemake else b"")
    digest = hashlib.sha256(lists + str(python).encode()).hexdigest()
    place = TARGET / "python" / python.name
    mark = place / "requirements.sha256"
    if not mark.exists() or mark.read_text() != digest:
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run([python, "-m", "venv", place], check=True)
        pip = [uv, "pip", "install", "--python", place / "bin/python"]
        subprocess.run([*pip, "-q", "-r", REQUIREMENTS], check=True)
        # Without it its tests say that they are skipped.
        if with_snakemake:
            subprocess.run([*pip, "-q", "-r", SNAKEMAKE])
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
    information(library.parent, ROOT)
    plugin = PLUGIN.name.replace("-", "_")
    (library.parent / plugin).unlink(missing_ok=True)
    (library.parent / plugin).symlink_to(PLUGIN / plugin)
    information(library.parent, PLUGIN)


def information(packages: Path, sources: Path) -> None:
    """What other packages find one by, as an installed wheel says it."""
    project = tomllib.loads((sources / "pyproject.toml").read_text())["project"]
    name, lines = project["name"], []
    for group, points in project.get("entry-points", {}).items():
        lines += [f"[{group}]", *(f"{one} = {where}" for one, where in points.items())]
    folder = packages / f"{name.replace('-', '_')}-0.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0\n")
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
    uv = installer(pythons[-1])
    places = [environment(python, uv, python == pythons[-1]) for python in pythons]
    # Side by side: most tests wait for an emulated path or a server.
    with ThreadPoolExecutor() as pool:
        parts = [(place, tests) for place in places for tests in halves(place == places[-1])]
        runs = pool.map(lambda part: run(*part), parts)
        worst = 0
        for (place, _), tests in zip(parts, runs, strict=True):
            print(f"== {place.name}\n{tests.stdout}", flush=True)
            worst = max(worst, tests.returncode)
    return worst


def halves(is_newest: bool) -> list[list[str]]:
    """What each run of a Python is told: what was asked for, else its tests, the newest's in two."""
    if sys.argv[1:]:
        return [sys.argv[1:]]
    without = [f"--ignore={file}" for file in ONCE]
    if is_newest:
        return [[*LONG, *ONCE], [*without, *(f"--ignore={file}" for file in LONG)]]
    return [[*without, "-m", "each_python"]]


def run(place: Path, tests: list[str]) -> subprocess.CompletedProcess[str]:
    """Tests in one environment, with what they print."""
    # The installed package, not the folder of this name that tests run in.
    env = os.environ | {"TRUNKLINE_PROGRAM": str(TARGET / "debug/trunkline")}
    env["PYTHONSAFEPATH"] = "1"
    env.pop("TRUNKLINE_TOKEN", None)
    command = [place / "bin/python", "-m", "pytest", "-p", "no:cacheprovider", *tests]
    return subprocess.run(
        command,
        cwd=ROOT / "python",
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


if __name__ == "__main__":
    sys.exit(main())
