"""What a holder of a token can reach, and with which rights."""

import os
import stat

from encoding import entry, opening
from holder import DATA, FULL, holder, names, refused
from line import Ended

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
                near.put(
                    list(entries or [FULL]),
                    {number: DATA for number, one in enumerate(entries or [FULL]) if one["kind"][0] == "File"},
                )
                near.control.hear("Complete", seconds=20)
            except Ended:
                pass
            before = {"notes.txt", "folder", "out", "absolute", "proc", "dangling", "up", "file", "loop"}
            assert not os.path.lexists(stage.folder / "not-there"), "something came through a dangling link"
            leaves = {path.name for path in stage.root.iterdir()} - before
            assert all(not (stage.root / name).is_symlink() or name in ("l", "m") for name in leaves), leaves

        return holder(f"put {name}", play)

    for to in (
        "..",
        "../outside",
        "out",
        "absolute",
        "proc",
        "up",
        "dangling",
        "out/x",
        "/etc",
        "folder/../../outside",
        "file",
        "notes.txt/x",
    ):
        yield puts(f"to {to.replace('/', '|')}", to)
        if to in ("out", "file", "dangling"):
            yield puts(f"one file to {to}", to, into_folder=False)
    yield puts("a file through a link that is there", "", entry("out/canary", len(DATA)))
    yield puts("a file in place of a link out", "", entry("file", len(DATA)))
    yield puts("a link and a file through it", "", entry("l", link=b"../outside"), entry("l/canary", len(DATA)))
    yield puts(
        "a link, a folder of its name and a file",
        "",
        entry("l", link=b"../outside"),
        entry("l", folder=True),
        entry("l/canary", len(DATA)),
    )
    yield puts(
        "a folder, a link in its place and a file",
        "",
        entry("m", folder=True),
        entry("m", link=b"../outside"),
        entry("m/canary", len(DATA)),
    )
    yield puts("a folder where a link out is", "", entry("out", folder=True, mode=0o777), entry("out/new", len(DATA)))


# --- rights, modes, links -------------------------------------------------------------------------------------------------------


def rights():
    yield holder("a token that may only read puts", lambda stage, server, near: refused(near, "Put", "x"), rights="r")
    yield holder("a token that may only write gets", lambda stage, server, near: refused(near, "Get", "notes.txt"), rights="w")
    yield holder(
        "a server that is only read takes nothing", lambda stage, server, near: refused(near, "Put", "x"), options=["--read-only"]
    )
    yield holder(
        "a server that is only written gives nothing",
        lambda stage, server, near: refused(near, "Get", "notes.txt"),
        options=["--write-only"],
    )
    yield holder(
        "a token bound to a folder gets what is beside it",
        lambda stage, server, near: refused(near, "Get", "../notes.txt"),
        line="root=folder",
        finding="F11",
    )
    yield holder(
        "a token bound to a folder puts beside it",
        lambda stage, server, near: refused(near, "Put", "../x"),
        line="root=folder",
        finding="F11",
    )
    yield holder(
        "a token bound to a link out", lambda stage, server, near: refused(near, "Get", "canary"), line="root=out", finding="F11"
    )
    yield holder(
        "a token bound to a folder gets what is in it",
        lambda stage, server, near: near.open("Get", "inner"),
        line="root=folder",
        finding="F11",
    )
    yield holder("the mode of the served folder", root_mode, finding="F13")
    yield holder("modes against the mask", masked_modes, finding="F13", umask=0o027)
    yield holder("a mode of a file that may not be read", unread_mode, rights="w", finding="F13")
    yield holder("set-id and sticky bits", set_id)
    yield holder("links where none are taken", no_links, options=["--no-links"], finding="F26")
    yield holder(
        "in the clear where that is not taken",
        lambda stage, server, near: refused(near, "Get", "notes.txt", plain=True, told="--no-plain"),
        options=["--no-plain"],
        finding="F26",
    )
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
    near.put(
        [
            entry("", folder=True, mode=0o777),
            entry("f", folder=True, mode=0o777),
            entry("f/x", len(DATA), mode=0o777),
            entry("y", len(DATA), mode=0o666),
        ],
        {2: DATA, 3: DATA},
    )
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
    near.put(
        [entry("", folder=True, mode=0o1755), entry("suid", len(DATA), mode=0o6755), entry("f", folder=True, mode=0o7755)],
        {1: DATA},
    )
    finish(near)
    assert mode_of(stage.root / "new/suid") == 0o755 and mode_of(stage.root / "new/f") & 0o6000 == 0


def no_links(stage, server, near):
    near.open("Put", "new")
    near.control.say(("Entries", [entry("l", link=b"/etc/passwd")]), ("EntriesEnd", {"count": 1, "bytes": 0, "linked": 0}))
    assert "takes none" in near.control.hear("Failed")[1]["what"]
    assert not os.path.lexists(stage.root / "new/l")


def unagreed_plain(stage, server, near):
    near.open("Put", "new")
    assert near.stream(0, plain=True).is_closed_within(20), "it is taken"


CASES = [*reaches(), *rights()]
