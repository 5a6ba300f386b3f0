"""Values of Python as the text that the program takes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import timedelta
from math import isfinite
from typing import Any, TypeAlias

from ._errors import RequestError

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


def several(value: Any) -> list[Any]:
    """One or several values as a list; a text and a file's name are one."""
    is_several = isinstance(value, Iterable) and not isinstance(value, str | os.PathLike)
    return list(value) if is_several else [value]


def _checked(value: float, what: str) -> float:
    """A number that can be a time, a size, a rate or a count."""
    if isinstance(value, bool):
        raise RequestError(f"{value} is no {what}", f"write a number for the {what}")
    if value < 0:
        raise RequestError(f"a {what} of {value} is below 0", f"write a {what} above 0")
    return value


def span(value: Time) -> str:
    """A time with its unit."""
    if isinstance(value, str):
        return value
    if isinstance(value, timedelta):
        _checked(value.total_seconds(), "time in seconds")
        return f"{value // timedelta(microseconds=1)}us"
    value = _checked(value, "time in seconds")
    if isinstance(value, int):
        return f"{value}s"
    return f"{round(value * 1e9)}ns" if isfinite(value) else str(value)


def optional_span(value: Time | None) -> str | None:
    """A time that may be left out."""
    return None if value is None else span(value)


def spans(value: Time | Iterable[Time]) -> str:
    """One or several times."""
    return ",".join(span(one) for one in several(value))


def size(value: Size) -> str:
    """An amount of data."""
    return value if isinstance(value, str) else whole(value, "size in bytes")


def optional_size(value: Size | None) -> str | None:
    """An amount of data that may be left out."""
    return None if value is None else size(value)


def sizes(value: Sizes) -> str:
    """One or several amounts of data."""
    return ",".join(size(one) for one in several(value))


def optional_sizes(value: Sizes | None) -> str | None:
    """One or several amounts of data that may be left out."""
    return None if value is None else sizes(value)


def rate(value: Rate | None) -> str | None:
    """A rate that may be left out."""
    if value is None or isinstance(value, str):
        return value
    value = _checked(value, "rate in bits per second")
    return f"{round(value)}bit/s" if isfinite(value) else str(value)


def whole(value: float, what: str = "count") -> str:
    """A whole number, of whatever type."""
    if not isfinite(_checked(value, what)) or value != int(value):
        raise RequestError(f"{value} is no whole number", f"write a whole number as the {what}")
    return str(int(value))


def count(value: int | str | None) -> str | None:
    """A whole number that may be left out."""
    return value if value is None or isinstance(value, str) else whole(value)


def counts(value: Counts) -> str:
    """Numbers of streams."""
    if isinstance(value, str):
        return value
    if isinstance(value, range) and value.step == 1 and len(value) > 1:
        return f"{value.start}..{value.stop - 1}"
    return ",".join(whole(one) for one in several(value))


def words(value: str | Iterable[str] | None) -> str | None:
    """Words between commas that may be left out."""
    return None if value is None else ",".join(several(value))


def number(value: float | str | None) -> str | None:
    """A number that may be left out."""
    return None if value is None else str(value)


def history(value: History) -> bool | str:
    """Where the result is kept."""
    return value if isinstance(value, bool) else os.fspath(value)
