"""A hostile server, or a hostile far host, to a `copy` that takes files from it."""

import functools

import encoding
import talking
from encoding import entry, problem
from line import WAIT, frame
from stage import Case
from talking import give

GROUP = "get"
DATA = b"hello, world\n"
NOTES = entry("notes.txt", len(DATA))
PROTOCOL = "the far end"


def heard(script):
    """A script that begins behind the opening."""

    def play(stage, far, control):
        control.hear("Open")
        script(stage, far, control)

    return play


def offers(*entries, contents=None, before=(), after=()):
    """A far end that tells of these and gives whatever is wanted of them."""

    def script(stage, far, control):
        control.hear("Open")
        given = contents or {number: DATA for number, one in enumerate(entries) if one["kind"][0] == "File"}
        give(far, control, list(entries), given)
        control.say(*after)
        drain(control)

    return script


def says(*messages, opened=True):
    """A far end that says these, one behind the other; bytes are frames as they are."""

    def script(stage, far, control):
        control.hear("Open")
        if opened:
            control.say(("Opened", {"session": 7, "fresh": False}))
        for message in messages:
            control.send(message) if isinstance(message, bytes) else control.say(message)
        drain(control)

    return script


def drain(control):
    """Hears until the other end closes."""
    while True:
        control.hear()


def get(
    name,
    script,
    *,
    asks="notes.txt",
    options=(),
    to="dst",
    code=1,
    told=(),
    came=(),
    finding="",
    memory=None,
    far=None,
    long=False,
    only_one_visit=False,
):
    """One case of the table: what the far end does, what the user asked for, and what has to come of it."""

    def play(stage):
        one = stage.far(lambda control: script(stage, one, control), kind=far or talking.Far)
        stage.allowed_memory = memory or stage.allowed_memory
        result = stage.get(one, asks, *options, to=to)
        stage.expect(result, code=code, told=told)
        stage.expect_world(*came)
        if only_one_visit:
            assert one.visits == 1, f"it came {one.visits} times"

    return Case(GROUP, name, play, finding, long)


def wait(connection):
    """Until the other end has enough."""
    connection.settimeout(WAIT)
    try:
        while connection.recv(1 << 16):
            pass
    except OSError:
        pass


# --- names -------------------------------------------------------------------------------------------------------------------


def names():
    alone = functools.partial(get, finding="F1", only_one_visit=True)
    folders = functools.partial(alone, asks="run7", options=["-r"])
    folder = functools.partial(entry, folder=True, mode=0o777)
    yield get("an honest far end gives what was asked for", offers(NOTES), code=0, came=["dst/notes.txt"])
    yield get(
        "an honest folder",
        offers(folder("run7", mode=0o755), entry("run7/a", len(DATA))),
        asks="run7",
        options=["-r"],
        code=0,
        came=["dst/run7"],
    )
    for name in (".bashrc", "thesis.tex", "notes.txt.exe", "notes"):
        yield alone(f"a file `{name}` instead", offers(entry(name, len(DATA))), told=f"told of `{name}`")
    yield alone(
        "a file beside the one asked for",
        offers(NOTES, entry(".bashrc", len(DATA))),
        told="told of `.bashrc`",
        came=["dst/notes.txt"],
    )
    yield alone("a file without a name", offers(entry("", len(DATA))), told="without a name")
    yield alone("the destination itself as a folder open to all", offers(folder("")), told="no folders were asked for")
    yield alone("a folder instead", offers(folder(".ssh")), told="no folders were asked for")
    yield alone("a folder of that name", offers(folder("notes.txt")), told="no folders were asked for")
    yield alone("a file in a folder", offers(entry(".ssh/authorized_keys", len(DATA))), told="no folders were asked for")
    yield alone("a file below the name", offers(entry("notes.txt/x", len(DATA))), told="no folders were asked for")
    yield alone("a link with -L", offers(entry("notes.txt", link=b"/etc/passwd")), options=["-L"], told="links were not asked for")
    yield alone(
        "a link in a folder with -L",
        offers(folder("run7"), entry("run7/l", link=b"..")),
        asks="run7",
        options=["-r", "-L"],
        told="links were not asked for",
        came=["dst/run7"],
    )
    yield folders(
        "a file beside the folder", offers(folder("run7"), entry(".profile", len(DATA))), told="`.profile`", came=["dst/run7"]
    )
    yield folders("another folder", offers(folder("run70")), told="`run70`")
    yield folders("the destination of a named folder", offers(folder("")), told="not asked for")
    yield alone("a name that the wildcard is not for", offers(entry("a.exe", len(DATA))), asks="*.txt", told="`a.exe`")
    yield alone("a hidden name for a wildcard", offers(entry(".x.txt", len(DATA))), asks="*.txt", told="`.x.txt`")
    yield alone("a folder for a wildcard", offers(folder("a.txt")), asks="*.txt", told="no folders")
    yield get(
        "a destination of one new name and another name for it",
        offers(entry("evil", len(DATA))),
        to="new",
        told="`evil`",
        finding="F1",
    )
    yield get(
        "a link and a file through it",
        offers(folder("run7"), entry("run7/out", link=b"../../.."), entry("run7/out/canary", len(DATA))),
        asks="run7",
        options=["-r"],
        code=1,
        came=["dst/run7"],
        finding="F1",
    )
    yield get(
        "a link where a folder is and a file through it",
        offers(folder("run7"), entry("run7/a", link=b"/tmp"), folder("run7/a"), entry("run7/a/x", len(DATA))),
        asks="run7",
        options=["-r"],
        code=1,
        came=["dst/run7"],
    )
    for name in (".big.trunkline-part", ".big.trunkline-journal", ".big.trunkline-link"):
        yield get(
            f"a name of a temporary file {name}",
            offers(folder("run7"), entry("run7/" + name, len(DATA))),
            asks="run7",
            options=["-r"],
            told="temporary file",
            came=["dst/run7"],
            finding="F3",
        )
    for name in (
        b"..",
        b"../x",
        b"a/../../x",
        b"/etc/cron.d/x",
        b"run7/.",
        b"run7//x",
        b"run7/",
        b".",
        b"run7/a\0b",
        b"n" * 256,
        b"a/" * 2048 + b"a",
    ):
        shown = name[:14].decode().replace("\0", "0").replace("/", "|")
        yield get(
            f"an impossible name {shown}",
            says(("Entries", [entry(name, 5)])),
            asks="run7",
            options=["-r"],
            told="cannot be read",
            finding="F17",
            only_one_visit=True,
        )
    yield get(
        "names that steer a terminal are escaped in the refusal",
        offers(entry("\x1b[2J\u202egnp.exe", 5)),
        told="\\\\x1b[2J",
        finding="F19",
    )


