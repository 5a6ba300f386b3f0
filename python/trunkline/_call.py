"""A call on its way, and operations that make calls."""

from __future__ import annotations

import atexit
import functools
import os
import time
import warnings
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, TypeVar

from . import _errors, _trunkline
from ._trunkline import Progress

P = ParamSpec("P")
R = TypeVar("R")
OnProgress = Callable[[Progress], object]

_EVENTS_MAX = 4096
# How long a process that ends waits for calls to end cleanly, in seconds.
_SETTLE_MAX = 5.0
_running: list[_trunkline.Call] = []


def _settle() -> None:
    """Ends what runs when the interpreter ends, so that copies leave their journals."""
    deadline = time.monotonic() + _SETTLE_MAX
    left = [core for core in _running if not core.done]
    for core in left:
        core.cancel()
    for core in left:
        core.wait_done(max(0.0, deadline - time.monotonic()))


def let_go() -> None:
    """Waits until calls that were cancelled have let go of their files, for two seconds at most."""
    deadline = time.monotonic() + 2.0
    for core in [one for one in _running if one.cancelled and not one.done]:
        core.wait_done(max(0.0, deadline - time.monotonic()))


atexit.register(_settle)
os.register_at_fork(after_in_child=_running.clear)


class Call(Generic[R]):
    """An operation that runs on a thread of its own.

    Wait for its `result()`, or `await` it; iterate over it for its progress; `cancel()` it from any
    thread. Ctrl-C while waiting cancels it. As a context manager it is over when the block is.
    """

    def __init__(
        self,
        core: _trunkline.Call,
        build: Callable[[_trunkline.Done], R],
        on_progress: OnProgress | None = None,
    ) -> None:
        """For operations."""
        self._core = core
        self._build = build
        self._on_progress = on_progress
        self._held: deque[Progress] = deque(maxlen=_EVENTS_MAX)
        self._value: R | None = None
        self._error: _errors.Error | None = None
        self._is_taken = False
        _running[:] = [one for one in _running if not one.done]
        _running.append(core)
        weakref.finalize(self, core.cancel).atexit = False

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._core.done

    @property
    def cancelled(self) -> bool:
        """Whether it was asked to end early."""
        return self._core.cancelled

    @property
    def dropped(self) -> int:
        """How many events were forgotten, because more than 4096 waited to be read."""
        return self._core.dropped

    def cancel(self) -> None:
        """Asks it to end early, from any thread. It notices within a tenth of a second."""
        self._core.cancel()

    def result(self, timeout: float | None = None) -> R:
        """Waits for the end and gives the result.

        Args:
            timeout: How long to wait, in seconds; as long as it takes without.

        Raises:
            TimeoutError: It was not enough; the call goes on.
            Error: What the call came to. `.partial` has what was found until then.
        """
        try:
            is_over = self._wait(timeout)
        except BaseException:
            self._core.cancel()
            raise
        if not is_over:
            raise TimeoutError(f"the call has no result after {timeout} s")
        return self._finish()

    def _wait(self, timeout: float | None) -> bool:
        if self._on_progress is None:
            return self._core.wait_done(timeout)
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not self._core.wait_event(left):
                return False
            is_done = self._core.done
            self._tell()
            if is_done:
                return True

    def _tell(self) -> None:
        """Passes what has happened to the callback, or holds it for an iterator."""
        while (event := self._core.next_event()) is not None:
            if self._on_progress is None:
                self._held.append(event)
            else:
                self._on_progress(event)

    def _finish(self) -> R:
        if not self._is_taken:
            self._take()
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]

    def _take(self) -> None:
        done, failure = self._core.take()
        self._is_taken = True
        if done is not None:
            for what, hint in done.warnings:
                text = f"{what}\n\nhint: {hint}" if hint else what
                warnings.warn(text, _errors.KeepWarning, stacklevel=4)
            self._value = self._build(done)
        if failure is not None:
            kind: type[_errors.Error] = getattr(_errors, failure.kind)
            what = ": ".join(failure.causes)
            self._error = kind(what, failure.hint, failure.causes, self._value)

    def __iter__(self) -> Iterator[Progress]:
        """What happens, until the call ends; `result()` then has what it came to."""
        try:
            while True:
                while self._held:
                    yield self._held.popleft()
                self._core.wait_event()
                event = self._core.next_event()
                if event is None:
                    if self._core.done:
                        return
                    continue
                yield event
        except GeneratorExit:
            raise
        except BaseException:
            self._core.cancel()
            raise

    def __await__(self) -> Generator[Any, None, R]:
        """The result, for `await`."""
        return self._awaited().__await__()

    async def _awaited(self) -> R:
        try:
            while not self._core.done:
                self._tell()
                await self._readable()
            self._tell()
        except BaseException:
            self._core.cancel()
            raise
        return self._finish()

    async def _readable(self) -> None:
        """Until there is an event, or the end."""
        import asyncio

        if self._core.done:
            return
        loop = asyncio.get_running_loop()
        changed = loop.create_future()
        # A copy of its own: several may wait for one call.
        descriptor = os.dup(self._core.fileno())

        def wake() -> None:
            if not changed.done():
                changed.set_result(None)

        loop.add_reader(descriptor, wake)
        try:
            await changed
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)

    async def __aiter__(self) -> AsyncIterator[Progress]:
        """What happens, until the call ends, for `async for`."""
        try:
            while True:
                while self._held:
                    yield self._held.popleft()
                event = self._core.next_event()
                if event is not None:
                    yield event
                elif self._core.done:
                    return
                else:
                    await self._readable()
        except GeneratorExit:
            raise
        except BaseException:
            self._core.cancel()
            raise

    def __enter__(self) -> Call[R]:
        """The call; it is over when the block is."""
        return self

    def __exit__(self, *_: object) -> None:
        """Cancels what still runs, and waits for its end."""
        self._core.cancel()
        self._core.wait_done()

    def __reduce__(self) -> str:
        """Refused: a call belongs to its process."""
        raise TypeError(
            "a call belongs to its process and cannot be pickled; pickle its result, or start the "
            "call in the process that waits for it"
        )

    def __repr__(self) -> str:
        """Whether it runs."""
        state = "done" if self.done else "cancelled" if self.cancelled else "running"
        return f"<Call {state}>"


