#!/bin/sh
# Installs the .deb of target/dist in a clean Debian and unpacks the .rpm, and tries both. Needs root,
# mmdebstrap, and rpm with cpio. RELEASE names the Debian.
set -eu
cd "$(dirname "$0")/.."

RELEASE=${RELEASE:-bookworm}
OUT=${OUT:-$PWD/target/dist}
# One file that is copied to far ends.
SIZE_MAX=20000000
ROOT=$(mktemp -d)
# Below /tmp and ours alone.
trap 'rm -rf --one-file-system "$ROOT"' EXIT

here=$(dpkg --print-architecture)
deb=$(ls "$OUT"/trunkline_*_"$here".deb)
(cd "$OUT" && sha256sum --check --quiet SHA256SUMS)

step() { echo "test: $*"; }
inside() { chroot "$ROOT/debian" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }

step "a clean Debian ($RELEASE)"
mmdebstrap --quiet --variant=minbase --include=systemd "$RELEASE" "$ROOT/debian" >/dev/null
cp "$deb" "$ROOT/debian/trunkline.deb"

step "installs $(basename "$deb") and nothing else"
inside dpkg -i /trunkline.deb >/dev/null
inside trunkline --version

step "searches on a simulated path"
inside trunkline tune sim:slac-cern --no-history | grep '^Use '

step "has pages, completions, licences and a user"
for file in share/man/man1/trunkline.1.gz share/man/man1/trunkline-copy.1.gz \
    share/bash-completion/completions/trunkline share/doc/trunkline/copyright \
    share/doc/trunkline/THIRD-PARTY.md lib/systemd/system/trunkline-serve.service \
    share/man/man1/trunkline-watch-serve.1.gz share/trunkline/grafana/watch.json; do
    test -s "$ROOT/debian/usr/$file" || { echo "missing: $file" >&2; exit 1; }
done
inside getent passwd trunkline >/dev/null

step "makes and lists a token as the server's user"
inside setpriv --reuid trunkline --regid trunkline --clear-groups \
    trunkline serve --tokens /etc/trunkline/tokens --new-token ana >/dev/null 2>&1
inside setpriv --reuid trunkline --regid trunkline --clear-groups \
    trunkline serve --tokens /etc/trunkline/tokens --list-tokens

step "has units that systemd understands"
for unit in serve watch-agent watch-collector; do
    inside systemd-analyze verify --man=no /usr/lib/systemd/system/trunkline-$unit.service
    inside systemd-analyze security --offline=true --threshold=20 trunkline-$unit.service | tail -1
done

step "has a program of less than $SIZE_MAX bytes"
size=$(stat -c %s "$ROOT/debian/usr/bin/trunkline")
test "$size" -lt "$SIZE_MAX" || { echo "it has $size" >&2; exit 1; }

step "is removed without a rest in /usr"
inside dpkg --purge trunkline >/dev/null 2>&1
if find "$ROOT/debian/usr" -name '*trunkline*' | grep .; then exit 1; fi

rpm=$(ls "$OUT"/trunkline-*."$(uname -m)".rpm)
step "unpacks $(basename "$rpm")"
rpm -K --nosignature "$rpm"
mkdir "$ROOT/rpm"
rpm2cpio "$rpm" | (cd "$ROOT/rpm" && cpio -idm --quiet)
chroot "$ROOT/rpm" /usr/bin/trunkline --version

echo "test: all passed"
