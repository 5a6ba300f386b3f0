"""The journal beside an unfinished file, as crates/copy/transfer/src/store/journal.rs writes it."""

import dataclasses

MAGIC, HEADER, NOTE = b"TLj2", 32, 48


class Unknown(Exception):
    """The journal has another layout than this module knows: the module is out of date."""


@dataclasses.dataclass(frozen=True)
class Journal:
    size: int
    modified_nanoseconds: int
    pieces: list
    """(offset, length) of each whole note, in the order in which they were written. Their sums are not checked."""


def read(path):
    """`None` where the journal is missing or its header is not whole, as after a kill."""
    try:
        written = path.read_bytes()
    except FileNotFoundError:
        return None
    if len(written) < HEADER:
        return None
    if written[:4] != MAGIC:
        raise Unknown(f"{path} begins with {written[:4]}, not with {MAGIC}: bring bench/journal.py up to date")
    number = lambda at, length, signed=False: int.from_bytes(written[at:at + length], "little", signed=signed)
    starts = range(HEADER, len(written) - NOTE + 1, NOTE)
    return Journal(number(4, 8), number(12, 8, True), [(number(at, 8), number(at + 8, 4)) for at in starts])
