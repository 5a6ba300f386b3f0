"""An SFTP server that tells digests (`check-file-name`), before the system's own: `honest`, or with
wrong ones. Notes requests for digests and for bytes of files in the file `asked`."""

import hashlib
import os
import struct
import subprocess
import sys
import threading

SERVER, HOW, ASKED = sys.argv[1:]
NAME = b"check-file-name"
INPUT, OUTPUT = sys.stdin.buffer, sys.stdout.buffer
LOCK = threading.Lock()


def string(data):
    return struct.pack(">I", len(data)) + data


def packet(stream):
    head = stream.read(4)
    return stream.read(struct.unpack(">I", head)[0]) if len(head) == 4 else b""


def send(stream, body):
    stream.write(string(body))
    stream.flush()


def answer(body):
    rest = body[9 + len(NAME) :]
    (length,) = struct.unpack(">I", rest[:4])
    path, rest = rest[4 : 4 + length], rest[4 + length :]
    assert rest == string(b"sha256") + bytes(20), rest
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).digest()
    if HOW == "wrong":
        digest = bytes(32)
    prefix = string(b"check-file") if HOW == "draft" else b""
    with LOCK:
        if HOW == "refuses":
            send(OUTPUT, b"\x65" + body[1:5] + struct.pack(">I", 8) + string(b"") + string(b""))
        else:
            send(OUTPUT, b"\xc9" + body[1:5] + prefix + string(b"sha256") + digest)


def note(word):
    with open(ASKED, "a") as asked:
        asked.write(word + "\n")


def back(server):
    first = True
    while body := packet(server.stdout):
        if first:
            body += string(b"check-file") + string(b"1")
            first = False
        with LOCK:
            send(OUTPUT, body)
    os._exit(0)


def main():
    server = subprocess.Popen([SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    threading.Thread(target=back, args=[server], daemon=True).start()
    while body := packet(INPUT):
        if body[0] == 200 and body[9:].startswith(NAME):
            note("digest")
            answer(body)
            continue
        if body[0] == 5:
            note("bytes")
        send(server.stdin, body)
    server.stdin.close()
    server.wait()


main()
