"""A hostile server, or a hostile far host, to a `copy` that takes files from it."""

import functools
import os
import struct
import time

import encoding
import proving
import talking
from encoding import ALIVE, entry, problem
from stage import MIB, Case
from talking import frame, give

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


def get(name, script, *, asks="notes.txt", options=(), to="dst", code=1, told=(), came=(), finding="", memory=None, far=None, long=False, only_one_visit=False):
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


# --- names -------------------------------------------------------------------------------------------------------------------

def names():
    alone = functools.partial(get, finding="F1", only_one_visit=True)
    folders = functools.partial(alone, asks="run7", options=["-r"])
    folder = functools.partial(entry, folder=True, mode=0o777)
    yield get("an honest far end gives what was asked for", offers(NOTES), code=0, came=["dst/notes.txt"])
    yield get("an honest folder", offers(folder("run7", mode=0o755), entry("run7/a", len(DATA))), asks="run7", options=["-r"], code=0, came=["dst/run7"])
    for name in (".bashrc", "thesis.tex", "notes.txt.exe", "notes"):
        yield alone(f"a file `{name}` instead", offers(entry(name, len(DATA))), told=f"told of `{name}`")
    yield alone("a file beside the one asked for", offers(NOTES, entry(".bashrc", len(DATA))), told="told of `.bashrc`", came=["dst/notes.txt"])
    yield alone("a file without a name", offers(entry("", len(DATA))), told="without a name")
    yield alone("the destination itself as a folder open to all", offers(folder("")), told="no folders were asked for")
    yield alone("a folder instead", offers(folder(".ssh")), told="no folders were asked for")
    yield alone("a folder of that name", offers(folder("notes.txt")), told="no folders were asked for")
    yield alone("a file in a folder", offers(entry(".ssh/authorized_keys", len(DATA))), told="no folders were asked for")
    yield alone("a file below the name", offers(entry("notes.txt/x", len(DATA))), told="no folders were asked for")
    yield alone("a link with -L", offers(entry("notes.txt", link=b"/etc/passwd")), options=["-L"], told="links were not asked for")
    yield alone("a link in a folder with -L", offers(folder("run7"), entry("run7/l", link=b"..")), asks="run7", options=["-r", "-L"], told="links were not asked for", came=["dst/run7"])
    yield folders("a file beside the folder", offers(folder("run7"), entry(".profile", len(DATA))), told="`.profile`", came=["dst/run7"])
    yield folders("another folder", offers(folder("run70")), told="`run70`")
    yield folders("the destination of a named folder", offers(folder("")), told="not asked for")
    yield alone("a name that the wildcard is not for", offers(entry("a.exe", len(DATA))), asks="*.txt", told="`a.exe`")
    yield alone("a hidden name for a wildcard", offers(entry(".x.txt", len(DATA))), asks="*.txt", told="`.x.txt`")
    yield alone("a folder for a wildcard", offers(folder("a.txt")), asks="*.txt", told="no folders")
    yield get("a destination of one new name and another name for it", offers(entry("evil", len(DATA))), to="new", told="`evil`", finding="F1")
    yield get("a link and a file through it", offers(folder("run7"), entry("run7/out", link=b"../../.."), entry("run7/out/canary", len(DATA))), asks="run7",
              options=["-r"], code=1, came=["dst/run7"], finding="F1")
    yield get("a link where a folder is and a file through it", offers(folder("run7"), entry("run7/a", link=b"/tmp"), folder("run7/a"), entry("run7/a/x", len(DATA))),
              asks="run7", options=["-r"], code=1, came=["dst/run7"])
    for name in (".big.trunkline-part", ".big.trunkline-journal", ".big.trunkline-link"):
        yield get(f"a name of a temporary file {name}", offers(folder("run7"), entry("run7/" + name, len(DATA))), asks="run7", options=["-r"],
                  told="temporary file", came=["dst/run7"], finding="F3")
    for name in (b"..", b"../x", b"a/../../x", b"/etc/cron.d/x", b"run7/.", b"run7//x", b"run7/", b".", b"run7/a\0b", b"n" * 256, b"a/" * 2048 + b"a"):
        shown = name[:14].decode().replace("\0", "0").replace("/", "|")
        yield get(f"an impossible name {shown}", says(("Entries", [entry(name, 5)])), asks="run7", options=["-r"], told="cannot be read", finding="F17", only_one_visit=True)
    yield get("names that steer a terminal are escaped in the refusal", offers(entry("\x1b[2J\u202egnp.exe", 5)), told="\\\\x1b[2J", finding="F19")


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
    yield get("one folder 600,000 times", same_folder_again, asks="run7", options=["-r"], code=1, came=["dst/run7"], finding="F9", long=True)
    yield Case(GROUP, "300,000 files that were left out", is_bounded_flood, "F9", True)
    yield refused("a file larger than any", says(("Entries", [entry("run7", 1 << 63)])), told="more than a file can have")
    yield refused("sizes whose sum overflows", says(("Entries", [run7, *(entry(f"run7/{n}", (1 << 63) - 1) for n in range(3))])), told="more than a file can have")
    yield refused("a count that is not the sum", says(said, ("EntriesEnd", {"count": 3, "bytes": 10})), told="is not the number", came=["dst/run7"])
    yield refused("bytes that are not the sum", says(said, ("EntriesEnd", {"count": 2, "bytes": 11})), told="is not the bytes", came=["dst/run7"])
    yield refused("two ends of entries", says(said, *[("EntriesEnd", {"count": 2, "bytes": 10})] * 2), told="was said before", came=["dst/run7"])
    yield refused("entries behind their end", says(said, ("EntriesEnd", {"count": 2, "bytes": 10}), said), told="was said before", came=["dst/run7"])
    yield refused("an empty link", says(("Entries", [entry("run7", link=b"")])), told="does not say where it leads")
    yield refused("a link with a zero byte", says(("Entries", [entry("run7", link=b"a\0b")])), told="does not say where it leads")
    yield refused("a link of 5000 bytes", says(("Entries", [entry("run7", link=b"a" * 5000)])), told="does not say where it leads")
    yield get("a file of 1 EiB", offers(entry("notes.txt", 1 << 60)), code=1, told="notes.txt", finding="F15")
    yield get("two files of one name", offers(run7, entry("run7/a", len(DATA)), entry("run7/a", len(DATA))), asks="run7", options=["-r"], code=1, came=["dst/run7"], finding="F9")


