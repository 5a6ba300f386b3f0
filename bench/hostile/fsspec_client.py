#!/usr/bin/env python3
"""What a program does with names of a server through fsspec: `fsspec_client.py HOST:PORT HERE TASK...`.

HERE is a folder of this machine. What is found goes to standard output as JSON, names as the digits of their bytes.
"""

import json
import os
import sys

import fsspec
from fsspec.generic import rsync

from trunkline.fs import TrunklineFileSystem

# As the entry point of an installed package does.
fsspec.register_implementation("trunkline", TrunklineFileSystem)
HOST, _, PORT = sys.argv[1].rpartition(":")
HOST, HERE, PORT = HOST.strip("[]"), sys.argv[2], int(PORT)
FS = TrunklineFileSystem(HOST, PORT)
ACCESS = {"trunkline": {"host": HOST, "port": PORT}, "file": {}}
HOW = {"default_method": "options", "storage_options": ACCESS}


def local_files():
    for here, _, names in os.walk(HERE):
        yield from (os.path.join(here, name) for name in names)


def put():
    FS.put(HERE + "/", "/put/", recursive=True)


def put_each():
    for file in local_files():
        FS.put_file(file, "/put_each/" + os.path.relpath(file, HERE))


def rsync_there():
    rsync(f"file://{HERE}", FS.unstrip_protocol("/rsync_there"), inst_kwargs=HOW)


def write_urls():
    for file in local_files():
        url = FS.unstrip_protocol("/write_urls/" + os.path.relpath(file, HERE))
        with open(file, "rb") as data, fsspec.open(url, "wb") as out:
            out.write(data.read())


def get():
    FS.get("/tree/", HERE + "/get/", recursive=True)


def get_each():
    for name in FS.find("/tree"):
        FS.get_file(name, HERE + "/get_each" + name.removeprefix("/tree"))


def rsync_here():
    rsync(FS.unstrip_protocol("/tree"), f"file://{HERE}/rsync_here", inst_kwargs=HOW)


def read_urls():
    for name in FS.find("/tree"):
        assert FS._strip_protocol(FS.unstrip_protocol(name)) == name, name
        target = HERE + "/read_urls" + name.removeprefix("/tree")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with fsspec.open(FS.unstrip_protocol(name)) as data, open(target, "wb") as out:
            out.write(data.read())


def listed():
    """All ways to list say the same."""
    found = FS.find("/tree")
    walked = sorted(f"{here.rstrip('/')}/{name}" for here, _, names in FS.walk("/tree") for name in names)
    folders, seen = ["/tree"], []
    while folders:
        for one in FS.ls(folders.pop()):
            (folders if one["type"] == "directory" else seen).append(one["name"])
    assert found == walked == sorted(seen), (found, walked, seen)
    return [os.fsencode(name).hex() for name in found]


def outside():
    """Every call with a name that leaves the root; all of them are to raise."""
    went = []
    for name in ("/../outside/canary", "../outside/canary", "/tree/../../outside/canary", "/tree/../../outside"):
        calls = {
            "info": lambda: FS.info(name),
            "cat_file": lambda: FS.cat_file(name),
            "get_file": lambda: FS.get_file(name, f"{HERE}/got"),
            "get": lambda: FS.get(name, f"{HERE}/got", recursive=True),
            "ls": lambda: FS.ls(name),
            "put_file": lambda: FS.put_file(__file__, name),
            "pipe": lambda: FS.pipe(name, b"x"),
            "pipe of many": lambda: FS.pipe({name: b"x", "/tree/new": b"x"}),
            "open": lambda: FS.open(name).read(),
            "touch": lambda: FS.touch(name),
            "makedirs": lambda: FS.makedirs(name + "/new"),
            "rm": lambda: FS.rm(name, recursive=True),
            "mv": lambda: FS.mv(name, "/tree/moved"),
            "mv out": lambda: FS.mv("/tree/a", name),
            "cp": lambda: FS.cp_file(name, "/tree/copied"),
        }
        for what, call in calls.items():
            try:
                call()
            except (OSError, ValueError):
                continue
            went.append(f"{what} {name}")
    return went


print(json.dumps({task: globals()[task]() for task in sys.argv[3:]}))
