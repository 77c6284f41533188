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
        self._waiting: list[asyncio.Future[T]] = []
        """Those of the next answer."""
        self._wanted = False
        """Whether there is to be a next question."""
        self._expected = 0
        """How many the next question waits for; 0: it does not."""
        self._gathered = Signal()
        self._task: asyncio.Task[None] | None = None

    async def get(self) -> T:
        """The answer. Raises what the question raised."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        if len(self._waiting) == self._expected:
            self._gathered.notify()
        self.begin()
        return await future

    def begin(self) -> None:
        """Put the question, though nobody need wait for the answer."""
        self._wanted = True
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    @property
    def asking(self) -> bool:
        """Whether a question is under way."""
        return self._task is not None

    def close(self) -> None:
        """Ask no more: those who wait are told that it was cancelled. Idempotent."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        waiting: list[asyncio.Future[T]] = []
        try:
            while self._wanted:
                self._wanted = False
                waiting, self._waiting = self._waiting, []
                await self._answer(waiting)
                if self._wanted:
                    await self._gather(len(waiting) + len(self._waiting))
        finally:
            self._task = None
            self._wanted, self._expected = False, 0
            for future in (*waiting, *self._waiting):
                future.cancel()
            self._waiting = []

    async def _gather(self, expected: int) -> None:
        self._expected = expected
        await self._gathered.wait(GATHER_MAX_S)
        self._expected = 0

    async def _answer(self, waiting: "list[asyncio.Future[T]]") -> None:
        try:
            answer = await self._ask()
        except Exception as error:
            for future in waiting:
                if not future.done():
                    future.set_exception(error)
        else:
            for future in waiting:
                if not future.done():
                    future.set_result(answer)
