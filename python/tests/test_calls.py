"""Operations, and what calls have in common."""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import re
import shutil
import subprocess
import sys

import pytest

import trunkline as tl

TOKEN = "tl1-ana-" + "a" * 52


def test_each_operation_gives_its_document():
    kept = tl.measure("sim:slac-cern", streams=8, window="64k")
    assert kept.schema == "trunkline/measure"
    assert kept.kept is not None
    assert kept.document.setting.streams == 8
    assert kept.document.setting.window == 65536
    assert 15e6 < kept.document.goodput_bits_per_second < 45e6
    assert kept.document.command_line == [
        "trunkline.measure('sim:slac-cern', streams=8, window='64k')"
    ]
    tuned = tl.tune("sim:slac-cern", streams_max=16, history=False)
    assert tuned.kept is None
    assert tuned.document.recommended.streams <= 16
    assert tuned.document.recommended.congestion == "bbr"
    assert 1 < tuned.document.own_control.streams <= 16
    assert "trunkline" in tuned.document.settings[0].tool or tuned.document.settings
    predicted = tl.predict("slac-cern", window="64k", streams=[1, 8])
    assert [point.streams for point in predicted.document.points] == [1, 8]
    examined = tl.examine("sim:slac-cern", quick=True)
    assert examined.document.round_trips.min_seconds == pytest.approx(0.165, abs=0.005)
    rpm = tl.responsiveness("sim:slac-cern", ways="forward", duration=15)
    assert rpm.schema == "trunkline/responsiveness"


def test_datagrams_at_a_rate_and_the_highest_rate():
    seen = tl.measure("sim:slac-cern", udp="90M", duration=5)
    assert seen.schema == "trunkline/datagrams"
    forward = seen.document.ways[0]
    assert forward.way == "forward" and 0.45 < forward.loss_ratio < 0.55
    assert forward.streams[0].duplicates == 0
    search = tl.measure("sim:slac-cern", udp="find", duration=5, history=False).document.search
    assert 40e6 < search.found_bits_per_second < 45e6
    assert search.ceiling == "path" and search.tries[-1].carried
    with pytest.raises(tl.RequestError, match="`udp` cannot be used with `window`"):
        tl.measure("sim:slac-cern", udp="90M", window="64k")
    with pytest.raises(tl.RequestError, match="not between"):
        tl.measure("sim:slac-cern", udp=0)
    with pytest.raises(tl.RequestError, match="length=1400"):
        tl.measure("sim:slac-cern", length=1400)


def test_a_grid_is_simulated_on_all_processors():
    grid = tl.simulate(
        "slac-cern", streams=range(1, 5), window=["auto", 65536], seeds=2, duration=5, cache=False
    )
    visits = grid.visits
    assert len(visits) == 8
    assert set(visits.column("streams")) == {1, 2, 3, 4}
    assert set(visits.column("window_bytes")) == {None, 65536}
    one = tl.simulate("slac-cern", streams=3, seeds=2, duration=5, cache=False)
    assert one.streams.column("seed") == [1, 1, 1, 2, 2, 2]
    series = tl.simulate("slac-cern", duration=5, series=0.1, cache=False).series
    assert 40 <= len(series) <= 60


def test_a_setting_is_asked_of_the_fluid_model():
    both = [
        tl.simulate("oc12-100ms", streams=50, window=65536, fluid=fluid, history=False)
        for fluid in (True, False)
    ]
    assert [one.schema for one in both] == ["trunkline/fluid", "trunkline/simulate"]
    model, packets = [one.document.aggregate.goodput_bits_per_second for one in both]
    assert abs(model / packets - 1) < 0.05
    with pytest.raises(tl.RequestError, match="`bytes`"):
        tl.simulate("slac-cern", bytes="1GB", fluid=True)


