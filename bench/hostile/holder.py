"""A hostile holder of a token to `serve --root`."""

from encoding import entry, opening, problem
from line import Ended
from stage import Case

GROUP = "holder"
DATA = b"what a holder sends\n"
FULL = entry("a", len(DATA))


def furnish(stage):
    root = stage.root
    stage.write(root / "notes.txt", "notes")
    stage.write(root / "folder/inner", "inner")
    for name, to in {
        "out": "../outside",
        "absolute": str(stage.folder / "outside"),
        "proc": "/proc/self/root",
        "dangling": "../not-there",
        "up": "..",
        "file": "../outside/canary",
        "loop": "loop",
    }.items():
        (root / name).symlink_to(to)


def holder(name, play, *, files=furnish, options=(), rights="rw", line="", finding="", memory=None, long=False, umask=0o022):
    """`play(stage, server, near)`; the folder has some files and links that lead out.

    `files(stage)` makes them: before anything is connected, since a silent peer is given up after 15 s.
    """

    def whole(stage):
        files(stage)
        stage.allowed_memory = memory or stage.allowed_memory
        server = stage.serve(*options, rights=rights, token_line=line, umask=umask)
        play(stage, server, server.near())

    return Case(GROUP, name, whole, finding, long)


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
    yield bad("a congestion control with a slash", "Get", "notes.txt", congestion={"name": "../reno", "if_allowed": False})
    yield bad("a wish for one of 100 letters", "Get", "notes.txt", congestion={"name": "x" * 100, "if_allowed": True})
    yield bad("more streams than u16 has", "Get", "notes.txt", streams=1 << 20, told="cannot be read")
    yield bad("an unknown path", "Get", "nothing", told="")
    yield bad("a folder without -r", "Get", "folder", recursive=False, told="")
    yield bad("a pattern that is none", "Get", "[", told="")
    for name in ("a get with a window of an exabyte", "a gentle get of 0 ns", "an objective that is not known"):
        changed = {"window": {"window": 1 << 60}, "gentle": {"gentle": 0}}.get(
            name.split()[1 if "gentle" in name else 4] if "objective" not in name else "", {"objective": "nonsense"}
        )
        yield holder(f"opening: {name}", lambda stage, server, near, changed=changed: opened_or_refused(near, changed))


def opened_or_refused(near, changed):
    near.control.say(opening("Get", "notes.txt", **changed))
    near.control.hear("Opened", "Failed")


def turns():
    """Each message before any opening, and some behind it."""
    piece = {"file": 0, "start": 0, "length": 5}
    every = {
        "Opened": {"session": 1, "fresh": True},
        "Entries": [FULL],
        "EntriesEnd": {"count": 0, "bytes": 0, "linked": 0},
        "Wants": [("Whole", 0)],
        "Received": [piece],
        "Damaged": piece,
        "FileEnds": [0],
        "Published": [{"file": 0, "digest": bytes(32)}],
        "LeftOut": {"name": "x", "problem": problem("x")},
        "Complete": None,
        "Streams": 3,
        "RateMax": 5,
        "Bye": None,
        "ReadBack": {"file": 0, "parts": [], "is_all": True},
    }
    for name, value in every.items():
        yield holder(
            f"{name} before the opening",
            lambda stage, server, near, message=(name, value): (near.control.say(message), broken(near)),
            finding="F17",
        )

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
    yield behind("an end of an unknown file", ("FileEnds", [4]), told="not announced")
    yield behind("a reserved name", ("Entries", [entry(".a.trunkline-part", 5)]), told="temporary file")
    yield behind(
        "a reserved name in a folder",
        ("Entries", [entry("f", folder=True), entry("f/.a.trunkline-journal", 5)]),
        told="temporary file",
    )
    yield behind("a reserved folder", ("Entries", [entry(".a.trunkline-link/x", 5)]), told="temporary file")
    yield behind("a size beyond any file", ("Entries", [entry("a", 1 << 63)]), told="more than a file")
    yield behind(
        "sizes whose sum overflows",
        ("Entries", [entry("a", (1 << 63) - 1), entry("b", (1 << 63) - 1), entry("c", 5)]),
        told="more than a file",
    )
    yield behind("an empty link", ("Entries", [entry("a", link=b"")]), told="does not say where")
    yield behind(
        "a count that is not the sum", ("Entries", [FULL]), ("EntriesEnd", {"count": 9, "bytes": 5, "linked": 0}), told="entries, but"
    )
    for name in (b"..", b"../x", b"/x", b"a/../../x", b"a\0b", b"n" * 256):
        yield behind(
            "the name " + name[:12].decode().replace("\0", "0").replace("/", "|"),
            ("Entries", [entry(name, 5)]),
            told="cannot be read",
        )


CASES = [*openings(), *turns()]
