"""What a watch has found: its database as tables, months of it, and forecasts from it."""

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

WatchTable = Literal["visits", "round-trips", "rates", "events", "incidents", "months", "flows"]


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


class PingMonth(Record):
    """A month of a path.

    Attributes:
        month_unix_seconds: Its first second, in UTC.
        visits: Visits, with those that sent no probe.
        pings: Counts and round trips; `None` where an older trunkline summed the visits up.
        figures: What follows from them, by the name of the figure, which ends with its unit; what
            is not known is not there.
        derived_is_bound: Whether the derived rate is a bound, since no probe was lost.
    """

    __slots__ = ()
    month_unix_seconds: int
    visits: int
    pings: dict[str, Any] | None
    figures: dict[str, float]
    derived_is_bound: bool | None


class PairMonths(Record):
    """The months of a path.

    Attributes:
        from_: The host that sends.
        to: The host that receives.
        months: In the order of time; a month without visits is not there.
        trends: Changes in a year, by the name of the figure.
    """

    __slots__ = ()
    from_: str
    to: str
    months: list[PingMonth]
    trends: dict[str, Any]
    _records = {"months": PingMonth}


class GroupMonth(Record):
    """A month of a group of paths.

    Attributes:
        month_unix_seconds: Its first second, in UTC.
        pairs: Paths whose hosts answered.
        silent_pairs: Paths whose hosts answered nothing; they are in no figure.
        visits: Visits that sent probes, of the paths whose hosts answered.
        figures: Means over the paths, each with how many have it, by the name of the figure.
    """

    __slots__ = ()
    month_unix_seconds: int
    pairs: int
    silent_pairs: int
    visits: int
    figures: dict[str, Any]


class GroupMonths(Record):
    """The months of a group of paths.

    Attributes:
        group: Its name in the plan.
        months: In the order of time.
        trends: Changes in a year, by the name of the figure.
    """

    __slots__ = ()
    group: str
    months: list[GroupMonth]
    trends: dict[str, Any]
    _records = {"months": GroupMonth}


class Months(Record):
    """The months of a task, as PingER has them.

    Attributes:
        task: The task.
        pairs: By path.
        groups: By group of paths: those of the plan, then all.
    """

    __slots__ = ()
    task: str
    pairs: list[PairMonths]
    groups: list[GroupMonths]
    _records = {"pairs": PairMonths, "groups": GroupMonths}


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

    def flows(self, **selection: Unpack[Selection]) -> Table:
        """A row for each interval, router, way and application of the traffic across the border.

        Rows are chosen by `since` and `until` alone.
        """
        return self.table("flows", **selection)

    def table(
        self,
        table: WatchTable,
        *,
        on_progress: OnProgress | None = None,
        **selection: Unpack[Selection],
    ) -> Table:
        """A table: `"visits"`, `"round-trips"` (raw), `"rates"` (ten a second), `"events"`,
        `"incidents"`, `"months"` or `"flows"`.

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

    def months(
        self,
        task: str,
        *,
        plan: File | None = None,
        from_: str | None = None,
        to: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Months:
        """Months of round trips and losses, by path and by group, and what the years changed.

        Args:
            task: The task of the plan whose visits are used.
            plan: The groups of this file are there, too.
            from_: Only paths from this host.
            to: Only paths to this host.
            since: Only months that begin from then on.
            until: Only months that begin before then.

        Raises:
            RequestError: There is no visit of the task, or no month is chosen.
        """
        chosen = {"task": task, "from_": from_, "to": to, "since": since, "until": until}
        asked = {"database": self._database, "table": "months", **chosen}
        asked["plan"] = None if plan is None else os.fspath(plan)
        core = _trunkline.start_watch_months(asked)
        return Call(core, lambda done: Months(json.loads(done.told or "{}"))).result()

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
        return {"database": self._database, "table": table, "plan": None} | {
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