# --- bytes that are no messages -------------------------------------------------------------------------------------------------

def undecodable():
    broken = functools.partial(get, finding="F17", only_one_visit=True)
    yield broken("a message of an unknown kind", says(frame(b"\x13")), told="cannot be read")
    yield broken("a byte behind a message", says(frame(encoding.encode(("Streams", 1)) + b"\0")), told="1 bytes too many")
    yield broken("an empty frame", says(struct.pack(">I", 0)), told="a message of 0 bytes")
    yield broken("a frame of 256 KiB and a byte", says(struct.pack(">I", (256 << 10) + 1)), told="at most 262144")
    yield broken("a frame of 4 GiB", says(b"\xff" * 4 + b"x" * 1000), told="at most 262144")
    yield broken("a list of 4 billion", says(frame(b"\x04\xff\xff\xff\xff\x0f")), told="cannot be read")
    yield broken("a number that never ends", says(frame(b"\x0c" + b"\xff" * 200)), told="cannot be read")
    yield broken("a text that is none", says(frame(b"\x0a\x02\xff\xfe\x00\x00\x00\x00")), told="cannot be read")
    yield broken("an unknown kind of entry", says(frame(b"\x02\x01\x01a\x07")), told="cannot be read")
    yield broken("256 KiB of chance", says(frame(os.urandom(256 << 10))), told="peer sent a message")


# --- messages out of turn -----------------------------------------------------------------------------------------------------