def test_a_sweep_keeps_its_visits_and_goes_on(tmp_path):
    archive = tmp_path / "archive.sqlite"
    call = tl.sweep.start(
        "sim:slac-cern", streams=[1, 2], cycles=3, duration=5, history=archive
    )
    for event in call:
        if event.kind == "visit-done" and event.number == 2:
            call.cancel()
    try:
        call.result()
    except tl.Cancelled as cut:
        assert "goes on" in cut.hint
        assert 2 <= len(cut.partial.document.cells) <= 6
    swept = tl.sweep(resume=True, history=archive) if call.cancelled else None
    if swept is not None:
        assert len(swept.visits) == 6
        assert None not in swept.visits.column("goodput_bits_per_second")
    with pytest.raises(tl.RequestError, match="keeps every visit"):
        tl.sweep("sim:slac-cern", history=False)


def test_a_sweep_is_simulated_beside(tmp_path):
    archive = tmp_path / "archive.sqlite"
    swept = tl.sweep(
        "sim:lan", streams=[1, 2], cycles=2, duration=2, beside="sim", history=archive
    )
    (beside,) = swept.document.beside
    assert len(beside.settings) == 2 and 0 <= beside.near_ratio <= 1
    assert swept.path_file == beside.path_file
    assert "simulated_bits_per_second" in swept.csv.splitlines()[0]
    again = tl.history(archive)[swept.kept].document
    assert again.beside == swept.document.beside
    with pytest.raises(tl.RequestError, match="possible values: sim"):
        tl.sweep("sim:lan", beside="emu", history=archive)


def test_fit_reads_points(tmp_path):
    points = tmp_path / "points.csv"
    points.write_text("streams,goodput\n1,4M\n2,8M\n4,15M\n8,26M\n16,38M\n32,41M\n")
    fitted = tl.fit(points)
    assert fitted.schema == "trunkline/fit"


def test_the_inferred_path_is_a_path():
    for found in (
        tl.tune("sim:slac-cern", history=False),
        tl.examine("sim:slac-cern", ways="forward", path_file=True, history=False),
    ):
        assert found.path_file == found.document.to_dict().get("path_file")
        path = tl.Path.from_toml(found.path_file)
        assert 0.16 < path.base_rtt_seconds < 0.17
        assert tl.simulate(path, streams=4, duration=5, cache=False).document.runs
    assert tl.examine("sim:slac-cern", quick=True, history=False).path_file is None


# Options of the program that a function needs not: results have methods for what they ask.
OUTPUT = {
    "json",
    "brief",
    "save",
    "report",
    "html",
    "csv",
    "plots",
    "log",
    "log-file",
    "no-history",
    "help",
    "no-cache",
}
OTHERS = {
    "copy": {"archive", "preserve", "verbose", "quiet", "from0"},
    "measure": {"fq-rate"},
    "tune": {"path-file"},
    # What `trunkline.fit` takes.
    "predict": {"fit", "explain"},
}


@pytest.mark.parametrize(
    ("operation", "command"),
    [
        (tl.measure, "measure"),
        (tl.tune, "tune"),
        (tl.sweep, "sweep"),
        (tl.simulate, "simulate"),
        (tl.examine, "path"),
        (tl.responsiveness, "responsiveness"),
        (tl.predict, "predict"),
        (tl.copy, "copy"),
    ],
)
def test_names_are_those_of_the_program(operation, command, program):
    told = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=True)
    flags = set(re.findall(r"^\s+(?:-\w, )?--([a-z0-9-]+)", told.stdout, re.M))
    flags -= OUTPUT | OTHERS.get(command, set())
    takes = {name.rstrip("_").replace("_", "-") for name in inspect.signature(operation).parameters}
    assert flags <= takes, flags - takes
    own = {"target", "path", "places", "on-progress", "history", "token", "cache", "resume"}
    own |= {"password"}
    assert takes - own <= flags, takes - own - flags


