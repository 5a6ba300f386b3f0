"""Strangers to the tests of a server: iperf3's parameters, and datagrams."""

import json
import os
import socket
import struct

from line import Ended, Line, connect, is_late
from ends import loopback
from strangers import CLOSED, COOKIE, stranger

# --- iperf3 and UDP ----------------------------------------------------------------------------------------------------------------


def tests():
    def asks(name, text, length=None, harmless=False):
        """A test whose parameters are these is refused. What is `harmless` is taken as not said, as iperf3 does."""
        body = text if isinstance(text, bytes) else text.encode()

        def play(stage, server):
            line = Line(connect(server.port))
            line.raw(COOKIE)
            assert line.read(1) == b"\x09", "no parameters are asked for"
            try:
                line.raw(struct.pack(">I", len(body) if length is None else length) + body)
            except Ended:
                return
            assert is_refused(line) or harmless, "it begins"

        return stranger(f"a test with {name}", play)

    whole = {"tcp": True, "time": 1, "parallel": 1, "len": 1000, "client_version": "3.9"}
    change = lambda **changed: json.dumps(whole | changed)
    yield asks("no JSON", "nonsense")
    yield asks("an announced 4 GiB", "x" * 100, length=0xFFFFFFFF)
    yield asks("an announced nothing", "", length=0)
    yield asks("4000 lists in each other", "[" * 4000 + "]" * 4000, harmless=True)
    yield asks("4000 objects in each other", '{"a":' * 1300 + "1" + "}" * 1300, harmless=True)
    yield asks("a billion streams", change(parallel=10**9))
    yield asks("-1 streams", change(parallel=-1))
    yield asks("1e400 seconds", json.dumps(whole).replace('"time": 1', '"time": 1e400'))
    yield asks("a number of 5000 digits", json.dumps(whole).replace('"time": 1', '"time": ' + "9" * 5000))
    yield asks("a week", change(time=604_800))
    yield asks("blocks of 1 TiB", change(len=1 << 40), harmless=True)
    yield asks("a window of 1 TiB", change(window=1 << 40))
    yield asks("a text for a number", change(parallel="many"), harmless=True)
    yield asks("bytes that are no text", b'{"tcp":true,"x":"\xff\xfe"}', harmless=True)
    yield asks("a congestion control of 5000 letters", change(congestion="x" * 5000), harmless=True)
    yield stranger("a test where files alone are served", files_alone, options=["--files-only"], finding="F12")
    yield stranger(
        "a test longer than the owner allows",
        lambda stage, server: refused_test(server, change(time=60)),
        options=["--test-time-max", "5s"],
        finding="F12",
    )
    yield stranger(
        "a test faster than the owner allows",
        lambda stage, server: refused_test(server, change(bandwidth=10**9)),
        options=["--test-rate-max", "1M"],
        finding="F12",
    )
    yield stranger("seventeen tests of one address", seventeen, finding="F12")
    yield stranger(
        "datagrams of chance to the port",
        lambda stage, server: datagrams(server, [os.urandom(length) for length in (0, 1, 4, 16, 64, 512, 1400, 9000)]),
    )
    yield stranger(
        "datagrams of zeros and of a known shape",
        lambda stage, server: datagrams(server, [bytes(32), b"TLe1" + bytes(28), b"TLp" + bytes(29), b"\x39\x38\x37\x36"]),
        finding="F24",
    )
    yield stranger(
        "datagrams where files alone are served",
        lambda stage, server: datagrams(server, [b"\x39\x38\x37\x36", bytes(64)]),
        options=["--files-only"],
    )


def is_refused(line):
    """iperf3's answer to a test that is refused, or none."""
    try:
        return line.some(seconds=40)[:1] in (b"\xff", b"\xfe")
    except Ended as ended:
        return not is_late(ended)


def files_alone(stage, server):
    line = Line(connect(server.port))
    line.raw(COOKIE)
    assert line.is_closed_within(CLOSED)


def refused_test(server, text):
    line = Line(connect(server.port))
    line.raw(COOKIE)
    assert line.read(1) == b"\x09"
    line.raw(struct.pack(">I", len(text)) + text.encode())
    assert line.read(1) in (b"\xfe", b"\xff"), "it begins"


def seventeen(stage, server):
    kept = []
    for number in range(17):
        one = Line(connect(server.port))
        one.raw(COOKIE[:30] + b"%06d" % number + b"\0")
        kept.append((one, one.read(1)))
    assert [answer for _, answer in kept] == [b"\x09"] * 16 + [b"\xff"], "a seventeenth begins"


def datagrams(server, all_of_them):
    host = loopback(server.port)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        one.settimeout(1.5)
        for data in all_of_them:
            one.sendto(data, (host, server.port))
        try:
            answer, _ = one.recvfrom(1 << 16)
        except OSError:
            return
        assert not answer, f"{len(answer)} bytes for a stranger"


CASES = [*tests()]
