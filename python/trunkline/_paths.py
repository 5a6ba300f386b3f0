"""Paths: named, from a file, or built here."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, TypeAlias

from . import _trunkline
from ._errors import RequestError
from ._text import File, rate, span

_TIMES = {"at", "delay", "every", "extra_delay", "for", "interval", "off", "on", "target"}
_RATES = {"high", "low", "rate"}
# Tables whose `rate` is a share of the packets.
_SHARES = {"loss", "reorder"}


class Path:
    """A path between two hosts: its links, and what the hosts are set to.

    ```python
    path = Path(forward={"rate": "45Mbit/s", "delay": "82.5ms",
                         "queue": {"kind": "drop-tail", "limit": "128KiB"}})
    tune(path.sim())
    ```

    The sections and their keys are those of path files (`docs/guide/paths.md`), and are checked
    with the same messages. Times may be seconds or a `timedelta`, and rates bits per second.
    """

    __slots__ = ("_core", "_source")
    _core: _trunkline.PathSpec
    _source: tuple[str, str]

    def __init__(
        self,
        name: str = "built",
        *,
        forward: Mapping[str, Any],
        reverse: Mapping[str, Any] | None = None,
        hosts: Mapping[str, Any] | None = None,
        **further: Any,
    ) -> None:
        """Builds a path.

        Args:
            name: What results call it.
            forward: The link from here to the far end.
            reverse: The link back; like `forward`, without its loss, where nothing is said.
            hosts: What the hosts use.
            further: Other sections of path files.

        Raises:
            RequestError: A section is wrong: where, and what may stand there.
        """
        sections = {"forward": forward, "reverse": reverse, "hosts": hosts, **further}
        said = {key: _with_units(key, one) for key, one in sections.items() if one is not None}
        text = "".join(f"{key} = {_toml(one)}\n" for key, one in said.items())
        try:
            self._read(name, text)
        except RequestError as error:
            # Nobody has seen the lines of this text.
            what = re.sub(r"\n  at .*:\d+, field ", "\n  in ", error.causes[0])
            raise RequestError(what, error.hint) from None

    def _read(self, name: str, text: str) -> None:
        self._core = _trunkline.PathSpec.parse(name, text).named(name)
        self._source = (name, text)

    @classmethod
    def from_toml(cls, text: str, name: str = "built") -> Path:
        """The path that the text of a path file describes."""
        made = cls.__new__(cls)
        made._read(name, text)
        return made

    @classmethod
    def load(cls, name: File) -> Path:
        """A named path, or that of a file; see `path`."""
        made = cls.__new__(cls)
        made._core = _trunkline.PathSpec.load(os.fspath(name))
        made._source = ("", os.path.abspath(name) if os.path.exists(name) else os.fspath(name))
        return made

    @property
    def name(self) -> str:
        """What results call it."""
        return self._core.name

    @property
    def base_rtt_seconds(self) -> float:
        """Round trip of the empty path, in seconds."""
        return self._core.base_rtt_seconds

    @property
    def bandwidth_delay_product_bytes(self) -> int:
        """What the path holds, in bytes."""
        return self._core.bandwidth_delay_product_bytes

    def to_dict(self) -> dict[str, Any]:
        """The path as documents have it, in base units of the SI."""
        data: dict[str, Any] = json.loads(self._core.to_json())
        return data

    def sim(self) -> tuple[_trunkline.PathSpec, bool]:
        """The target that simulates this path."""
        return self._core, True

    def emu(self) -> tuple[_trunkline.PathSpec, bool]:
        """The target that emulates this path with real TCP; needs rights."""
        return self._core, False

    def __eq__(self, other: object) -> bool:
        """Whether both are the same path."""
        return isinstance(other, Path) and self._core == other._core

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """By its text, or its name."""
        return _rebuilt, self._source

    def __repr__(self) -> str:
        """What it is like."""
        return f"<Path {self.name}: {self._core.description()}>"


def _rebuilt(name: str, text: str) -> Path:
    return Path.from_toml(text, name) if name else Path.load(text)


PathLike: TypeAlias = File | Path
Target: TypeAlias = File | tuple[_trunkline.PathSpec, bool]


def path(name: File) -> Path:
    """A named path, or that of a path file.

    Raises:
        RequestError: There is none of that name, or the file is wrong: where, and what may stand
            there.
    """
    return Path.load(name)


def path_names() -> list[str]:
    """Names of all named paths."""
    return _trunkline.path_names()


def path_of(value: PathLike) -> Any:
    """What the core takes as a path."""
    return value._core if isinstance(value, Path) else os.fspath(value)


def target_of(value: Target) -> Any:
    """What the core takes as a target."""
    if isinstance(value, Path):
        raise TypeError("a path can be simulated or emulated: write `path.sim()` or `path.emu()`")
    return value if isinstance(value, tuple) else os.fspath(value)


def _with_units(key: str, value: Any) -> Any:
    """A section with the units of its numbers, which path files want to see."""
    if isinstance(value, Mapping):
        keys = _TIMES if key in _SHARES else _TIMES | _RATES
        return {
            each: _with_units(each, one) if each in keys or not isinstance(one, float | int) else one
            for each, one in value.items()
        }
    if isinstance(value, list | tuple):
        return [_with_units(key, one) for one in value]
    if key in _TIMES and isinstance(value, float | int | timedelta):
        return span(value)
    return rate(value) if key in _RATES and isinstance(value, float | int) else value


def _toml(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, Mapping):
        parts = (f"{json.dumps(str(key))} = {_toml(one)}" for key, one in value.items())
        return "{ " + ", ".join(parts) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(str(value))
