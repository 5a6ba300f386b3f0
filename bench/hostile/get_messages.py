"""What a hostile far end says and sends to a `copy` that takes files from it."""

import functools
import os
import struct
import time

import encoding
import proving
from encoding import entry, problem
from get import DATA, NOTES, drain, get, says
from line import Ended, frame, is_late

# --- bytes that are no messages -------------------------------------------------------------------------------------------------


def undecodable():
    broken = functools.partial(get, finding="F17", only_one_visit=True)
    yield broken("a message of an unknown kind", says(frame(b"\x7f")), told="cannot be read")
    yield broken("a byte behind a message", says(frame(encoding.encode(("Streams", 1)) + b"\0")), told="1 bytes too many")
    yield broken("an empty frame", says(struct.pack(">I", 0)), told="a message of 0 bytes")
    yield broken("a frame of 256 KiB and a byte", says(struct.pack(">I", (256 << 10) + 1)), told="at most 262144")
    yield broken("a frame of 4 GiB", says(b"\xff" * 4 + b"x" * 1000), told="at most 262144")
    yield broken("a list of 4 billion", says(frame(b"\x04\xff\xff\xff\xff\x0f")), told="cannot be read")
    yield broken("a number that never ends", says(frame(b"\x0c" + b"\xff" * 200)), told="cannot be read")
    yield broken("a text that is none", says(frame(b"\x0a\x02\xff\xfe\x00\x00\x00\x00")), told="cannot be read")
    yield broken("an unknown kind of entry", says(frame(b"\x02\x01\x01a\x07")), told="cannot be read")
    yield broken("256 KiB of chance", says(frame(os.urandom(256 << 10))), told="peer sent a message")


# --- messages out of turn -----------------------------------------------------------------------------------------------------


def turns():
    told = functools.partial(get, only_one_visit=True)
    wanted, piece = ("Entries", [NOTES]), {"file": 0, "start": 0, "length": 5}
    for name, message in {"Opened twice": ("Opened", {"session": 7, "fresh": False})}.items():
        yield told(f"{name}", says(message), told="said before")
    yield told("an opening of a far end", says(encoding.opening("Get", "x")), told="for the other end to say")
    receivers = {
        "Wants": ("Wants", [("Nothing", 0)]),
        "Received": ("Received", [piece]),
        "Damaged": ("Damaged", piece),
        "Complete": ("Complete", None),
        "Published": ("Published", [{"file": 0, "digest": bytes(32)}]),
        "ReadBack": ("ReadBack", {"file": 0, "parts": [], "is_all": True}),
    }
    for name, message in receivers.items():
        yield told(f"{name} of a sender", says(wanted, message), told="for the other end to say")
    yield told("RateMax of a far end", says(("RateMax", 1)), told="for the other end to say")
    yield told("FixedStreams of a far end", says(("FixedStreams", 1)), told="for the other end to say")
    bounds = "ServerBounds", {"rate": 1, "streams": 1}
    yield told("ServerBounds of a sender", says(bounds), told="for the other end to say")
    yield told("SharedStreams of a sender", says(("SharedStreams", 1)), told="for the other end to say")
    yield told("Bye before the end", says(("Bye", None)), told="still to be done")
    yield told("entries before the opening is answered", says(wanted, opened=False), told="not open yet")
    yield told("no streams", says(("Streams", 0)), told="streams are not between")
    yield told("1025 streams", says(("Streams", 1025)), told="streams are not between")
    yield told("the end of an unknown file", says(("FileEnds", [0])), told="that file was not announced")
    yield told("a failure of an unknown file", says(("Failed", problem("x", file=9))), told="that file was not announced")
    yield told("a failure of all", says(("Failed", problem("no \x1b[31mroom\u202e"))), told="room")
    yield told(
        "a failure instead of an answer",
        says(("Failed", problem("go away", hint="or stay")), opened=False),
        told=["go away", "or stay"],
    )
    yield told("the user there ended it", says(("Cancel", None)), code=75)


# --- pieces -------------------------------------------------------------------------------------------------------------------


def streams(send, size=len(DATA)):
    """A far end whose stream carries what `send()` gives."""

    def script(stage, far, control):
        control.hear("Open")
        control.say(
            ("Opened", {"session": 7, "fresh": False}),
            ("Entries", [entry("notes.txt", size)]),
            ("EntriesEnd", {"count": 1, "bytes": size, "linked": 0}),
            ("Streams", 1),
        )
        control.hear("Wants")
        answer(far, control, send)

    return script


