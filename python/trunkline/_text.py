"""Values of Python as the text that the program takes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import timedelta
from typing import TypeAlias

Time: TypeAlias = float | str | timedelta
"""A time as seconds, a `timedelta`, or text like `"10s"`, `"2min"`, `"82.5ms"`."""
Size: TypeAlias = int | str
"""An amount of data as bytes, or text like `"64k"` (powers of two) and `"500MB"` (powers of ten)."""
Rate: TypeAlias = float | str
"""A rate as bits per second, or text like `"100M"`."""
Counts: TypeAlias = int | str | Iterable[int]
"""Numbers of streams such as `8`, `[1, 2, 4]`, `range(1, 41)`, `"1..40"`."""
Sizes: TypeAlias = Size | Iterable[Size]
"""One or several sizes; `"auto"` leaves them to the kernel."""
File: TypeAlias = str | os.PathLike[str]
"""A name of a file."""
History: TypeAlias = bool | File
"""Where a result is kept, `True` in the user's archive, `False` nowhere, or the name of a file."""


def span(value: Time) -> str:
    """A time with its unit."""
    if isinstance(value, str):
        return value
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)}us"
    if isinstance(value, int):
        return f"{value}s"
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    return f"{round(value * 1e9)}ns"


def optional_span(value: Time | None) -> str | None:
    """A time that may be left out."""
    return None if value is None else span(value)


def spans(value: Time | Iterable[Time]) -> str:
    """One or several times."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return span(value)
    return ",".join(span(one) for one in value)


def size(value: Size) -> str:
    """An amount of data."""
    return str(value)


def optional_size(value: Size | None) -> str | None:
    """An amount of data that may be left out."""
    return None if value is None else size(value)


def sizes(value: Sizes) -> str:
    """One or several amounts of data."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return size(value)
    return ",".join(size(one) for one in value)


def optional_sizes(value: Sizes | None) -> str | None:
    """One or several amounts of data that may be left out."""
    return None if value is None else sizes(value)


def rate(value: Rate | None) -> str | None:
    """A rate that may be left out."""
    if value is None or isinstance(value, str):
        return value
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    return f"{round(value)}bit/s"


def counts(value: Counts) -> str:
    """Numbers of streams."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return str(value)
    if isinstance(value, range) and value.step == 1 and len(value) > 1:
        return f"{value.start}..{value.stop - 1}"
    return ",".join(str(one) for one in value)


def words(value: str | Iterable[str] | None) -> str | None:
    """Words between commas that may be left out."""
    if value is None or isinstance(value, str):
        return value
    return ",".join(value)


def number(value: float | str | None) -> str | None:
    """A number that may be left out."""
    if value is None or isinstance(value, str):
        return value
    return str(value)


def history(value: History) -> bool | str:
    """Where the result is kept."""
    return value if isinstance(value, bool) else os.fspath(value)
