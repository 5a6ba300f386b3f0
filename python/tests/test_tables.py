"""Tables in other libraries."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Mapping

import pytest

import trunkline as tl
from trunkline import documents


@pytest.fixture(scope="module")
def measured():
    return tl.measure("sim:slac-cern", streams=4, duration=10, history=False)


def test_samples_are_the_documents_readings(measured):
    table = measured.samples
    streams = measured.document.streams
    assert len(table) == sum(len(stream.tcp) for stream in streams) > 300
    rtts = [sample.rtt_seconds for stream in streams for sample in stream.tcp]
    assert table.column("rtt_seconds") == rtts
    windows = [one.congestion_window_segments for stream in streams for one in stream.tcp]
    assert table.column("congestion_window_segments") == windows
    assert set(table.column("direction")) == {"sending"}
    assert table.units["rtt_seconds"] == "s"
    assert table.units["delivery_rate_bits_per_second"] == "bit/s"
    assert table.units["congestion_window_segments"] == "segments"
    with pytest.raises(ValueError, match="there is no column `colour`; there are: result"):
        table.column("colour")


def test_every_key_of_a_sample_is_a_column(measured):
    keys = {key for stream in measured.document.streams for one in stream.tcp for key in one}
    assert keys <= set(measured.samples.column_names)


@pytest.mark.each_python
def test_pyarrow_reads_every_table(measured):
    pa = pytest.importorskip("pyarrow")
    for name in ["visits", "samples", "deliveries", "probes", "streams"]:
        ours = getattr(measured, name)
        theirs = pa.table(ours)
        theirs.validate(full=True)
        assert theirs.column_names == ours.column_names
        assert theirs.num_rows == len(ours)
        for column in ours.column_names:
            assert theirs.column(column).to_pylist() == ours.column(column), (name, column)
        units = {
            field.name: field.metadata[b"unit"].decode() for field in theirs.schema if field.metadata
        }
        assert units == ours.units
    assert pa.schema(measured.samples) == pa.table(measured.samples).schema


def test_polars_pandas_and_duckdb(measured):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    duckdb, pa = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    frame = pl.DataFrame(measured.samples)
    assert frame.height == len(measured.samples)
    assert frame["rtt_seconds"].mean() == pytest.approx(0.165, abs=0.05)
    if hasattr(pd.DataFrame, "from_arrow"):
        other = pd.DataFrame.from_arrow(measured.samples)
    else:
        other = pa.table(measured.samples).to_pandas()
    assert other["rtt_seconds"].mean() == pytest.approx(frame["rtt_seconds"].mean())
    samples = pa.table(measured.samples)
    asked = "select stream, count(*) from samples group by stream order by stream"
    counted = duckdb.sql(asked, connection=_connected(duckdb, samples)).fetchall()
    assert [stream for stream, _ in counted] == [1, 2, 3, 4]


def _connected(duckdb, samples):
    connection = duckdb.connect()
    connection.register("samples", samples)
    return connection


@pytest.mark.each_python
def test_a_table_outlives_its_result_and_its_capsules():
    pa = pytest.importorskip("pyarrow")
    table = tl.measure("sim:slac-cern", history=False).samples
    for _ in range(3):
        table.__arrow_c_stream__()
        table.__arrow_c_schema__()
    arrow = pa.table(table)
    values = table.column("at_seconds")
    del table
    assert arrow.column("at_seconds").to_pylist() == values


def test_several_results_in_one_table():
    both = tl.gather(
        tl.measure("sim:slac-cern", streams=streams, history=False) for streams in (1, 2)
    )
    assert both.visits.column("streams") == [1, 2]
    assert both.visits.column("result") == [0, 1]
    assert len(both.samples) == sum(len(one.samples) for one in both)


def test_tune_has_a_visit_for_each_sample():
    tuned = tl.tune("sim:slac-cern", history=False)
    samples = tuned.document.samples
    assert len(tuned.visits) == len(samples)
    assert tuned.visits.column("goodput_bits_per_second") == [
        one.goodput_bits_per_second for one in samples
    ]
    assert tuned.visits.column("label") == [one.purpose for one in samples]
    limits = tuned.visits.column("limit")
    assert limits == [one.limit for one in samples]


def test_a_kind_without_a_table_says_which_it_has(measured):
    predicted = tl.predict("slac-cern")
    for result, names, has in [
        (measured, ["series", "hops", "files", "curves"], "visits"),
        (predicted, ["visits", "samples", "files"], "there are: curves"),
        (tl.simulate("slac-cern", duration=5, history=False), ["samples", "hops"], "series"),
        (tl.gather([predicted, predicted]), ["visits", "hops"], "there are: curves"),
        (tl.gather([]), ["visits"], "there is no document"),
    ]:
        for name in names:
            with pytest.raises(tl.RequestError, match=f"no table `{name}`") as lacking:
                getattr(result, name)
            assert has in str(lacking.value)
    # Of several, those count that have it.
    assert len(tl.gather([predicted, measured]).visits) == 1
    assert tl.gather([predicted, measured]).visits["result"] == [1]


def test_curves_are_those_of_the_document(tmp_path):
    predicted = tl.predict("slac-cern", streams=[1, 8])
    rows = list(predicted.curves)
    best = [row for row in rows if row["curve"] == "equilibrium"]
    points = predicted.document.points
    assert [row["streams"] for row in best] == [1, 8]
    assert [row["goodput_bits_per_second"] for row in best] == [
        point.goodput_bits_per_second for point in points
    ]
    assert [row["limit"] for row in best] == [point.limit for point in points]
    assert [row["goodput_bits_per_second"] for row in rows if row["curve"] == "hacker"] == [
        point.hacker_bits_per_second for point in points
    ]
    points = tmp_path / "points.csv"
    points.write_text("streams,goodput\n1,4M\n2,8M\n4,15M\n8,26M\n16,38M\n32,41M\n")
    fitted = tl.fit(points)
    rows = list(fitted.curves)
    assert [row["streams"] for row in rows if row["curve"] == "measured"] == [1, 2, 4, 8, 16, 32]
    for model in fitted.document.models:
        assert [row["goodput_bits_per_second"] for row in rows if row["curve"] == model.form] == [
            point.goodput_bits_per_second for point in model.curve
        ]


def test_files_of_a_copy_are_known_to_its_result_alone(tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "one").write_text("1")
    token, archive = tl.add_token(tmp_path / "tokens", "ana"), tmp_path / "archive"
    with tl.serve(root=tmp_path / "store", tokens=tmp_path / "tokens") as server:
        copied = tl.copy(tmp_path / "one", server.place(), token=token, history=archive)
    for result in (copied, pickle.loads(pickle.dumps(copied))):
        assert result.files["outcome"] == ["published"]
    with pytest.raises(tl.RequestError, match="in the result that the copy gave"):
        tl.history(archive)[copied.kept].files


@pytest.mark.each_python
def test_a_table_is_read_without_any_library(measured):
    visits = measured.visits
    assert visits["streams"] == visits.column("streams") == [4]
    (row,) = visits
    assert row == {name: visits[name][0] for name in visits.column_names}
    with pytest.raises(KeyError, match="there is no column `colour`"):
        visits["colour"]
    shown = measured.samples._repr_html_()
    assert shown.count("<tr>") == 11 and f"{len(measured.samples)} rows" in shown
    assert "<th>rtt_seconds, s</th>" in shown
    assert len(list(measured.samples)) == len(measured.samples)


@pytest.mark.each_python
def test_tables_cross_processes(measured):
    pa, joblib = pytest.importorskip("pyarrow"), pytest.importorskip("joblib")
    for name in ["visits", "samples", "deliveries", "probes", "streams"]:
        table = getattr(measured, name)
        again = pickle.loads(pickle.dumps(table))
        assert pa.table(again).schema.equals(pa.table(table).schema, check_metadata=True)
        assert pa.table(again).to_pylist() == pa.table(table).to_pylist()
    both = joblib.Parallel(n_jobs=2)(joblib.delayed(_visits)(streams) for streams in (1, 2))
    assert [one["streams"] for one in both] == [[1], [2]]


def _visits(streams):
    return tl.measure("sim:slac-cern", streams=streams, history=False).visits


@pytest.mark.each_python
def test_records_are_mappings(measured):
    pd = pytest.importorskip("pandas")
    setting = measured.document.setting
    assert dict(setting) == setting.to_dict() and len(setting) == len(setting.keys())
    assert isinstance(setting, Mapping) and {**setting} == dict(setting.items())
    assert "streams" in setting and "pacing_bits_per_second" not in setting
    assert setting.get("nothing") is None and setting == dict(setting)
    samples = measured.document.streams[0].tcp
    rtts = [one.rtt_seconds for one in samples if one.rtt_seconds is not None]
    assert list(pd.DataFrame(samples)["rtt_seconds"].dropna()) == rtts


def test_hops():
    examined = tl.examine("sim:slac-cern", quick=True, history=False)
    hops = examined.hops
    assert hops.column("distance") == [
        hop.distance for trace in examined.document.traces or [] for hop in trace.hops
    ]


def test_pages_and_plots(measured, tmp_path):
    assert measured.html.startswith("<!DOCTYPE html>") or "<html" in measured.html
    assert "iframe" in measured._repr_html_()
    found = tl.plot.plots(measured)
    assert found and all(text.lstrip().startswith("<svg") for text in found.values())
    name = next(iter(found))
    plot = tl.plot.plot(measured, name)
    assert plot._repr_svg_() == plot
    plot.save(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text() == plot
    with pytest.raises(tl.RequestError, match="there is no plot") as unknown:
        tl.plot.plot(measured, "nothing")
    assert name in unknown.value.hint and ".svg" not in name
    told = re.findall(r'plot\(result, "([^"]+)"', tl.plot.__doc__)
    assert {*told} == {"streams"} <= tl.plot.plots(tl.tune("sim:slac-cern", history=False)).keys()
    measured.save(tmp_path / "run.json")
    again = tl.load(tmp_path / "run.json")
    assert again.document == measured.document
    assert json.loads(measured.to_json(brief=True))["streams"][0]["tcp"] == []
    assert measured.csv.count("\n") == 2
    assert "Mbit/s" in measured.text
    with pytest.raises(tl.RunError):
        measured.save("/nowhere/run.json")


def test_plots_are_those_of_the_program(program, tmp_path, measured):
    import subprocess

    measured.save(tmp_path / "run.json")
    subprocess.run(
        [program, "report", str(tmp_path / "run.json"), "--plots", str(tmp_path / "plots")],
        check=True,
        capture_output=True,
    )
    theirs = {one.stem: one.read_text() for one in (tmp_path / "plots").glob("*.svg")}
    ours = tl.plot.plots(measured)
    assert {name: str(text) for name, text in ours.items()} == theirs


def test_documents_say_what_they_lack(measured):
    document = measured.document
    with pytest.raises(AttributeError, match="did you mean `goodput_bits_per_second`"):
        document.goodput_bits_per_secnd
    with pytest.raises(AttributeError, match="there are: ") as unknown:
        document.zzz
    assert str(unknown.value).count("seed,") == 1
    with pytest.raises(AttributeError, match="cannot be changed"):
        document.goodput_bits_per_second = 1
    assert "goodput_bits_per_second" in dir(document)
    assert document["target"].name == document.target.name == "sim:slac-cern"
    assert tl.tune("sim:slac-cern", history=False).document.cut_because is None
    cut = documents.TuneDocument({"cut_because": "it was cancelled"})
    with pytest.raises(AttributeError, match="`cut_because` says why"):
        cut.recommended
    assert "recommended" not in cut
