"""What lies in the destination already, or changes meanwhile: leftovers, journals, other users' files, sources, two copies."""

import ctypes
import os
import random
import struct
import time

import blake3

import proving
from encoding import entry
from stage import Case
from watching import Skipped, until

GROUP = "integrity"
SIZE = 160 << 10
PIECE = 32 << 10
CONTENT = random.Random(1124).randbytes(SIZE)
TIME = 1_600_000_000_000_000_000
PART, JOURNAL = ".f.trunkline-part", ".f.trunkline-journal"
HEADER, NOTE = 32, 48
NOBODY = 65534


def begin(server, content=CONTENT, pieces=3, version=1, mode=0o644):
    """A copy that breaks off with so many pieces of five."""
    near = server.near()
    near.open("Put", "")
    told = [entry("f", len(content), modified=TIME, version=version, mode=mode)]
    near.control.say(("Entries", told), ("EntriesEnd", {"count": 1, "bytes": len(content), "linked": 0}))
    wants = near.control.hear("Wants")[1]
    line = near.stream()
    for at in range(0, pieces * PIECE, PIECE):
        line.send(proving.piece(0, content[at : at + PIECE], at, len(content)))
    got = 0
    while got < pieces * PIECE:
        got += sum(one["length"] for one in near.control.hear("Received")[1])
    near.close()
    line.close()
    time.sleep(0.1)
    return wants


def go_on(stage, server, content=CONTENT, version=1, modified=TIME):
    """The same copy again, to its end: what was asked for at first, and how many bytes were asked for in all."""
    near = server.near()
    near.open("Put", "")
    size = len(content)
    near.control.say(
        ("Entries", [entry("f", size, modified=modified, version=version)]), ("EntriesEnd", {"count": 1, "bytes": size, "linked": 0})
    )
    name, value = near.control.hear("Wants", "Failed")
    assert name == "Wants", value
    want = value[0]
    parts = [(0, size)] if want[0] == "Whole" else want[1][1] if want[0] == "Rest" else []
    line, asked = near.stream(), 0
    asked += send(line, content, parts)
    if want[0] == "Rest":
        while True:
            told = near.control.hear("ReadBack")[1]
            asked += send(line, content, told["parts"])
            if told["is_all"]:
                break
    if want[0] != "Nothing":
        near.control.say(("FileEnds", [0]))
        digest = near.control.hear("Published")[1][0]["digest"]
        there = (stage.root / "f").read_bytes()
        assert there == content, f"{sum(a != b for a, b in zip(there, content))} bytes are wrong under its name"
        assert digest == blake3.blake3(content).digest(), "another digest is told"
    near.control.hear("Complete")
    near.control.say(("Bye", None))
    near.close()
    leftovers = [path.name for path in stage.root.iterdir() if ".trunkline-" in path.name]
    assert not leftovers, leftovers
    return want[0], asked


