"""Objects over the keys of a document."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar, Self

__all__ = ["Record"]


class Record(Mapping[str, Any]):
    """A part of a document. Its keys are attributes; what is absent is `None`.

    It is a mapping of the keys that are there, too: `dict(record)`, `record.keys()`, `"loss" in
    record`, `pandas.DataFrame(list_of_records)`.
    """

    __slots__ = ("_data",)
    _data: dict[str, Any]
    _records: ClassVar[dict[str, str | type[Record]]] = {}
    _optional: ClassVar[frozenset[str]] = frozenset()
    _promised: ClassVar[dict[str, str]] = {}

    def __init__(self, data: Mapping[str, Any]) -> None:
        """Takes the keys of `data`, without a check."""
        object.__setattr__(self, "_data", dict(data))

    def __getattr__(self, name: str) -> Any:
        """The key `name`, or that word without a `_` at its end where Python has it for itself."""
        if name.startswith("__"):
            raise AttributeError(name)
        data = self._data
        key = name if name in data else name.removesuffix("_")
        if key in data:
            return _wrapped(data[key], self._records.get(key))
        if key in self._optional:
            return None
        if key in self._promised:
            raise AttributeError(self._promised[key])
        raise AttributeError(_unknown(type(self).__name__, name, {*data, *self._optional}))

    def __setattr__(self, name: str, value: object) -> None:
        """Refused: a document is what was seen."""
        raise AttributeError(f"a document cannot be changed; `{name}` is what it says")

    def __dir__(self) -> list[str]:
        """The keys that are there, for those who press Tab."""
        return sorted({*object.__dir__(self), *self._data, *self._optional})

    def __iter__(self) -> Iterator[str]:
        """The keys that are there."""
        return iter(self._data)

    def __len__(self) -> int:
        """How many keys are there."""
        return len(self._data)

    def __getitem__(self, key: str) -> Any:
        """The key `key`, as an attribute has it."""
        if key not in self._data:
            raise KeyError(key)
        return _wrapped(self._data[key], self._records.get(key))

    def __eq__(self, other: object) -> bool:
        """Whether both say the same."""
        data = other._data if isinstance(other, Record) else other
        return isinstance(data, Mapping) and self._data == data

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Self], tuple[dict[str, Any]]]:
        """By the data, as plain Python objects."""
        return type(self), (self._data,)

    def __repr__(self) -> str:
        """The keys, long lists by their length."""
        shown = ", ".join(f"{key}={_short(value)}" for key, value in self._data.items())
        return f"{type(self).__name__}({shown})"

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries, lists, strings and numbers."""
        copied: dict[str, Any] = json.loads(json.dumps(self._data))
        return copied


def _wrapped(value: Any, record: str | type[Record] | None) -> Any:
    if record is None:
        return value
    if isinstance(value, list):
        return [_wrapped(one, record) for one in value]
    if not isinstance(value, dict):
        return value
    if isinstance(record, str):
        from . import documents

        kind: type[Record] = getattr(documents, record)
        return kind(value)
    return record(value)


def _unknown(kind: str, name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    meant = f"; did you mean `{near[0]}`?" if near else f"; there are: {', '.join(sorted(known))}"
    return f"{kind} has no `{name}`{meant}"


def _short(value: Any) -> str:
    if isinstance(value, list) and len(value) > 4:
        return f"[... {len(value)} ...]"
    if isinstance(value, dict):
        return "{...}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