# --- counts and sizes ---------------------------------------------------------------------------------------------------------


def same_folder_again(stage, far, control):
    control.hear("Open")
    control.say(("Opened", {"session": 7, "fresh": False}))
    many = frame(encoding.encode(("Entries", [entry("run7", folder=True)] * 12_000)))
    for _ in range(50):
        control.send(many)
    give_up(control)


def left_out_flood(stage, far, control):
    control.hear("Open")
    control.say(("Opened", {"session": 7, "fresh": False}))
    one = frame(encoding.encode(("LeftOut", {"name": "x" * 60, "problem": problem("no", kind="Permission")})))
    for _ in range(300):
        control.send(one * 1000)
    give_up(control)


def give_up(control):
    control.say(("Failed", problem("that was it", kind="Cancelled")))
    drain(control)


def is_bounded_flood(stage):
    far = stage.far(lambda control: left_out_flood(stage, far, control))
    result = stage.get(far, "run7", "-r")
    stage.expect(result, code=1)
    told = result.err.count("\n")
    assert told < 20_000, f"{told} lines on the terminal"


def counts():
    refused = functools.partial(get, asks="run7", options=["-r"], only_one_visit=True)
    run7 = entry("run7", folder=True)
    said = ("Entries", [run7, entry("run7/a", 10)])
    yield get(
        "one folder 600,000 times",
        same_folder_again,
        asks="run7",
        options=["-r"],
        code=75,
        came=["dst/run7"],
        finding="F9",
        long=True,
    )
    yield Case(GROUP, "300,000 files that were left out", is_bounded_flood, "F9", True)
    yield refused("a file larger than any", says(("Entries", [entry("run7", 1 << 63)])), told="more than a file can have")
    yield refused(
        "sizes whose sum overflows",
        says(("Entries", [run7, *(entry(f"run7/{n}", (1 << 63) - 1) for n in range(3))])),
        told="more than a file can have",
    )
    yield refused(
        "a count that is not the sum",
        says(said, ("EntriesEnd", {"count": 3, "bytes": 10, "linked": 0})),
        told="entries, but",
        came=["dst/run7"],
    )
    yield refused(
        "bytes that are not the sum",
        says(said, ("EntriesEnd", {"count": 2, "bytes": 11, "linked": 0})),
        told="bytes, but",
        came=["dst/run7"],
    )
    yield refused(
        "two ends of entries",
        says(said, *[("EntriesEnd", {"count": 2, "bytes": 10, "linked": 0})] * 2),
        told="was said before",
        came=["dst/run7"],
    )
    yield refused(
        "entries behind their end",
        says(said, ("EntriesEnd", {"count": 2, "bytes": 10, "linked": 0}), said),
        told="was said before",
        came=["dst/run7"],
    )
    yield refused("an empty link", says(("Entries", [entry("run7", link=b"")])), told="does not say where it leads")
    yield refused("a link with a zero byte", says(("Entries", [entry("run7", link=b"a\0b")])), told="does not say where it leads")
    yield refused("a link of 5000 bytes", says(("Entries", [entry("run7", link=b"a" * 5000)])), told="does not say where it leads")
    yield get("a file of 1 EiB", offers(entry("notes.txt", 1 << 60)), code=1, told="notes.txt", finding="F15")
    # The second finds the first one's claim, waits for it, and then its content.
    yield get(
        "two files of one name",
        offers(run7, entry("run7/a", len(DATA)), entry("run7/a", len(DATA))),
        asks="run7",
        options=["-r"],
        code=0,
        came=["dst/run7"],
        finding="F9",
    )


CASES = [*names(), *counts()]
