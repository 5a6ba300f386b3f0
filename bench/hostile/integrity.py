"""What lies in the destination already, or changes meanwhile: leftovers, journals, other users' files, sources, two copies."""

import ctypes
import hashlib
import os
import pathlib
import random
import shutil
import struct
import subprocess
import time

import blake3

import encoding
import proving
import talking
from encoding import entry
from stage import Case, Skipped, status, until
from talking import Ended

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
    near.control.say(("Entries", told), ("EntriesEnd", {"count": 1, "bytes": len(content)}))
    wants = near.control.hear("Wants")[1]
    line = near.stream()
    for at in range(0, pieces * PIECE, PIECE):
        line.send(proving.piece(0, content[at:at + PIECE], at, len(content)))
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
    near.control.say(("Entries", [entry("f", size, modified=modified, version=version)]), ("EntriesEnd", {"count": 1, "bytes": size}))
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
        line.send(proving.piece(0, content[at:at + PIECE], at, len(content)))
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
    yield left("bytes of the part are others", lambda part, journal: write_at(part, 1000, b"xyz"), finding="F6", asked=rest, at_most=SIZE - 2 * PIECE)
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
    yield left("notes of wrong hashes", journal_of(header_of(), *((at, PIECE, bytes(32)) for at in range(0, SIZE, PIECE))), asked=rest)
    yield left("a sparse journal of 8 GiB", lambda part, journal: os.truncate(journal, 8 << 30), finding="F25")
    yield left("a million notes", lambda part, journal: journal.write_bytes(header_of() + note(header_of(), 0, PIECE, bytes(32)) * 1_000_000), finding="F25")
    yield left("another version of one size and time", nothing, content=CONTENT[::-1], version=2, asked="Whole", finding="F5")
    yield left("all is there but its name", nothing, pieces=5, asked=rest, at_most=0, finding="F2")
    for name, make in {"a link out": lambda part: part.symlink_to("../outside/canary"), "a pipe": os.mkfifo, "a dangling link": lambda part: part.symlink_to("nowhere")}.items():
        yield left(f"{name} in the part's place", replaced_by(make), asked="Whole")
    yield left("a hard link in the part's place", replaced_by(lambda part: os.link(part.parent.parent / "outside/canary", part)), asked="Whole")
    yield left("a link in the journal's place", lambda part, journal: (journal.unlink(), journal.symlink_to("../outside/canary")))
    yield Case(GROUP, "a folder in the part's place", folder_in_place)


def folder_in_place(stage):
    """It cannot be taken away, and that is told with its name; nothing else is harmed."""
    (stage.root / PART).mkdir()
    (stage.root / PART / "precious").write_text("x")
    source = stage.write(stage.world / "src/f", CONTENT)
    server = stage.serve()
    result = stage.copy(source, f"trunkline://127.0.0.1:{server.port}/", "--token-file", stage.token_file)
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
        as_nobody(journal, header + note(header, 0, PIECE, evil) + note(header, PIECE, PIECE, proving.hash_of(b"\x66" * PIECE, PIECE, SIZE)))
    yield foreign("another user's part", lambda part, journal: as_nobody(part, b"\x66" * SIZE))
    yield foreign("another user's part that only they may write", lambda part, journal: as_nobody(part, b"\x66" * SIZE, 0o644))
    yield foreign("another user's empty part", lambda part, journal: as_nobody(part))
    yield foreign("another user's part and journal", both)
    yield foreign("another user's journal", lambda part, journal: as_nobody(journal, header_of()))
    yield foreign("an own part that all may write", lambda part, journal: (part.write_bytes(bytes(SIZE)), part.chmod(0o666)))
    yield foreign("root's part and a receiver that is nobody", lambda part, journal: (part.write_bytes(bytes(SIZE)), part.chmod(0o666)), receiver=NOBODY)


# --- sources ----------------------------------------------------------------------------------------------------------------------------