class Operation(Generic[P, R]):
    """Something that can be called: it waits for the result.

    `.start(...)` takes the same and gives the `Call` at once; `await x.aio(...)` is for `async`.
    """

    __name__: str
    __qualname__: str
    __wrapped__: Callable[P, Call[R]]

    def __init__(self, start: Callable[P, Call[R]]) -> None:
        """Makes an operation of what starts a call, whose name has a `_` before it."""
        functools.update_wrapper(self, start)
        self._start = start
        self.__name__ = start.__name__.removeprefix("_")
        self.__qualname__ = self.__name__
        told = start.__annotations__
        result = told["return"].removeprefix("Call[").removesuffix("]")
        self.__annotations__ = told | {"return": result}

    def __set_name__(self, owner: type, name: str) -> None:
        """Of a class, such as `Campaign.plan`."""
        self.__qualname__ = f"{owner.__qualname__}.{name}"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Waits for the result."""
        return self._start(*args, **kwargs).result()

    def start(self, *args: P.args, **kwargs: P.kwargs) -> Call[R]:
        """Starts the call and gives it at once."""
        return self._start(*args, **kwargs)

    async def aio(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The same for `async` functions; cancelling the task cancels the call."""
        return await self._start(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Self:
        """The same of each object; `help()` takes what has this for a function."""
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The signature, with what the call gives."""
            if name != "__signature__":
                raise AttributeError(f"an operation has no `{name}`: it has `start` and `aio`")
            import inspect

            told = inspect.signature(self._start)
            return told.replace(return_annotation=self.__annotations__["return"])

    def __reduce__(self) -> str:
        """By its name."""
        return self.__qualname__

    def __repr__(self) -> str:
        """Its name."""
        return f"<operation trunkline.{self.__qualname__}>"
