"""What is asked for in the same moment, done at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

One = TypeVar("One")


class Together(Generic[One]):
    """Collects what tasks ask for in one turn of the event loop, and does it in one go.

    The first who asks does the work, so that it is cancelled with that task.
    """

    def __init__(
        self, work: Callable[[Sequence[One]], Awaitable[Sequence[Exception | None]]]
    ) -> None:
        """Has `work` tell for each thing why it failed, or `None`."""
        self._work = work
        self._asked: list[tuple[One, asyncio.Future[None]]] = []

    async def ask(self, one: One) -> None:
        """Waits until it is done, or raises why it is not."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asked.append((one, done))
        if len(self._asked) == 1:
            await self._do()
        await done

    async def _do(self) -> None:
        asked: list[tuple[One, asyncio.Future[None]]] = []
        try:
            # Tasks that were made beside this one ask now.
            await asyncio.sleep(0)
            asked, self._asked = self._asked, []
            failures = await self._work([one for one, _ in asked])
        except BaseException:
            for _, done in asked or self._asked:
                done.cancel()
            self._asked = []
            raise
        for (_, done), failure in zip(asked, failures, strict=True):
            if done.done():
                continue
            if failure is None:
                done.set_result(None)
            else:
                done.set_exception(failure)
