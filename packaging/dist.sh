#!/bin/sh
# Builds everything for a release into target/dist: static programs, .deb and .rpm, licences, a bill
# of materials, checksums. ARCHS chooses the architectures.
set -eu
cd "$(dirname "$0")/.."

ARCHS=${ARCHS:-x86_64 aarch64}
TOOLS=$PWD/target/dist-tools
OUT=$PWD/target/dist
PACKAGE_VERSION=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
PACKAGE_MAINTAINER=${PACKAGE_MAINTAINER:-"trunkline maintainers <maintainers@trunkline.invalid>"}
export PACKAGE_VERSION PACKAGE_MAINTAINER

PATH=$TOOLS/bin:$PATH
sh packaging/tools.sh "$TOOLS"
rm -rf "$OUT"
mkdir -p "$OUT"

# What both packages hold beside the program. Any program that runs here can write it.
stage() {
    rm -rf "$STAGE"
    mkdir -p "$STAGE/man" "$STAGE/completions"
    native=target/$(uname -m)-unknown-linux-musl/lto/trunkline
    "$native" man --dir "$STAGE/man" 2>/dev/null
    gzip -9n "$STAGE"/man/*.1
    for shell in bash zsh fish; do
        "$native" completion $shell >"$STAGE/completions/trunkline.$shell"
    done
    gzip -9nc CHANGELOG.md >"$STAGE/CHANGELOG.md.gz"
    cp "$OUT/THIRD-PARTY.md" "$STAGE/"
}

package() {
    cp "target/$1-unknown-linux-musl/lto/trunkline" "$STAGE/trunkline"
    # What a copy sends to machines of other types.
    rm -rf "$STAGE/far"
    mkdir "$STAGE/far"
    for other in $ARCHS; do
        test "$other" = "$1" || cp "target/$other-unknown-linux-musl/lto/trunkline" "$STAGE/far/$other"
    done
    case $1 in x86_64) deb=amd64 ;; aarch64) deb=arm64 ;; esac
    PACKAGE_ARCH=$deb ZSH_FUNCTIONS=/usr/share/zsh/vendor-completions \
        nfpm package --config packaging/nfpm.yaml --packager deb --target "$OUT/" >/dev/null
    PACKAGE_ARCH=$deb ZSH_FUNCTIONS=/usr/share/zsh/site-functions \
        nfpm package --config packaging/nfpm.yaml --packager rpm --target "$OUT/" >/dev/null
    name=trunkline-$PACKAGE_VERSION-$1-linux
    mkdir -p "$STAGE/$name/bin" "$STAGE/$name/lib/trunkline"
    cp "$STAGE/trunkline" "$STAGE/$name/bin/"
    cp -r "$STAGE/far" "$STAGE/$name/lib/trunkline/"
    cp -r "$STAGE/man" "$STAGE/completions" "$STAGE/THIRD-PARTY.md" \
        README.md CHANGELOG.md LICENSE "$STAGE/$name/"
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        -C "$STAGE" -c "$name" | gzip -9n >"$OUT/$name.tar.gz"
}

# shellcheck disable=SC2086 # names of architectures
sh packaging/program.sh $ARCHS
# Of the packages alone: crates with C code would be compiled again for each commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH
python3 packaging/parts.py bom trunkline-cli >"$OUT/trunkline-$PACKAGE_VERSION.cdx.json"
python3 packaging/parts.py notice trunkline-cli >"$OUT/THIRD-PARTY.md"
STAGE=$OUT/stage
export STAGE
stage
for arch in $ARCHS; do package "$arch"; done
rm -rf "$STAGE"
(cd "$OUT" && sha256sum -- * >SHA256SUMS)
ls -l "$OUT"
