"""Hostile holders of tokens as controllers of third-party copies, and holders of tokens that were granted for one copy."""

import socket
import struct

import encoding
import proving
from encoding import BYTES, NOTHING, OPENING, PROBLEM, TEXT, U, fields, maybe, one_of, raw, several
from holder import DATA, FULL, furnish
from line import Ended, frame, tls_to
from ends import loopback
from stage import Case
from talking import Near, hello

GROUP = "third-party"
VERSION = 3
WORDS = {b"N": b"", b"A": b"files", b"G": b"grant", b"P": b"push"}

PUSH = fields(sources=several(BYTES), opening=OPENING, receiving=several(fields(host=TEXT, port=U)), fingerprint=maybe(raw(32)), token=TEXT)
ORDER = one_of(
    Grant=OPENING, Push=PUSH, RateMax=maybe(U), Alive=NOTHING, Cancel=NOTHING, FixedStreams=maybe(U)
)
LIMITED = encoding.LIMITED
STANDING = fields(done=U, total=U, total_is_known=encoding.BOOL, files_done=U, files_total=U, **encoding.STREAMS)
TOTALS = fields(folders=U, linked=U, sent=U, holes=U, on_wire=U, sent_again=U, streams_replaced=U, streams=U, limited=maybe(LIMITED))
END = one_of(Done=NOTHING, Problem=PROBLEM, Lost=TEXT, NoPlace=encoding.NO_PLACE, Cancelled=NOTHING)
SIZED = fields(name=BYTES, bytes=U)
REPORT = one_of(
    Granted=TEXT, Alive=NOTHING, Connected=fields(peer=TEXT, rtt=maybe(U)), Planned=fields(files=U, folders=U, links=U, bytes=U, present=U),
    Standing=STANDING, Published=fields(name=BYTES, bytes=U, digest=maybe(raw(32))), Skipped=SIZED, WouldCopy=SIZED, Removed=TEXT,
    Failed=fields(name=TEXT, problem=PROBLEM), Steered=fields(streams=U, why=TEXT), Ended=fields(end=END, totals=TOTALS))


class Controller:
    """A controller: honest until a case makes it otherwise."""

    def __init__(self, port, token, kind=b"G", version=VERSION, word=None):
        name, secret = proving.secret_of(token)
        key = proving.key_of(secret)
        self.control = tls_to(port)
        word = WORDS[kind] if word is None else word
        proof = proving.proof(key, b"near", self.control.exporter(), word)
        self.control.send(frame(hello(name, proof, kind=kind) + encoding.number(version)))
        answer = self.control.frame()
        if answer[2:3] != b"F":
            raise Ended("refused: " + encoding.REFUSAL[1](encoding.Reader(answer[5:]))["what"])

    def say(self, name, value=None):
        self.control.send(frame(ORDER[0]((name, value))))

    def hear(self, seconds=30):
        """The next report that is no sign of life."""
        while True:
            name, value = REPORT[1](encoding.Reader(self.control.frame(seconds)))
            if name != "Alive":
                return name, value

    def ended(self, seconds=30):
        """How it ended."""
        while True:
            name, value = self.hear(seconds)
            if name == "Ended":
                return value["end"]


def put(number=1, to="x", **changed):
    return encoding.opening("Put", to, copy=bytes([number]) * 16, into_folder=False, **changed)[1]


def granted(server, **changed):
    controller = Controller(server.port, server.token)
    controller.say("Grant", put(**changed))
    name, token = controller.hear()
    assert name == "Granted", token
    return token


def third(name, play, options=(), rights="rw", line=""):
    def whole(stage):
        furnish(stage)
        play(stage, stage.serve(*options, rights=rights, token_line=line))

    return Case(GROUP, name, whole, "", False)


def problem(end, told):
    assert end[0] == "Problem" and told in end[1]["what"], end


# --- tokens for one copy ----------------------------------------------------------------------------------------------------


def tokens():
    def refused(server, token):
        try:
            Near(server.port, token)
        except Ended as ended:
            assert "refused" in str(ended), ended
            return
        raise AssertionError("the token opens another conversation")

    def once(stage, server):
        token = granted(server)
        near = Near(server.port, token)
        near.control.say(("Open", put()))
        near.opened()
        near.put([FULL | {"name": b""}], {0: DATA})
        near.control.hear("Complete", seconds=20)
        assert (stage.root / "x").read_bytes() == DATA
        refused(server, token)

    yield third("a granted token opens its copy once", once)

    def other(name, **changed):
        def play(stage, server):
            token = granted(server)
            near = Near(server.port, token)
            near.control.say(("Open", put() | changed))
            told = near.control.hear("Failed", "Opened")
            assert told[0] == "Failed" and "another one" in told[1]["what"], told
            assert not (stage.root / "y").exists()
            refused(server, token)

        return third(f"a granted token opens {name}", play)

    yield other("no other destination", paths=[b"y"])
    yield other("no get", way="Get", paths=[b"notes.txt"])
    yield other("no copy that removes", delete=True)
    yield other("no copy that compares", filter="Content")
    yield other("no copy of another number", copy=bytes(16))
    yield other("no copy in the clear", plain=True)

    def elsewhere(kind, name):
        def play(stage, server):
            token = granted(server)
            try:
                controller = Controller(server.port, token, kind)
                if kind == b"A":
                    controller.control.frame(20)
                else:
                    opening = put(number=2)
                    push = {"sources": [b"notes.txt"], "opening": opening, "receiving": [{"host": "127.0.0.1", "port": 9}],
                            "fingerprint": None, "token": server.token.strip()}
                    controller.say(*(("Grant", opening) if kind == b"G" else ("Push", push)))
                    problem(controller.ended(), "taken back")
                    return
            except Ended:
                return
            raise AssertionError("it is served")

        return third(f"a granted token {name}", play, line="to=127.0.0.1")

    yield elsewhere(b"A", "reaches no single files")
    yield elsewhere(b"G", "grants no other")
    yield elsewhere(b"P", "commands no copy")

    def newer(stage, server):
        older, newer = granted(server), granted(server)
        refused(server, older)
        Near(server.port, newer)

    yield third("a newer token for the same copy voids the older", newer)

    def bounded(stage, server):
        for number in range(64):
            granted(server, number=number)
        controller = Controller(server.port, server.token)
        controller.say("Grant", put(number=100))
        problem(controller.ended(), "64 tokens")

    yield third("tokens of one holder are bounded", bounded)

    def may_not(stage, server):
        controller = Controller(server.port, server.token)
        controller.say("Grant", put())
        problem(controller.ended(), "nothing may be put here")

    yield third("a token that may only read grants nothing", may_not, rights="r")
    yield third("a server that is only read grants nothing", may_not, options=["--read-only"])


