"""Sources and destinations that change meanwhile, and two copies at once."""

import os
import random
import subprocess
import time

import proving
from encoding import entry
from integrity import CONTENT, GROUP, HEADER, NOTE, PART, PIECE, SIZE, TIME, is_locked, send, write_at
from stage import Case
from watching import until

# --- sources ----------------------------------------------------------------------------------------------------------------------------


def copies(name, prepare, check, *, options=(), code=0, told=(), finding="", target=None, slow=False, meanwhile=None):
    """A real copy at both ends."""

    def play(stage):
        source = stage.world / "src"
        source.mkdir()
        prepare(stage, source)
        server = stage.serve()
        words = [
            "-r",
            f"{source}/",
            f"trunkline://{server.at}/new/",
            "--token-file",
            stage.token_file,
            *options,
            *(["--max-rate", "4M", "-P", "1"] if slow else []),
        ]
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
        until(
            lambda: (part.exists() and part.stat().st_size > HEADER + 2 * NOTE) or process.poll() is not None, 40, "something came"
        )
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
            yield copies(
                f"a source with names of temporary files{' and journals' if journal else ''}{' and --verify' if verify else ''}",
                with_reserved(journal=journal),
                same,
                options=verify,
                code=0,
                told="temporary file",
                finding="F3",
            )
    changed = {
        "grows": appended,
        "is changed in place with its time put back": put_back,
        "is replaced by one of its size and time": replaced,
    }
    for what, change in changed.items():
        yield copies(
            f"a source that {what}", one_big, not_there, slow=True, meanwhile=when_begun(change), code=1, told="big", finding="F5"
        )
    yield copies(
        "a source that is cut",
        one_big,
        not_there,
        slow=True,
        meanwhile=when_begun(lambda path: os.truncate(path, 10)),
        code=1,
        told="big",
    )
    yield copies(
        "a source that is removed", one_big, whole_or_absent, slow=True, meanwhile=when_begun(lambda path: path.unlink()), code=None
    )
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
    words = [source / "big", f"trunkline://{server.at}/", "--token-file", stage.token_file]
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
    """The later one waits, with a word of who writes there."""
    source = stage.world / "src"
    source.mkdir()
    one_big(stage, source)
    server = stage.serve()
    words = [source / "big", f"trunkline://{server.at}/", "--token-file", stage.token_file]
    first = stage.start_copy(*words, "--max-rate", "2M")
    until(lambda: is_locked(stage.root / ".big.trunkline-part"), 40, "the first one writes")
    stage.expect(stage.copy(*words), code=0, told="another copy is writing")
    stage.expect(stage.finish(first), code=0)
    assert (stage.root / "big").read_bytes() == (source / "big").read_bytes()


def taken_meanwhile(stage):
    source = stage.world / "src"
    source.mkdir()
    one_big(stage, source)
    server = stage.serve()
    process = stage.start_copy(
        "--ignore-existing",
        "--max-rate",
        "4M",
        "-P",
        "1",
        source / "big",
        f"trunkline://{server.at}/",
        "--token-file",
        stage.token_file,
    )
    until(lambda: (stage.root / ".big.trunkline-part").exists(), 40, "it writes")
    (stage.root / "big").write_text("somebody's")
    result = stage.finish(process)
    assert (stage.root / "big").read_text() == "somebody's", "it was replaced"
    # Whatever is there is left.
    stage.expect(result, code=0)
    assert not result.events("published"), "it is told as published"


def few_descriptors(stage):
    """Parts of one copy stay locked although it may have only 64 descriptors."""
    server = stage.serve()
    subprocess.run(["prlimit", f"--pid={server.process.pid}", "--nofile=64:64"], check=True)
    near = server.near()
    near.open("Put", "")
    told = [entry(f"f{number:02}", SIZE, modified=TIME) for number in range(40)]
    near.control.say(("Entries", told), ("EntriesEnd", {"count": 40, "bytes": 40 * SIZE, "linked": 0}))
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
    near.control.say(("Entries", [entry("f", SIZE, modified=TIME)]), ("EntriesEnd", {"count": 1, "bytes": SIZE, "linked": 0}))
    near.control.hear("Wants")
    line = near.stream()
    send(line, CONTENT, [(0, SIZE - PIECE)])
    near.control.hear("Received")
    evil = stage.write(stage.root / "evil", b"\x66" * SIZE)
    evil.rename(stage.root / PART)
    line.send(proving.piece(0, CONTENT[SIZE - PIECE :], SIZE - PIECE, SIZE))
    near.control.say(("FileEnds", [0]))
    near.control.hear("Failed", "Published")
    path = stage.root / "f"
    assert not path.exists() or path.read_bytes() == CONTENT, "another file got its name"


CASES = [*sources()]
