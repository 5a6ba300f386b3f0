"""A hostile server to a `copy` that puts files there."""

import functools
import os
import threading
import time

import encoding
import proving
import talking
from encoding import ALIVE, problem
from get import drain, wait
from line import Ended
from stage import Case

GROUP = "put"
DATA = bytes(range(256)) * 500
SIZE = len(DATA)


def takes(*messages, wants=True, after=None):
    """A far end that hears of everything, says that all is wanted, and then these."""

    def script(stage, far, control):
        opened(control)
        told = entries(control)
        if wants:
            control.say(
                (
                    "Wants",
                    [("Whole", number) if one["kind"][0] == "File" else ("Nothing", number) for number, one in enumerate(told)],
                )
            )
        for message in messages:
            control.send(message) if isinstance(message, bytes) else control.say(message)
        (after or (lambda stage, far, control: drain(control)))(stage, far, control)

    return script


def opened(control):
    control.hear("Open")
    control.say(("Opened", {"session": 7, "fresh": False}))


def entries(control):
    told = []
    while True:
        name, value = control.hear("Entries", "EntriesEnd")
        if name == "EntriesEnd":
            return told
        told += value


def put(name, script, *, code=1, told=(), options=(), finding="", long=False, check=None, far=None):
    def play(stage):
        source = stage.write(stage.world / "src/data", DATA)
        (stage.world / "src/folder").mkdir()
        before = source.stat()
        one = stage.far(lambda control: script(stage, one, control), kind=far or talking.Far)
        result = stage.put(one, "src", "-r", *options)
        stage.expect(result, code=code, told=told)
        # Who sends changes nothing at home.
        stage.expect_world("src")
        assert source.read_bytes() == DATA and source.stat().st_mtime_ns == before.st_mtime_ns
        if check:
            check(stage, result, one)

    return Case(GROUP, name, play, finding, long)


# The entries are the folder `src`, `src/data` and `src/folder`.
FILE = 1


def wants():
    said = functools.partial(put, told="parts that are wanted")
    rest = lambda *parts: takes(("Wants", [("Nothing", 0), ("Rest", (FILE, list(parts)))]), wants=False)
    yield said("a part beyond the file", rest((0, SIZE + 1)))
    yield said("a part that ends beyond all numbers", rest(((1 << 64) - 1, 2)))
    yield said("a part of nothing", rest((5, 0)))
    yield said("parts that overlap", rest((0, 100), (50, 100)))
    yield said("parts out of order", rest((1000, 100), (0, 100)))
    yield said("8193 parts", rest(*((at, 1) for at in range(0, 8193 * 2, 2))))
    other = functools.partial(put, told="far end said `Wants`")
    yield other(
        "an unknown file is wanted", takes(("Wants", [("Nothing", 0), ("Whole", FILE), ("Nothing", 2), ("Whole", 77)]), wants=False)
    )
    yield other("a file is wanted twice", takes(("Wants", [("Whole", FILE)])))
    yield other("answers out of order", takes(("Wants", [("Whole", FILE)]), wants=False))
    yield other("the content of a folder is wanted", takes(("Wants", [("Whole", 0)]), wants=False))
    yield put(
        "wants without entries",
        lambda stage, far, control: (opened(control), control.say(("Wants", [("Whole", 9)])), drain(control)),
        told="that file was not announced",
    )
    yield put("wants of 256 KiB, sixty times", many_wants, finding="F9")


def many_wants(stage, far, control):
    """Each takes 32 bytes in memory for two here."""
    opened(control)
    entries(control)
    body = encoding.encode(("Wants", [("Nothing", 0)] * 130_000))
    for _ in range(60):
        control.send(talking.frame(body))
    drain(control)


def confirmations():
    piece = lambda **changed: {"file": FILE, "start": 0, "length": 16 << 10} | changed
    for name, changed in {
        "beyond the file": {"start": SIZE},
        "of nothing": {"length": 0},
        "of 5 MiB": {"length": 5 << 20},
        "beyond all numbers": {"start": (1 << 64) - 1},
        "of an unknown file": {"file": 99},
    }.items():
        yield put(f"a confirmation {name}", takes(("Received", [piece(**changed)])), told="far end said `Received`")
    yield put("a complaint beyond the file", takes(("Damaged", piece(start=SIZE))), told="far end said `Damaged`")
    yield put("a confirmation of what was never sent", never_sent, finding="F5")
    yield put(
        "a file has its name before it was sent",
        takes(("Published", [{"file": FILE, "digest": bytes(32)}]), wants=False),
        told="far end said `Published`",
    )
    yield put(
        "an unknown file has its name", takes(("Published", [{"file": 99, "digest": bytes(32)}])), told="that file was not announced"
    )
    yield put("a folder has its name", takes(("Published", [{"file": 0, "digest": bytes(32)}])), told="far end said `Published`")
    yield put("all is done before it is", takes(("Complete", None)), told="still to be done")
    yield put("goodbye before the end", takes(("Bye", None)), told="still to be done")
    yield put(
        "read back what was never left",
        takes(("ReadBack", {"file": FILE, "parts": [], "is_all": True})),
        told="far end said `ReadBack`",
    )
    yield put("a complaint about the same piece for ever", damaged_for_ever, told="other than they were sent")


def never_sent(stage, far, control):
    """No stream is let in, and all is confirmed. Whether it was sent the sender knows."""
    opened(control)
    entries(control)
    control.say(
        ("Wants", [("Nothing", 0), ("Whole", FILE), ("Nothing", 2)]), ("Received", [{"file": FILE, "start": 0, "length": SIZE}])
    )
    drain(control)


