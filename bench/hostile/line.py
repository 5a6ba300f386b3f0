"""One connection of the peer's: TLS 1.3 with the exporter, or in the clear, and frames."""

import datetime
import pathlib
import socket
import struct
import sys
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from OpenSSL import SSL, crypto

import encoding
import proving

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "crash"), str(HERE.parent / "copy")]
from ends import loopback

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
    made = (
        made.not_valid_before(now - datetime.timedelta(1)).not_valid_after(now + datetime.timedelta(1)).sign(key, hashes.SHA256())
    )
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
            self.tls.send(data[at : at + (1 << 14)])
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
        (length,) = struct.unpack(">I", self.read(4, seconds))
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
    return socket.create_connection((loopback(port), port), timeout=WAIT)


def tls_to(port, kind=Control):
    line = kind(connect(port), SSL.Connection(context()))
    line.tls.set_connect_state()
    line.shake_hands()
    return line
