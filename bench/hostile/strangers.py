"""Strangers without a token: at the port of a server, and at the port of a copy that waits for its far end."""

import os
import socket
import struct
import time

import proving
from holder import furnish
from line import Ended, Line, connect, frame, tls_to
from stage import Case
from talking import hello
from watching import until

GROUP = "stranger"
COOKIE = b"abcdefghijklmnopqrstuvwxyz0123456789\0"
CLOSED = 40


def still_serves(stage, server):
    """An honest user is not harmed."""
    result = stage.copy(f"trunkline://{server.at}/notes.txt", "dst", "--token-file", stage.token_file)
    stage.expect(result, code=0)


def stranger(name, play, *, options=(), finding="", long=False):
    """`play(stage, server)`, and the server serves afterwards as before."""

    def whole(stage):
        furnish(stage)
        server = stage.serve(*options)
        play(stage, server)
        still_serves(stage, server)

    return Case(GROUP, name, whole, finding, long)


def says(name, data, **more):
    """A connection that says this and is closed."""

    def play(stage, server):
        line = Line(connect(server.port))
        line.raw(data)
        assert line.is_closed_within(CLOSED), "it stays open"

    return stranger(name, play, options=["--files-only"], **more)


def tls(name, data, told=None, **more):
    """A TLS connection that says this and is closed, perhaps with a word."""

    def play(stage, server):
        line = tls_to(server.port)
        line.send(data(line) if callable(data) else data)
        if told:
            answer = line.frame()
            assert answer[2:3] == b"R" and told.encode() in answer, answer
        assert line.is_closed_within(CLOSED), "it stays open"

    return stranger(name, play, options=["--files-only"], **more)