def turns():
    told = functools.partial(get, only_one_visit=True)
    wanted, piece = ("Entries", [NOTES]), {"file": 0, "start": 0, "length": 5}
    for name, message in {"Opened twice": ("Opened", {"session": 7, "fresh": False})}.items():
        yield told(f"{name}", says(message), told="said before")
    yield told("an opening of a far end", says(encoding.opening("Get", "x")), told="for the other end to say")
    receivers = {"Wants": ("Wants", [("Nothing", 0)]), "Received": ("Received", [piece]), "Damaged": ("Damaged", piece), "Complete": ("Complete", None),
                 "Published": ("Published", [{"file": 0, "digest": bytes(32)}]), "ReadBack": ("ReadBack", {"file": 0, "parts": [], "is_all": True})}
    for name, message in receivers.items():
        yield told(f"{name} of a sender", says(wanted, message), told="for the other end to say")
    yield told("RateMax of a far end", says(("RateMax", 1)), told="for the other end to say")
    yield told("Bye before the end", says(("Bye", None)), told="still to be done")
    yield told("entries before the opening is answered", says(wanted, opened=False), told="not open yet")
    yield told("no streams", says(("Streams", 0)), told="streams are not between")
    yield told("1025 streams", says(("Streams", 1025)), told="streams are not between")
    yield told("the end of an unknown file", says(("FileEnds", [0])), told="nobody told of that file")
    yield told("a failure of an unknown file", says(("Failed", problem("x", file=9))), told="nobody told of that file")
    yield told("a failure of all", says(("Failed", problem("no \x1b[31mroom\u202e"))), told="room")
    yield told("a failure instead of an answer", says(("Failed", problem("go away", hint="or stay")), opened=False), told=["go away", "or stay"])
    yield told("the user there ended it", says(("Cancel", None)))


# --- pieces -------------------------------------------------------------------------------------------------------------------

def streams(send, size=len(DATA)):
    """A far end whose stream carries what `send()` gives."""
    def script(stage, far, control):
        control.hear("Open")
        control.say(("Opened", {"session": 7, "fresh": False}), ("Entries", [entry("notes.txt", size)]), ("EntriesEnd", {"count": 1, "bytes": size}), ("Streams", 1))
        control.hear("Wants")
        answer(far, control, send)
    return script


def answer(far, control, send):
    """Twice what has to be complained about, or end its stream; and then no more."""
    stream = None
    for _ in range(2):
        stream = stream or far.stream()
        try:
            stream.send(send())
        except talking.Ended:
            pass
        how = notice(stream, control)
        if how is None:
            far.errors.append("a piece that cannot be was taken")
        stream = stream if how == "Damaged" else None
        control.say(("Streams", 1))
    control.say(("Failed", problem("that was it", kind="Cancelled")))
    drain(control)


def notice(stream, control):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if stream.is_closed_within(0.1):
            return "closed"
        try:
            if control.hear(seconds=0.3)[0] == "Damaged":
                return "Damaged"
        except talking.Ended as end:
            if not talking.is_late(end):
                raise
    return None


def wrong_seal():
    right = proving.piece(0, DATA)
    return right[:-1] + bytes([right[-1] ^ 1])


def other_content():
    head = proving.header(0, 0, len(DATA))
    return head + DATA[::-1] + proving.seal(head, proving.hash_of(DATA, 0, len(DATA)))


def ends_first(stage, far, control):
    control.hear("Open")
    control.say(("Opened", {"session": 7, "fresh": False}), ("Entries", [NOTES]), ("EntriesEnd", {"count": 1, "bytes": len(DATA)}), ("Streams", 1))
    control.hear("Wants")
    control.say(("FileEnds", [0]), ("FileEnds", [0]))
    drain(control)


def thousand_streams(stage, far, control):
    control.hear("Open")
    control.say(("Opened", {"session": 7, "fresh": False}), ("Streams", 1024))
    time.sleep(2)
    control.say(("Failed", problem("that was it", kind="Cancelled")))
    drain(control)


def gives_packed(stage, far, control):
    control.hear("Open")
    control.say(("Opened", {"session": 7, "fresh": False}), ("Entries", [entry("notes.txt", 1 << 20)]), ("EntriesEnd", {"count": 1, "bytes": 1 << 20}), ("Streams", 1))
    control.hear("Wants")
    far.stream().send(proving.packed_zeros(0, 1 << 20))
    control.say(("FileEnds", [0]))
    drain(control)


