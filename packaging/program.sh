#!/bin/sh
# Builds the program that packages and wheels hold, for the architectures named: static, with musl,
# stripped, in the profile `lto`. The tools of tools.sh are in PATH.
set -eu
cd "$(dirname "$0")/.."

for arch; do
    rustup target add "$arch-unknown-linux-musl" >/dev/null 2>&1 || true
    ${CARGO:-cargo} zigbuild --profile lto --locked --target "$arch-unknown-linux-musl" \
        -p trunkline-cli --bin trunkline
done
