"""A hostile holder of a token to `serve --root`."""

import functools
import os
import stat
import time

import encoding
import proving
import talking
from encoding import ALIVE, entry, opening, problem
from stage import MIB, Case, status, until
from talking import Ended, frame

GROUP = "holder"
DATA = b"what a holder sends\n"
FULL = entry("a", len(DATA))


def holder(name, play, *, options=(), rights="rw", line="", finding="", memory=None, long=False, umask=0o022):
    """`play(stage, server, near)`; the folder has some files and links that lead out."""
    def whole(stage):
        furnish(stage)
        stage.allowed_memory = memory or stage.allowed_memory
        server = stage.serve(*options, rights=rights, token_line=line, umask=umask)
        play(stage, server, server.near())
    return Case(GROUP, name, whole, finding, long)


def furnish(stage):
    root = stage.root
    stage.write(root / "notes.txt", "notes")
    stage.write(root / "folder/inner", "inner")
    for name, to in {"out": "../outside", "absolute": str(stage.folder / "outside"), "proc": "/proc/self/root", "dangling": "../not-there",
                     "up": "..", "file": "../outside/canary", "loop": "loop"}.items():
        (root / name).symlink_to(to)


def refused(near, *words, told="", **changed):
    """The opening is answered with a failure."""
    near.control.say(opening(*words, **changed))
    try:
        answer = near.control.hear("Opened", "Failed")
    except Ended:
        answer = "Failed", problem("closed")
    assert answer[0] == "Failed", f"{words} is opened"
    assert told in answer[1]["what"], f"`{told}` is not in `{answer[1]['what']}`"
    return answer[1]


def broken(near, told=""):
    """The conversation ends with a failure of the server's."""
    answer = near.control.failure(seconds=30)
    assert told in answer["what"], f"`{told}` is not in `{answer['what']}`"
    assert near.control.is_closed_within(30), "and goes on"


def names(near):
    """All that a get is told of, up to the end of entries; and what could not be told of."""
    told, left = [], []
    while True:
        name, value = near.control.hear("Entries", "EntriesEnd", "LeftOut")
        if name == "EntriesEnd":
            return [one["name"].decode() for one in told], left
        told += value if name == "Entries" else []
        left += [value["name"]] if name == "LeftOut" else []


# --- openings ---------------------------------------------------------------------------------------------------------------

def openings():
    def bad(name, *words, told="its ", **changed):
        return holder(f"opening: {name}", lambda stage, server, near: refused(near, *words, told=told, **changed), finding="F17")
    yield bad("a put to nowhere", "Put")
    yield bad("a put to two places", "Put", "a", "b")
    yield bad("a get of nothing", "Get")
    yield bad("a get of 1025 names", "Get", *["a"] * 1025)
    yield bad("a name with a zero byte", "Get", b"a\0b")
    yield bad("a name of 5000 bytes", "Get", "a/" * 2500)
    yield bad("no streams", "Get", "notes.txt", streams=0)
    yield bad("1025 streams", "Get", "notes.txt", streams=1025)
    yield bad("60000 remembered streams", "Get", "notes.txt", remembered=60_000)
    yield bad("no rate at all", "Get", "notes.txt", rate_max=0)
    yield bad("no window at all", "Get", "notes.txt", window=0)
    yield bad("an objective that steers", "Get", "notes.txt", objective="\x1b[2J")
    yield bad("an objective of 100 letters", "Get", "notes.txt", objective="x" * 100)
    yield bad("a congestion control with a slash", "Get", "notes.txt", congestion="../reno")
    yield bad("more streams than u16 has", "Get", "notes.txt", streams=1 << 20, told="cannot be read")
    yield bad("an unknown path", "Get", "nothing", told="")
    yield bad("a folder without -r", "Get", "folder", recursive=False, told="")
    yield bad("a pattern that is none", "Get", "[", told="")
    for name in ("a get with a window of an exabyte", "a gentle get of 0 ns", "an objective that is not known"):
        changed = {"window": {"window": 1 << 60}, "gentle": {"gentle": 0}}.get(name.split()[1 if "gentle" in name else 4] if "objective" not in name else "", {"objective": "nonsense"})
        yield holder(f"opening: {name}", lambda stage, server, near, changed=changed: opened_or_refused(near, changed))


