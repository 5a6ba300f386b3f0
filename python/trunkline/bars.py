"""Progress bars of tqdm and rich, for `on_progress`; neither is a dependency.

```python
with trunkline.bars.tqdm() as bar:
    trunkline.copy("run7", "dtn.example.org:/store", recursive=True, on_progress=bar)
```

A bar counts bytes where a call knows how many there are, and hundredths of the whole otherwise.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from ._trunkline import Progress

__all__ = ["Bar", "rich", "tqdm"]


class _Seen(NamedTuple):
    """How far a call is."""

    done: float
    total: float
    is_of_bytes: bool


def _seen(event: Progress) -> _Seen | None:
    """How far it is, of an event that tells."""
    if event.total_bytes:
        return _Seen(event.bytes or 0, event.total_bytes, True)
    return None if event.share is None else _Seen(100 * event.share, 100, False)


class Bar:
    """A bar that hears of a call by `on_progress`; it is full when its block ends without an error.

    The last event of a call comes before its end, and quick calls have none that counts.
    """

    def __call__(self, event: Progress) -> None:
        """Shows an event: how far the call is, or what it does."""
        raise NotImplementedError

    def fill(self) -> None:
        """Shows that all is done."""
        raise NotImplementedError

    def close(self) -> None:
        """Leaves it as it is, and moves on to the next line."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        """The bar."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Closes it."""
        if kind is None:
            self.fill()
        self.close()


class _Tqdm(Bar):
    def __init__(self, options: dict[str, Any]) -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(**options)

    def __call__(self, event: Progress) -> None:
        bar, seen = self._bar, _seen(event)
        if seen is None:
            bar.set_postfix_str(event.message, refresh=False)
            return
        bar.unit, bar.unit_scale = ("B", True) if seen.is_of_bytes else ("%", False)
        bar.total, bar.n = seen.total, round(seen.done)
        bar.refresh()

    def fill(self) -> None:
        if self._bar.total:
            self._bar.n = self._bar.total
            self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


class _Rich(Bar):
    def __init__(self, bars: Any, description: str) -> None:
        from rich.progress import Progress as Bars

        self._is_own = bars is None
        self._bars = Bars() if bars is None else bars
        self._task = self._bars.add_task(description, total=None)
        if self._is_own:
            self._bars.start()

    def __call__(self, event: Progress) -> None:
        if (seen := _seen(event)) is not None:
            self._bars.update(self._task, total=seen.total, completed=seen.done)
        else:
            self._bars.update(self._task, description=event.message)

    def fill(self) -> None:
        (task,) = (one for one in self._bars.tasks if one.id == self._task)
        self._bars.update(self._task, completed=task.total)

    def close(self) -> None:
        if self._is_own:
            self._bars.stop()


def tqdm(**options: Any) -> Bar:
    """A bar of tqdm, in terminals and notebooks.

    Args:
        options: What `tqdm.tqdm` takes: `desc`, `disable`, `file`, ...

    Raises:
        ImportError: tqdm is not installed.
    """
    return _Tqdm(options)


def rich(bars: Any = None, *, description: str = "") -> Bar:
    """A bar of rich.

    Args:
        bars: A `rich.progress.Progress` that runs and shows it beside others; one of its own
            without.
        description: What stands before the bar until the call says what it does.

    Raises:
        ImportError: rich is not installed.
    """
    return _Rich(bars, description)
