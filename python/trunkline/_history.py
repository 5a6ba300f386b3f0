"""The archive of results."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _trunkline
from ._record import Record
from ._results import Result
from ._text import File
from ._trunkline import Table


class History:
    """What was measured, tuned and copied before.

    Args:
        file: The archive; the user's own without.
    """

    def __init__(self, file: File | None = None) -> None:
        """Opens nothing yet."""
        self._file = None if file is None else os.fspath(file)

    @property
    def file(self) -> str | None:
        """The file of the archive; `None` where there is no place for one."""
        return self._file or _trunkline.default_place()

    def list(
        self, *, target: str | None = None, since: str | None = None, last: int | None = None
    ) -> list[Record]:
        """What is kept, each entry with the keys of `docs/reference/json.md`.

        Args:
            target: Only targets with this in their name.
            since: Only what was made since then: `"2026-11-22"` (UTC), `"7d"`, `"12h"`.
            last: Only the newest so many.
        """
        listing, _ = _trunkline.listed(self._file, target, since, last)
        return [Record(entry) for entry in json.loads(listing)["entries"]]

    def table(
        self, *, target: str | None = None, since: str | None = None, last: int | None = None
    ) -> Table:
        """The same as a table, with the setting and the figures of each result.

        Args:
            target: As for `list`.
            since: As for `list`.
            last: As for `list`.
        """
        return _trunkline.listed(self._file, target, since, last)[1]

    def __getitem__(self, run: int) -> Result[Any]:
        """The result of that number."""
        return Result(_trunkline.load_kept(run, self._file))

    def compare(self, run: int, other: int) -> Record:
        """What changed from one run to another, by how much, and how sure that is.

        Where one of them inferred the path, `beside` has what the simulator carries on it.
        """
        return Record(json.loads(_trunkline.compare(run, other, self._file)))

    def keep(self, result: Result[Any]) -> int | None:
        """Keeps a result, such as one of iperf3, and gives its number."""
        return _trunkline.keep(result._core, self._file)

    def __repr__(self) -> str:
        """The file."""
        return f"<History {self.file}>"


def history(file: File | None = None) -> History:
    """The archive of results: the user's own, or that of a file."""
    return History(file)