def opened_or_refused(near, changed):
    near.control.say(opening("Get", "notes.txt", **changed))
    near.control.hear("Opened", "Failed")


def turns():
    """Each message before any opening, and some behind it."""
    piece = {"file": 0, "start": 0, "length": 5}
    every = {
        "Opened": {"session": 1, "fresh": True}, "Entries": [FULL], "EntriesEnd": {"count": 0, "bytes": 0}, "Wants": [("Whole", 0)], "Received": [piece], "Damaged": piece,
        "FileEnds": [0], "Published": [{"file": 0, "digest": bytes(32)}], "LeftOut": {"name": "x", "problem": problem("x")}, "Complete": None,
        "Streams": 3, "RateMax": 5, "Bye": None, "ReadBack": {"file": 0, "parts": [], "is_all": True}}
    for name, value in every.items():
        yield holder(f"{name} before the opening", lambda stage, server, near, message=(name, value): (near.control.say(message), broken(near)), finding="F17")

    def behind(name, *messages, told="", way="Put"):
        def play(stage, server, near):
            near.open(way, "new" if way == "Put" else "notes.txt")
            near.control.say(*messages)
            broken(near, told)
        return holder(f"{name} behind the opening", play)
    yield behind("an opening", opening("Put", "x"), told="said before")
    for name in ("Wants", "Received", "Damaged", "Published", "Complete"):
        yield behind(f"{name} of a sender", (name, every[name]), told="for the other end")
    for name in ("Entries", "FileEnds", "Streams"):
        yield behind(f"{name} of a receiver", (name, every[name]), told="for the other end", way="Get")
    yield behind("an end of an unknown file", ("FileEnds", [4]), told="nobody told")
    yield behind("a reserved name", ("Entries", [entry(".a.trunkline-part", 5)]), told="temporary file")
    yield behind("a reserved name in a folder", ("Entries", [entry("f", folder=True), entry("f/.a.trunkline-journal", 5)]), told="temporary file")
    yield behind("a reserved folder", ("Entries", [entry(".a.trunkline-link/x", 5)]), told="temporary file")
    yield behind("a size beyond any file", ("Entries", [entry("a", 1 << 63)]), told="more than a file")
    yield behind("sizes whose sum overflows", ("Entries", [entry("a", (1 << 63) - 1), entry("b", (1 << 63) - 1), entry("c", 5)]), told="more than a file")
    yield behind("an empty link", ("Entries", [entry("a", link=b"")]), told="does not say where")
    yield behind("a count that is not the sum", ("Entries", [FULL]), ("EntriesEnd", {"count": 9, "bytes": 5}), told="is not the number")
    for name in (b"..", b"../x", b"/x", b"a/../../x", b"a\0b", b"n" * 256):
        yield behind("the name " + name[:12].decode().replace("\0", "0").replace("/", "|"), ("Entries", [entry(name, 5)]), told="cannot be read")


# --- what can be reached ------------------------------------------------------------------------------------------------------

