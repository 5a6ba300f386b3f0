"""The peer's connections: TLS 1.3 with the exporter, frames, and the two ends of a copy."""

import datetime
import queue
import socket
import struct
import threading
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from OpenSSL import SSL, crypto

import encoding
import proving

# Generous: a machine that does something else meanwhile fails no case.
WAIT = 60


class Ended(Exception):
    """The other end closed or broke the connection, or said nothing for so long."""


def is_late(end):
    """Whether it was only waited for too briefly."""
    return "timed out" in str(end) or "Timeout" in str(end)


def made_up_certificate():
    """Key and certificate that say nothing of who has them."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "peer")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    made = made.not_valid_before(now - datetime.timedelta(1)).not_valid_after(now + datetime.timedelta(1)).sign(key, hashes.SHA256())
    return crypto.PKey.from_cryptography_key(key), crypto.X509.from_cryptography(made)


def context(certificate=None):
    made = SSL.Context(SSL.TLS_METHOD)
    made.set_min_proto_version(SSL.TLS1_3_VERSION)
    if certificate:
        made.use_privatekey(certificate[0])
        made.use_certificate(certificate[1])
    return made


class Line:
    """One connection, in TLS or in the clear."""

    def __init__(self, connection, tls=None, begun=b""):
        self.socket, self.tls, self.begun = connection, tls, begun
        self.wait = WAIT

    def shake_hands(self):
        while True:
            try:
                self.tls.do_handshake()
                return self.flush()
            except SSL.WantReadError:
                self.flush()
                self.tls.bio_write(self.receive(time.monotonic() + self.wait))
            except SSL.Error as error:
                raise Ended(f"TLS: {error}") from error

    def exporter(self):
        return self.tls.export_keying_material(proving.EXPORTER, 32)

    def flush(self):
        while True:
            try:
                self.raw(self.tls.bio_read(1 << 16))
            except SSL.WantReadError:
                return

    def raw(self, data):
        """To the socket as it is."""
        try:
            self.socket.settimeout(self.wait)
            self.socket.sendall(data)
        except OSError as error:
            raise Ended(f"the other end takes nothing more: {error}") from error

    def receive(self, until):
        self.socket.settimeout(max(0.001, until - time.monotonic()))
        try:
            data = self.socket.recv(1 << 16)
        except OSError as error:
            raise Ended(f"{type(error).__name__}: {error}") from error
        if not data:
            raise Ended("closed")
        return data

    def send(self, data):
        if self.tls is None:
            return self.raw(data)
        for at in range(0, len(data), 1 << 14):
            self.tls.send(data[at:at + (1 << 14)])
        self.flush()

    def some(self, most=1 << 16, seconds=None):
        until = time.monotonic() + (self.wait if seconds is None else seconds)
        while True:
            if self.tls is None:
                data, self.begun = self.begun, b""
                return data or self.receive(until)
            try:
                return self.tls.recv(most)
            except SSL.WantReadError:
                self.tls.bio_write(self.receive(until))
            except SSL.Error as error:
                raise Ended(f"TLS: {error!r}") from error

    def read(self, count, seconds=None):
        """Exactly so many bytes."""
        data = getattr(self, "spare", b"")
        while len(data) < count:
            data += self.some(seconds=seconds)
        self.spare = data[count:]
        return data[:count]

    def is_closed_within(self, seconds):
        """Whatever it says until then."""
        until = time.monotonic() + seconds
        try:
            while time.monotonic() < until:
                self.some(seconds=until - time.monotonic())
        except Ended as end:
            return not is_late(end)
        return False

    def close(self):
        self.socket.close()


def frame(body):
    return struct.pack(">I", len(body)) + body


class Control(Line):
    """A control connection."""
    session = 0

    def frame(self, seconds=None):
        length, = struct.unpack(">I", self.read(4, seconds))
        return self.read(length, seconds)

    def say(self, *messages):
        for message in messages:
            self.send(frame(encoding.encode(message)))

    def hear(self, *names, seconds=None):
        """The next message of one of these names; what comes before is left out. A failure ends it, unless that is asked for."""
        until = time.monotonic() + (self.wait if seconds is None else seconds)
        while time.monotonic() < until:
            name, value = encoding.decode(self.frame(until - time.monotonic()))
            if not names or name in names:
                return name, value
            if name == "Failed" and value["file"] is None:
                raise Ended(f"Failed: {value['what']}")
        raise Ended("timed out: nothing of that")

    def failure(self, seconds=None):
        """What the other end says is wrong with the whole copy."""
        while True:
            _, value = self.hear("Failed", seconds=seconds)
            if value["file"] is None:
                return value


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=WAIT)


def tls_to(port, kind=Control):
    line = kind(connect(port), SSL.Connection(context()))
    line.tls.set_connect_state()
    line.shake_hands()
    return line


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
        if answer[2:3] == b"R":
            raise Ended("refused: " + encoding.REFUSAL[1](encoding.Reader(answer[5:]))["what"])
        self.far = encoding.FAR_HELLO[1](encoding.Reader(answer[5:]))
        rights = self.far["rights"]
        assert self.far["proof"] == proving.far_proof(self.key, exporter, rights["read"], rights["write"]), "the server proves nothing"

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
        self.control.say(("Entries", entries), ("EntriesEnd", {"count": len(entries), "bytes": size}))
        wants = []
        while len(wants) < len(entries):
            wants += self.control.hear("Wants")[1]
        stream = stream or self.stream()
        sent = [number for number, content in contents.items() if wants[number] == ("Whole", number)]
        for number in sent:
            for at in range(0, len(contents[number]), 1 << 20):
                part = contents[number][at:at + (1 << 20)]
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
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.streams, self.lines, self.greetings = queue.Queue(), [], []
        self.visits, self.errors, self.is_over = 0, [], False
        threading.Thread(target=self.accept, daemon=True).start()

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
        told = {"software": "peer 1", "rights": {"read": read, "write": write}, "proof": proving.far_proof(self.key, exporter, read, write)}
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
    control.say(("Entries", entries), ("EntriesEnd", {"count": len(entries), "bytes": size}), ("Streams", 1))
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
