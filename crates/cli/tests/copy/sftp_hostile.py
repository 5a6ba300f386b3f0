"""An SFTP server that has one folder with one file, and lies as it is told."""

import os
import select
import struct
import sys

LIE = sys.argv[1]
SIZE = 100_000
CONTENT = bytes(at % 251 for at in range(SIZE))
INPUT, OUTPUT = sys.stdin.buffer.raw, sys.stdout.buffer
HELD = []


def string(data):
    return struct.pack(">I", len(data)) + data


def send(kind, body):
    HELD.append(struct.pack(">IB", len(body) + 1, kind) + body)
    if LIE != "reorder":
        release()


def release():
    """Answers, the last one first."""
    OUTPUT.write(b"".join(reversed(HELD)))
    OUTPUT.flush()
    HELD.clear()


def exactly(length):
    data = b""
    while len(data) < length:
        more = INPUT.read(length - len(data))
        if not more:
            sys.exit()
        data += more
    return data


def stat(size, mode, modified=1_000_000):
    return struct.pack(">IQIII", 1 | 4 | 8, size, mode, modified, modified)


def status(number, code):
    send(101, struct.pack(">II", number, code) + string(b"as told") + string(b""))


def names(number, listed):
    body = struct.pack(">II", number, len(listed))
    for name, attributes in listed:
        body += string(name) + string(name) + attributes
    send(104, body)


FOLDER = stat(4096, 0o040755)
FILE = stat({"huge": 1 << 63, "grows": SIZE - 5}.get(LIE, SIZE), 0o100644)
EVIL = {"slash": b"../evil", "dots": b"..", "zero": b"a\0b"}


def fields(body):
    out = []
    while len(body) >= 4:
        (length,) = struct.unpack(">I", body[:4])
        out.append(body[4 : 4 + length])
        body = body[4 + length :]
    return out


def answer(kind, number, body, listed):
    name = fields(body)[0] if kind != 200 else b""
    if kind in (7, 17):
        send(105, struct.pack(">I", number) + (FILE if name.endswith(b"/f") else FOLDER))
    elif kind == 8:
        send(105, struct.pack(">I", number) + stat(SIZE, 0o100644))
    elif kind == 11:
        send(102, struct.pack(">I", number) + string(b"dir"))
    elif kind == 12 and LIE == "endless":
        listed.append(0)
        start = len(listed) * 500
        names(number, [(b"%0240d" % (start + at), FILE) for at in range(500)])
    elif kind == 12 and LIE == "deep":
        listed.append(0)
        if len(listed) == 1:
            names(number, [(b"sub", FOLDER), (b"f", FILE)])
        elif len(listed) % 2:
            names(number, [(b"sub", FOLDER)])
        else:
            status(number, 1)
    elif kind == 12 and not listed:
        listed.append(0)
        extra = [(EVIL[LIE], FILE)] if LIE in EVIL else []
        names(number, [(b".", FOLDER), (b"f", FILE)] + extra)
    elif kind == 12:
        status(number, 1)
    elif kind == 3 and LIE == "denied":
        status(number, 3)
    elif kind == 3:
        send(102, struct.pack(">I", number) + string(b"file"))
    elif kind == 5:
        read(number, body)
    elif kind == 16:
        names(number, [(b"/d", FOLDER)])
    elif kind == 200:
        send(201, struct.pack(">I11Q", number, *[7] * 11))
    elif kind in (13, 15):
        open("removed", "a").close()
        status(number, 0)
    else:
        status(number, 0)


def read(number, body):
    handle = 4 + len(b"file")
    offset, length = struct.unpack(">QI", body[handle : handle + 12])
    if LIE == "offsets":
        offset = 0
    data = CONTENT[offset : offset + length]
    if LIE == "dies":
        os._exit(1)
    if LIE == "short":
        data = data[:997]
    if LIE == "long":
        data += b"more" * 10_000
    if LIE == "ends" or not data:
        status(number, 1)
    else:
        send(103, struct.pack(">I", number) + string(data))


def main():
    listed = []
    while True:
        if HELD and not select.select([INPUT], [], [], 0.02)[0]:
            release()
        packet = exactly(struct.unpack(">I", exactly(4))[0])
        kind, body = packet[0], packet[1:]
        if kind == 1:
            if LIE == "length":
                OUTPUT.write(b"\xff\xff\xff\xff\x02")
                OUTPUT.flush()
            elif LIE == "garbage":
                send(77, b"\0\0\0\3")
            else:
                can = string(b"statvfs@openssh.com") + string(b"2") if LIE == "deep" else b""
                send(2, struct.pack(">I", 2 if LIE == "version" else 3) + can)
            continue
        (number,) = struct.unpack(">I", body[:4])
        number += 7 if LIE == "wrong-number" else 0
        answer(kind, number, body[4:], listed)


main()