def test_a_prediction_says_how_long_data_take_and_which_loss_is_borne():
    plain = tl.predict("slac-cern").document
    assert plain.transfer is None and not plain.acceptable_losses
    asked = tl.predict("slac-cern", bytes="1TB", loss_table=True).document
    assert asked.transfer.bytes == 10**12
    assert asked.acceptable_losses


def test_a_prediction_of_many_flows_has_its_classes():
    asked = tl.predict("oc12-100ms", flows=["800,window=64k", "200,rtt=50ms,congestion=reno"])
    assert [one.flows for one in asked.document.fluid.classes] == [800, 200]
    with pytest.raises(tl.RequestError, match="0.5"):
        tl.predict("slac-cern", flows="10,loss=0.7")


def test_packets_leave_as_they_were_asked_to():
    for given in [{"bind": "192.0.2.7"}, {"ipv6": True}]:
        with pytest.raises(tl.Error) as told:
            tl.measure("127.0.0.1", history=False, **given)
        assert "192.0.2.7" in str(told.value) or "as asked" in str(told.value)
    with pytest.raises(tl.RequestError, match="0 to 63"):
        tl.measure("127.0.0.1", dscp="AF44", history=False)


def test_multipath_tcp_is_refused_where_it_cannot_be():
    with pytest.raises(tl.RequestError, match="a host on the network"):
        tl.measure("sim:slac-cern", mptcp=True, history=False)
    with pytest.raises(tl.RequestError, match="`mptcp` and `pacing`"):
        tl.measure("127.0.0.1", mptcp=True, pacing="1M", history=False)
    with pytest.raises(tl.RequestError, match="gentle"):
        tl.copy("run7", "dtn:/store", mptcp=True, gentle=True, history=False)


def test_defaults_are_those_of_the_program(program):
    """Both make the same document of the same call, but for what differs from run to run."""
    for operation, words in [
        (lambda: tl.measure("sim:slac-cern", history=False), ["measure", "sim:slac-cern"]),
        (lambda: tl.tune("sim:slac-cern", history=False), ["tune", "sim:slac-cern"]),
        (lambda: tl.predict("slac-cern"), ["predict", "slac-cern"]),
        (
            lambda: tl.simulate("slac-cern", cache=False, history=False),
            ["simulate", "slac-cern", "--no-cache"],
        ),
    ]:
        extra = [] if words[0] == "predict" else ["--no-history"]
        run = [program, *words, "--json", *extra]
        printed = subprocess.run(run, capture_output=True, text=True, check=True)
        ours, theirs = operation().document.to_dict(), tl._record.json.loads(printed.stdout)
        for document in (ours, theirs):
            for key in ("created", "command_line", "host", "cost", "cpu", "elapsed_seconds"):
                document.pop(key, None)
            for one in [*document.get("samples", []), *document.get("runs", [])]:
                for key in ("cpu", "elapsed_seconds"):
                    one.pop(key, None)
        assert ours == theirs, words


