#!/bin/sh
# Looks into all wheels of target/wheels, installs those of this machine in a new environment, and
# runs those of aarch64 in emulation. Needs root, mmdebstrap and qemu-user-static. RELEASE names the
# Debian that Python for aarch64 comes from.
set -eu
cd "$(dirname "$0")/.."

RELEASE=${RELEASE:-bookworm}
OUT=${OUT:-$PWD/target/wheels}
TOOLS=$PWD/target/dist-tools
ROOT=$(mktemp -d)
# Below /tmp and ours alone.
trap 'rm -rf --one-file-system "$ROOT"' EXIT

sh packaging/tools.sh "$TOOLS"
"$TOOLS/bin/pip" install --quiet twine==7.0.0 auditwheel==6.8.2

step() { echo "test: $*"; }

# A search on a simulated path in the core, with the Python given.
search() {
    "$@" -c 'import trunkline; print(trunkline.tune("sim:slac-cern", history=False).text)' |
        grep '^Use '
}

step "licences and metadata"
"$TOOLS/bin/python" packaging/look.py "$OUT"/*
"$TOOLS/bin/twine" check --strict "$OUT"/*

# maturin looks at those for musl; auditwheel takes this system's libc.so for theirs and fails.
for wheel in "$OUT"/trunkline-*manylinux*.whl; do
    step "$(basename "$wheel") links what systems have"
    "$TOOLS/bin/auditwheel" show "$wheel" | tr '\n' ' ' | grep -oE 'platform tag: "m[a-z]+linux_[a-z0-9_]+'
done

step "installs with the plugin for Snakemake in a new environment"
python3 -m venv "$ROOT/venv"
here=$(ls "$OUT"/trunkline-*manylinux*_"$(uname -m)".whl)
"$ROOT/venv/bin/pip" install --quiet "$here[fsspec,dask,snakemake]" "$OUT"/snakemake_*.whl
"$ROOT/venv/bin/pip" check
"$ROOT/venv/bin/trunkline" --version
search "$ROOT/venv/bin/python"

arm=$(find "$OUT" -name 'trunkline-*manylinux*_aarch64.whl')
if [ -n "$arm" ]; then
    step "$(basename "$arm") in an emulated aarch64"
    mmdebstrap --quiet --variant=extract --architectures=arm64 --include=python3.11 \
        "$RELEASE" "$ROOT/arm" >/dev/null
    "$TOOLS/bin/pip" install --quiet --no-deps --target "$ROOT/arm/package" --only-binary :all: \
        --platform manylinux_2_28_aarch64 --python-version 3.11 "$arm"
    qemu-aarch64-static "$ROOT/arm/package/bin/trunkline" --version
    search qemu-aarch64-static -L "$ROOT/arm" -E PYTHONPATH="$ROOT/arm/package" \
        "$ROOT/arm/usr/bin/python3.11"
fi

echo "test: all passed"
