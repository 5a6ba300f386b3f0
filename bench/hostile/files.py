"""A hostile holder of a token to the files of a server, one by one: written from docs/reference/file-access.md."""

import os

import blake3

from encoding import BOOL, BYTES, I, NOTHING, TEXT, U, Reader, fields, maybe, one_of, raw, several, words
from holder import furnish
from line import Ended, frame
from stage import Case
from third_party import Controller

GROUP = "files"
VERSION = 2
STORE_MAX = 1 << 20
DATA = b"what is stored\n"

IDENTITY = fields(size=U, modified=I, version=U)
INFO = fields(kind=words("File", "Folder", "Link", "Special"), identity=IDENTITY, mode=U, link=maybe(BYTES))
ASK = one_of(
    Info=BYTES, List=fields(path=BYTES, recursive=BOOL), Read=fields(path=BYTES, offset=U, length=U, expected=maybe(IDENTITY)),
    MakeFolder=fields(path=BYTES, parents=BOOL), Remove=fields(path=BYTES, what=words("File", "EmptyFolder", "Tree")),
    Rename=fields(old=BYTES, new=BYTES, replaces=BOOL),
    Store=fields(path=BYTES, length=U, digest=raw(32), attributes=maybe(fields(mode=U, modified=I)), replaces=BOOL))
FAILURES = ("Request", "NotFound", "Rights", "Permission", "Exists", "NotAFolder", "IsAFolder", "NotEmpty", "Changed", "DiskFull", "Disk", "Busy",
            "Protocol")
TOLD = one_of(
    Welcome=fields(session=U, streams=U, removes=BOOL), Info=INFO, Listed=several(fields(name=BYTES, info=INFO)), ListEnd=U,
    Data=fields(identity=IDENTITY, mode=U, hash=raw(32), is_last=BOOL), Done=NOTHING, Working=U,
    Failed=fields(kind=words(*FAILURES), what=TEXT, hint=maybe(TEXT)))


def new(path, content=DATA, **changed):
    """What an ordinary near end says of a file."""
    path = path.encode() if isinstance(path, str) else path
    digest = blake3.blake3(content).digest()
    told = {"path": path, "length": len(content), "digest": digest, "attributes": None, "replaces": True}
    return "Store", told | changed


class Files:
    """The near end of a session: honest until a case makes it otherwise."""

    def __init__(self, server, version=VERSION):
        self.control = Controller(server.port, server.token, b"A", version).control
        server.stage.closes.append(self.control.close)
        self.asked = 0
        assert self.hear()[0] == "Welcome"

    def ask(self, ask, content=b""):
        self.asked += 1
        self.control.send(frame(U[0](self.asked) + ASK[0](ask)) + content)

    def hear(self):
        """The next answer; signs that something takes longer are left out."""
        while True:
            read = Reader(self.control.frame())
            number, (name, value) = U[1](read), TOLD[1](read)
            assert number in (0, self.asked), f"answer {number} to {self.asked}"
            if name != "Working":
                return name, value

    def store(self, path, content=DATA, **changed):
        self.ask(new(path, content, **changed), content)
        return self.hear()

    def refused(self, kind):
        """The answer is a failure of that kind; one against the protocol is the last word."""
        name, value = self.hear()
        assert name == "Failed" and value["kind"] == kind, (name, value)
        assert kind != "Protocol" or self.control.is_closed_within(30), "and goes on"


def files(name, play, *, options=(), rights="rw", long=False):
    """`play(stage, server, files)`; nothing temporary is left, and nothing but what `play` returns is new."""

    def whole(stage):
        furnish(stage)
        before = names(stage.root)
        server = stage.serve(*options, rights=rights)
        expected = play(stage, server, Files(server)) or set()
        for close in reversed(stage.closes[1:]):
            close()
        settled(lambda: names(stage.root) == before | expected, lambda: names(stage.root) ^ before)

    return Case(GROUP, name, whole, "", long)


def names(root):
    return {os.path.relpath(os.path.join(here, one), root) for here, folders, files in os.walk(root) for one in folders + files}


def settled(is_so, what):
    from ends import wait_for

    assert wait_for(is_so, 20), f"{what()} differ"


# --- what is announced, and what comes ------------------------------------------------------------------------------------------