# --- commands ---------------------------------------------------------------------------------------------------------------


def pushes():
    def push(server, port, *sources, opening=None, host="127.0.0.1"):
        token = "tl1-x-" + "a" * 52
        return {"sources": list(sources or [b"notes.txt"]), "opening": opening or put(), "receiving": [{"host": host, "port": port}],
                "fingerprint": None, "token": token}

    class Listener:
        """A port of this host, and whether anything came to it."""

        def __init__(self):
            self.socket = socket.create_server(("127.0.0.1", 0))
            self.port = self.socket.getsockname()[1]

        def visits(self, seconds=0.5):
            self.socket.settimeout(seconds)
            try:
                return self.socket.accept()[0]
            except TimeoutError:
                return None

    def unallowed(name, line):
        def play(stage, server):
            listener = Listener()
            controller = Controller(server.port, server.token, b"P")
            controller.say("Push", push(server, listener.port))
            problem(controller.ended(), "may not have the source send")
            assert listener.visits() is None, "the server connected to a host that its operator did not name"

        return third(f"the server connects nowhere {name}", play, line=line)

    yield unallowed("without hosts behind the token", "")
    yield unallowed("but to the hosts behind the token", "to=localhost,127.0.0.1:1")

    def source(name, *sources, told):
        def play(stage, server):
            listener = Listener()
            controller = Controller(server.port, server.token, b"P")
            controller.say("Push", push(server, listener.port, *sources))
            end = controller.ended()
            assert end[0] == "Problem", end
            assert told in end[1]["what"], end
            assert listener.visits() is None

        return third(f"sources: {name}", play, line="to=127.0.0.1")

    outside = "outside of the folder"
    yield source("what is above", b"../outside/canary", told="")
    yield source("an absolute name", b"/etc/passwd", told="")
    yield source("through a link out", b"out/canary", told=outside)
    yield source("through /proc", b"proc/etc/passwd", told=outside)
    yield source("a zero byte", b"a\0b", told="name")
    yield source("1025 names", *[b"a"] * 1025, told="number of names")

    def way(stage, server):
        controller = Controller(server.port, server.token, b"P")
        controller.say("Push", push(server, 9, opening=put() | {"way": "Get"}))
        problem(controller.ended(), "direction")

    yield third("a get is no command", way, line="to=127.0.0.1")

    def silent(stage, server):
        listener = Listener()
        controller = Controller(server.port, server.token, b"P")
        controller.say("Push", push(server, listener.port))
        listener.visits(10)
        end = controller.ended(seconds=40)
        assert end[0] == "Lost" and "cannot reach the destination" in end[1], end

    yield third("a destination that says nothing is given up", silent, line="to=127.0.0.1")

    def own(stage, server):
        """The server sends to itself: what it reads of its own hello is no proof."""
        controller = Controller(server.port, server.token, b"P")
        controller.say("Push", push(server, server.port, host=loopback(server.port)))
        end = controller.ended()
        assert end[0] == "Problem" and "refused" in end[1]["what"], end

    yield third("a wrong token for the destination is refused there", own, line="to=127.0.0.1,[::1]")

    def order(name, *orders, kind=b"P", raw_frame=None):
        def play(stage, server):
            controller = Controller(server.port, server.token, kind)
            for one in orders:
                controller.say(*one)
            if raw_frame is not None:
                controller.control.send(raw_frame)
            try:
                end = controller.ended()
                assert end[0] == "Problem", end
            except Ended:
                pass
            Near(server.port, server.token)

        return third(f"orders: {name}", play, line="to=127.0.0.1")

    yield order("a cancel as the first", ("Cancel",))
    yield order("a bound as the first", ("RateMax", 1))
    yield order("a grant in place of a copy", ("Grant", put()))
    yield order("a copy in place of a grant", ("Push", push(None, 9)), kind=b"G")
    yield order("a kind that is none", raw_frame=frame(b"\x63"))
    yield order("one that is too long", raw_frame=struct.pack(">I", 1 << 30))
    yield order("one that ends early", raw_frame=frame(b"\x01\x01\xff\xff\xff\xff\x0f"))


def hellos():
    def refused(name, told, **changed):
        def play(stage, server):
            try:
                Controller(server.port, server.token, **changed)
            except Ended as ended:
                assert told in str(ended), ended
                return
            raise AssertionError("it is let in")

        return third(f"hello: {name}", play)

    yield refused("the proof of a copy", "no token of this server", word=b"")
    yield refused("the proof of a grant for a command", "no token of this server", kind=b"P", word=b"grant")
    yield refused("another version", "version 9 of third-party copies", version=9)


CASES = [*tokens(), *pushes(), *hellos()]