def reaches():
    def gets(name, *paths, told=(), **changed):
        def play(stage, server, near):
            near.control.say(opening("Get", *paths, **changed))
            if near.control.hear("Opened", "Failed")[0] == "Failed":
                assert not told
                return
            got, left = names(near)
            assert sorted(got) == sorted(told), f"told of {got}, left out {left}"
        return holder(f"get of {name}", play)
    follow = {"attributes": {"links": False}}
    yield gets("what is there", "notes.txt", told=["notes.txt"])
    yield gets("a folder", "folder", told=["folder", "folder/inner"])
    yield gets("the folder itself from above", "..")
    yield gets("what is above", "../outside/canary")
    yield gets("what is above a folder", "folder/../../outside/canary")
    yield gets("an absolute name", "/etc/passwd")
    yield gets("an absolute name with dots", "/../../etc/passwd")
    yield gets("something through a link out", "out/canary")
    yield gets("something through an absolute link", "absolute/canary")
    yield gets("something through /proc", "proc/etc/passwd")
    yield gets("something through a link up", "up/outside/canary")
    yield gets("a link out followed", "file", **follow)
    yield gets("a folder's link out followed", "out", **follow)
    yield gets("a link that is dangling followed", "dangling", **follow)
    yield gets("a link to itself followed", "loop", **follow)
    yield gets("links as they are", "out", told=["out"])
    yield gets("a wildcard through a link out", "out/*")
    yield gets("a wildcard through /proc", "proc/*/self")
    yield gets("a wildcard with dots", "*/../*/../notes.txt")
    yield gets("a wildcard with dots in front", "../*")
    yield gets("all with links followed", "*", told=["folder", "folder/inner", "notes.txt"], **follow)

    def puts(name, to, *entries, **changed):
        def play(stage, server, near):
            try:
                near.open("Put", to, **changed)
                near.put(list(entries or [FULL]), {number: DATA for number, one in enumerate(entries or [FULL]) if one["kind"][0] == "File"})
                near.control.hear("Complete", seconds=20)
            except Ended:
                pass
            before = {"notes.txt", "folder", "out", "absolute", "proc", "dangling", "up", "file", "loop"}
            assert not os.path.lexists(stage.folder / "not-there"), "something came through a dangling link"
            leaves = {path.name for path in stage.root.iterdir()} - before
            assert all(not (stage.root / name).is_symlink() or name in ("l", "m") for name in leaves), leaves
        return holder(f"put {name}", play)
    for to in ("..", "../outside", "out", "absolute", "proc", "up", "dangling", "out/x", "/etc", "folder/../../outside", "file", "notes.txt/x"):
        yield puts(f"to {to.replace('/', '|')}", to)
        if to in ("out", "file", "dangling"):
            yield puts(f"one file to {to}", to, into_folder=False)
    yield puts("a file through a link that is there", "", entry("out/canary", len(DATA)))
    yield puts("a file in place of a link out", "", entry("file", len(DATA)))
    yield puts("a link and a file through it", "", entry("l", link=b"../outside"), entry("l/canary", len(DATA)))
    yield puts("a link, a folder of its name and a file", "", entry("l", link=b"../outside"), entry("l", folder=True), entry("l/canary", len(DATA)))
    yield puts("a folder, a link in its place and a file", "", entry("m", folder=True), entry("m", link=b"../outside"), entry("m/canary", len(DATA)))
    yield puts("a folder where a link out is", "", entry("out", folder=True, mode=0o777), entry("out/new", len(DATA)))


# --- rights, modes, links -------------------------------------------------------------------------------------------------------

def rights():
    put = functools.partial(holder)
    yield holder("a token that may only read puts", lambda stage, server, near: refused(near, "Put", "x"), rights="r")
    yield holder("a token that may only write gets", lambda stage, server, near: refused(near, "Get", "notes.txt"), rights="w")
    yield holder("a server that is only read takes nothing", lambda stage, server, near: refused(near, "Put", "x"), options=["--read-only"])
    yield holder("a server that is only written gives nothing", lambda stage, server, near: refused(near, "Get", "notes.txt"), options=["--write-only"])
    yield holder("a token bound to a folder gets what is beside it", lambda stage, server, near: refused(near, "Get", "../notes.txt"), line="root=folder", finding="F11")
    yield holder("a token bound to a folder puts beside it", lambda stage, server, near: refused(near, "Put", "../x"), line="root=folder", finding="F11")
    yield holder("a token bound to a link out", lambda stage, server, near: refused(near, "Get", "canary"), line="root=out", finding="F11")
    yield holder("a token bound to a folder gets what is in it", lambda stage, server, near: near.open("Get", "inner"), line="root=folder", finding="F11")
    yield holder("the mode of the served folder", root_mode, finding="F13")
    yield holder("modes against the mask", masked_modes, finding="F13", umask=0o027)
    yield holder("a mode of a file that may not be read", unread_mode, rights="w", finding="F13")
    yield holder("set-id and sticky bits", set_id)
    yield holder("links where none are taken", no_links, options=["--no-links"], finding="F26")
    yield holder("in the clear where that is not taken", lambda stage, server, near: refused(near, "Get", "notes.txt", plain=True, told="--no-plain"), options=["--no-plain"], finding="F26")
    yield holder("a stream in the clear that was not agreed on", unagreed_plain)


def finish(near):
    """The sender's half of an honest end."""
    near.control.hear("Complete")
    near.control.say(("Bye", None))


