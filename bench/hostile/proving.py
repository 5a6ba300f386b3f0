"""Who knows the secret, and what a piece is: keyed hashes, greetings, headers and seals."""

import base64
import functools
import struct

import blake3

VERSION = 6
EXPORTER = b"EXPORTER-trunkline-copy"
HEADER, SEAL, GREETING = 24, 32, 48


def secret_of(token):
    """Name and secret of `tl1-NAME-SECRET`."""
    name, _, secret = token.strip().removeprefix("tl1-").rpartition("-")
    return name, base64.b32decode(secret.upper() + "====")


def key_of(secret):
    return blake3.blake3(secret, derive_key_context="trunkline copy 1 key").digest()


def proof(key, *parts):
    return blake3.blake3(b"".join(parts), key=key).digest()


def near_proof(key, exporter):
    return proof(key, b"near", exporter)


def far_proof(key, exporter, read, write):
    return proof(key, b"far", exporter, bytes([read, write]))


def session_key(key, exporter):
    return blake3.blake3(key + exporter, derive_key_context="trunkline copy 1 session").digest()


def greeting(session, number, key, exporter=None):
    """`exporter` of the stream's own TLS; without TLS there is none."""
    numbers = struct.pack(">QI", session, number)
    return b"TLs1" + numbers + proof(key, b"stream", numbers, exporter or bytes(32))


def header(file, offset, length, wire_length=None, coding=b"0"):
    return b"TLp" + coding + struct.pack(">IQII", file, offset, length, length if wire_length is None else wire_length)


def read_header(data):
    file, offset, length, wire_length = struct.unpack(">IQII", data[4:HEADER])
    return {"magic": data[:4], "file": file, "offset": offset, "length": length, "wire_length": wire_length}


def seal(head, content_hash):
    return blake3.blake3(head + content_hash).digest()


def piece(file, content, offset=0, size=None):
    """A piece of a file as it goes over a stream."""
    head = header(file, offset, len(content))
    return head + content + seal(head, hash_of(content, offset, len(content) if size is None else size))


def packed_zeros(file, length, claimed=None):
    """A piece that claims `claimed` zero bytes, packed into a Zstandard frame (RFC 8878) that unpacks to `length`: blocks of one repeated byte."""
    blocks, left = b"", length
    while left:
        now = min(left, 128 << 10)
        left -= now
        blocks += (now << 3 | 1 << 1 | (left == 0)).to_bytes(3, "little") + b"\0"
    frame = b"\x28\xb5\x2f\xfd" + b"\xa0" + length.to_bytes(4, "little") + blocks
    claimed = length if claimed is None else claimed
    head = header(file, 0, claimed, len(frame), b"1")
    return head + frame + seal(head, hash_of(bytes(claimed), 0, claimed))


# --- chaining values, for pieces that are not the whole file (BLAKE3 paper, section 2) ----------------------------------------

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
ORDER = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK_START, CHUNK_END, PARENT = 1, 2, 4
COLUMNS = (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)
MASK = 0xFFFFFFFF


def compress(chain, block, counter, length, flags):
    state = [*chain, *IV[:4], counter & MASK, counter >> 32, length, flags]
    message = list(struct.unpack("<16I", block.ljust(64, b"\0")))
    for _ in range(7):
        for step, (a, b, c, d) in enumerate(COLUMNS):
            for word, turn, other in ((message[2 * step], 16, 12), (message[2 * step + 1], 8, 7)):
                state[a] = state[a] + state[b] + word & MASK
                state[d] = turned(state[d] ^ state[a], turn)
                state[c] = state[c] + state[d] & MASK
                state[b] = turned(state[b] ^ state[c], other)
        message = [message[at] for at in ORDER]
    return [state[at] ^ state[at + 8] for at in range(8)]


def turned(word, by):
    return (word >> by | word << 32 - by) & MASK


def subtree(content, chunk):
    """The chaining value of bytes that begin with that chunk and are a subtree."""
    if len(content) > 1024:
        left = 1 << (len(content) - 1).bit_length() - 1
        both = subtree(content[:left], chunk) + subtree(content[left:], chunk + left // 1024)
        return compress(IV, struct.pack("<16I", *both), 0, 64, PARENT)
    chain, blocks = IV, [content[at : at + 64] for at in range(0, len(content), 64)]
    for number, block in enumerate(blocks):
        flags = CHUNK_START * (number == 0) | CHUNK_END * (number == len(blocks) - 1)
        chain = compress(chain, block, chunk, len(block), flags)
    return chain


@functools.lru_cache(maxsize=256)
def hash_of(content, offset, size):
    """Of a piece. Here it takes a third of a second for 64 KiB that are not the whole file, so the same ones are kept."""
    if offset == 0 and len(content) == size:
        return blake3.blake3(content).digest()
    return struct.pack("<8I", *subtree(content, offset // 1024))
