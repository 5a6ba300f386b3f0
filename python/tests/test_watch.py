"""Results of a watch, from a database that `trunkline watch demo` filled."""

from __future__ import annotations

import datetime
import json
import pickle
import signal
import sqlite3
import subprocess
import time

import pytest

import trunkline as tl


@pytest.fixture(scope="module")
def database(program, tmp_path_factory):
    """The first paths of the demonstration, which was stopped then."""
    file = tmp_path_factory.mktemp("watch") / "watch.db"
    words = [program, "watch", "demo", "--no-pages", "--database", file]
    demo = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # The first event may be the first trouble, on the ninth day.
        deadline = time.monotonic() + 300
        while not has_enough(file) and demo.poll() is None:
            assert time.monotonic() < deadline, f"only {rows_in(file, 'visits')} visits"
            time.sleep(0.2)
    finally:
        demo.send_signal(signal.SIGINT)
        demo.wait(60)
    return file


def has_enough(file):
    return rows_in(file, "visits") >= 1500 and rows_in(file, "events") > 0


def rows_in(file, table):
    if not file.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as store:
            return store.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


@pytest.fixture
def watch(database):
    return tl.watch(database)


TABLES = ["visits", "round-trips", "rates", "events", "incidents", "months"]


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_the_rows_of_the_programs_export(watch, database, program, table):
    words = [program, "watch", "export", table, "--database", database, "--since", "2026-01-01"]
    lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    ours = watch.table(table, since="2026-01-01")
    assert len(ours) == len(lines) > 0
    for row, line in list(zip(ours, lines, strict=True))[:: 1 + len(lines) // 500]:
        theirs = json.loads(line)
        for name, value in row.items():
            if isinstance(value, datetime.datetime):
                value = value.strftime("%Y-%m-%dT%H:%M:%SZ")
            assert theirs.get(name) == (pytest.approx(value) if type(value) is float else value)
        assert theirs.keys() <= row.keys()


def test_rows_are_chosen(watch):
    all_ = watch.visits()
    pairs = sorted(set(zip(all_["from_host"], all_["to_host"], all_["task"], strict=True)))
    one, other, task = pairs[0]
    chosen = watch.visits(from_=one, to=other, task=task)
    assert 0 < len(chosen) < len(all_)
    assert {(row["from_host"], row["to_host"], row["task"]) for row in chosen} == {pairs[0]}
    middle = sorted(chosen["began"])[len(chosen) // 2]
    text = middle.strftime("%Y-%m-%dT%H:%M:%SZ")
    before, after = watch.visits(until=text), watch.visits(since=text)
    assert len(before) + len(after) == len(all_)
    assert max(before["began"]) < middle <= min(after["began"])
    assert middle.tzinfo == datetime.timezone.utc
    with pytest.raises(TypeError, match="not chosen by `frm`, but by from_, to"):
        watch.visits(frm=one)
    for wrong in ({"since": "yesterday"}, {"from_": ""}):
        with pytest.raises(tl.RequestError, match=f"for `{next(iter(wrong))}`"):
            watch.visits(**wrong)


def test_other_libraries_read_the_tables(watch):
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    for name in TABLES:
        ours = watch.table(name)
        theirs = pa.table(ours)
        theirs.validate(full=True)
        assert [theirs.column(one).to_pylist() for one in theirs.column_names] == [
            ours[one] for one in ours.column_names
        ]
        assert pl.DataFrame(ours).height == len(ours)
        assert pa.table(pickle.loads(pickle.dumps(ours))) == theirs
    assert watch.visits().units["rtt_median_seconds"] == "s"


def test_an_export_is_that_of_the_program(watch, database, program, tmp_path):
    theirs = tmp_path / "theirs.csv"
    words = [program, "watch", "export", "events", theirs, "--database", database]
    subprocess.run(words, check=True, capture_output=True)
    seen = []
    rows = watch.export("events", tmp_path / "ours.csv", on_progress=seen.append)
    assert (tmp_path / "ours.csv").read_text() == theirs.read_text()
    assert rows == len(watch.events()) == seen[-1].number
    with pytest.raises(tl.RequestError, match="exists already"):
        watch.export("events", tmp_path / "ours.csv")
    with pytest.raises(tl.RequestError, match="`xls` is not a format"):
        watch.export("events", tmp_path / "ours.xls")


def test_a_forecast_is_that_of_the_program(watch, database, program):
    visits = watch.visits()
    tasks = {row["task"] for row in visits if row["goodput_bits_per_second"]}
    task = sorted(tasks)[0]
    row = next(one for one in visits if one["task"] == task and one["goodput_bits_per_second"])
    ends = row["from_host"], row["to_host"]
    ours = watch.forecast(*ends, task, "2GB")
    words = [program, "watch", "forecast", *ends, task, "2GB", "--database", database, "--json"]
    theirs = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert ours.keys() == theirs.keys()
    assert (ours.from_, ours.to, ours.bytes) == (*ends, 2_000_000_000)
    finish = ours.finish
    assert ours.start_unix_seconds < finish.early_unix_seconds <= finish.median_unix_seconds
    assert len(ours.hours) == 12 and ours.hours[0].median_bits_per_second > 0
    assert pickle.loads(pickle.dumps(ours)) == ours
    with pytest.raises(tl.RequestError, match="too few"):
        watch.forecast("no", "where", task, 1)


def test_months_are_those_of_the_program(watch, database, program):
    task = next(iter(watch.visits()))["task"]
    ours = watch.months(task)
    words = [program, "watch", "months", task, "--database", database, "--json"]
    theirs = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert ours == theirs
    first = ours.pairs[0]
    rows = watch.table("months", task=task, from_=first.from_, to=first.to)
    assert [row["visits"] for row in rows] == [month.visits for month in first.months]
    figures = ours.groups[-1].months[0].figures
    assert figures["loss_ratio"]["pairs"] > 0
    assert 0.01 < figures["rtt_mean_seconds"]["mean"] < 1
    with pytest.raises(tl.RequestError, match="no visit of `x` is stored"):
        watch.months("x")


def test_traffic_is_chosen_by_time_alone(watch):
    assert len(watch.flows(since="2026-01-01")) == 0
    with pytest.raises(tl.RequestError, match="by router, not by host or task"):
        watch.flows(from_="slac")


@pytest.mark.each_python
def test_what_is_no_database(tmp_path):
    with pytest.raises(tl.RequestError, match=r"absent\.db"):
        tl.watch(tmp_path / "absent.db").visits()
    with pytest.raises(tl.RequestError, match="no database for results"):
        tl.watch("mysql://h/watch").visits()
    assert not list(tmp_path.iterdir())
    assert "secret" not in repr(tl.watch("postgres://ana:secret@mon/watch"))