def mode_of(path):
    return stat.S_IMODE(path.lstat().st_mode)


def root_mode(stage, server, near):
    before = stage.root.stat()
    near.open("Put", "")
    near.put([entry("", folder=True, mode=0o777, modified=0), FULL], {1: DATA})
    finish(near)
    after = stage.root.stat()
    assert mode_of(stage.root) == stat.S_IMODE(before.st_mode), oct(after.st_mode)
    assert after.st_mtime != 0, "its time was set"


def masked_modes(stage, server, near):
    near.open("Put", "new")
    near.put([entry("", folder=True, mode=0o777), entry("f", folder=True, mode=0o777), entry("f/x", len(DATA), mode=0o777), entry("y", len(DATA), mode=0o666)], {2: DATA, 3: DATA})
    finish(near)
    for name, mode in {"new": 0o750, "new/f": 0o750, "new/f/x": 0o750, "new/y": 0o640}.items():
        assert mode_of(stage.root / name) == mode, f"{name} has {oct(mode_of(stage.root / name))}"


def unread_mode(stage, server, near):
    path = stage.write(stage.root / "secret", "12345", 0o600)
    os.utime(path, ns=(10**18, 10**18))
    near.open("Put", "")
    near.put([entry("secret", 5, mode=0o666, modified=10**18)], {})
    assert mode_of(path) == 0o600, oct(mode_of(path))


def set_id(stage, server, near):
    near.open("Put", "new")
    near.put([entry("", folder=True, mode=0o1755), entry("suid", len(DATA), mode=0o6755), entry("f", folder=True, mode=0o7755)], {1: DATA})
    finish(near)
    assert mode_of(stage.root / "new/suid") == 0o755 and mode_of(stage.root / "new/f") & 0o6000 == 0


def no_links(stage, server, near):
    near.open("Put", "new")
    near.control.say(("Entries", [entry("l", link=b"/etc/passwd")]), ("EntriesEnd", {"count": 1, "bytes": 0}))
    assert "takes none" in near.control.hear("Failed")[1]["what"]
    assert not os.path.lexists(stage.root / "new/l")


def unagreed_plain(stage, server, near):
    near.open("Put", "new")
    assert near.stream(0, plain=True).is_closed_within(20), "it is taken"


# --- streams and pieces ---------------------------------------------------------------------------------------------------------

def streams():
    def is_turned_away(name, greet, **more):
        def play(stage, server, near):
            near.open("Get", "notes.txt")
            line = talking.tls_to(server.port, talking.Line)
            line.send(greet(stage, server, near, line))
            assert line.is_closed_within(20), "it is taken"
            assert near.control.hear("Entries", "Alive", seconds=20)
        return holder(f"a stream {name}", play, **more)
    greeting = proving.greeting
    yield is_turned_away("of another conversation", lambda stage, server, near, line: greeting(near.control.session ^ 1, 0, near.session_key, line.exporter()))
    yield is_turned_away("with another key", lambda stage, server, near, line: greeting(near.control.session, 0, bytes(32), line.exporter()))
    yield is_turned_away("with the greeting of another connection", lambda stage, server, near, line: greeting(near.control.session, 0, near.session_key, bytes(32)))
    yield is_turned_away("with the greeting of no TLS", lambda stage, server, near, line: greeting(near.control.session, 0, near.session_key))
    yield is_turned_away("of an earlier conversation", lambda stage, server, near, line: stale(server, line))
    yield holder("a number used twice", number_twice)
    yield holder("a greeting in the clear that is repeated", plain_twice)
    yield holder("60 streams that stay when the conversation is over", threads_left, finding="F10", long=True)
    yield holder("300 streams of one conversation", many_streams, finding="F10")

    def bad_piece(name, send, size=1 << 20):
        def play(stage, server, near):
            near.open("Put", "new/", into_folder=True)
            near.control.say(("Entries", [entry("a", size)]), ("EntriesEnd", {"count": 1, "bytes": size}))
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
            if not talking.is_late(ended):
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
    near.control.say(("Entries", [entry("a", size)]), ("EntriesEnd", {"count": 1, "bytes": size}))
    assert near.control.hear("Wants")[1] == [("Whole", 0)]


