"""What a watch has found: its database as tables, and forecasts from it."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Literal, TypedDict, Unpack, cast

from . import _text, _trunkline
from ._call import Call, OnProgress
from ._record import Record
from ._text import File, Size
from ._trunkline import Table

WatchTable = Literal["visits", "round-trips", "rates", "events", "incidents"]


class ForecastHour(Record):
    """Goodput of an hour to come: 19 of 20 such hours lie between low and high.

    Attributes:
        at_unix_seconds: When it begins.
        low_bits_per_second: One of twenty hours like it has less.
        median_bits_per_second: Half of them have less.
        high_bits_per_second: One of twenty has more.
    """

    __slots__ = ()
    at_unix_seconds: int
    low_bits_per_second: int
    median_bits_per_second: int
    high_bits_per_second: int


class ForecastFinish(Record):
    """When a copy ends.

    Attributes:
        early_unix_seconds: One of twenty such copies ends sooner.
        median_unix_seconds: Half of them do.
        late_unix_seconds: One of twenty ends later.
    """

    __slots__ = ()
    early_unix_seconds: int
    median_unix_seconds: int
    late_unix_seconds: int


class Forecast(Record):
    """When a copy that starts now will end.

    Attributes:
        from_: The host that sends.
        to: The host that receives.
        bytes: The size of the copy.
        start_unix_seconds: Now.
        finish: When it ends.
        hours: Goodput of the next hours.
    """

    __slots__ = ()
    from_: str
    to: str
    bytes: int
    start_unix_seconds: int
    finish: ForecastFinish
    hours: list[ForecastHour]
    _records = {"finish": ForecastFinish, "hours": ForecastHour}


class Selection(TypedDict, total=False):
    """Which rows of a table: by the hosts and the task of the plan, and by when they began."""

    from_: str
    to: str
    task: str
    since: str
    until: str


class Watch:
    """The results of a watch, in the database of its collector, which is only read.

    Each call asks the database for what it has by then. The arguments `from_`, `to` and `task`
    choose visits by the names of the plan, `since` and `until` by when they began: `"2026-11-22"`
    (UTC), `"7d"`, `"12h"`. Times in tables are UTC, and `visit` joins them.
    """

    def __init__(self, database: File) -> None:
        """Opens nothing yet."""
        self._database = os.fspath(database)

    def visits(self, **selection: Unpack[Selection]) -> Table:
        """A row for each visit, with its figures."""
        return self.table("visits", **selection)

    def events(self, **selection: Unpack[Selection]) -> Table:
        """A row for each change of a path, with its causes."""
        return self.table("events", **selection)

    def incidents(self, **selection: Unpack[Selection]) -> Table:
        """A row for each incident: the events that one cause made, the worst of them whole."""
        return self.table("incidents", **selection)

    def table(
        self,
        table: WatchTable,
        *,
        on_progress: OnProgress | None = None,
        **selection: Unpack[Selection],
    ) -> Table:
        """A table: `"visits"`, `"round-trips"` (raw), `"rates"` (ten a second), `"events"` or
        `"incidents"`.

        Args:
            table: Which.
            on_progress: Told how many rows were read, on the thread that waits.
            selection: Which rows.

        Raises:
            RequestError: There is no such database, or a name or a time is wrong.
        """
        core = _trunkline.start_watch_table(self._asked(table, selection))
        return Call(core, lambda done: cast(Table, done.rows), on_progress).result()

    def export(
        self,
        table: WatchTable,
        file: File,
        *,
        format: Literal["csv", "ndjson", "parquet"] | None = None,
        on_progress: OnProgress | None = None,
        **selection: Unpack[Selection],
    ) -> int:
        """Writes a table to a file, whole or not at all, and gives the number of its rows.

        It needs no memory for the table, however long that is.

        Args:
            table: Which, as for `table`.
            file: A file that does not exist yet.
            format: How it is written; what the name of the file ends in without.
            on_progress: Told how many rows were written, on the thread that waits.
            selection: Which rows.

        Raises:
            RequestError: The file exists, or as for `table`.
            RunError: It cannot be written.
        """
        name = os.fspath(file)
        ending = format or os.path.splitext(name)[1].removeprefix(".")
        core = _trunkline.start_watch_export(self._asked(table, selection), name, ending)
        return Call(core, lambda done: int(done.told or 0), on_progress).result()

    def forecast(self, from_: str, to: str, task: str, bytes: Size) -> Forecast:
        """When a copy that starts now will end, from what the path has carried at such hours.

        Args:
            from_: The host that sends.
            to: The host that receives.
            task: The task of the plan whose visits are used.
            bytes: The size of the copy.

        Raises:
            RequestError: There are fewer than 48 visits over a day, or the copy would take more
                than 60 days.
        """
        size = _text.size(bytes)
        core = _trunkline.start_watch_forecast(self._database, (from_, to), task, size)
        return Call(core, lambda done: Forecast(json.loads(done.told or "{}"))).result()

    def _asked(self, table: str, selection: Selection) -> dict[str, Any]:
        if unknown := sorted(selection.keys() - Selection.__annotations__.keys()):
            known = ", ".join(Selection.__annotations__)
            raise TypeError(f"rows are not chosen by `{unknown[0]}`, but by {known}")
        return {"database": self._database, "table": table} | {
            key: selection.get(key) for key in Selection.__annotations__
        }

    def __repr__(self) -> str:
        """The database, without the password of its URL."""
        return f"<Watch {re.sub('//[^/@]*@', '//', self._database)}>"


def watch(database: File = "watch.db") -> Watch:
    """The results of a watch, from the database of `trunkline watch serve`.

    Args:
        database: Its SQLite file, or `postgres://USER@HOST/DATABASE`.
    """
    return Watch(database)
