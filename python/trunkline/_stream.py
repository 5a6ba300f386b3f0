"""One stream of bytes to or from another host."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

from . import _text
from ._errors import RequestError
from ._operations import _leaving
from ._program import own_program
from ._text import File, Rate, Size, Time
from ._trunkline import Stream

_CHUNK = 1 << 20


@dataclass(frozen=True)
class PipeOutcome:
    """What went through a pipe."""

    bytes: int
    """Bytes that the reader at the other side has."""
    seconds: float
    """How long it took."""
    streams: int
    """Streams that there were last."""
    reconnects: int
    """Control connections that were made anew."""
    exit_code: int | None
    """Of the program at the far end, where one is."""


class ParallelStream(io.RawIOBase):
    """A pipe to or from another host, as a binary file object; `open_pipe` makes one.

    What is written is whole, and has its name, once `close` has returned: the length and the digest
    of all were compared by then. What is read is whole once a read has returned no bytes. A block
    `with` that ends with an exception gives the pipe up, and so does `abort`: no file gets its name
    then, and a program at the far end is ended with a signal.
    """

    def __init__(self, stream: Stream, writes: bool) -> None:
        super().__init__()
        self._stream = stream
        self._writes = writes
        self.outcome: PipeOutcome | None = None
        """What went through it, once it was closed."""

    def readable(self) -> bool:
        """Whether it is read."""
        return not self._writes

    def writable(self) -> bool:
        """Whether it is written."""
        return self._writes

    def write(self, data: Any, /) -> int:
        """Writes all of the bytes; waits while the far end is busy."""
        self._check(self._writes, "read")
        view = memoryview(data).cast("B")
        at = 0
        while at < len(view):
            at += self._stream.write(bytes(view[at : at + _CHUNK]))
        return len(view)

    def readinto(self, buffer: Any, /) -> int:
        """Reads what is there, at least one byte but at the end."""
        self._check(not self._writes, "written")
        view = memoryview(buffer).cast("B")
        got = self._stream.read(min(len(view), _CHUNK))
        view[: len(got)] = got
        return len(got)

    def _check(self, fits: bool, is_for: str) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed pipe")
        if not fits:
            raise io.UnsupportedOperation(f"this pipe is {is_for}")

    def close(self) -> None:
        """Ends it: returns once all that was written is at the far end. Of one that is read, the
        rest is given up.

        Raises:
            RunError: Not all of it is there, or the program at the far end ended with another exit
                code than 0.
        """
        if self.closed:
            return
        try:
            if self._writes:
                came = self._stream.finish()
                self.outcome = None if came is None else PipeOutcome(*came)
            else:
                self._stream.abort()
        finally:
            super().close()

    def finish(self) -> PipeOutcome | None:
        """The same as `close`, and what went through it."""
        self.close()
        return self.outcome

    def abort(self) -> None:
        """Gives it up."""
        self._stream.abort()
        super().close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def __del__(self) -> None:
        # What was not closed is not finished.
        if not self.closed:
            self.abort()


def open_pipe(
    place: File,
    mode: Literal["rb", "wb"] = "rb",
    *,
    program: Sequence[File] | None = None,
    buffer: Size = "128MiB",
    streams: int | None = None,
    max_rate: Rate | None = None,
    transport: Literal["tcp", "udp"] = "tcp",
    ssh: str = "ssh",
    far_program: str | None = None,
    port_range: str | None = None,
    token: str | None = None,
    token_file: File | None = None,
    patience: Time | None = None,
    ipv4: bool = False,
    ipv6: bool = False,
    bind: str | None = None,
    dscp: str | int | None = None,
) -> ParallelStream:
    """Opens one stream of bytes to or from another host, over as many connections as needed.

    Args:
        place: `HOST:FILE` or `trunkline://HOST/FILE`; with `program`, the host as ssh knows it.
        mode: `wb` writes into it, `rb` reads out of it.
        program: A program at the far end with its words, in place of a file. It reads what is
            written, or what it prints is read.
        buffer: What each end holds at most of what is on the way.
        streams: This many streams and no search.
        max_rate: The most to send over all streams together, in bits per second: `100M`.
        transport: What carries the data to and from a trunkline:// server.
        ssh: The ssh client with its options.
        far_program: The program that ssh starts there.
        port_range: Ports that the far end may listen on.
        token: The token of a trunkline:// server.
        token_file: A file that has it.
        patience: How long to go on trying when a far end that was there is away.
        ipv4: Only over IPv4.
        ipv6: Only over IPv6.
        bind: Send from this address, device, or both.
        dscp: How routers are to treat what this host sends.

    Raises:
        RequestError: The place or an argument cannot be taken.
    """
    if mode not in ("rb", "wb"):
        raise RequestError(f"invalid value '{mode}' for `mode`", "possible values: rb, wb")
    asked: dict[str, Any] = {
        "place": os.fspath(place),
        "writes": mode == "wb",
        "program": None if program is None else [os.fspath(word) for word in program],
        "buffer": _text.size(buffer),
        "max_rate": _text.rate(max_rate),
        "streams": _text.count(streams),
        "transport": transport,
        "leaving": _leaving(ipv4, ipv6, bind, dscp),
        "port_range": port_range,
        "ssh": ssh,
        "far_program": far_program,
        "own_program": own_program(),
        "token": token,
        "token_file": None if token_file is None else os.fspath(token_file),
        "patience": _text.optional_span(patience),
    }
    return ParallelStream(Stream.open(asked), mode == "wb")
