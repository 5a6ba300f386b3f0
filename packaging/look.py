#!/usr/bin/env python3
"""Opens the wheels and source distributions named, and refuses one that lacks what it is published
with: its licence, the notice of what it links, and what an index shows.
"""

import email
import pathlib
import re
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).parent.parent
VERSION = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]
# One of each: the program's, the core's, the toolchain's and the linker's.
LINKED = ("rustls", "arrow-array", "musl", "Rust's standard library")
EXTRAS = {"dask", "fsspec", "snakemake"}


def members(file):
    """What the archive holds, by name."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    with tarfile.open(file) as archive:
        files = [one for one in archive if one.isfile()]
        return {one.name.partition("/")[2]: archive.extractfile(one).read() for one in files}


def look(file):
    """The first thing that is missing, or None."""
    held = members(file)
    where = next(name for name in held if re.fullmatch(r"PKG-INFO|[^/]*\.dist-info/METADATA", name))
    about = email.message_from_bytes(held[where])
    folder = where.replace("METADATA", "licenses/").replace("PKG-INFO", "")
    if about["Version"] != VERSION:
        return f"version {VERSION}: it has {about['Version']}"
    wanted = {"License-Expression": "Apache-2.0", "Author": "the trunkline developers"}
    for key, value in wanted.items():
        if about[key] != value:
            return f"{key}: {value}"
    for key in ("Summary", "Keywords", "Requires-Python", "Description-Content-Type"):
        if not about[key]:
            return key
    classes = about.get_all("Classifier", [])
    for start in ("Development Status", "Intended Audience", "Programming Language :: Python :: 3.11"):
        if not any(one.startswith(start) for one in classes):
            return f"Classifier: {start}"
    for name in about.get_all("License-File", []):
        if not held.get(folder + name):
            return folder + name
    if b"Apache License" not in held.get(f"{folder}LICENSE", b""):
        return f"{folder}LICENSE"
    return look_at_core(about, held, folder) if about["Name"] == "trunkline" else None


def look_at_core(about, held, folder):
    """The same of the package that links libraries."""
    if set(about.get_all("Provides-Extra", [])) != EXTRAS:
        return f"Provides-Extra: {EXTRAS}"
    notice = held.get(f"{folder}THIRD-PARTY.md", b"").decode()
    headings = " ".join(line for line in notice.splitlines() if line.startswith("## "))
    missing = [one for one in LINKED if one not in headings]
    return f"{folder}THIRD-PARTY.md with {missing}" if missing else None


def main():
    for file in map(pathlib.Path, sys.argv[1:]):
        missing = look(file)
        if missing:
            sys.exit(f"{file.name} lacks {missing}")
        print(f"{file.name}: licences and metadata")


main()
