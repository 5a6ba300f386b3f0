"""Streams and pieces of a hostile holder of a token."""

import os
import threading
import time

import blake3

import proving
from encoding import ALIVE, entry
from holder import DATA, holder
from line import Ended, Line, is_late, tls_to
from watching import until

# --- streams and pieces ---------------------------------------------------------------------------------------------------------


def streams():
    def is_turned_away(name, greet, **more):
        def play(stage, server, near):
            near.open("Get", "notes.txt")
            line = tls_to(server.port, Line)
            line.send(greet(stage, server, near, line))
            assert line.is_closed_within(20), "it is taken"
            assert near.control.hear("Entries", "Alive", seconds=20)

        return holder(f"a stream {name}", play, **more)

    greeting = proving.greeting
    yield is_turned_away(
        "of another conversation",
        lambda stage, server, near, line: greeting(near.control.session ^ 1, 0, near.session_key, line.exporter()),
    )
    yield is_turned_away(
        "with another key", lambda stage, server, near, line: greeting(near.control.session, 0, bytes(32), line.exporter())
    )
    yield is_turned_away(
        "with the greeting of another connection",
        lambda stage, server, near, line: greeting(near.control.session, 0, near.session_key, bytes(32)),
    )
    yield is_turned_away(
        "with the greeting of no TLS", lambda stage, server, near, line: greeting(near.control.session, 0, near.session_key)
    )
    yield is_turned_away("of an earlier conversation", lambda stage, server, near, line: stale(server, line))
    yield holder("a number used twice", number_twice)
    yield holder("a greeting in the clear that is repeated", plain_twice)
    yield holder("60 streams that stay when the conversation is over", threads_left, finding="F10", long=True)
    yield holder("300 streams of one conversation", many_streams, finding="F10")
    yield holder("two copies that tell nonsense of their streams", nonsense)
    yield holder("a copy beside another one that fixes its number", fixed)
    bounds = "rate=16M streams=2"
    yield holder("a sender that does not keep to its rate", too_fast, line=bounds)
    yield holder("a sender that does not keep to its streams", too_many, line=bounds, long=True)
    yield holder("two copies of a token that bounds them", halves, line=bounds)
    yield holder("one copy more than the streams of a token", waits, line=bounds)

    def bad_piece(name, send, size=1 << 20):
        def play(stage, server, near):
            near.open("Put", "new/", into_folder=True)
            near.control.say(("Entries", [entry("a", size)]), ("EntriesEnd", {"count": 1, "bytes": size, "linked": 0}))
            near.control.hear("Wants")
            line = near.stream()
            line.send(send())
            noticed(line, near)
            assert not (stage.root / "new/a").exists()

        return holder(f"a piece {name}", play)

    yield bad_piece("with a wrong seal", lambda: proving.header(0, 0, 16 << 10) + bytes(16 << 10) + bytes(32))
    yield bad_piece("that is none", lambda: b"PUT / HTTP/1.1\r\n\r\n" + bytes(100))
    yield bad_piece("of nothing", lambda: proving.header(0, 0, 0) + bytes(64))
    yield bad_piece("of 4 GiB", lambda: proving.header(0, 0, (1 << 32) - 1) + bytes(64))
    yield bad_piece("beyond the file", lambda: proving.piece(0, bytes(16 << 10), 1 << 20, 1 << 21))
    yield bad_piece("that ends beyond all numbers", lambda: proving.header(0, (1 << 63) - 5, 10) + bytes(64))
    yield bad_piece("of an unknown file", lambda: proving.piece(7, DATA))
    yield bad_piece("at an odd offset", lambda: proving.header(0, 5, 16 << 10) + bytes((16 << 10) + 32))
    yield bad_piece("that is no subtree", lambda: proving.header(0, 16 << 10, 32 << 10) + bytes((32 << 10) + 32))
    yield bad_piece("packed, that unpacks to 256 MiB", lambda: proving.packed_zeros(0, 256 << 20, 1 << 20))
    yield bad_piece("packed, of 4 MiB", lambda: proving.packed_zeros(0, 4 << 20), size=4 << 20)
    yield bad_piece("packed, that is no Zstandard", lambda: proving.header(0, 0, 1 << 20, 50, b"1") + bytes(82))
    yield bad_piece("of another coding", lambda: proving.header(0, 0, 1 << 20, 50, b"7") + bytes(82))
    yield holder("pieces that overlap", overlapping, finding="F26")
    yield holder("a piece that breaks over one that is right", broken_over_right, finding="F26")
    yield holder("a file ends without its bytes", ends_without)
    yield holder("3 GiB promised and none sent", promised, finding="F15")


