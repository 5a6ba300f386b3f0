"""What is at a server, asked by as few requests as there are folders."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from trunkline.fs import TrunklineFileSystem

from ._names import escaped, remote

# How long what a listing told is believed, in seconds: Snakemake asks for all files in a row, and
# for each again and again.
FRESH = 2.0
# So many questions within that time about one folder are answered by a listing.
MANY = 3
# A folder may have so many times the entries that are asked for.
SHARE = 100


class There(NamedTuple):
    """What a name is."""

    kind: str
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, info: dict[str, Any]) -> There:
        """From what the filesystem tells."""
        return cls(info["type"], info["size"], info["mtime_ns"])


@dataclass
class _Folder:
    listed: float = float("-inf")
    names: dict[str, There] = field(default_factory=dict)
    entries: int = 0
    began: float = float("-inf")
    asked: int = 0


class Listings:
    """Answers questions about files; those about many of one folder by listings.

    That a file is not there is never taken from a listing: a job elsewhere may just have made it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Knows nothing."""
        self._clock = clock
        self._folders: dict[str, _Folder] = {}

    def look(self, files: TrunklineFileSystem, query: str) -> There:
        """What a query names, as of a moment ago at the earliest.

        Raises:
            FileNotFoundError: There is no such name.
        """
        folder, _, name = query.rpartition("/")
        one = self._folders.setdefault(folder, _Folder())
        now = self._clock()
        if self._is_to_be_listed(one, now):
            self.list(files, folder)
        if now - one.listed < FRESH and name in one.names:
            return one.names[name]
        return There.of(files.info(remote(query)))

    def _is_to_be_listed(self, one: _Folder, now: float) -> bool:
        if now - one.began >= FRESH:
            one.began, one.asked = now, 0
        one.asked += 1
        is_worth_it = one.asked >= MANY and one.asked * SHARE >= one.entries
        return is_worth_it and now - one.listed >= FRESH

    def list(self, files: TrunklineFileSystem, folder: str) -> dict[str, There]:
        """What is in a folder, by the last part of each query; nothing where there is none."""
        try:
            listed = files.ls(remote(folder))
        except (FileNotFoundError, NotADirectoryError):
            listed = []
        one = self._folders.setdefault(folder, _Folder())
        one.names = {escaped(info["name"].rpartition("/")[2]): There.of(info) for info in listed}
        one.listed, one.entries = self._clock(), len(one.names)
        return one.names

    def forget(self, query: str) -> None:
        """What the query names has been changed."""
        folder, _, name = query.rpartition("/")
        if folder in self._folders:
            self._folders[folder].names.pop(name, None)
