"""Builds the wheels, each with the program inside, and the source distribution, in target/wheels.

Also those of the storage plugin for Snakemake, which is Python alone.

A wheel holds the core for one kind of C library and the program, which is linked statically where
Rust's musl is installed. zig is the C compiler and linker, so that wheels run on old systems too.
TARGETS chooses: `manylinux`, `musllinux`; both without.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "target/dist-tools"
OUT = ROOT / "target/wheels"
DATA = ROOT / "python/trunkline.data"
PLUGIN = ROOT / "python/snakemake-storage-plugin-trunkline"
ARCH = os.uname().machine
# The C library of Debian 10 and RHEL 8, below which the kernel's TCP_INFO lacks half of its fields.
GLIBC = "2.28"
KINDS = {
    "manylinux": (f"{ARCH}-unknown-linux-gnu", f"manylinux_{GLIBC.replace('.', '_')}"),
    "musllinux": (f"{ARCH}-unknown-linux-musl", "musllinux_1_2"),
}


def run(*command: str, cwd: Path = ROOT, **env: str) -> None:
    path = f"{TOOLS / 'bin'}:{os.environ['PATH']}"
    subprocess.run(command, check=True, cwd=cwd, env=os.environ | {"PATH": path} | env)


def has_musl() -> bool:
    """Whether Rust can build for musl here, after an attempt to install what that needs."""
    target = KINDS["musllinux"][0]
    subprocess.run(["rustup", "target", "add", target], capture_output=True)
    sysroot = subprocess.run(
        ["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True
    )
    return (Path(sysroot.stdout.strip()) / "lib/rustlib" / target / "lib").is_dir()


def program(is_static: bool) -> None:
    """Builds the program and puts it where maturin takes scripts from."""
    triple = KINDS["musllinux" if is_static else "manylinux"][0]
    target = triple if is_static else f"{triple}.{GLIBC}"
    lto = ["--profile", "lto", "--locked", "--bin", "trunkline"]
    run("cargo", "zigbuild", *lto, "--target", target)
    shutil.rmtree(DATA, ignore_errors=True)
    (DATA / "scripts").mkdir(parents=True)
    shutil.copy2(ROOT / "target" / triple / "lto/trunkline", DATA / "scripts/trunkline")


def wheel(kind: str) -> None:
    triple, tag = KINDS[kind]
    flags = {"RUSTFLAGS": "-C target-feature=-crt-static"} if kind == "musllinux" else {}
    run(
        *["maturin", "build", "--profile", "lto", "--locked", "--zig", "--target", triple],
        *["--compression-level", "9", "--compatibility", tag, "--out", str(OUT)],
        *["-m", "python/Cargo.toml"],
        **flags,
    )


def main() -> int:
    run("sh", "packaging/tools.sh", str(TOOLS))
    run(str(TOOLS / "bin/pip"), "install", "--quiet", "maturin==1.16.0", "hatchling")
    kinds = os.environ.get("TARGETS", "manylinux musllinux").split()
    is_static = has_musl()
    if not is_static and "musllinux" in kinds:
        print("no musllinux wheel: Rust's musl is not installed and cannot be", file=sys.stderr)
        kinds.remove("musllinux")
    program(is_static)
    for kind in kinds:
        wheel(kind)
    sdist = "import sys, trunkline_backend as one; print(one.build_sdist(sys.argv[1]))"
    backend = str(ROOT / "python/packaging")
    run(str(TOOLS / "bin/python"), "-c", sdist, str(OUT), PYTHONPATH=backend)
    run(str(TOOLS / "bin/python"), "-m", "hatchling", "build", "-d", str(OUT), cwd=PLUGIN)
    for file in sorted(OUT.iterdir()):
        print(f"{file.stat().st_size / 1e6:6.1f} MB  {file.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
