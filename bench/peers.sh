#!/bin/sh
# Installs the programs that tests and benchmarks talk to, where this user may. What stays missing
# is named here and shows up as skipped tests.
set -u

missing() {
    for pair in iperf3:iperf3 ping:iputils-ping ip:iproute2 curl:curl setpriv:util-linux strace:strace python3:python3 prometheus:prometheus prometheus-alertmanager:prometheus-alertmanager chromium:chromium chromedriver:chromium-driver npm:npm globus-url-copy:globus-gass-copy-progs globus-gridftp-server:globus-gridftp-server-progs xrdcp:xrootd-client xrootd:xrootd-server rclone:rclone iperf:iperf nuttcp:nuttcp scp:openssh-client sshd:openssh-server ss:iproute2 unshare:util-linux faketime:faketime slurmctld:slurm-wlm munged:munge nft:nftables setfattr:attr; do
        command -v "${pair%%:*}" >/dev/null 2>&1 || printf '%s ' "${pair##*:}"
    done
    ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || printf 'postgresql '
    python3 -c 'import venv, ensurepip' 2>/dev/null || printf 'python3-venv '
}

packages=$(missing)
[ -z "$packages" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q >/dev/null
    # shellcheck disable=SC2086 # the list is meant to split
    apt-get install -q -y --no-install-recommends $packages >/dev/null
fi
packages=$(missing)
[ -z "$packages" ] || echo "not installed, so tests with them are skipped: $packages" >&2
