"""`Signal`: wakes those who wait, with a timeout and without a task for each wait."""

import asyncio
from math import inf


def _wake(future: "asyncio.Future[bool]", result: bool) -> None:
    if not future.done():
        future.set_result(result)


class Signal:
    """A condition without a lock, for one event loop. What is waited for is checked by the waiter, before and after."""

    __slots__ = ("_waiters",)

    def __init__(self) -> None:
        self._waiters: list[asyncio.Future[bool]] = []

    def notify(self) -> None:
        """Wake all that wait now."""
        if self._waiters:
            waiters, self._waiters = self._waiters, []
            for future in waiters:
                _wake(future, True)

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the next `notify`; False after `timeout_s` seconds (None: for ever)."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[bool] = loop.create_future()
        self._waiters.append(future)
        timer = None if timeout_s is None else loop.call_later(timeout_s, _wake, future, False)
        try:
            return await future
        finally:
            if timer is not None:
                timer.cancel()
            if future in self._waiters:
                self._waiters.remove(future)


class LoneSignal:
    """A `Signal` for one who waits again and again, hardly ever until the timeout: one timer serves all waits."""

    __slots__ = ("_deadline", "_timer", "_timer_at", "_waiter")

    def __init__(self) -> None:
        self._waiter: asyncio.Future[bool] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = self._deadline = inf

    def notify(self) -> None:
        """Wake who waits now."""
        if self._waiter is not None:
            _wake(self._waiter, True)

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the next `notify`; False after `timeout_s` seconds (None: for ever)."""
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        self._deadline = inf if timeout_s is None else loop.time() + timeout_s
        if self._deadline < self._timer_at:
            self._ring_at(loop, self._deadline)
        try:
            return await self._waiter
        finally:
            self._waiter = None

    def close(self) -> None:
        """Nobody will wait again. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer, self._timer_at = None, inf

    def _ring_at(self, loop: asyncio.AbstractEventLoop, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._timer_at = loop.call_at(when, self._ring), when

    def _ring(self) -> None:
        """The timer ends: for this wait, or for one that is over."""
        self._timer, self._timer_at = None, inf
        if self._waiter is None or self._deadline == inf:
            return
        loop = asyncio.get_running_loop()
        if loop.time() >= self._deadline:
            _wake(self._waiter, False)
        else:
            self._ring_at(loop, self._deadline)


def deadline_of(timeout_s: float | None) -> float | None:
    """As loop time; None: there is none."""
    return None if timeout_s is None else asyncio.get_running_loop().time() + timeout_s


def seconds_left(deadline: float | None) -> float | None:
    """Until then; None: for ever."""
    return None if deadline is None else deadline - asyncio.get_running_loop().time()