def send(line, content, parts):
    """All whole pieces that these parts touch."""
    pieces = sorted({at // PIECE * PIECE for start, length in parts for at in range(start, start + length, 16 << 10)})
    for at in pieces:
        line.send(proving.piece(0, content[at : at + PIECE], at, len(content)))
    return len(pieces) * PIECE


def left(name, meddle, *, asked=None, at_most=SIZE, content=CONTENT, version=1, first=1, finding="", user=None, pieces=3):
    """A copy that broke off, something that happens to what it left, and the same copy again, which has to end right."""

    def play(stage):
        if user is not None:
            stage.root.chmod(0o1777)
            stage.folder.chmod(0o755)
        server = stage.serve(user=user)
        begin(server, pieces=pieces, version=first)
        until(lambda: not is_locked(stage.root / PART), 20, "the part is unlocked")
        meddle(stage.root / PART, stage.root / JOURNAL)
        how, bytes_asked = go_on(stage, server, content=content, version=version)
        assert asked is None or how == asked, f"{how} is asked for, not {asked}"
        assert bytes_asked <= at_most, f"{bytes_asked} bytes are asked for"

    return Case(GROUP, name, play, finding)


def is_locked(path):
    try:
        inode = str(path.stat().st_ino)
    except OSError:
        return False
    return any(line.split()[5].endswith(":" + inode) for line in open("/proc/locks"))


# --- what is done to leftovers ------------------------------------------------------------------------------------------------------


def nothing(part, journal):
    pass


def write_at(path, at, data):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


def punch(part, journal):
    with open(part, "r+b") as file:
        # FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE
        if ctypes.CDLL(None, use_errno=True).fallocate(file.fileno(), 3, ctypes.c_long(0), ctypes.c_long(PIECE)):
            file.write(bytes(PIECE))


def note(header, offset, length, value):
    body = struct.pack("<QI", offset, length) + value
    return body + blake3.blake3(header + body).digest()[:4]


def header_of(size=SIZE, modified=TIME, version=1, magic=b"TLj2"):
    body = magic + struct.pack("<QqQ", size, modified, version)
    return body + blake3.blake3(body).digest()[:4]


def journal_of(header, *notes):
    return lambda part, journal: journal.write_bytes(header + b"".join(note(header, *one) for one in notes))


def replaced_by(make):
    def meddle(part, journal):
        part.unlink()
        make(part)

    return meddle


def leftovers():
    rest = "Rest"
    yield left("nothing happens to it", nothing, asked=rest, at_most=SIZE - 3 * PIECE)
    yield left(
        "bytes of the part are others",
        lambda part, journal: write_at(part, 1000, b"xyz"),
        finding="F6",
        asked=rest,
        at_most=SIZE - 2 * PIECE,
    )
    yield left("a hole is punched into the part", punch, finding="F6", asked=rest, at_most=SIZE - 2 * PIECE)
    yield left("the part is all zeros", lambda part, journal: write_at(part, 0, bytes(SIZE)), finding="F6", asked=rest)
    yield left("the part is cut", lambda part, journal: os.truncate(part, 1000))
    yield left("the part is longer", lambda part, journal: os.truncate(part, 1 << 30))
    yield left("the part is empty", lambda part, journal: os.truncate(part, 0))
    yield left("the part is missing", lambda part, journal: part.unlink(), asked="Whole")
    yield left("the journal is missing", lambda part, journal: journal.unlink(), asked="Whole")
    yield left("the journal is empty", lambda part, journal: os.truncate(journal, 0), asked="Whole")
    for cut in (1, HEADER - 1, HEADER, HEADER + 1, HEADER + NOTE - 1, HEADER + NOTE, HEADER + NOTE + 20):
        yield left(f"the journal ends after {cut} bytes", lambda part, journal, cut=cut: os.truncate(journal, cut))
    yield left("the journal is noise", lambda part, journal: journal.write_bytes(os.urandom(4000)), asked="Whole")
    yield left("a bit of the journal's header is another", lambda part, journal: write_at(journal, 20, b"\xee"), asked="Whole")
    yield left("a bit of a note is another", lambda part, journal: write_at(journal, HEADER + 13, b"\xee"))
    yield left("the journal of another size", journal_of(header_of(size=SIZE + 1)), asked="Whole")
    yield left("the journal of another time", journal_of(header_of(modified=TIME + 1)), asked="Whole")
    yield left("the journal of another version", journal_of(header_of(version=2), (0, PIECE, bytes(32))), asked="Whole")
    yield left("the journal of an older format", journal_of(header_of(magic=b"TLj1")), asked="Whole")
    yield left("a note beyond the file", journal_of(header_of(), (SIZE, PIECE, bytes(32))))
    yield left("a note of 4 GiB", journal_of(header_of(), (0, (1 << 32) - 1, bytes(32))), finding="F25")
    yield left("a note of nothing", journal_of(header_of(), (0, 0, bytes(32))))
    yield left("a note that ends beyond all numbers", journal_of(header_of(), ((1 << 64) - 1, PIECE, bytes(32))))
    yield left(
        "notes of wrong hashes", journal_of(header_of(), *((at, PIECE, bytes(32)) for at in range(0, SIZE, PIECE))), asked=rest
    )
    yield left("a sparse journal of 8 GiB", lambda part, journal: os.truncate(journal, 8 << 30), finding="F25")
    yield left(
        "a million notes",
        lambda part, journal: journal.write_bytes(header_of() + note(header_of(), 0, PIECE, bytes(32)) * 1_000_000),
        finding="F25",
    )
    yield left("another version of one size and time", nothing, content=CONTENT[::-1], version=2, asked="Whole", finding="F5")
    yield left("all is there but its name", nothing, pieces=5, asked=rest, at_most=0, finding="F2")
    for name, make in {
        "a link out": lambda part: part.symlink_to("../outside/canary"),
        "a pipe": os.mkfifo,
        "a dangling link": lambda part: part.symlink_to("nowhere"),
    }.items():
        yield left(f"{name} in the part's place", replaced_by(make), asked="Whole")
    yield left(
        "a hard link in the part's place",
        replaced_by(lambda part: os.link(part.parent.parent / "outside/canary", part)),
        asked="Whole",
    )
    yield left("a link in the journal's place", lambda part, journal: (journal.unlink(), journal.symlink_to("../outside/canary")))
    yield Case(GROUP, "a folder in the part's place", folder_in_place)


def folder_in_place(stage):
    """It cannot be taken away, and that is told with its name; nothing else is harmed."""
    (stage.root / PART).mkdir()
    (stage.root / PART / "precious").write_text("x")
    source = stage.write(stage.world / "src/f", CONTENT)
    server = stage.serve()
    result = stage.copy(source, f"trunkline://{server.at}/", "--token-file", stage.token_file)
    stage.expect(result, code=1, told=PART)
    assert (stage.root / PART / "precious").read_text() == "x"


# --- other users of the host -----------------------------------------------------------------------------------------------------------


def as_nobody(path, content=b"", mode=0o666):
    path.write_bytes(content)
    path.chmod(mode)
    os.chown(path, NOBODY, NOBODY)


def foreign(name, meddle, receiver=None, finding="F4"):
    """Somebody else's file in the temporary place, in a folder in which all may write."""

    def play(stage):
        if os.geteuid() != 0:
            raise Skipped("only root can act as another user")
        stage.root.chmod(0o1777)
        server = stage.serve(user=receiver)
        part, journal = stage.root / PART, stage.root / JOURNAL
        meddle(part, journal)
        try:
            go_on(stage, server)
        except AssertionError as wrong:
            # In a folder with the sticky bit another user's file cannot be taken away; then that is told.
            assert receiver is not None and "belongs to" in str(wrong), wrong
            return
        owner = (stage.root / "f").stat()
        assert owner.st_uid == (receiver or 0), f"the file belongs to user {owner.st_uid}"
        assert owner.st_mode & 0o022 == 0, "others may write to it"

    return Case(GROUP, name, play, finding)


def others():
    def both(part, journal):
        as_nobody(part, b"\x66" * SIZE)
        evil = proving.hash_of(b"\x66" * PIECE, 0, SIZE)
        header = header_of()
        as_nobody(
            journal,
            header + note(header, 0, PIECE, evil) + note(header, PIECE, PIECE, proving.hash_of(b"\x66" * PIECE, PIECE, SIZE)),
        )

    yield foreign("another user's part", lambda part, journal: as_nobody(part, b"\x66" * SIZE))
    yield foreign("another user's part that only they may write", lambda part, journal: as_nobody(part, b"\x66" * SIZE, 0o644))
    yield foreign("another user's empty part", lambda part, journal: as_nobody(part))
    yield foreign("another user's part and journal", both)
    yield foreign("another user's journal", lambda part, journal: as_nobody(journal, header_of()))
    yield foreign("an own part that all may write", lambda part, journal: (part.write_bytes(bytes(SIZE)), part.chmod(0o666)))
    yield foreign(
        "root's part and a receiver that is nobody",
        lambda part, journal: (part.write_bytes(bytes(SIZE)), part.chmod(0o666)),
        receiver=NOBODY,
    )


CASES = [*leftovers(), *others()]
