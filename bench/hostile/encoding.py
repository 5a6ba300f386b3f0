"""The bytes of messages: postcard's encoding, written by hand from docs/reference/copy-protocol.md.

A message is a pair of its name and its value: `("Streams", 3)`. A value of several fields is a dictionary.
"""

import struct


class Malformed(Exception):
    """Bytes that are no value of the type."""


def number(value):
    """Any unsigned integer but a byte: seven bits at a time, the lowest first, the eighth says that more follow."""
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise Malformed(f"{count} bytes at {self.at} of {len(self.data)}")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value


# A type is a pair of functions: from a value to bytes, and from a reader to a value.
U = number, Reader.number
I = (lambda value: number(value << 1 if value >= 0 else ~(value << 1))), (lambda read: (lambda n: n >> 1 ^ -(n & 1))(read.number()))
BOOL = (lambda value: bytes([value])), (lambda read: bool(read.take(1)[0]))
BYTES = (lambda value: number(len(value)) + value), (lambda read: read.take(read.number()))
TEXT = (lambda value: BYTES[0](value.encode())), (lambda read: BYTES[1](read).decode())
FLOAT = (lambda value: struct.pack("<d", value)), (lambda read: struct.unpack("<d", read.take(8))[0])
NOTHING = (lambda value: b""), (lambda read: None)


def raw(count):
    """So many bytes as they are; of another length where a case wants that."""
    return (lambda value: bytes(value)), (lambda read: read.take(count))


def maybe(one):
    return (lambda value: b"\0" if value is None else b"\1" + one[0](value)), (lambda read: one[1](read) if read.take(1)[0] else None)


def several(one):
    return (lambda values: number(len(values)) + b"".join(map(one[0], values))), (lambda read: [one[1](read) for _ in range(read.number())])


def pair(first, second):
    return (lambda value: first[0](value[0]) + second[0](value[1])), (lambda read: (first[1](read), second[1](read)))


def fields(**types):
    return (lambda value: b"".join(one[0](value[name]) for name, one in types.items())), \
        (lambda read: {name: one[1](read) for name, one in types.items()})


def one_of(**variants):
    """A kind's number, then its value. Kinds without a value are told by their name alone or with `None`."""
    names = list(variants)

    def write(value):
        name, content = value if isinstance(value, tuple) else (value, None)
        return number(names.index(name)) + variants[name][0](content)

    def read(reader):
        kind = reader.number()
        if kind >= len(names):
            raise Malformed(f"kind {kind} of {len(names)}")
        return names[kind], variants[names[kind]][1](reader)
    return write, read


def words(*names):
    """A kind that is nothing but a name."""
    write, read = one_of(**dict.fromkeys(names, NOTHING))
    return write, (lambda reader: read(reader)[0])


RIGHTS = fields(read=BOOL, write=BOOL)
NEAR_HELLO = fields(software=TEXT, key_name=TEXT, proof=raw(32))
FAR_HELLO = fields(software=TEXT, rights=RIGHTS, proof=raw(32))
REFUSAL = fields(what=TEXT, hint=maybe(TEXT))
NO_PLACE = fields(what=TEXT, ahead=U, seconds=maybe(U))

SELECTION = fields(rules=several(fields(leaves_out=BOOL, pattern=TEXT)), listed=maybe(several(BYTES)))
OPENING = fields(
    way=words("Put", "Get"), copy=raw(16), paths=several(BYTES), recursive=BOOL,
    attributes=fields(permissions=BOOL, times=BOOL, links=BOOL), filter=words("Changed", "All", "Missing", "Content"), selection=SELECTION, delete=BOOL, into_folder=BOOL,
    plain=BOOL, verify=BOOL, fresh=BOOL, dry_run=BOOL, compress=BOOL, rate_max=maybe(U), gentle=maybe(U), objective=TEXT,
    streams=maybe(U), remembered=maybe(U), congestion=maybe(fields(name=TEXT, if_allowed=BOOL)), window=maybe(U))
