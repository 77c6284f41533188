"""`CoalescedCall`: shares one call among concurrent callers with the same request."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from sampan.core.event_loop.task_scope import TaskScope
from sampan.storage.signal import Signal

T = TypeVar("T")

GATHER_MAX_S = 0.002
"""Longest wait of a call for further callers."""


class CoalescedCall(Generic[T]):
    """Runs one call at a time, in a task of this object.

    Guarantees: a caller gets the result of a call that started after the caller arrived.

    Callers that arrive during a call share the next one. The next call first waits a moment until as many callers have
    arrived as the last call had in total. Without that wait the callers with a result and those already waiting would
    stay two groups that take turns, with twice as many calls.
    """

    def __init__(self, call: Callable[[], Awaitable[T]]) -> None:
        self._call = call
        self._waiting: list[asyncio.Future[T]] = []
        self._expected = 0
        self._gathered = Signal()
        self._runs = False
        self._tasks = TaskScope()

    async def get(self) -> T:
        """Return the result, or raise what the call raised. Cancelled by `close`."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        if len(self._waiting) == self._expected:
            self._gathered.notify()
        if not self._runs:
            self._runs = True
            self._tasks.begin(self._run(), "coalesced call")
        return await future

    def close(self) -> None:
        """Cancel the call and all callers. Idempotent."""
        self._tasks.cancel()

    async def _run(self) -> None:
        served: list[asyncio.Future[T]] = []
        try:
            while self._waiting:
                served, self._waiting = self._waiting, []
                await self._serve(served)
                if self._waiting:
                    self._expected = len(served) + len(self._waiting)
                    await self._gathered.wait(GATHER_MAX_S)
                    self._expected = 0
        finally:
            self._runs = False
            for future in (*served, *self._waiting):
                future.cancel()
            self._waiting, self._expected = [], 0

    async def _serve(self, callers: "list[asyncio.Future[T]]") -> None:
        try:
            result = await self._call()
        except Exception as error:
            for future in callers:
                if not future.done():
                    future.set_exception(error)
        else:
            for future in callers:
                if not future.done():
                    future.set_result(result)
