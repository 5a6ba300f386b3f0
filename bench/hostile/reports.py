"""What a holder of an agent's token may report: names, sizes, dates, versions and floods, and what the pages then show."""

import json
import re
import struct
import time

from collecting import VERSION, collect, visit
from stage import MIB, Case

GROUP = "reports"
TURNED, STEERED = "\u202egpj.exe", "\x1b[2J"
SCRIPT = "<script>alert(1)</script>"


def case(name, play, finding="", long=False):
    """`play(collector, agent)`, after which an honest report is taken and pages are answered and short."""

    def whole(stage):
        collector = collect(stage)
        play(collector, collector.agent())
        assert collector.agent().receipts(visit()) == ["stored"], "an honest visit is not stored"
        pages = ["/", "/events", "/months", "/hosts", "/pair/ana/bob?task=trips"]
        pages += re.findall(r'href="(/visit/[0-9a-f]{32})"', collector.ask(pages[-1])[2])[:3]
        for path in pages:
            status, _, body = collector.ask(path)
            assert status == 200, f"{path}: {status}"
            assert len(body) < 2 * MIB, f"{path} has {len(body)} bytes"
            for bad in "\u202e", "\x1b", SCRIPT:
                assert bad not in body, f"{path} shows {bad!r}"
        assert collector.ask("/metrics")[0] == 200

    return Case(GROUP, name, whole, finding, long)


def alone(name, why, *, finding="", long=False, **changed):
    """One visit among three is refused for this reason, and the others are stored."""

    def play(_, agent):
        bad = changed["bad"]() if "bad" in changed else visit(**changed)
        assert agent.receipts(visit(), bad, visit()) == ["stored", why, "stored"]

    return case(name, play, finding, long)


# --- names ----------------------------------------------------------------------------------------------------------------------------


def names():
    def pair(begin, end):
        return {"from": begin, "to": end}

    yield alone("names: another host's visit", "foreign", pair=pair("bob", "ana"))
    yield alone("names: a host that is none", "foreign", pair=pair("mallory", "ana"))
    yield alone("names: itself", "unnamed", pair=pair("ana", "ana"), finding="F7")
    for bad in SCRIPT, TURNED, "a b", "東", "../..":
        yield alone(f"names: to {bad!a}", "unnamed", pair=pair("ana", bad), finding="F7")
        yield alone(f"names: the task {bad!a}", "unnamed", task=bad, finding="F7")
    for bad in STEERED, "", "x" * 254, 7, None, ["a"], {"a": 1}:
        yield alone(f"names: to {str(bad)[:9]!a}, which is none", "unreadable", pair=pair("ana", bad), finding="F13")
        yield alone(f"names: the task {str(bad)[:9]!a}, which is none", "unreadable", task=bad, finding="F13")

    def invented(collector, agent):
        assert agent.receipts(visit()) == ["stored"]
        told = [one for begin in range(0, 1000, 100) for one in agent.receipts(*(visit(task=f"a{begin + n}") for n in range(100)))]
        assert (told.count("stored"), told.count("unplanned")) == (500, 500), set(told)
        months = re.sub("<[^>]*>", "", collector.ask("/months")[2])
        assert re.search(r"Months of \d+trips, ", months), "the months begin with one of them"

    yield case("names: 1000 tasks of no plan", invented, finding="F7")

    def other(_, agent):
        assert "stands for `ana`" in agent.refusal(hosts=["bob"])

    yield case("names: another agent", other)
    yield case("names: a million times its own", lambda _, agent: agent.report(hosts=["ana"] * 1_000_000), long=True)


# --- texts ----------------------------------------------------------------------------------------------------------------------------


def texts():
    for name, text in ("that turn", TURNED), ("that steer", STEERED), ("of a page", SCRIPT), ("of a megabyte", "x" * MIB):
        failure, route, far = {"reason": text}, {"hash": 1, "hops": [text] * 9}, {"kernel": text}

        def told(collector, agent, failure=failure, route=route, far=far, text=text):
            assert agent.receipts(visit(failure=failure, route=route, far_host=far)) == ["stored"]
            running = {"task": "trips", "to": "bob", "until_unix_seconds": 2**40}
            shown = agent.report(software=text, host={"kernel": text}, running=running)["taken"]["far_hosts"]["ana"]["kernel"]
            status, _, body = collector.ask("/")
            assert status == 200 and len(body) < 100_000, f"{len(body)} bytes"
            assert len(shown) <= 100 and TURNED[0] not in shown, "other agents get it as it was"

        yield case(f"texts: {name}", told, finding="F7")


# --- sizes ----------------------------------------------------------------------------------------------------------------------------


def sizes():
    def large(name, **changed):
        return alone(f"sizes: {name}", "large", finding="F2", **changed)

    yield large("200,000 rates", rates_bits_per_second=[1000] * 200_000)
    yield large("20,000 round trips", round_trips_seconds=[0.1] * 20_000)
    yield large("300 hops", route={"hash": 1, "hops": ["192.0.2.9"] * 300})
    yield large("a document of 9 MiB", document="x" * 9 * MIB)
    yield large("a goodput that no column holds", goodput_bits_per_second=2**64 - 1)

    def many(_, agent):
        assert "201 visits, more than 200" in agent.refusal(*(visit() for _ in range(201)))

    yield case("sizes: 201 visits", many)

    def long_frame(_, agent):
        agent.near.control.send(struct.pack(">I", 17 << 20) + b"x" * 1000)
        assert agent.is_gone(), "it waits for 17 MiB"

    yield case("sizes: a report of 17 MiB", long_frame)

    def largest(collector, agent):
        """As much as is taken, and four who read all of it."""
        trips, rates = [0.1] * 10_000, [1000] * 100_000
        for _ in range(20):
            agent.receipts(*(visit(round_trips_seconds=trips, rates_bits_per_second=rates) for _ in range(10)))
        connections = [collector.connection(b"GET /stream.ndjson?limit=10000 HTTP/1.1\r\nHost: localhost\r\n\r\n") for _ in range(4)]
        collector.still_serves()
        for connection in connections:
            length = len(connection.recv(1 << 16))
            assert length, "no answer"
            connection.close()
        collector.stage.allowed_memory = 400 * MIB

    yield case("sizes: the largest visits, and four readers", largest, finding="F2", long=True)


