#!/bin/sh
# The page that `make bench-watch-detection` keeps: when, where, with which commands, and the
# tables.
set -eu
program="${CARGO_TARGET_DIR:-target}/release/watch-detection"
python=target/watch-venv/bin/python
if [ ! -x "$python" ]; then
    python3 -m venv target/watch-venv
    "$python" -m pip install --quiet --requirement bench/watch/requirements.txt
fi
# Twelve series of each fault, one for each path: offline detectors take some seconds for each.
"$program" --csv target/watch-series.csv --seeds 12 "$@"
"$python" bench/watch/offline.py target/watch-series.csv target/watch-offline.csv 2> /dev/null
echo "# How soon changes of a path are found in visits to it"
echo
echo "$(date -u +%F), $(nproc) processors, $(uname -sr), in virtual time."
echo "\`make bench-watch-detection\` (\`watch-detection $*\`), of $(git rev-parse --short HEAD)."
echo "Seeds 0 to 199 were used for development, 1000 to 1047 once before the last change; neither"
echo "is in these tables."
echo
cat bench/watch/about.md
echo
"$program" --others target/watch-offline.csv "$@"
echo
echo "## Faults of the first days"
echo
"$program" --ours --first-days --first-seed 3000 --seeds 120