def contents():
    def honest(stage, server, near):
        near.control.wait = 30
        assert near.store("new/deep/a", b"x" * STORE_MAX) == ("Done", None)
        assert near.store("empty", b"") == ("Done", None)
        near.store("notes.txt", DATA, attributes={"mode": 0o4640, "modified": 5})
        assert (stage.root / "new/deep/a").read_bytes() == b"x" * STORE_MAX
        stat = (stage.root / "notes.txt").stat()
        assert (stat.st_mode & 0o7777, stat.st_mtime_ns) == (0o640, 5), oct(stat.st_mode)
        return {"new", "new/deep", "new/deep/a", "empty"}

    yield files("a file of 1 MiB, an empty one and one with a mode", honest)

    def refused(name, kind, path="a", content=DATA, sent=None, **changed):
        def play(stage, server, near):
            near.ask(new(path, content, **changed), content if sent is None else sent)
            near.refused(kind)

        return files(name, play)

    yield refused("a length beyond the bound", "Protocol", length=STORE_MAX + 1)
    yield refused("a length of 4 GiB", "Protocol", length=(1 << 32) - 1)
    yield refused("a length beyond u32", "Protocol", length=1 << 40)
    yield refused("another digest", "Protocol", digest=bytes(32))
    yield refused("other content of that length", "Protocol", sent=DATA[::-1])
    yield refused("a digest of 31 bytes", "Protocol", digest=bytes(31))

    def cut(stage, server, near):
        near.ask(new("a", DATA, length=STORE_MAX), DATA)
        near.control.close()

    yield files("content that ends early", cut)

    def longer(stage, server, near):
        near.ask(new("a"), DATA + b"\xff" * 9)
        assert near.hear() == ("Done", None)
        near.refused("Protocol")
        return {"a"}

    yield files("more content than was announced", longer)

    def slowly(stage, server, near):
        near.ask(new("a", DATA))
        for byte in DATA:
            near.control.send(bytes([byte]))
        assert near.hear() == ("Done", None)
        return {"a"}

    yield files("content byte by byte", slowly)


# --- where it goes ----------------------------------------------------------------------------------------------------------------


def places():
    def refused(name, path, *kinds):
        def play(stage, server, near):
            said, value = near.store(path)
            assert said == "Failed" and value["kind"] in kinds, (said, value)

        return files(f"to {name}", play)

    for path in ("../x", "folder/../../x", "/etc/x", "a//b", "a/./b", "a\0b", "n" * 256, "a/" * 2500 + "b"):
        shown = path[:12].replace("\0", "0").replace("/", "|")
        yield refused(shown, path, "Protocol")
    for link in ("out", "absolute", "proc", "up", "loop", "dangling"):
        yield refused(f"what is behind the link {link}", f"{link}/x", "Permission", "Request", "NotFound", "NotAFolder", "Exists")
        yield refused(f"a folder behind the link {link}", f"{link}/new/x", "Permission", "Request", "NotFound", "NotAFolder", "Exists")
    for name in (".a.trunkline-part", "folder/.a.trunkline-journal", ".a.trunkline-link/x"):
        yield refused(name.replace("/", "|"), name, "Request")
    yield refused("the folder itself", "", "Request")
    yield refused("a folder", "folder", "IsAFolder")
    yield refused("a name below a file", "notes.txt/x", "NotAFolder")

    yield refused("a link that leads out", "file", "Permission")

    def link(stage, server, near):
        (stage.root / "inside").symlink_to("notes.txt")
        assert near.store("inside") == ("Done", None)
        assert not (stage.root / "inside").is_symlink() and (stage.root / "inside").read_bytes() == DATA
        assert (stage.root / "notes.txt").read_text() == "notes"
        return {"inside"}

    yield files("to a link that stays inside, which it replaces", link)


# --- who may, and how much ----------------------------------------------------------------------------------------------------------


def rights():
    def may_not(stage, server, near):
        for _ in range(30):
            name, value = near.store("a", b"x" * STORE_MAX)
            assert name == "Failed" and value["kind"] == "Rights", (name, value)
        near.ask(("Info", b"notes.txt"))
        assert near.hear()[0] == "Info"

    yield files("a token that only reads", may_not, rights="r")
    yield files("a server that only gives", may_not, options=["--read-only"])

    def may(stage, server, near):
        assert near.store("notes.txt") == ("Done", None)
        name, value = near.store("notes.txt", replaces=False)
        assert name == "Failed" and value["kind"] == "Exists", (name, value)
        near.ask(("Info", b"notes.txt"))
        near.refused("Rights")

    yield files("a token that only writes", may, rights="w")

    def begun(stage, server, near):
        held = [Files(server) for _ in range(30)]
        for number, one in enumerate(held):
            one.ask(new(f"begun{number}", DATA, length=STORE_MAX), bytes(STORE_MAX // 2))
        assert near.store("other") == ("Done", None)
        return {"other"}

    yield files("thirty files that are begun and not brought", begun, long=True)

    def flood(stage, server, near):
        for _ in range(200):
            near.ask(new("a", b"x" * STORE_MAX), b"x" * STORE_MAX)
        heard = 0
        while heard < 200:
            near.asked = heard = heard + 1
            assert near.hear() == ("Done", None)
        return {"a"}

    yield files("200 MiB without a pause", flood, long=True)

    def older(stage, server, near):
        try:
            Files(server, version=1)
        except Ended as ended:
            assert "version 1 of file access, the peer version 2" in str(ended), ended
            return
        raise AssertionError("another version is let in")

    yield files("another version of file access", older)


CASES = [*contents(), *places(), *rights()]