def stale(server, line):
    earlier = server.near()
    earlier.open("Get", "notes.txt")
    greeting = proving.greeting(earlier.control.session, 0, earlier.session_key, line.exporter())
    earlier.close()
    time.sleep(1)
    return greeting


def noticed(line, near):
    """The stream is ended, or the piece is complained about."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if line.is_closed_within(0.2):
            return
        try:
            if near.control.hear(seconds=0.2)[0] in ("Damaged", "Failed"):
                return
        except Ended as ended:
            if not is_late(ended):
                return
    raise AssertionError("nobody minds")


def number_twice(stage, server, near):
    near.open("Put", "new")
    near.stream(3)
    assert near.stream(3).is_closed_within(20), "it is taken twice"


def plain_twice(stage, server, near):
    near.open("Put", "new", plain=True)
    greeting = proving.greeting(near.control.session, 5, near.session_key)
    near.stream(plain=True, greet=greeting)
    time.sleep(0.5)
    assert near.stream(plain=True, greet=greeting).is_closed_within(20), "it is taken twice"


def threads_left(stage, server, near):
    """The threads of streams end with their conversation, whoever keeps the connections."""
    before, kept = server.threads(), []
    for _ in range(2):
        one = server.near()
        one.open("Get", "notes.txt")
        kept += [one.stream(number) for number in range(60)]
        one.close()
    until(lambda: server.threads() <= before + 4, 40, f"{before} threads again; {server.threads()} are there")
    until(lambda: server.descriptors() < 60, 30, "descriptors of streams are closed")


def many_streams(stage, server, near):
    near.open("Put", "new")
    kept = []
    try:
        for number in range(300):
            kept.append(near.stream(number))
    except (Ended, OSError):
        pass
    time.sleep(1)
    assert server.threads() < 300, f"{server.threads()} threads"


def begin(near, size, to="new"):
    near.open("Put", to)
    near.control.say(("Entries", [entry("a", size)]), ("EntriesEnd", {"count": 1, "bytes": size, "linked": 0}))
    assert near.control.hear("Wants")[1] == [("Whole", 0)]


def overlapping(stage, server, near):
    """Whatever wins, the file that gets its name has the digest that is told."""
    content = bytes(range(256)) * 256
    begin(near, len(content))
    line = near.stream()
    line.send(
        proving.piece(0, content[: 32 << 10], 0, len(content))
        + proving.piece(0, b"\7" * (16 << 10), 0, len(content))
        + proving.piece(0, content[32 << 10 :], 32 << 10, len(content))
    )
    near.control.say(("FileEnds", [0]))
    try:
        name, value = near.control.hear("Published", "Failed", "Complete", seconds=20)
    except Ended:
        return
    if name == "Published":
        there = (stage.root / "new/a").read_bytes()
        assert blake3.blake3(there).digest() == value[0]["digest"], "what was hashed is not what is there"


def broken_over_right(stage, server, near):
    content = os.urandom(64 << 10)
    begin(near, len(content))
    line = near.stream()
    line.send(proving.piece(0, content[: 32 << 10], 0, len(content)))
    near.control.hear("Received")
    line.send(proving.header(0, 0, 64 << 10) + b"\7" * (50 << 10))
    line.close()
    time.sleep(0.5)
    line = near.stream(1)
    line.send(proving.piece(0, content[32 << 10 :], 32 << 10, len(content)))
    near.control.say(("FileEnds", [0]))
    try:
        near.control.hear("Published", "Damaged", "Failed", seconds=5)
    except Ended:
        pass
    path = stage.root / "new/a"
    assert not path.exists() or path.read_bytes() == content, "other bytes are under its name"


def ends_without(stage, server, near):
    begin(near, 1 << 20)
    near.control.say(("FileEnds", [0]))
    time.sleep(1)
    assert not (stage.root / "new/a").exists()


def promised(stage, server, near):
    """Room for what never comes is given back when the copy ends."""
    begin(near, 3 << 30)
    near.close()

    def is_back():
        return not any(path.stat().st_blocks * 512 > 1 << 20 for path in stage.root.rglob("*") if path.is_file())

    until(is_back, 40, "3 GiB stay reserved")


def part(near, seconds=20):
    """The next part of the streams of all that the server gives to a copy."""
    return near.control.hear("SharedStreams", seconds=seconds)[1]


def left_alone(near):
    """Parts within bounds, and then none."""
    while (count := part(near)) is not None:
        assert 1 <= count <= 128, count


def nonsense(stage, server, near):
    """What a peer says of its streams can be anything; all have 1 to 128 of them together."""
    nears = [near, server.near()]
    for number, one in enumerate(nears):
        one.open("Put", "new", copy=bytes([number]) * 16)
    parts = {}
    for said in ((0, 0, 0.0), ((1 << 16) - 1, (1 << 64) - 1, 1.0), (1, 1, 7.0), (9, None, None)):
        streams, rtt, again = said
        for one in nears:
            one.control.say(("Sending", {"streams": streams, "rate": 1_000_000, "rtt": rtt, "retransmitted": again, "binds": "network", "ecn": None, "marked": None, "limited": None}), ALIVE)
        time.sleep(1.2)
    for number, one in enumerate(nears):
        parts[number] = part(one)
    assert all(1 <= count <= 127 for count in parts.values()) and sum(parts.values()) <= 129, parts
    nears[1].control.close()
    near.control.say(ALIVE)
    left_alone(near)


def bounds_of(near, seconds=20):
    return near.control.hear("ServerBounds", seconds=seconds)[1]


def too_fast(stage, server, near):
    """64 pieces of 1 MiB, which take 30 s at the rate of the token, as fast as they go."""
    near.open("Put", "new")
    assert bounds_of(near) == {"rate": 16_000_000, "streams": 2}
    size = 64 << 20
    near.control.say(("Entries", [entry("a", size)]), ("EntriesEnd", {"count": 1, "bytes": size, "linked": 0}))
    near.control.hear("Wants")
    # Its hashes take seconds where the processor has other work.
    first = proving.piece(0, bytes(1 << 20), 0, size)
    line, came, end = near.stream(), [], time.monotonic() + 8
    sender = threading.Thread(target=flood, args=(line, size, first), daemon=True)
    sender.start()
    while (left := end - time.monotonic()) > 0:
        try:
            came += near.control.hear("Received", seconds=min(left, 1))[1]
        except Ended as ended:
            if not is_late(ended):
                raise
        near.control.say(ALIVE)
    taken = sum(one["length"] for one in came)
    assert taken >> 20 <= 20, f"{taken} bytes in 8 s"
    assert taken, "nothing is taken"


def flood(line, size, first):
    try:
        line.send(first)
        for at in range(1 << 20, size, 1 << 20):
            line.send(proving.piece(0, bytes(1 << 20), at, size))
    except (Ended, OSError):
        pass


def too_many(stage, server, near):
    begin(near, 1 << 20)
    lines = [near.stream(number) for number in range(6)]

    def ended():
        near.control.say(ALIVE)
        return sum(line.is_closed_within(0.1) for line in lines) >= 4

    until(ended, 60, "streams that are too many stay")


def halves(stage, server, near):
    """Both may have as much, and the one that is left has all."""
    other = server.near()
    for number, one in enumerate((near, other)):
        one.open("Put", "new", copy=bytes([number]) * 16)
    assert bounds_of(other) == {"rate": 8_000_000, "streams": 1}
    assert bounds_of(near)["rate"] == 16_000_000
    near.control.say(ALIVE)
    assert bounds_of(near) == {"rate": 8_000_000, "streams": 1}
    other.close()
    near.control.say(ALIVE)
    assert bounds_of(near) == {"rate": 16_000_000, "streams": 2}


def waits(stage, server, near):
    """Each copy has a stream at least, so there are no more copies than streams."""
    other = server.near()
    for number, one in enumerate((near, other)):
        one.open("Put", "new", copy=bytes([number]) * 16)
    try:
        server.near().open("Put", "new", copy=bytes([9]) * 16)
    except Ended as ended:
        assert "2 copies" in str(ended), ended
    else:
        raise AssertionError("it has a place")


def fixed(stage, server, near):
    other = server.near()
    for number, one in enumerate((near, other)):
        one.open("Put", "new", copy=bytes([number]) * 16)
    assert part(other) and part(near), "they share"
    near.control.say(("FixedStreams", 7), ALIVE)
    left_alone(near)
    for count in (0, 65_535):
        near.control.say(("FixedStreams", count), ALIVE)
    assert part(near), "numbers that no copy may have are none"


CASES = [*streams()]
