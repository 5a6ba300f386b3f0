"""What type checkers know of `simulate`: one setting has one document, and several another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, Unpack, overload

from ._call import Call, OnProgress
from ._paths import PathLike
from ._results import Result
from ._text import Counts, File, History, Size, Sizes, Time
from .documents import CampaignDocument, FluidDocument, SimulateDocument

One: TypeAlias = Result[SimulateDocument]
Fluid: TypeAlias = Result[FluidDocument]
Several: TypeAlias = Result[CampaignDocument]
# Text may list several settings: no type tells which document it comes to.
Either: TypeAlias = Result[Any]
Window: TypeAlias = int | Literal["auto"]


class Common(TypedDict, total=False):
    """Arguments that do not say how many settings there are, nor of what they are made."""

    class_: Literal["scavenger", "best-effort", "priority"] | None
    duration: Time | None
    warmup: Time | None
    seeds: int
    seed: int
    bytes: Size | None
    per_stream_bytes: Size | None
    compat: Literal["ns2"] | None
    initial_window: int | None
    ecn: bool
    series: Time | None
    cache: bool | File
    history: History
    on_progress: OnProgress | None


class Options(Common, total=False):
    """The same of packets."""

    fluid: Literal[False]


class Varied(Options, total=False):
    """All but the number of streams."""

    window: Sizes
    variant: str | Iterable[str] | None


class Simulate(Protocol):
    """`simulate` as an `Operation`."""

    @overload
    def __call__(
        self,
        path: PathLike,
        *,
        fluid: Literal[True],
        streams: int | str = 1,
        window: Window | str = "auto",
        variant: str | None = None,
        **more: Unpack[Common],
    ) -> Fluid: ...
    @overload
    def __call__(
        self, path: PathLike, *, streams: int = 1, window: Window = "auto", **more: Unpack[Options]
    ) -> One: ...
    @overload
    def __call__(
        self, path: PathLike, *, streams: list[int] | range, **more: Unpack[Varied]
    ) -> Several: ...
    @overload
    def __call__(
        self, path: PathLike, *, streams: Counts = 1, **more: Unpack[Varied]
    ) -> Either: ...

    @overload
    def start(
        self,
        path: PathLike,
        *,
        fluid: Literal[True],
        streams: int | str = 1,
        window: Window | str = "auto",
        variant: str | None = None,
        **more: Unpack[Common],
    ) -> Call[Fluid]: ...
    @overload
    def start(
        self, path: PathLike, *, streams: int = 1, window: Window = "auto", **more: Unpack[Options]
    ) -> Call[One]: ...
    @overload
    def start(
        self, path: PathLike, *, streams: list[int] | range, **more: Unpack[Varied]
    ) -> Call[Several]: ...
    @overload
    def start(
        self, path: PathLike, *, streams: Counts = 1, **more: Unpack[Varied]
    ) -> Call[Either]: ...

    @overload
    async def aio(
        self,
        path: PathLike,
        *,
        fluid: Literal[True],
        streams: int | str = 1,
        window: Window | str = "auto",
        variant: str | None = None,
        **more: Unpack[Common],
    ) -> Fluid: ...
    @overload
    async def aio(
        self, path: PathLike, *, streams: int = 1, window: Window = "auto", **more: Unpack[Options]
    ) -> One: ...
    @overload
    async def aio(
        self, path: PathLike, *, streams: list[int] | range, **more: Unpack[Varied]
    ) -> Several: ...
    @overload
    async def aio(
        self, path: PathLike, *, streams: Counts = 1, **more: Unpack[Varied]
    ) -> Either: ...
