"""Builds wheels, each with the program inside, and the source distribution, in target/wheels.

Also those of the storage plugin for Snakemake, which is Python alone. Runs in the Python of
packaging/tools.sh.

A wheel holds the core for one kind of C library, and the static program that packages hold, too.
zig is the C compiler and linker, so that wheels run on old systems. The core has no link-time
optimisation over all crates: that is worth its minutes for the program, which is copied to far ends.

ARCHS chooses the architectures, this machine's without; KINDS `manylinux`, `musllinux` or both,
`manylinux` without.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python/packaging"))

import trunkline_backend as backend  # noqa: E402

OUT = ROOT / "target/wheels"
PLUGIN = ROOT / "python/snakemake-storage-plugin-trunkline"
# The oldest C libraries. glibc's is that of Debian 10 and RHEL 8, below which the kernel's TCP_INFO
# lacks half of its fields.
KINDS = {"manylinux": ("gnu", "manylinux_2_28"), "musllinux": ("musl", "musllinux_1_2")}


def run(*command: str, cwd: Path = ROOT, **env: str) -> None:
    subprocess.run(command, check=True, cwd=cwd, env=os.environ | env)


def program(arch: str) -> Path:
    run("sh", "packaging/program.sh", arch)
    return ROOT / f"target/{arch}-unknown-linux-musl/lto/trunkline"


def wheel(arch: str, kind: str, out: Path) -> None:
    libc, tag = KINDS[kind]
    target = f"{arch}-unknown-linux-{libc}"
    # An extension links the musl of its interpreter.
    flags = {"RUSTFLAGS": "-C target-feature=-crt-static"} if libc == "musl" else {}
    run(
        *["maturin", "build", "--release", "--locked", "--zig", "--target", target],
        *["--compression-level", "9", "--compatibility", tag, "--out", str(out)],
        **flags,
    )


def wheels(arch: str, kinds: list[str]) -> None:
    """Compiles the cores while the program is linked, which takes one processor for minutes."""
    backend.prepare()
    with ThreadPoolExecutor() as pool, TemporaryDirectory() as unused:
        made = pool.submit(program, arch)
        for kind in kinds:
            wheel(arch, kind, Path(unused))
    backend.pack(made.result())
    for kind in kinds:
        wheel(arch, kind, OUT)


def plugin() -> None:
    shutil.copy2(ROOT / "LICENSE", PLUGIN)
    run(sys.executable, "-m", "hatchling", "build", "-d", str(OUT), cwd=PLUGIN)


def main() -> None:
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    archs = os.environ.get("ARCHS", os.uname().machine).split()
    kinds = os.environ.get("KINDS", "manylinux").split()
    targets = [f"{arch}-unknown-linux-{libc}" for arch in archs for libc in ("gnu", "musl")]
    # Toolchains without rustup have what they have.
    subprocess.run(f"rustup target add {' '.join(targets)}", shell=True, capture_output=True)
    shutil.rmtree(OUT, ignore_errors=True)
    for arch in archs:
        wheels(arch, kinds)
    backend.build_sdist(str(OUT))
    plugin()
    for file in sorted(OUT.iterdir()):
        print(f"{file.stat().st_size / 1e6:6.1f} MB  {file.name}")


main()