def silent_behind_the_pieces(stage, far, control):
    """The second time it is not there at all."""
    control.hear("Open")
    far.listener.close()
    give(far, control, [NOTES], {0: DATA}, end=False)
    wait(control.socket)


def pieces():
    never = functools.partial(get, code=1, told="that was it")
    yield never("a seal that is wrong each time", streams(wrong_seal), finding="F5")
    yield never("other bytes under a right seal", streams(other_content))
    yield never("a header that is none", streams(lambda: b"GET / HTTP/1.1\r\n\r\n" + bytes(64)))
    yield never("a piece of nothing", streams(lambda: proving.header(0, 0, 0) + bytes(32)))
    yield never("a piece of 4 GiB", streams(lambda: proving.header(0, 0, (1 << 32) - 1) + bytes(4096)))
    yield never("a piece beyond the file", streams(lambda: proving.piece(0, bytes(64), 1 << 20, 1 << 21)))
    yield never("a piece beyond any file", streams(lambda: proving.header(0, (1 << 64) - 1, 5) + bytes(37)))
    yield never("a piece of an unknown file", streams(lambda: proving.piece(9, DATA)))
    yield never("another length on the stream than in the file", streams(lambda: proving.header(0, 0, 13, 12) + bytes(64)))
    yield never("a packed piece of 4 MiB", streams(lambda: proving.packed_zeros(0, 4 << 20), size=4 << 20))
    yield never("a packed piece that unpacks to 256 MiB", streams(lambda: proving.packed_zeros(0, 256 << 20, 1 << 20), size=1 << 20))
    yield never("a packed piece that unpacks to less", streams(lambda: proving.packed_zeros(0, 100, 1 << 20), size=1 << 20))
    yield never("a packed piece that is no Zstandard", streams(lambda: proving.header(0, 0, 1 << 20, 100, b"1") + bytes(132), size=1 << 20))
    yield get("a packed piece that is right", gives_packed, code=0, came=["dst/notes.txt"])
    yield get("a file that ends twice", ends_first, told="not read to its end")
    yield get("1024 streams are asked for", thousand_streams, code=1, told="that was it", finding="F10")


# --- silence ------------------------------------------------------------------------------------------------------------------

class Mute(talking.Far):
    """Says nothing from some step on."""
    step = ""

    def visit(self, connection):
        if self.step == "connected":
            return wait(connection)
        super().visit(connection)

    def welcome(self, line, heard):
        if self.step == "TLS":
            return wait(line.socket)
        super().welcome(line, heard)


def wait(connection):
    """Until the other end has enough."""
    connection.settimeout(talking.WAIT)
    try:
        while connection.recv(1 << 16):
            pass
    except OSError:
        pass


def mute(step):
    return type("Mute", (Mute,), {"step": step})


def half_a_frame(stage, far, control):
    control.hear("Open")
    control.send(struct.pack(">I", 100) + b"\x02")
    wait(control.socket)


def alive_for_ever(before, *messages):
    def script(stage, far, control):
        control.hear("Open")
        control.say(*messages)
        while True:
            control.say(ALIVE)
            time.sleep(0.5)
    return script


def is_stopped_while_it_waits(stage):
    """A first Ctrl-C while nothing is answered ends it."""
    far = stage.far(lambda control: wait(control.socket))
    process = stage.start_copy(f"trunkline://127.0.0.1:{far.port}/notes.txt", "dst", "--token-file", stage.token_file)
    while not far.visits:
        time.sleep(0.02)
    time.sleep(0.3)
    begin = time.monotonic()
    process.send_signal(2)
    result = stage.finish(process)
    assert time.monotonic() - begin < 8, "it went on waiting"
    stage.expect(result, code=1)


