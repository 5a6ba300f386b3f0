#!/bin/sh
# What cargo calls for each crate of the workspace in `make check`, with the compiler first: clippy,
# all warnings as errors. The product never panics on what was read and prints in `cli` alone; its
# tests and examples, and what is for tests and benchmarks, may.
strict="-D clippy::unwrap_used -D clippy::panic -D clippy::print_stdout -D clippy::print_stderr"
case "$CARGO_PKG_NAME $* " in
trunkline-testkit\ * | trunkline-fuzz-checks\ * | trunkline-bench-* | *" --test "* | \
    *" --cfg test "* | *examples/*.rs\ *) strict= ;;
esac
# shellcheck disable=SC2086 # several words
exec clippy-driver "$@" -D warnings $strict
