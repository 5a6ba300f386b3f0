"""What type checkers know of `measure`: datagrams have another document than streams."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol, TypeAlias, TypedDict, Unpack, overload

from ._call import Call, OnProgress
from ._paths import Target
from ._results import Result
from ._text import File, History, Rate, Size, Time
from .documents import DatagramsDocument, MeasureDocument

Streams: TypeAlias = Result[MeasureDocument]
Datagrams: TypeAlias = Result[DatagramsDocument]


class Options(TypedDict, total=False):
    """Arguments of both."""

    streams: int
    duration: Time | None
    reverse: bool
    bidir: bool
    port: int
    ipv4: bool
    ipv6: bool
    bind: str | None
    dscp: str | int | None
    user: str | None
    user_key: File | None
    user_padding: Literal["oaep", "pkcs1"]
    password: str | None
    seed: int
    history: History
    on_progress: OnProgress | None


class OfStreams(Options, total=False):
    """Arguments that datagrams do not have."""

    window: Size
    transport: Literal["tcp", "udp"]
    mptcp: bool
    bytes: Size | None
    pacing: Rate | None
    congestion: str | None
    set_mss: int | None
    requests: int | None
    block: Size | None
    mover_option: str | Iterable[str]


class OfDatagrams(Options, total=False):
    """Arguments that only datagrams have."""

    length: int | None


class Measure(Protocol):
    """`measure` as an `Operation`."""

    @overload
    def __call__(
        self, target: Target, *, udp: Rate, **more: Unpack[OfDatagrams]
    ) -> Datagrams: ...
    @overload
    def __call__(
        self, target: Target, *, udp: None = None, **more: Unpack[OfStreams]
    ) -> Streams: ...

    @overload
    def start(
        self, target: Target, *, udp: Rate, **more: Unpack[OfDatagrams]
    ) -> Call[Datagrams]: ...
    @overload
    def start(
        self, target: Target, *, udp: None = None, **more: Unpack[OfStreams]
    ) -> Call[Streams]: ...

    @overload
    async def aio(
        self, target: Target, *, udp: Rate, **more: Unpack[OfDatagrams]
    ) -> Datagrams: ...
    @overload
    async def aio(
        self, target: Target, *, udp: None = None, **more: Unpack[OfStreams]
    ) -> Streams: ...
