"""Paths: named, from a file, or built here."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, TypeAlias

from . import _trunkline
from ._text import File


class Path:
    """A path between two hosts: its links, and what the hosts are set to.

    ```python
    path = Path(forward={"rate": "45Mbit/s", "delay": "82.5ms",
                         "queue": {"kind": "drop-tail", "limit": "128KiB"}})
    tune(path.sim())
    ```

    The sections and their keys are those of path files (`docs/guide/paths.md`), and are checked
    with the same messages.
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
        lines = [f"{key} = {_toml(value)}" for key, value in sections.items() if value is not None]
        self._read(name, "\n".join(lines) + "\n")

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