def silences():
    gone = functools.partial(get, code=1, long=True)
    nothing = lambda stage, far, control: wait(control.socket)
    yield gone("silence once connected", nothing, far=mute("connected"), told="10")
    yield gone("silence behind TLS", nothing, far=mute("TLS"), told="10")
    yield gone("silence behind the hello", nothing, told="nothing was heard")
    yield gone("silence behind the answer", heard(lambda stage, far, control: (control.say(("Opened", {"session": 7, "fresh": False})), wait(control.socket))), told="nothing was heard")
    yield gone("silence in a frame", half_a_frame, told="nothing was heard")
    yield gone("silence behind the pieces", silent_behind_the_pieces, told="nothing was heard")
    yield gone("alive for ever instead of an answer", alive_for_ever(None), finding="F18")
    yield Case(GROUP, "an interrupt while nothing is answered", is_stopped_while_it_waits, "F18")


# --- who it is ----------------------------------------------------------------------------------------------------------------

class Impostor(talking.Far):
    """Answers a hello without knowing the secret."""
    def welcome(self, line, heard):
        near = encoding.NEAR_HELLO[1](encoding.Reader(heard[5:]))
        line.send(self.lie(line, near))

    def lie(self, line, near):
        raise NotImplementedError


def impostor(lie):
    return type("Impostor", (Impostor,), {"lie": lambda self, line, near: lie(self, line, near)})


def answered(far, line, **changed):
    return frame(far.answer(line.exporter(), **changed))


def replayed(far, line, near):
    """The answer that was right on another connection."""
    return frame(far.answer(bytes(32)))


def older_tls(far_context):
    from OpenSSL import SSL
    made = SSL.Context(SSL.TLS_METHOD)
    made.set_max_proto_version(SSL.TLS1_2_VERSION)
    made.use_privatekey(far_context[0])
    made.use_certificate(far_context[1])
    return made


class Old(talking.Far):
    def __init__(self, *words, **more):
        super().__init__(*words, **more)
        self.context = older_tls(talking.made_up_certificate())


class Another(talking.Far):
    """Another certificate on each connection behind the first."""
    def on_tls(self, line):
        self.context = talking.context(talking.made_up_certificate())
        super().on_tls(line)


def is_never_in_the_clear(stage):
    """Without --plain streams are in TLS, whatever the far end would like."""
    far = stage.far(lambda control: offers(NOTES)(stage, far, control))
    stage.expect(stage.get(far, "notes.txt"), code=0)
    assert far.greetings, "streams greeted in the clear"


def identities():
    nothing = lambda stage, far, control: wait(control.socket)

    def lies(name, lie, **more):
        return get(name, nothing, far=impostor(lie), code=1, **more)
    yield lies("a proof of nothing", lambda far, line, near: answered(far, line, proof=bytes(32)), told="does not know")
    yield lies("the near end's own proof", lambda far, line, near: answered(far, line, proof=near["proof"]), told="does not know")
    yield lies("the proof of another connection", replayed, told="does not know")
    yield lies("rights that are not proved", lambda far, line, near: answered(far, line, rights={"read": False, "write": True}), told="does not know")
    yield lies("another version", lambda far, line, near: frame(b"TLF\x00\x07" + bytes(40)), told="version")
    yield lies("the near end's hello comes back", lambda far, line, near: frame(b"TLN\x00\x02" + encoding.NEAR_HELLO[0](near)))
    yield lies("a refusal that steers the terminal", lambda far, line, near: frame(b"TLR\x00\x02" + encoding.REFUSAL[0]({"what": "\x1b[2J\u202eno", "hint": "\x07x"})), told="no")
    yield lies("a refusal of 900 characters", lambda far, line, near: frame(b"TLR\x00\x02" + encoding.REFUSAL[0]({"what": "x" * 900, "hint": None})), told="xxx")
    yield lies("an answer of 2 KiB", lambda far, line, near: frame(b"TLF\x00\x02" + bytes(2000)))
    yield lies("an answer that is cut", lambda far, line, near: frame(b"TLF\x00\x02\x04"))
    yield lies("an answer that is none", lambda far, line, near: b"HTTP/1.1 200 OK\r\n\r\n")
    yield get("TLS 1.2", nothing, far=Old, code=1)
    yield get("another certificate for the streams", offers(NOTES), far=Another, code=1, long=True)
    yield Case(GROUP, "streams are never in the clear without --plain", is_never_in_the_clear)


CASES = [*names(), *counts(), *undecodable(), *turns(), *pieces(), *silences(), *identities()]