ENTRY = fields(name=BYTES, kind=one_of(File=U, Folder=NOTHING, Link=BYTES), mode=U, modified=I, version=U, is_sparse=BOOL, digest=maybe(raw(32)))
RANGE = fields(file=U, start=U, length=U)
PARTS = several(pair(U, U))
WANT = one_of(Whole=U, Rest=pair(U, PARTS), Nothing=U, Made=U)
PUBLISHED = fields(file=U, digest=raw(32))
PROBLEM = fields(kind=words("Request", "NotFound", "Permission", "DiskFull", "Disk", "SourceChanged", "Corrupt", "Busy", "Protocol", "Cancelled", "NoContent", "Follows"),
                 file=maybe(U), what=TEXT, hint=maybe(TEXT))
ACTIVITY = fields(nanoseconds=U, streams=U, bytes=U, disk=U, network=U, idle=U, held=U, computed=U, queued=U, flush=U,
                  processor=U, processors=U, host_busy=U)
LIMITED = fields(nanoseconds=U, parts=several(fields(by=TEXT, nanoseconds=U, why=TEXT, advice=maybe(TEXT))))
STREAMS = dict(streams=U, rate=U, rtt=maybe(U), retransmitted=maybe(FLOAT), binds=maybe(TEXT), ecn=maybe(BOOL), marked=maybe(FLOAT))
SENDING = fields(**STREAMS, limited=maybe(LIMITED))
MESSAGE = one_of(
    Open=OPENING, Opened=fields(session=U, fresh=BOOL), Entries=several(ENTRY), EntriesEnd=fields(count=U, bytes=U, linked=U), Wants=several(WANT),
    Received=several(RANGE), Damaged=RANGE, FileEnds=several(U), Published=several(PUBLISHED), Failed=PROBLEM,
    LeftOut=fields(name=TEXT, problem=PROBLEM), Complete=NOTHING, Streams=U, RateMax=maybe(U), Alive=ACTIVITY, Sending=SENDING,
    Cancel=NOTHING, Bye=NOTHING, ReadBack=fields(file=U, parts=PARTS, is_all=BOOL),
    Removed=several(fields(name=BYTES, is_folder=BOOL)), FixedStreams=maybe(U), SharedStreams=maybe(U),
    ServerBounds=fields(rate=maybe(U), streams=maybe(U)))

TIMES = ("disk", "network", "idle", "held", "computed", "queued", "flush", "processor", "host_busy")
ALIVE = "Alive", dict.fromkeys(("nanoseconds", "streams", "bytes", "processors", *TIMES), 0)


def encode(message):
    return MESSAGE[0](message)


def decode(body):
    read = Reader(body)
    message = MESSAGE[1](read)
    if read.at != len(body):
        raise Malformed(f"{len(body) - read.at} bytes too many")
    return message


def entry(name, size=None, *, link=None, folder=False, mode=0o644, modified=1_600_000_000_000_000_000, version=1):
    """A file of `size` bytes, a link or a folder."""
    kind = ("Folder", None) if folder else ("Link", link) if link is not None else ("File", size or 0)
    name = name.encode() if isinstance(name, str) else name
    return {"name": name, "kind": kind, "mode": mode, "modified": modified, "version": version, "is_sparse": False, "digest": None}


def opening(way, *paths, **changed):
    """What an ordinary near end asks for."""
    told = {
        "way": way, "copy": bytes(16), "paths": [path.encode() if isinstance(path, str) else path for path in paths], "recursive": True,
        "attributes": {"permissions": True, "times": True, "links": True}, "filter": "Changed",
        "selection": {"rules": [], "listed": None}, "delete": False, "into_folder": way == "Put", "plain": False,
        "verify": False, "fresh": False, "dry_run": False, "compress": False, "rate_max": None, "gentle": None, "objective": "knee",
        "streams": None, "remembered": None, "congestion": None, "window": None}
    told["attributes"] |= changed.pop("attributes", {})
    return "Open", told | changed


def problem(what, file=None, kind="Disk", hint=None):
    return {"kind": kind, "file": file, "what": what, "hint": hint}
