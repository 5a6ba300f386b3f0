"""Bars of tqdm and rich, fed by real calls and by made-up events."""

from __future__ import annotations

import io
import random

import pytest

import trunkline as tl

tqdm = pytest.importorskip("tqdm")
rich = pytest.importorskip("rich")


@pytest.fixture
def copied(tmp_path):
    """Arguments of a copy of 3 MB to a server here."""
    (tmp_path / "store").mkdir()
    (tmp_path / "run7").write_bytes(random.Random(7).randbytes(3_000_000))
    token = tl.add_token(tmp_path / "tokens", "ana")
    with tl.serve(root=tmp_path / "store", tokens=tmp_path / "tokens") as server:
        yield (str(tmp_path / "run7"), server.place()), {"token": token, "history": False}


@pytest.mark.each_python
def test_a_copy_fills_a_bar_of_tqdm(copied):
    places, options = copied
    out = io.StringIO()
    with tl.bars.tqdm(file=out, desc="run7", mininterval=0) as bar:
        tl.copy(*places, **options, on_progress=bar)
        assert (bar._bar.total, bar._bar.unit) == (3_000_000, "B")
    assert "run7: 100%" in out.getvalue() and "3.00M" in out.getvalue()
    assert out.getvalue().endswith("\n")


def test_a_copy_fills_a_bar_of_rich_beside_others(copied):
    from rich.console import Console
    from rich.progress import Progress

    places, options = copied
    console = Console(file=io.StringIO())
    with Progress(console=console) as bars:
        other = bars.add_task("other", total=2)
        with tl.bars.rich(bars, description="run7") as bar:
            tl.copy(*places, **options, on_progress=bar)
        task = bars.tasks[-1]
        assert (task.completed, task.total, task.finished) == (3_000_000, 3_000_000, True)
        assert bars.tasks[0].id == other and not bars.tasks[0].finished


def share(bar):
    """How much of it is full."""
    if hasattr(bar, "_bar"):
        return bar._bar.n / bar._bar.total
    return bar._bars.tasks[0].percentage / 100


@pytest.mark.parametrize("make", [lambda: tl.bars.tqdm(file=io.StringIO()), tl.bars.rich])
def test_what_counts_no_bytes_fills_a_bar_of_hundredths(make):
    seen = []
    with make() as bar:
        tl.measure("sim:slac-cern", history=False, on_progress=lambda one: seen.append(one) or bar(one))
        assert max(event.share or 0 for event in seen) > 0.9
        assert share(bar) > 0.9
    assert share(bar) == 1


def test_a_bar_of_a_call_that_failed_stays_where_it_was():
    bar = tl.bars.tqdm(file=io.StringIO())
    with pytest.raises(ZeroDivisionError), bar:
        tl.measure("sim:slac-cern", history=False, on_progress=lambda one: bar(one) or 1 / 0)
    assert share(bar) < 0.5


def test_a_bar_of_a_search_says_what_is_tried():
    out = io.StringIO()
    with tl.bars.tqdm(file=out, mininterval=0) as bar:
        tl.tune("sim:slac-cern", history=False, on_progress=bar)
    assert " x auto" in out.getvalue()