# --- dates and numbers ----------------------------------------------------------------------------------------------------------------


def numbers():
    now = int(time.time())
    yield alone("dates: 1970", "past", at=7, finding="F7")
    yield alone("dates: two years ago", "past", at=now - 2 * 365 * 86_400, finding="F7")
    yield alone("dates: tomorrow", "future", at=now + 90_000)
    yield alone("dates: the year 100,000", "future", at=3 * 10**12)
    for bad in -5, 2**64, 1e308, "now", None, [1]:
        yield alone(f"dates: {bad!r}"[:40], "unreadable", bad=lambda bad=bad: visit() | {"visit": {"at_unix_seconds": bad, "kind": "ping"}}, finding="F13")
    for key, bad in (("resent_ratio", 2), ("stolen_ratio", -1), ("loaded_rtt_seconds", "x"), ("goodput_bits_per_second", -1),
                     ("round_trips_seconds", "x"), ("probes", {"sent": -1}), ("limit", "moon"),
                     ("kind", "moon"), ("route", 7), ("failure", {"reason": 7})):  # fmt: skip
        yield alone(f"numbers: {key} {bad!r}"[:60], "unreadable", finding="F13", **{key: bad})
    for number, bad in enumerate((7, "x", None, [], {}, [[[[]]]], {"id": "x"})):
        yield alone(f"numbers: a visit that is none, {number}", "unreadable", bad=lambda bad=bad: bad, finding="F13")
    deep = {}
    for _ in range(400):
        deep = {"a": deep}
    yield alone("numbers: a part of no version, 400 deep", "stored", future=deep, finding="F13")
    yield alone("numbers: an identity that is none", "unreadable", id="0" * 31)

    def conflict(_, agent):
        first = visit(goodput_bits_per_second=1000)
        other = json.loads(json.dumps(first))
        other["visit"]["goodput_bits_per_second"] = 2000
        assert agent.receipts(first, first) == ["stored", "known"]
        assert agent.receipts(other, first) == ["conflict", "known"]

    yield case("numbers: two visits of one identity", conflict)

    def clock(_, agent):
        assert "ahead" in agent.refusal(visit(), now_unix_seconds=int(time.time()) + 4000)

    yield case("dates: a clock that is ahead", clock)


# --- reports as a whole ---------------------------------------------------------------------------------------------------------------


def wholes():
    def told(name, body, *words, finding="F13"):
        def play(_, agent):
            answer = agent.say(body if isinstance(body, bytes) else json.dumps(body).encode())
            what = answer["refused"]["what"]
            assert all(word in what for word in words) and len(what) < 500, what
            assert not any(sign in what for sign in (STEERED[0], TURNED[0])), what

        return case(f"whole: {name}", play, finding)

    yield told("a version to come, of other fields", {"version": 999, "results": {}}, "version 999")
    yield told("a version to come", {"version": 999, "visits": "many"}, "version 999")
    yield told("no version", {"software": 7}, "cannot be read")
    yield told("no JSON", b"\xff\xfe", "cannot be read")
    yield told("nothing", b"", "cannot be read")
    yield told("100,000 lists in each other", b"[" * 100_000, "cannot be read")
    yield told("a value that steers", {"version": VERSION, "software": "s", "hosts": [STEERED], "x": TURNED}, "cannot be read")
    yield told("a field of another kind, a megabyte long", {"version": "x" * MIB}, "cannot be read")

    def reads_only(collector, _):
        tokens = collector.stage.folder / "tokens"
        tokens.write_text(tokens.read_text().replace(" rw ", " r "))
        collector.process.send_signal(1)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            answer = collector.agent().report(visit())
            if "refused" in answer:
                assert "results need `w`" in answer["refused"]["what"], answer
                break
            time.sleep(0.1)
        else:
            raise AssertionError("a token that may only read reports")
        tokens.write_text(tokens.read_text().replace(" r ", " rw "))
        collector.process.send_signal(1)
        time.sleep(1)

    yield case("whole: a token that may only read", reads_only)

    def garbage(collector, _):
        for number in range(300):
            collector.agent().say(b"garbage %d" % number)
        lines = collector.said().count("\n")
        assert lines < 60, f"{lines} lines in the log"

    yield case("whole: 300 connections of garbage", garbage, long=True)


# --- two collectors -------------------------------------------------------------------------------------------------------------------


def second(collector, _):
    stage = collector.stage
    words = stage.folder / "watch.toml", "--tokens", stage.folder / "tokens", "--database", stage.folder / "watch.db"
    result = stage.run("watch", "serve", *words, "--port", "0")
    stage.expect(result, code=1, told=("another collector uses", f"process {collector.process.pid} on "))


CASES = [*names(), *texts(), *sizes(), *numbers(), *wholes(), case("two: collectors on one database", second, finding="F12")]