def overlapping(stage, server, near):
    """Whatever wins, the file that gets its name has the digest that is told."""
    import blake3
    content = bytes(range(256)) * 256
    begin(near, len(content))
    line = near.stream()
    line.send(proving.piece(0, content[:32 << 10], 0, len(content)) + proving.piece(0, b"\7" * (16 << 10), 0, len(content)) + proving.piece(0, content[32 << 10:], 32 << 10, len(content)))
    near.control.say(("FileEnds", [0]))
    try:
        name, value = near.control.hear("Published", "Failed", "Complete", seconds=20)
    except Ended:
        return
    if name == "Published":
        there = (stage.root / "new/a").read_bytes()
        assert blake3.blake3(there).digest() == value[0]["digest"], "what was hashed is not what is there"


def broken_over_right(stage, server, near):
    import blake3
    content = os.urandom(64 << 10)
    begin(near, len(content))
    line = near.stream()
    line.send(proving.piece(0, content[:32 << 10], 0, len(content)))
    near.control.hear("Received")
    line.send(proving.header(0, 0, 64 << 10) + b"\7" * (50 << 10))
    line.close()
    time.sleep(0.5)
    line = near.stream(1)
    line.send(proving.piece(0, content[32 << 10:], 32 << 10, len(content)))
    near.control.say(("FileEnds", [0]))
    try:
        name, value = near.control.hear("Published", "Damaged", "Failed", seconds=20)
    except Ended:
        name = "Ended"
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


# --- floods and places ----------------------------------------------------------------------------------------------------------

def floods():
    yield holder("one folder 600,000 times", lambda stage, server, near: flood(near, ("Entries", [entry("f", folder=True)] * 12_000), 50), finding="F9", long=True)
    yield holder("wants of 256 KiB, sixty times", many_wants, finding="F9")
    yield holder("200,000 files that were left out", lambda stage, server, near: flood(near, ("LeftOut", {"name": "x" * 60, "problem": problem("x")}), 200_000, together=1000), finding="F9")
    yield holder("messages of nothing", lambda stage, server, near: flood(near, ("Entries", []), 100_000, together=1000))
    yield holder("who reads nothing of what is told", deaf, memory=200 * MIB)
    yield holder("wildcards with dots, five deep", lambda stage, server, near: refused(near, "Get", "*/../*/../*/../*/../*/../nothing*", told=".."), rights="r", finding="F8")
    yield holder("wildcards that match a thousand ways", wide, rights="r", finding="F8")
    yield holder("a wildcard of 4000 stars", lambda stage, server, near: refused(near, "Get", "*" * 4000 + "x"), finding="F8")
    yield holder("braces in braces", lambda stage, server, near: refused(near, "Get", "{a,b}" * 60), finding="F8")
    yield holder("nine idle conversations of one token", idle, finding="F11")
    yield holder("a frame of 4 GiB", lambda stage, server, near: (near.control.send(b"\xff" * 4), broken(near, "at most 262144")), finding="F17")
    yield holder("an empty frame", lambda stage, server, near: (near.control.send(bytes(4)), broken(near, "0 bytes")), finding="F17")
    yield holder("chance in a frame", lambda stage, server, near: (near.control.send(frame(b"\x13" + os.urandom(5000))), broken(near)), finding="F17")
    yield holder("a list of 4 billion", lambda stage, server, near: (near.control.send(frame(b"\x02\xff\xff\xff\xff\x0f")), broken(near)), finding="F17")
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


def deaf(stage, server, near):
    """All of a folder is asked for, and nothing of the answer is read."""
    for number in range(3000):
        stage.write(stage.root / "many" / f"{number:04}-{'x' * 200}", "")
    near.open("Get", "many")
    time.sleep(3)


def wide(stage, server, near):
    for number in range(12):
        for inner in range(12):
            (stage.root / f"w{number}" / f"v{inner}").mkdir(parents=True)
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
        assert "refused" in str(ended), ended


def no_tls(stage, server, near):
    near.control.socket.sendall(b"GET / HTTP/1.1\r\n\r\n" * 10)
    assert near.control.is_closed_within(20), "it stays"


def silence(stage, server, near):
    assert near.control.is_closed_within(50), "it stays for ever"


CASES = [*openings(), *turns(), *reaches(), *rights(), *streams(), *floods()]
