#!/bin/sh
# Installs the .deb of target/dist in a clean Debian, unpacks all packages, and tries each. Needs
# root, mmdebstrap, rpm with cpio, and qemu-user-static for aarch64. RELEASE names the Debian.
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

step "has the program for machines of other types"
for arch in ${ARCHS:-x86_64 aarch64}; do
    test "$arch" = "$(uname -m)" || test -x "$ROOT/debian/usr/lib/trunkline/far/$arch"
done

step "is removed without a rest in /usr"
inside dpkg --purge trunkline >/dev/null 2>&1
if find "$ROOT/debian/usr" -name '*trunkline*' | grep .; then exit 1; fi

# Unpacks a package of any kind into a folder.
unpack() {
    mkdir "$2"
    case $1 in
        *.deb) dpkg-deb -x "$1" "$2" ;;
        *.rpm) rpm -K --nosignature "$1" && rpm2cpio "$1" | (cd "$2" && cpio -idm --quiet) ;;
        *.tar.gz) tar xzf "$1" -C "$2" ;;
    esac
}

# The static program in the folder $1, without any library of this host, or in emulation.
search() {
    program=$(cd "$1" && find . -type f -name trunkline -perm -u+x)
    case $1 in
        *aarch64* | *arm64*) qemu-aarch64-static "$1/$program" tune sim:slac-cern --no-history ;;
        *) chroot "$1" "$program" tune sim:slac-cern --no-history ;;
    esac | grep '^Use '
}

for package in "$OUT"/*.deb "$OUT"/*.rpm "$OUT"/*.tar.gz; do
    name=$(basename "$package")
    step "unpacks $name, with licences and a program that searches"
    unpack "$package" "$ROOT/$name"
    grep -rql 'Apache License' "$ROOT/$name" --include=copyright --include=LICENSE
    for library in rustls musl "Rust's standard library"; do
        find "$ROOT/$name" -name THIRD-PARTY.md -exec grep "^## .*$library" {} + >/dev/null ||
            { echo "no licence of $library" >&2; exit 1; }
    done
    search "$ROOT/$name"
done

echo "test: all passed"
