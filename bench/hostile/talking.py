"""The two ends of a copy, as the peer plays them."""

import contextlib
import queue
import socket
import struct
import threading

from OpenSSL import SSL

import encoding
import proving
from line import WAIT, Control, Ended, Line, connect, context, frame, made_up_certificate, tls_to
from ends import at, loopback
from trial import free_port


def hello(name, proof, software="peer 1", version=proving.VERSION, kind=b"N"):
    body = encoding.NEAR_HELLO[0]({"software": software, "key_name": name, "proof": proof})
    return b"TL" + kind + struct.pack(">H", version) + body


class Near:
    """The end that connects to a server: as a holder of a token, honest until a case makes it otherwise."""

    def __init__(self, port, token):
        self.port = port
        self.name, self.secret = proving.secret_of(token)
        self.control = tls_to(port)
        self.key = proving.key_of(self.secret)
        exporter = self.control.exporter()
        self.control.send(frame(hello(self.name, proving.near_proof(self.key, exporter))))
        self.session_key = proving.session_key(self.key, exporter)
        answer = self.control.frame()
        if answer[2:3] == b"B":
            raise Ended("no place: " + encoding.NO_PLACE[1](encoding.Reader(answer[5:]))["what"])
        if answer[2:3] == b"R":
            raise Ended("refused: " + encoding.REFUSAL[1](encoding.Reader(answer[5:]))["what"])
        self.far = encoding.FAR_HELLO[1](encoding.Reader(answer[5:]))
        rights = self.far["rights"]
        assert self.far["proof"] == proving.far_proof(
            self.key, exporter, rights["read"], rights["write"]
        ), "the server proves nothing"

    def open(self, *words, **changed):
        """Says what is wanted; the answer, or `Ended` with the server's reason."""
        self.control.say(encoding.opening(*words, **changed))
        return self.opened()

    def opened(self):
        _, value = self.control.hear("Opened")
        self.control.session = value["session"]
        return value

    def stream(self, number=0, plain=False, greet=None):
        line = Line(connect(self.port)) if plain else tls_to(self.port, Line)
        exporter = None if plain else line.exporter()
        line.send(greet or proving.greeting(self.control.session, number, self.session_key, exporter))
        return line

    def put(self, entries, contents, stream=None):
        """Sends files as an honest sender does, up to their ends; contents by their number."""
        size = sum(one["kind"][1] for one in entries if one["kind"][0] == "File")
        self.control.say(("Entries", entries), ("EntriesEnd", {"count": len(entries), "bytes": size, "linked": 0}))
        wants = []
        while len(wants) < len(entries):
            wants += self.control.hear("Wants")[1]
        stream = stream or self.stream()
        sent = [number for number, content in contents.items() if wants[number] == ("Whole", number)]
        for number in sent:
            for at in range(0, len(contents[number]), 1 << 20):
                part = contents[number][at : at + (1 << 20)]
                stream.send(proving.piece(number, part, at, len(contents[number])))
        if sent:
            self.control.say(("FileEnds", sent))
        return wants

    def close(self):
        self.control.close()


class Far:
    """The end that a `copy` connects to. `script(control)` is called with each control connection; streams that greet go to `streams`."""

    def __init__(self, token, script, rights=(True, True)):
        self.name, self.secret = proving.secret_of(token)
        self.key, self.script, self.rights = proving.key_of(self.secret), script, rights
        self.context = context(made_up_certificate())
        self.listener = None
        while self.listener is None:
            self.port = free_port()
            # Others on this host take ports too.
            with contextlib.suppress(OSError):
                host = loopback(self.port)
                family = socket.AF_INET6 if ":" in host else socket.AF_INET
                self.listener = socket.create_server((host, self.port), family=family, backlog=128)
        self.streams, self.lines, self.greetings = queue.Queue(), [], []
        self.visits, self.errors, self.is_over = 0, [], False
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def at(self):
        return at(self.port)

    def accept(self):
        while True:
            try:
                one, _ = self.listener.accept()
            except OSError:
                return
            self.lines.append(one)
            threading.Thread(target=self.visit, args=(one,), daemon=True).start()

    def visit(self, connection):
        try:
            first = connection.recv(1, socket.MSG_PEEK)
            if first != b"\x16":
                return self.streams.put(Line(connection))
            line = Control(connection, SSL.Connection(self.context))
            line.tls.set_accept_state()
            self.on_tls(line)
        except (Ended, OSError):
            pass
        except Exception as error:  # a mistake of the case's: told with its result
            if not self.is_over:
                self.errors.append(repr(error))

    def on_tls(self, line):
        line.shake_hands()
        begin = line.read(4)
        if begin == b"TLs1":
            self.greetings.append(begin + line.read(proving.GREETING - 4))
            return self.streams.put(line)
        heard = line.read(struct.unpack(">I", begin)[0])
        self.visits += 1
        self.welcome(line, heard)
        self.script(line)

    def welcome(self, line, heard):
        """The answer of an end that knows the secret."""
        near = encoding.NEAR_HELLO[1](encoding.Reader(heard[5:]))
        exporter = line.exporter()
        assert near["proof"] == proving.near_proof(self.key, exporter), "the near end proves nothing"
        line.send(frame(self.answer(exporter)))

    def answer(self, exporter, **changed):
        read, write = self.rights
        told = {
            "software": "peer 1",
            "rights": {"read": read, "write": write},
            "proof": proving.far_proof(self.key, exporter, read, write),
        }
        return b"TLF" + struct.pack(">H", proving.VERSION) + encoding.FAR_HELLO[0](told | changed)

    def stream(self, seconds=WAIT):
        try:
            return self.streams.get(timeout=seconds)
        except queue.Empty:
            raise Ended("timed out: no stream came") from None

    def close(self):
        self.is_over = True
        self.listener.close()
        for one in self.lines:
            one.close()


def give(far, control, entries, contents, session=7, fresh=False, end=True):
    """What an honest far end does for a get, up to `FileEnds`; the opening was heard."""
    control.say(("Opened", {"session": session, "fresh": fresh}))
    size = sum(one["kind"][1] for one in entries if one["kind"][0] == "File")
    control.say(("Entries", entries), ("EntriesEnd", {"count": len(entries), "bytes": size, "linked": 0}), ("Streams", 1))
    wants = []
    while len(wants) < len(entries):
        wants += control.hear("Wants")[1]
    wanted = [want[1] for want in wants if want[0] == "Whole"]
    if wanted:
        stream = far.stream()
        for number in wanted:
            stream.send(proving.piece(number, contents[number]))
        if end:
            control.say(("FileEnds", wanted))
    return wants
