#!/bin/sh
# Stops the services when the package goes, not when it is upgraded.
set -e

UNITS="trunkline-serve trunkline-watch-agent trunkline-watch-collector"
case "${1:-}" in
    remove | 0)
        # shellcheck disable=SC2086 # three names
        if [ -d /run/systemd/system ]; then systemctl disable --now $UNITS || true; fi
        ;;
esac