def pieces_of(far, control, answer):
    """Reads the pieces of the next stream; `answer(header, content)` says what the sender is told."""
    pieces_on(far.stream(), answer)


def pieces_on(stream, answer):
    while True:
        try:
            head = stream.read(proving.HEADER)
        except Ended:
            return
        told = proving.read_header(head)
        content = stream.read(told["wire_length"])
        mark = stream.read(proving.SEAL)
        assert mark == proving.seal(head, proving.hash_of(content, told["offset"], SIZE)), "the seal is wrong"
        if answer(told, content):
            return


def damaged_for_ever(stage, far, control):
    opened(control)
    entries(control)
    control.say(("Wants", [("Nothing", 0), ("Whole", FILE), ("Nothing", 2)]))

    def complain(told, content):
        control.say(("Damaged", {"file": told["file"], "start": told["offset"], "length": told["length"]}))

    threading.Thread(target=pieces_of, args=(far, control, complain), daemon=True).start()
    while encoding.decode(control.frame())[0] != "Failed":
        pass
    completes(stage, far, control)


def turns():
    sender = {
        "entries": ("Entries", []),
        "an end of entries": ("EntriesEnd", {"count": 0, "bytes": 0, "linked": 0}),
        "an end of a file": ("FileEnds", [FILE]),
        "streams": ("Streams", 4),
        "how the streams stand": ("Sending", {"streams": 1, "rate": 0, "rtt": None, "retransmitted": None, "binds": None, "ecn": None, "marked": None, "limited": None}),
    }
    for name, message in sender.items():
        yield put(f"{name} of a receiver", takes(message), told="for the other end to say")
    yield put(
        "a failure of every file",
        takes(("Failed", problem("no room for \x1b[2J", file=FILE, kind="Permission")), wants=True, after=completes),
        told="no room for",
    )
    yield put("a failure of an unknown file", takes(("Failed", problem("x", file=99))), told="that file was not announced")
    yield put("a failure of all", takes(("Failed", problem("full", kind="DiskFull"))), told="full")
    yield put("bytes that are no message", takes(b"\0\0\0\x04\x7f" + os.urandom(3)), told="cannot be read", finding="F17")
    yield put(
        "everything is there already",
        takes(("Wants", [("Nothing", n) for n in range(3)]), ("Complete", None), ("Bye", None), wants=False),
        code=0,
    )
    yield put(
        "silence behind the wants",
        takes(after=lambda stage, far, control: wait(control.socket)),
        code=75,
        told="nothing was heard",
        long=True,
    )
    yield put("a receiver that reads nothing of a stream", stuck, code=75, finding="F10")
    yield put("a part of more streams than u16 has", takes(b"\0\0\0\x05\x15\x01\xff\xff\x7f"), told="cannot be read")
    yield put("parts of any number of streams", tells(*map(part, (0, None, 65_535, 129, 1, 0))), code=0)
    changing = [part(1 + number % 128) for number in range(20_000)]
    yield put("parts that change 20,000 times", tells(*changing), code=0, options=["-v"])
    any_bounds = ((0, 0), (1, 1), ((1 << 64) - 1, 65_535), (None, None), (0, 128), ((1 << 64) - 1, None))
    yield put("bounds of any numbers", tells(*(bounds(*one) for one in any_bounds)), code=0)
    unsteady = [bounds(1_000_000 + number, 1 + number % 128) for number in range(20_000)]
    yield put("bounds that change 20,000 times", tells(*unsteady), code=0, options=["-v"])
    yield put("another part beside a number that was asked for", tells(*changing), code=0, options=["--streams", "2"], check=has_two)


def completes(stage, far, control):
    control.say(("Complete", None), ("Bye", None))
    drain(control)


def part(streams):
    return "SharedStreams", streams


def bounds(rate, streams):
    return "ServerBounds", {"rate": rate, "streams": streams}


def tells(*messages):
    """Numbers that no copy may have are none, and the last of many holds: the file is copied all the same."""

    def script(stage, far, control):
        opened(control)
        control.say(*messages)
        entries(control)
        control.say(("Wants", [("Nothing", 0), ("Whole", FILE), ("Nothing", 2)]))
        takes_all(far, control)
        completes(stage, far, control)

    return script


def has_two(stage, result, far):
    assert len(far.lines) <= 3, f"{len(far.lines)} connections"


def takes_all(far, control):
    """The file, by whichever streams it comes, and its name. What comes again is not confirmed again."""
    missing, lock = bytearray(b"\1" * SIZE), threading.Lock()

    def confirm(told, content):
        begin, end = told["offset"], told["offset"] + told["length"]
        with lock:
            if any(missing[begin:end]):
                control.say(("Received", [{"file": FILE, "start": begin, "length": end - begin}]))
            missing[begin:end] = bytes(end - begin)
        return not any(missing)

    while any(missing) and not far.is_over:
        try:
            stream = far.stream(0.2)
        except Ended:
            continue
        threading.Thread(target=pieces_on, args=(stream, confirm), daemon=True).start()
    control.hear("FileEnds")
    control.say(("Published", [{"file": FILE, "digest": proving.hash_of(DATA, 0, SIZE)}]))


def stuck(stage, far, control):
    """Streams are let in and never read; then it goes away, and so must the copy."""
    opened(control)
    entries(control)
    control.say(("Wants", [("Nothing", 0), ("Whole", FILE), ("Nothing", 2)]))
    far.stream()
    for _ in range(6):
        control.say(ALIVE)
        time.sleep(0.5)
    far.close()


CASES = [*wants(), *confirmations(), *turns()]
