"""A far end that falls silent, or is not who it says it is."""

import functools
import struct
import time

import encoding
import talking
from encoding import ALIVE
from get import DATA, GROUP, NOTES, get, heard, offers, wait
from line import context, frame, made_up_certificate
from stage import Case
from talking import give

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


def mute(step):
    return type("Mute", (Mute,), {"step": step})


def half_a_frame(stage, far, control):
    control.hear("Open")
    control.send(struct.pack(">I", 100) + b"\x02")
    wait(control.socket)


def silent_behind_the_pieces(stage, far, control):
    """The second time it is not there at all."""
    control.hear("Open")
    far.listener.close()
    give(far, control, [NOTES], {0: DATA}, end=False)
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
    process = stage.start_copy(f"trunkline://{far.at}/notes.txt", "dst", "--token-file", stage.token_file)
    while not far.visits:
        time.sleep(0.02)
    time.sleep(0.3)
    begin = time.monotonic()
    process.send_signal(2)
    result = stage.finish(process)
    assert time.monotonic() - begin < 8, "it went on waiting"
    stage.expect(result, code=75)


def silences():
    absent = functools.partial(get, code=1, long=True)
    # It was there, and may be again.
    gone = functools.partial(get, code=75, long=True)
    nothing = lambda stage, far, control: wait(control.socket)
    yield absent("silence once connected", nothing, far=mute("connected"), told="10")
    yield absent("silence behind TLS", nothing, far=mute("TLS"), told="10")
    yield gone("silence behind the hello", nothing, told="nothing was heard")
    yield gone(
        "silence behind the answer",
        heard(lambda stage, far, control: (control.say(("Opened", {"session": 7, "fresh": False})), wait(control.socket))),
        told="nothing was heard",
    )
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
        self.context = older_tls(made_up_certificate())


class Another(talking.Far):
    """Another certificate on each connection behind the first."""

    def on_tls(self, line):
        self.context = context(made_up_certificate())
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
    yield lies(
        "rights that are not proved",
        lambda far, line, near: answered(far, line, rights={"read": False, "write": True}),
        told="does not know",
    )
    yield lies("another version", lambda far, line, near: frame(b"TLF\x00\x07" + bytes(40)), told="version")
    yield lies("the near end's hello comes back", lambda far, line, near: frame(b"TLN\x00\x06" + encoding.NEAR_HELLO[0](near)))
    yield lies(
        "a refusal that steers the terminal",
        lambda far, line, near: frame(b"TLR\x00\x06" + encoding.REFUSAL[0]({"what": "\x1b[2J\u202eno", "hint": "\x07x"})),
        told="no",
    )
    yield lies(
        "a refusal of 900 characters",
        lambda far, line, near: frame(b"TLR\x00\x06" + encoding.REFUSAL[0]({"what": "x" * 900, "hint": None})),
        told="xxx",
    )
    yield lies("an answer of 2 KiB", lambda far, line, near: frame(b"TLF\x00\x06" + bytes(2000)))
    yield lies("an answer that is cut", lambda far, line, near: frame(b"TLF\x00\x06\x04"))
    yield lies("an answer that is none", lambda far, line, near: b"HTTP/1.1 200 OK\r\n\r\n")
    yield get("TLS 1.2", nothing, far=Old, code=1)
    yield get("another certificate for the streams", offers(NOTES), far=Another, code=75, long=True)
    yield Case(GROUP, "streams are never in the clear without --plain", is_never_in_the_clear)


CASES = [*silences(), *identities()]