def first_bytes():
    yield says("HTTP", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    yield says("a banner of ssh", b"SSH-2.0-OpenSSH_9.2\r\n")
    yield says("zeros", bytes(2000))
    yield says("chance in the shape of TLS", b"\x16\x03\x01\x02\x00" + os.urandom(512))
    yield says("a TLS record of 64 KiB", b"\x16\x03\x01\xff\xff" + bytes(65535))
    yield says("half a hello of TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", long=True)
    yield says("one byte of TLS", b"\x16", long=True)
    yield says("half a greeting in the clear", b"TLs1" + bytes(20), long=True)
    yield says("a greeting of nobody", b"TLs1" + bytes(44))
    yield says("a greeting that begins otherwise", b"TLx1" + bytes(44))
    yield says("a call to an end that called nobody", b"TLr1")
    yield says("a call and more", b"TLr1" + b"x" * 5000)
    yield says("a hello in the clear", frame(hello("ana", bytes(32))))


def hellos():
    yield tls("a hello of an unknown name", frame(hello("nobody", bytes(32))), told="token")
    yield tls("a wrong secret", frame(hello("ana", os.urandom(32))), told="token")
    yield tls("a proof of another connection", lambda line: frame(hello("ana", os.urandom(32))), told="token")
    yield tls("a hello of another version", frame(hello("ana", bytes(32), version=1)), told="version")
    yield tls("a hello of a version to come", frame(hello("ana", bytes(32), version=65535)), told="version")
    yield tls("a hello of the wrong kind", frame(hello("ana", bytes(32), kind=b"F")), told="no hello")
    yield tls("a name of 65 letters", frame(hello("x" * 65, bytes(32))), told="no hello")
    yield tls("an empty name", frame(hello("", bytes(32))), told="no hello")
    yield tls("a name with a slash", frame(hello("../ana", bytes(32))), told="no hello")
    yield tls("a program that steers the log", frame(hello("ana", bytes(32), software="\x1b[2J\u202e")), told="token")
    yield tls("a proof that is cut", frame(hello("ana", bytes(32))[:-5]), told="no hello")
    yield tls("a hello with more behind it", frame(hello("ana", bytes(32)) + b"xx"), told="no hello")
    yield tls("an empty hello", struct.pack(">I", 0))
    yield tls("a hello of 1025 bytes", struct.pack(">I", 1025) + bytes(1025))
    yield tls("a hello of 1 GiB", struct.pack(">I", 1 << 30))
    yield tls("a hello of 1000 bytes of chance", lambda line: frame(os.urandom(1000)), told="no hello")
    yield tls("half a hello", frame(hello("ana", bytes(32)))[:30], long=True)
    yield tls("TLS and no word", b"", long=True)
    yield tls("the greeting of no conversation", lambda line: proving.greeting(7, 0, bytes(32), line.exporter()))
    yield stranger("a hello byte by byte", slow_hello, options=["--files-only"], long=True)
    yield stranger("a hello that is repeated on another connection", replayed_hello, options=["--files-only"])
    yield stranger("what a wrong and an unknown name are told is the same", same_answer, options=["--files-only"])
    yield stranger("TLS 1.2", old_tls, options=["--files-only"])


def slow_hello(stage, server):
    line = tls_to(server.port)
    try:
        for byte in frame(hello("ana", bytes(32))) * 3:
            line.send(bytes([byte]))
            time.sleep(0.3)
    except Ended:
        return
    assert line.is_closed_within(CLOSED)


def replayed_hello(stage, server):
    """A right proof is of its own connection."""
    near = server.near()
    proof = proving.near_proof(near.key, near.control.exporter())
    line = tls_to(server.port)
    line.send(frame(hello("ana", proof)))
    assert line.frame()[2:3] == b"R", "it is let in"


def same_answer(stage, server):
    answers = []
    for name in ("ana", "eve"):
        line = tls_to(server.port)
        line.send(frame(hello(name, bytes(32))))
        answers.append(line.frame().replace(name.encode(), b"?"))
    assert answers[0] == answers[1], answers


def old_tls(stage, server):
    from OpenSSL import SSL

    made = SSL.Context(SSL.TLS_METHOD)
    made.set_max_proto_version(SSL.TLS1_2_VERSION)
    line = Line(connect(server.port), SSL.Connection(made))
    line.tls.set_connect_state()
    try:
        line.shake_hands()
    except Ended:
        return
    raise AssertionError("TLS 1.2 is spoken")


def crowds():
    yield stranger("1200 silent connections", silent_crowd, long=True)
    yield stranger(
        "300 halves of a TLS hello", lambda stage, server: crowd(stage, server, 300, b"\x16\x03\x01\x02\x00\x01"), long=True
    )
    yield stranger("64 held sessions of tests", held_sessions, finding="F12")
    yield stranger("2000 connections that come and go", come_and_go)


def crowd(stage, server, count, data):
    """Who is honest is served meanwhile."""
    kept = [connect(server.port) for _ in range(count)]
    for one in kept:
        try:
            one.sendall(data)
        except OSError:
            pass
    still_serves(stage, server)
    assert server.threads() < 100, f"{server.threads()} threads for strangers"
    for one in kept:
        one.close()


def silent_crowd(stage, server):
    crowd(stage, server, 1200, b"")


def held_sessions(stage, server):
    kept = [connect(server.port) for _ in range(64)]
    for number, one in enumerate(kept):
        one.sendall(COOKIE[:30] + b"%06d" % number + b"\0")
    time.sleep(0.5)
    still_serves(stage, server)
    assert server.threads() < 200


def come_and_go(stage, server):
    for _ in range(2000):
        connect(server.port).close()
    until(lambda: server.descriptors() < 40, 30, "their descriptors are closed")


# --- a copy that waits for its far end ------------------------------------------------------------------------------------------------


def from_far(name, data, **more):
    """A stranger is the first to connect to a copy that waits for its far end."""

    def play(stage):
        source = stage.write(stage.world / "src/notes.txt", "notes")
        ssh = stage.write(
            stage.folder / "ssh",
            FROM_FAR.format(
                program=stage.bench.trunkline, data="".join(f"\\x{byte:02x}" for byte in data), python=os.sys.executable
            ),
            0o755,
        )
        result = stage.copy("--connect", "from-far", "-e", str(ssh), source, f"far:{stage.root}/")
        stage.expect(result, code=0)
        assert (stage.root / "notes.txt").read_text() == "notes"

    return Case(GROUP, f"from-far: {name}", play, "F14", **more)


# In ssh's place: reads where the near end listens, connects there as a stranger and stays, then starts the real far end.
FROM_FAR = """#!/bin/sh
for word; do [ "$word" = -G ] && {{ echo "hostname 127.0.0.1"; exit; }}; last=$word; done
read -r line
port=$(printf %s "$line" | sed 's/.*"port":\\([0-9]*\\).*/\\1/')
{python} -c 'import socket, time
for _ in range(3):
    one = socket.create_connection(("127.0.0.1", '$port'))
    one.sendall(b"{data}")
    globals().setdefault("kept", []).append(one)
time.sleep(20)' >/dev/null 2>&1 </dev/null &
sleep 0.5
(printf '%s\\n' "$line"; cat) | SSH_CONNECTION="127.0.0.1 1 127.0.0.1 22" {program} copy-far
"""


def callers():
    yield from_far("three strangers call and are silent", b"TLr1")
    yield from_far("three strangers are silent", b"")
    yield from_far("three strangers talk HTTP", b"GET / HTTP/1.1\r\n\r\n")
    yield from_far("three strangers call and talk on", b"TLr1" + b"\x16\x03\x03\x00\x7a" + bytes(100))


CASES = [*first_bytes(), *hellos(), *crowds(), *callers()]
