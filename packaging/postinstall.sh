#!/bin/sh
# Makes the server's user and the folder of its tokens. Starts nothing.
set -e

if command -v systemd-sysusers >/dev/null 2>&1; then
    systemd-sysusers trunkline.conf
elif ! getent passwd trunkline >/dev/null; then
    useradd --system --user-group --home-dir /var/lib/trunkline --shell /usr/sbin/nologin trunkline
fi
chown trunkline:trunkline /etc/trunkline
chmod 0750 /etc/trunkline
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
