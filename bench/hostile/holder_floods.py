"""What a holder of a token floods, and what it asks for without end."""

import os
import time

import encoding
from encoding import ALIVE, entry, opening, problem
from holder import broken, holder, refused
from line import Ended, frame
from stage import MIB

# --- floods and places ----------------------------------------------------------------------------------------------------------


def floods():
    yield holder(
        "one folder 600,000 times",
        lambda stage, server, near: flood(near, ("Entries", [entry("f", folder=True)] * 12_000), 50),
        finding="F9",
        long=True,
    )
    yield holder("wants of 256 KiB, sixty times", many_wants, finding="F9")
    yield holder(
        "200,000 files that were left out",
        lambda stage, server, near: flood(near, ("LeftOut", {"name": "x" * 60, "problem": problem("x")}), 200_000, together=1000),
        finding="F9",
    )
    yield holder("messages of nothing", lambda stage, server, near: flood(near, ("Entries", []), 100_000, together=1000))
    yield holder("who reads nothing of what is told", deaf, files=many, memory=200 * MIB)
    yield holder(
        "wildcards with dots, five deep",
        lambda stage, server, near: refused(near, "Get", "*/../*/../*/../*/../*/../nothing*", told=".."),
        rights="r",
        finding="F8",
    )
    yield holder("wildcards that match a thousand ways", wide, files=wide_folders, rights="r", finding="F8")
    yield holder("a wildcard of 4000 stars", lambda stage, server, near: refused(near, "Get", "*" * 4000 + "x"), finding="F8")
    yield holder("braces in braces", lambda stage, server, near: refused(near, "Get", "{a,b}" * 60), finding="F8")
    yield holder("nine idle conversations of one token", idle, finding="F11")
    yield holder(
        "a frame of 4 GiB",
        lambda stage, server, near: (near.control.send(b"\xff" * 4), broken(near, "at most 262144")),
        finding="F17",
    )
    yield holder(
        "an empty frame", lambda stage, server, near: (near.control.send(bytes(4)), broken(near, "0 bytes")), finding="F17"
    )
    yield holder(
        "chance in a frame",
        lambda stage, server, near: (near.control.send(frame(b"\x13" + os.urandom(5000))), broken(near)),
        finding="F17",
    )
    yield holder(
        "a list of 4 billion",
        lambda stage, server, near: (near.control.send(frame(b"\x02\xff\xff\xff\xff\x0f")), broken(near)),
        finding="F17",
    )
    yield holder("bytes that are no TLS behind the hello", no_tls)
    yield holder("silence behind the hello", silence, long=True)


def flood(near, message, count, together=1):
    near.open("Put", "new")
    data = frame(encoding.encode(message)) * together
    try:
        for _ in range(count // together):
            near.control.send(data)
    except Ended:
        pass


def many_wants(stage, server, near):
    near.open("Get", "notes.txt")
    data = frame(encoding.encode(("Wants", [("Nothing", 0)] * 130_000)))
    try:
        for _ in range(60):
            near.control.send(data)
    except Ended:
        pass


def many(stage):
    for number in range(3000):
        stage.write(stage.root / "many" / f"{number:04}-{'x' * 200}", "")


def deaf(stage, server, near):
    """All of a folder is asked for, and nothing of the answer is read."""
    near.open("Get", "many")
    time.sleep(3)


def wide_folders(stage):
    for number in range(12):
        for inner in range(12):
            (stage.root / f"w{number}" / f"v{inner}").mkdir(parents=True)


def wide(stage, server, near):
    near.control.say(opening("Get", "w*/*/nothing*", "*/v*/nothing*"))
    assert near.control.hear("Opened", "Failed")[0]


def idle(stage, server, near):
    """One more than eight is told so, and another token is not harmed."""
    kept = [near, *(server.near() for _ in range(7))]
    for one in kept:
        one.control.say(ALIVE)
    try:
        server.near()
        raise AssertionError("a ninth is taken")
    except Ended as ended:
        assert "no place: 8 copies are connected" in str(ended), ended


def no_tls(stage, server, near):
    near.control.socket.sendall(b"GET / HTTP/1.1\r\n\r\n" * 10)
    assert near.control.is_closed_within(20), "it stays"


def silence(stage, server, near):
    assert near.control.is_closed_within(50), "it stays for ever"


CASES = [*floods()]