@pytest.mark.each_python
@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: tl.measure("sim:nowhere"), "neither a named path nor a readable file"),
        (lambda: tl.measure("sim:slac-cern", streams=0), "0 streams are not between 1 and 128"),
        (lambda: tl.measure("sim:slac-cern", duration=0), "is not between 1s and"),
        (lambda: tl.measure("sim:slac-cern", duration=float("nan")), "nan"),
        (lambda: tl.measure("sim:slac-cern", window="1k"), "between 4KiB"),
        (lambda: tl.measure("sim:slac-cern", pacing="12MB"), "`96M"),
        (lambda: tl.measure("sim:slac-cern", reverse=True, bidir=True), "cannot be used with"),
        (lambda: tl.measure("sim:slac-cern", duration=1, bytes=1), "cannot be used with"),
        (lambda: tl.examine("sim:slac-cern", quick=True, path_file=True), "cannot be used with"),
        (lambda: tl.examine("sim:slac-cern", flows=1), "1 is not in 2..=32"),
        (lambda: tl.tune("sim:slac-cern", budget="20"), "neither a time like `20s`"),
        (lambda: tl.tune("sim:slac-cern", loss=0.1), 'objective="gentle"'),
        (lambda: tl.tune("sim:slac-cern", axes=["colour"]), "possible values: streams"),
        (lambda: tl.simulate("slac-cern", variant="westwood"), "known: tahoe"),
        (lambda: tl.simulate("slac-cern", streams="8..1"), "write 1..8"),
        (lambda: tl.sweep(), "needs a target"),
        (lambda: tl.copy("a", "b"), "both ends are on this host"),
        (lambda: tl.copy("a", "trunkline://h/b"), "wants a token"),
        (lambda: tl.copy("a", "h:b", delete=True), "without `recursive=True` none is copied"),
        (lambda: tl.copy(), "was given 0 of them"),
        (lambda: tl.copy("a"), "was given 1 of them"),
        (lambda: tl.copy("a", "trunkline://ana@h/b"), "and give `token_file`"),
        (lambda: tl.measure("sim:slac-cern", duration=-1), "of -1 is below 0"),
        (lambda: tl.measure("sim:slac-cern", duration=True), "True is no time in seconds"),
        (lambda: tl.measure("sim:slac-cern", streams=8.5), "8.5 is no whole number"),
        (lambda: tl.measure("sim:slac-cern", streams=True), "True is no count"),
        (lambda: tl.read_iperf3([]), "there are no files to read"),
        (lambda: tl.load("/nowhere.json"), "cannot read /nowhere.json"),
        (lambda: tl.fit("/nowhere.csv"), "/nowhere.csv"),
        (lambda: tl.history("/nowhere/archive").list(), "nowhere"),
    ],
)
def test_wrong_requests_are_told_with_bound_and_next_step(call, said):
    with pytest.raises(tl.RequestError) as caught:
        call()
    assert said in str(caught.value)
    assert isinstance(caught.value, ValueError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.hint) == (str(caught.value), caught.value.hint)


def test_hints_name_arguments():
    """Not the options of the program that they are there; whole commands stay."""
    for call, says in [
        (lambda: tl.copy("a", "trunkline://h/b"), "name the file that has it with `token_file`"),
        (lambda: tl.load(__file__), "that trunkline wrote with `save`"),
        (lambda: tl.copy("h:a", "g:b", connect="from-far"), "leave out `connect="),
        (lambda: tl.measure("sim:slac-cern", streams="x"), None),
    ]:
        with pytest.raises(tl.Error) as caught:
            call()
        if says is not None:
            assert says in str(caught.value)
        assert "`-" not in str(caught.value), str(caught.value)


def test_a_name_that_is_not_known_now_may_be_known_later():
    for call in (
        lambda: tl.measure("no-such-host.invalid", history=False),
        lambda: tl.examine("no-such-host.invalid", quick=True, history=False),
        lambda: tl.copy("/etc/hostname", "trunkline://no-such-host.invalid/", token=TOKEN),
    ):
        with pytest.raises(tl.RunError) as caught:
            call()
        assert "no-such-host.invalid" in str(caught.value)
        assert not isinstance(caught.value, ValueError)


def test_one_or_several_values_are_taken_alike():
    one, same = (
        tl.tune("sim:slac-cern", axes=axes, streams_max=4, history=False).document.samples
        for axes in ("streams", ["streams"])
    )
    assert [sample.setting for sample in one] == [sample.setting for sample in same]
    eight = tl.measure("sim:slac-cern", streams=8.0, history=False)
    assert eight.document.setting.streams == 8


def test_no_answer_at_the_port_is_a_failed_run():
    with pytest.raises(tl.RunError) as caught:
        tl.measure("127.0.0.1", port=1, history=False)
    assert caught.value.hint