def copies(name, prepare, check, *, options=(), code=0, told=(), finding="", target=None, slow=False, meanwhile=None):
    """A real copy at both ends."""
    def play(stage):
        source = stage.world / "src"
        source.mkdir()
        prepare(stage, source)
        server = stage.serve()
        words = ["-r", f"{source}/", f"trunkline://127.0.0.1:{server.port}/new/", "--token-file", stage.token_file, *options, *(["--max-rate", "4M", "-P", "1"] if slow else [])]
        process = stage.start_copy(*words)
        if meanwhile:
            meanwhile(stage, source, process)
        result = stage.finish(process)
        stage.expect(result, code=code, told=told)
        check(stage, source, stage.root / "new")
    return Case(GROUP, name, play, finding)


def same(stage, source, target):
    """All that has a name is what its source is, and nothing lies about."""
    for path in target.rglob("*"):
        assert ".trunkline-" not in path.name, f"{path.name} lies about"
        if path.is_file() and not path.is_symlink():
            assert path.read_bytes() == (source / path.relative_to(target)).read_bytes(), f"{path.name} is another"


def with_reserved(*, journal):
    def prepare(stage, source):
        stage.write(source / "big", random.Random(1).randbytes(300_000))
        stage.write(source / ".big.trunkline-part", random.Random(2).randbytes(20_000))
        if journal:
            stage.write(source / ".big.trunkline-journal", random.Random(3).randbytes(400))
    return prepare


def one_big(stage, source):
    stage.write(source / "big", random.Random(4).randbytes(2_000_000))


def when_begun(change):
    """Something happens to the source once pieces have come."""
    def meanwhile(stage, source, process):
        part = stage.root / "new/.big.trunkline-journal"
        until(lambda: (part.exists() and part.stat().st_size > HEADER + 2 * NOTE) or process.poll() is not None, 40, "something came")
        change(source / "big")
    return meanwhile


def appended(path):
    with open(path, "ab") as file:
        file.write(b"more")


def put_back(path):
    """Other bytes, and the old time."""
    told = path.stat()
    write_at(path, 1_900_000, b"changed")
    os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns))


