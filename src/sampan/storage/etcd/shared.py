"""`SharedAsk`: many who ask the same at the same time get one answer."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from sampan.storage.signal import Signal

T = TypeVar("T")

GATHER_MAX_S = 0.002
"""How long a question waits for those who are likely to ask it too."""


class SharedAsk(Generic[T]):
    """Whoever asks gets an answer to a question that was put after that. One question is under way at a time, and those
    who come meanwhile share the next one. The question that is under way is a task of this object.

    While there are always some who wait, the next question waits for a moment for as many as were there last time:
    those answered and those waiting would stay two parties else, who ask in turns, with twice the questions.
    """

    def __init__(self, ask: Callable[[], Awaitable[T]]) -> None:
        self._ask = ask
        self._next: asyncio.Future[T] | None = None
        self._asking = 0
        """How many wait for the next answer."""
        self._expected = 0
        """How many the next question waits for; 0: it does not."""
        self._gathered = Signal()
        self._task: asyncio.Task[None] | None = None

    async def get(self) -> T:
        """The answer. Raises what the question raised."""
        return await asyncio.shield(self.begin())

    def begin(self) -> "asyncio.Future[T]":
        """Put the question; nobody need wait for the answer."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        future = self._next
        self._asking += 1
        if self._asking == self._expected:
            self._gathered.notify()
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        return future

    @property
    def asking(self) -> bool:
        """Whether a question is under way."""
        return self._task is not None

    def close(self) -> None:
        """Ask no more: those who wait are told that it was cancelled. Idempotent."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        try:
            while self._next is not None:
                future, self._next = self._next, None
                answered, self._asking = self._asking, 0
                await self._answer(future)
                if self._next is not None:
                    await self._gather(answered + self._asking)
        finally:
            self._task = None
            self._asking = self._expected = 0
            if self._next is not None:
                self._next.cancel()
                self._next = None

    async def _gather(self, expected: int) -> None:
        self._expected = expected
        await self._gathered.wait(GATHER_MAX_S)
        self._expected = 0

    async def _answer(self, future: "asyncio.Future[T]") -> None:
        try:
            future.set_result(await self._ask())
        except asyncio.CancelledError:
            future.cancel()
            raise
        except Exception as error:
            future.set_exception(error)
            future.exception()  # those who asked may be gone