def answer(far, control, send):
    """Twice what has to be complained about, or end its stream; and then no more."""
    stream = None
    for _ in range(2):
        stream = stream or asked_stream(far, control)
        try:
            stream.send(send())
        except Ended:
            pass
        how = notice(stream, control)
        if how is None:
            far.errors.append("a piece that cannot be was taken")
        stream = stream if how == "Damaged" else None
        control.say(("Streams", 1))
    control.say(("Failed", problem("that was it", kind="Cancelled")))
    drain(control)


def asked_stream(far, control):
    """A stream; asked for again, since an end that has not seen yet that its stream is gone makes no other."""
    for _ in range(4):
        try:
            return far.stream(seconds=3)
        except Ended:
            control.say(("Streams", 1))
    raise Ended("timed out: no stream came")


def notice(stream, control):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if stream.is_closed_within(0.1):
            return "closed"
        try:
            if control.hear(seconds=0.3)[0] == "Damaged":
                return "Damaged"
        except Ended as end:
            if not is_late(end):
                raise
    return None


def wrong_seal():
    right = proving.piece(0, DATA)
    return right[:-1] + bytes([right[-1] ^ 1])


def other_content():
    head = proving.header(0, 0, len(DATA))
    return head + DATA[::-1] + proving.seal(head, proving.hash_of(DATA, 0, len(DATA)))


def ends_first(stage, far, control):
    control.hear("Open")
    control.say(
        ("Opened", {"session": 7, "fresh": False}),
        ("Entries", [NOTES]),
        ("EntriesEnd", {"count": 1, "bytes": len(DATA), "linked": 0}),
        ("Streams", 1),
    )
    control.hear("Wants")
    control.say(("FileEnds", [0]), ("FileEnds", [0]))
    drain(control)


def thousand_streams(stage, far, control):
    control.hear("Open")
    control.say(("Opened", {"session": 7, "fresh": False}), ("Streams", 1024))
    time.sleep(2)
    control.say(("Failed", problem("that was it", kind="Cancelled")))
    drain(control)


def gives_packed(stage, far, control):
    control.hear("Open")
    control.say(
        ("Opened", {"session": 7, "fresh": False}),
        ("Entries", [entry("notes.txt", 1 << 20)]),
        ("EntriesEnd", {"count": 1, "bytes": 1 << 20, "linked": 0}),
        ("Streams", 1),
    )
    control.hear("Wants")
    far.stream().send(proving.packed_zeros(0, 1 << 20))
    control.say(("FileEnds", [0]))
    drain(control)


def pieces():
    never = functools.partial(get, code=1, told="that was it")
    yield never("a seal that is wrong each time", streams(wrong_seal), finding="F5")
    yield never("other bytes under a right seal", streams(other_content))
    yield never("a header that is none", streams(lambda: b"GET / HTTP/1.1\r\n\r\n" + bytes(64)))
    yield never("a piece of nothing", streams(lambda: proving.header(0, 0, 0) + bytes(32)))
    yield never("a piece of 4 GiB", streams(lambda: proving.header(0, 0, (1 << 32) - 1) + bytes(4096)))
    yield never("a piece beyond the file", streams(lambda: proving.piece(0, bytes(64), 1 << 20, 1 << 21)))
    yield never("a piece beyond any file", streams(lambda: proving.header(0, (1 << 64) - 1, 5) + bytes(37)))
    yield never("a piece of an unknown file", streams(lambda: proving.piece(9, DATA)))
    yield never("two lengths that differ", streams(lambda: proving.header(0, 0, 13, 12) + bytes(64)))
    yield never("a packed piece of 4 MiB", streams(lambda: proving.packed_zeros(0, 4 << 20), size=4 << 20))
    yield never(
        "a packed piece that unpacks to 256 MiB", streams(lambda: proving.packed_zeros(0, 256 << 20, 1 << 20), size=1 << 20)
    )
    yield never("a packed piece that unpacks to less", streams(lambda: proving.packed_zeros(0, 100, 1 << 20), size=1 << 20))
    yield never(
        "a packed piece that is no Zstandard", streams(lambda: proving.header(0, 0, 1 << 20, 100, b"1") + bytes(132), size=1 << 20)
    )
    yield get("a packed piece that is right", gives_packed, code=0, came=["dst/notes.txt"])
    yield get("a file that ends twice", ends_first, told="not read to its end")
    yield get("1024 streams are asked for", thousand_streams, code=1, told="that was it", finding="F10")


CASES = [*undecodable(), *turns(), *pieces()]
