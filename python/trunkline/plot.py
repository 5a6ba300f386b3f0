"""Plots of results: the SVG that the program draws; matplotlib where it is asked for.

```python
trunkline.plot.plot(result)                        # the first one shows itself in a notebook
trunkline.plot.plots(result).keys()                # their names; a search has "streams"
trunkline.plot.plot(result, "streams").save("streams.svg")
```
"""

from __future__ import annotations

import os
from typing import Any

from ._errors import RequestError
from ._results import Result
from ._text import File

__all__ = ["Svg", "matplotlib_goodput", "plot", "plots"]


class Svg(str):
    """A plot as SVG, which shows itself in a notebook."""

    __slots__ = ()

    def save(self, file: File) -> None:
        """Writes it to a file."""
        with open(os.fspath(file), "w", encoding="utf-8") as out:
            out.write(self)

    def _repr_svg_(self) -> str:
        """For notebooks."""
        return str(self)


def plots(result: Result[Any]) -> dict[str, Svg]:
    """Every plot of a result, each under its name."""
    return {name.removesuffix(".svg"): Svg(text) for name, text in result._core.charts()}


def plot(result: Result[Any], name: str | None = None) -> Svg:
    """One plot of a result: that of the name, or the first.

    Raises:
        RequestError: It has none, or none of that name.
    """
    found = plots(result)
    if not found:
        raise RequestError(f"a result of {result.schema} has no plots", "plot its tables")
    if name is None:
        return next(iter(found.values()))
    if name not in found:
        known = ", ".join(found)
        raise RequestError(f"there is no plot `{name}`", f"there are: {known}")
    return found[name]


def matplotlib_goodput(result: Result[Any], axes: Any = None) -> Any:
    """Goodput against streams, a line for each window, on matplotlib's axes, which it gives.

    Args:
        result: What has visits.
        axes: Where to draw; the current ones without.

    Raises:
        ImportError: matplotlib is not installed.
    """
    import matplotlib.pyplot as pyplot  # type: ignore[import-not-found,unused-ignore]

    axes = pyplot.gca() if axes is None else axes
    table = result.visits
    columns = [table.column(name) for name in ("window_bytes", "streams", "goodput_bits_per_second")]
    lines: dict[int | None, list[tuple[int, float]]] = {}
    for window, streams, goodput in zip(*columns, strict=True):
        if goodput is not None:
            lines.setdefault(window, []).append((streams, goodput / 1e6))
    for window, points in lines.items():
        points.sort()
        label = "auto" if window is None else f"{window / 1024:g} KiB"
        axes.plot(*zip(*points, strict=True), marker="o", label=label)
    axes.set_xlabel("streams")
    axes.set_ylabel("goodput, Mbit/s")
    axes.legend(title="window")
    return axes
