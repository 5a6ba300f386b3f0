#!/bin/sh
# The page that `make bench-confusion` keeps: when, where, with which command, and the tables.
set -eu
echo "# What limits one default stream: verdict and truth"
echo
echo "$(date -u +%F), $(nproc) processors, $(uname -sr), load $(cut -d' ' -f1 /proc/loadavg)"
echo
echo "\`confusion $*\`, of $(git rev-parse --short HEAD). Seeds 0 to 149 were used for development and are not in this table."
echo
"${CARGO_TARGET_DIR:-target}/release/confusion" "$@"
