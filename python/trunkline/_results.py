"""What calls give: documents, tables, pages and plots."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from . import _trunkline
from ._errors import RequestError
from ._record import Record
from ._text import File, several
from ._trunkline import Table

D = TypeVar("D", bound=Record, covariant=True)


class Result(Generic[D]):
    """What a call found: a document as a typed object, tables, a page, plots.

    Tables have the Arrow PyCapsule interface: `polars.DataFrame(r.samples)`,
    `pyarrow.table(r.samples)`, `duckdb.from_arrow(...)` and `pandas.DataFrame.from_arrow(r.samples)`
    read them without copying.
    Units stand in the metadata of each field, and in `.units`. A table that its kind has not is a
    `RequestError` with those that it has.
    """

    def __init__(self, core: _trunkline.Done) -> None:
        """For operations."""
        self._core = core
        self._document: Record | None = None

    @property
    def kept(self) -> int | None:
        """Its number in the archive; `None` where it was not kept."""
        return self._core.kept

    @property
    def schema(self) -> str:
        """The kind of its document, such as `trunkline/tune`."""
        return self._core.schema

    @property
    def document(self) -> D:
        """The document, each key an attribute; see `docs/reference/json.md`."""
        if self._document is None:
            from . import documents

            self._document = documents.KINDS[self.schema](json.loads(self._core.to_json()))
        return self._document  # type: ignore[return-value]

    def to_json(self, *, brief: bool = False) -> str:
        """The document as the program prints it.

        Args:
            brief: Leave out raw readings.
        """
        return self._core.to_json(brief)

    def save(self, file: File, *, brief: bool = False) -> None:
        """Writes the document to a file, whole or not at all.

        Args:
            file: Its name.
            brief: Leave out raw readings.
        """
        self._core.save(os.fspath(file), brief)

    @property
    def text(self) -> str:
        """The result as the program prints it for people."""
        return self._core.to_text()

    @property
    def html(self) -> str:
        """A page that opens in any browser, without a network."""
        return self._core.to_html()

    def save_html(self, file: File) -> None:
        """Writes the page to a file."""
        with open(file, "w", encoding="utf-8") as out:
            out.write(self.html)

    @property
    def path_file(self) -> str | None:
        """The inferred path as a path file, with the interval of each figure; for `Path.from_toml`.

        `None` of kinds without one: `tune` has one, and `examine` and `sweep` where it was asked for.
        """
        return self._core.path_file

    @property
    def csv(self) -> str | None:
        """Comma-separated values as the program writes them; `None` of kinds without `--csv`."""
        return self._core.to_csv()

    @property
    def visits(self) -> Table:
        """A row for each visit: a measured run, a visit of a sweep, a setting of a simulation."""
        return self._core.table("visits")

    @property
    def samples(self) -> Table:
        """What the kernel said of each stream, ten times a second."""
        return self._core.table("samples")

    @property
    def deliveries(self) -> Table:
        """Bytes that had arrived on each stream, ten times a second."""
        return self._core.table("deliveries")

    @property
    def probes(self) -> Table:
        """Every probe of the idle and of the loaded path."""
        return self._core.table("probes")

    @property
    def streams(self) -> Table:
        """A row for each stream of each visit."""
        return self._core.table("streams")

    @property
    def series(self) -> Table:
        """The state of a simulation over time, where `series` was asked for."""
        return self._core.table("series")

    @property
    def curves(self) -> Table:
        """A row for each number of streams on each curve of `predict` and `fit`."""
        return self._core.table("curves")

    @property
    def hops(self) -> Table:
        """A row for each hop of each trace of an examined path."""
        return self._core.table("hops")

    @property
    def files(self) -> Table:
        """A row for each file of a copy, with what became of it."""
        return self._core.table("files")

    def __reduce__(self) -> tuple[Any, ...]:
        """By its document."""
        document = self._core.to_json() if self._core.has_document() else ""
        return _loaded, (document, self._core.kept, self._core.files_json())

    def __repr__(self) -> str:
        """The kind and the number."""
        if not self._core.has_document():
            return "<Result: files of a copy that failed>"
        kept = "" if self.kept is None else f", kept as {self.kept}"
        return f"<Result {self.schema}{kept}>"

    def __str__(self) -> str:
        """The same as `text`."""
        return self.text

    def _repr_html_(self) -> str:
        """For notebooks: the page in a frame of its own."""
        from html import escape

        return (
            f'<iframe srcdoc="{escape(self.html, quote=True)}" width="100%" height="640" '
            'style="border:0" sandbox></iframe>'
        )


def _loaded(text: str, kept: int | None, files: str) -> Result[Any]:
    return Result(_trunkline.Done.from_json(text, kept, files))


class Results(tuple[Result[Any], ...]):
    """Several results, whose tables stand one below the other; `result` counts them from 0."""

    __slots__ = ()

    def _table(self, name: str) -> Table:
        return _trunkline.table_of_all([one._core for one in self], name)

    @property
    def visits(self) -> Table:
        """A row for each visit of each result."""
        return self._table("visits")

    @property
    def samples(self) -> Table:
        """What the kernel said of each stream, ten times a second."""
        return self._table("samples")

    @property
    def deliveries(self) -> Table:
        """Bytes that had arrived on each stream."""
        return self._table("deliveries")

    @property
    def probes(self) -> Table:
        """Every probe."""
        return self._table("probes")

    @property
    def streams(self) -> Table:
        """A row for each stream of each visit."""
        return self._table("streams")

    @property
    def series(self) -> Table:
        """The state of simulations over time."""
        return self._table("series")

    @property
    def curves(self) -> Table:
        """A row for each number of streams on each curve."""
        return self._table("curves")

    @property
    def hops(self) -> Table:
        """A row for each hop of each trace."""
        return self._table("hops")

    def __repr__(self) -> str:
        """How many there are."""
        return f"<Results: {len(self)}>"


def gather(results: Iterable[Result[Any]]) -> Results:
    """Several results as one: their tables stand one below the other."""
    return Results(results)


def load(file: File) -> Result[Any]:
    """Reads a document of trunkline, or what `iperf3 -J` printed.

    Raises:
        RequestError: It cannot be read, or is neither.
    """
    return Result(_trunkline.Done.from_file(os.fspath(file)))


def read_iperf3(files: File | Iterable[File]) -> Results:
    """Reads what `iperf3 -J` printed, of one file or several, as results with the same tables.

    Raises:
        RequestError: There are none, or one cannot be read or is none of iperf3's.
    """
    results = Results(load(name) for name in several(files))
    if not results:
        raise RequestError("there are no files to read", "check the folder or the pattern")
    return results