def test_progress_by_callback_and_by_iterator():
    seen = []
    tl.tune("sim:slac-cern", history=False, on_progress=seen.append)
    kinds = [event.kind for event in seen]
    assert kinds.count("sample-started") == kinds.count("sample-done") > 2
    assert "running" in kinds
    call = tl.measure.start("sim:slac-cern", history=False)
    events = list(call)
    assert 1 <= len(events) <= 110
    assert events[-1].at_seconds == pytest.approx(10, abs=0.5)
    assert events[-1].share == pytest.approx(1, abs=0.05)
    assert call.result().document.duration_seconds == pytest.approx(10, abs=0.5)
    assert call.result() is call.result()


def test_what_only_other_programs_have_is_refused_for_a_path():
    for options, says in [
        ({"requests": 4}, "`requests=4` is for another program"),
        ({"block": "1M"}, "is for another program"),
        ({"mover_option": "-nodcau"}, "is for another program"),
    ]:
        with pytest.raises(tl.RequestError, match=says) as refused:
            tl.measure("sim:slac-cern", **options)
        assert "gridftp://HOST/FILE" in refused.value.hint
    with pytest.raises(tl.RequestError, match="is for another program"):
        tl.tune("sim:slac-cern", mover_option=["-nodcau"])
    with pytest.raises(tl.RequestError, match="1..=65535"):
        tl.measure("scp://localhost/file", requests=0)


def imported_with(log):
    """What an interpreter says that imports the package while `TRUNKLINE_LOG` is `log`."""
    environment = {**os.environ, "TRUNKLINE_LOG": log}
    words = [sys.executable, "-c", "import trunkline"]
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60)


def test_the_environment_asks_for_a_log(tmp_path):
    log = tmp_path / "copy.log"
    assert imported_with(f"{log}=info").returncode == 0
    assert "log begins" in log.read_text()
    refused = imported_with("copy.log=loud")
    assert refused.returncode != 0
    assert "TRUNKLINE_LOG: `loud` is no level" in refused.stderr


def test_users_log_in_and_no_document_has_their_password(tmp_path, monkeypatch):
    if not shutil.which("openssl"):
        pytest.skip("`openssl` is not installed")
    for words in ["genrsa -out key.pem 2048", "rsa -in key.pem -pubout -out public.pem"]:
        subprocess.run(["openssl", *words.split()], cwd=tmp_path, check=True, capture_output=True)
    hashed = hashlib.sha256(b"{ana}Ahornweg").hexdigest()
    (tmp_path / "users").write_text(f"ana,{hashed}\n")
    (tmp_path / "users").chmod(0o644)
    given = dict(user="ana", user_key=tmp_path / "public.pem", duration=1, history=False)
    with tl.serve(iperf3_users=tmp_path / "users", iperf3_key=tmp_path / "key.pem") as server:
        seen = tl.measure(server.address, password="Ahornweg", **given)
        assert "user='ana'" in seen.document.command_line[0]
        assert "Ahornweg" not in seen.to_json()
        with pytest.raises(tl.RunError, match="iperf3 error 142"):
            tl.measure(server.address, password="wrong", **given)
        given["history"] = tmp_path / "archive"
        swept = tl.sweep(server.address, streams=1, cycles=1, password="Ahornweg", **given)
        assert swept.document.plan.user.name == "ana"
        assert "Ahornweg" not in swept.to_json()
        assert not any(b"Ahornweg" in file.read_bytes() for file in tmp_path.glob("archive*"))
        again = dict(resume=swept.kept, history=given["history"])
        assert tl.sweep(**again).kept == swept.kept
        with pytest.raises(tl.RequestError, match="logs in as user `ana`"):
            tl.sweep(user="eva", user_key=given["user_key"], **again)
        given["history"] = False
        monkeypatch.delenv("IPERF3_PASSWORD", raising=False)
        with pytest.raises(tl.RequestError, match="no password"):
            tl.measure(server.address, **given)
    with pytest.raises(tl.RequestError, match="on a host, and this target is none"):
        tl.measure("sim:slac-cern", password="Ahornweg", **given)
    with pytest.raises(tl.RequestError, match="go together"):
        tl.measure(server.address, user="ana")