def replaced(path):
    beside = path.with_name("other")
    beside.write_bytes(random.Random(5).randbytes(2_000_000))
    os.utime(beside, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    beside.rename(path)


def not_there(stage, source, target):
    """What was neither the one nor the other has no name."""
    assert not (target / "big").exists(), "a mixture is under its name"


def whole_or_absent(stage, source, target):
    path = target / "big"
    old = random.Random(4).randbytes(2_000_000)
    assert not path.exists() or path.read_bytes() in (old, (source / "big").read_bytes() if (source / "big").exists() else old)


def sources():
    for journal in (False, True):
        for verify in ([], ["--verify"]):
            yield copies(f"a source with names of temporary files{' and journals' if journal else ''}{' and --verify' if verify else ''}", with_reserved(journal=journal), same,
                         options=verify, code=1, told="temporary file", finding="F3")
    changed = {"grows": appended, "is changed in place with its time put back": put_back, "is replaced by one of its size and time": replaced}
    for what, change in changed.items():
        yield copies(f"a source that {what}", one_big, not_there, slow=True, meanwhile=when_begun(change), code=1, told="big", finding="F5")
    yield copies("a source that is cut", one_big, not_there, slow=True, meanwhile=when_begun(lambda path: os.truncate(path, 10)), code=1, told="big")
    yield copies("a source that is removed", one_big, whole_or_absent, slow=True, meanwhile=when_begun(lambda path: path.unlink()), code=None)
    yield Case(GROUP, "a source that is replaced between two tries", between_tries, "F5")
    yield Case(GROUP, "two copies to one name", two_copies, "F7")
    yield Case(GROUP, "a name that is taken meanwhile and --ignore-existing", taken_meanwhile, "F16")
    yield Case(GROUP, "64 descriptors and 40 begun files", few_descriptors, "F7")
    yield Case(GROUP, "a part that another file takes the place of", swapped_part, "F3")


def between_tries(stage):
    """Of one size and time: what came of the first never mixes with the second."""
    source = stage.world / "src"
    source.mkdir()
    one_big(stage, source)
    server = stage.serve()
    words = [source / "big", f"trunkline://127.0.0.1:{server.port}/", "--token-file", stage.token_file]
    process = stage.start_copy(*words, "--max-rate", "4M", "-P", "1")
    journal = stage.root / ".big.trunkline-journal"
    until(lambda: journal.exists() and journal.stat().st_size > HEADER + 2 * NOTE, 40, "something came")
    process.kill()
    process.wait()
    replaced(source / "big")
    until(lambda: not is_locked(stage.root / ".big.trunkline-part"), 30, "the part is unlocked")
    stage.expect(stage.copy(*words, "--verify"), code=0)
    assert (stage.root / "big").read_bytes() == (source / "big").read_bytes(), "two versions are mixed"


def two_copies(stage):
    """The later one is refused with a word of who writes there."""
    source = stage.world / "src"
    source.mkdir()
    one_big(stage, source)
    server = stage.serve()
    words = [source / "big", f"trunkline://127.0.0.1:{server.port}/", "--token-file", stage.token_file]
    first = stage.start_copy(*words, "--max-rate", "2M")
    until(lambda: is_locked(stage.root / ".big.trunkline-part"), 40, "the first one writes")
    stage.expect(stage.copy(*words), code=1, told="another copy is writing")
    stage.expect(stage.finish(first), code=0)
    assert (stage.root / "big").read_bytes() == (source / "big").read_bytes()


def taken_meanwhile(stage):
    source = stage.world / "src"
    source.mkdir()
    one_big(stage, source)
    server = stage.serve()
    process = stage.start_copy("--ignore-existing", "--max-rate", "4M", "-P", "1", source / "big", f"trunkline://127.0.0.1:{server.port}/", "--token-file", stage.token_file)
    until(lambda: (stage.root / ".big.trunkline-part").exists(), 40, "it writes")
    (stage.root / "big").write_text("somebody's")
    result = stage.finish(process)
    assert (stage.root / "big").read_text() == "somebody's", "it was replaced"
    stage.expect(result, code=1, told="from elsewhere")
    assert not result.events("published"), "it is told as published"


def few_descriptors(stage):
    """Parts of one copy stay locked although it may have only 64 descriptors."""
    server = stage.serve()
    subprocess.run(["prlimit", f"--pid={server.process.pid}", "--nofile=64:64"], check=True)
    near = server.near()
    near.open("Put", "")
    told = [entry(f"f{number:02}", SIZE, modified=TIME) for number in range(40)]
    near.control.say(("Entries", told), ("EntriesEnd", {"count": 40, "bytes": 40 * SIZE}))
    near.control.hear("Wants")
    line = near.stream()
    for number in range(40):
        line.send(proving.piece(number, CONTENT[:PIECE], 0, SIZE))
    time.sleep(2)
    parts = list(stage.root.glob(".f*.trunkline-part"))
    unlocked = [part.name for part in parts if not is_locked(part)]
    assert parts and not unlocked, f"{len(unlocked)} of {len(parts)} parts are unlocked"


def swapped_part(stage):
    """What has taken the place of the temporary file never gets the name."""
    server = stage.serve()
    near = server.near()
    near.open("Put", "")
    near.control.say(("Entries", [entry("f", SIZE, modified=TIME)]), ("EntriesEnd", {"count": 1, "bytes": SIZE}))
    near.control.hear("Wants")
    line = near.stream()
    send(line, CONTENT, [(0, SIZE - PIECE)])
    near.control.hear("Received")
    evil = stage.write(stage.root / "evil", b"\x66" * SIZE)
    evil.rename(stage.root / PART)
    line.send(proving.piece(0, CONTENT[SIZE - PIECE:], SIZE - PIECE, SIZE))
    near.control.say(("FileEnds", [0]))
    near.control.hear("Failed", "Published")
    path = stage.root / "f"
    assert not path.exists() or path.read_bytes() == CONTENT, "another file got its name"


CASES = [*leftovers(), *others(), *sources()]
