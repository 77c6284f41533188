"""`Signal`: wakes waiting tasks, with a timeout and without a task for each wait."""

import asyncio
from math import inf
from typing import Final

_TIMER_MIN_S: Final = 0.001
"""Resolution of the event loop's timers. uvloop runs a timer up to half of it too early, and a shorter one at once."""


def _wake(future: "asyncio.Future[bool]", result: bool) -> None:
    if not future.done():
        future.set_result(result)


class Signal:
    """Condition variable without a lock, for one event loop.

    The waiter checks its condition before and after each wait.
    """

    __slots__ = ("_waiters",)

    def __init__(self) -> None:
        self._waiters: list[asyncio.Future[bool]] = []

    def notify(self) -> None:
        """Wake all waiting tasks."""
        if self._waiters:
            waiters, self._waiters = self._waiters, []
            for future in waiters:
                _wake(future, True)

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the next `notify`. Return False after `timeout_s` seconds (None: no timeout)."""
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
    """`Signal` for a single task that waits often and rarely times out. One timer serves all its waits."""

    __slots__ = ("_deadline", "_timer", "_timer_at", "_waiter")

    def __init__(self) -> None:
        self._waiter: asyncio.Future[bool] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = self._deadline = inf

    def notify(self) -> None:
        """Wake the waiting task."""
        if self._waiter is not None:
            _wake(self._waiter, True)

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the next `notify`. Return False after `timeout_s` seconds (None: no timeout)."""
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        self._deadline = inf if timeout_s is None else loop.time() + timeout_s
        if self._deadline < self._timer_at:
            self._set_timer(loop, self._deadline)
        try:
            return await self._waiter
        finally:
            self._waiter = None

    def close(self) -> None:
        """Cancel the timer, when no task will wait again. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer, self._timer_at = None, inf

    def _set_timer(self, loop: asyncio.AbstractEventLoop, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._timer_at = loop.call_at(when, self._on_timer), when

    def _on_timer(self) -> None:
        """Handle the timer, which may have been set for an earlier wait."""
        self._timer, self._timer_at = None, inf
        if self._waiter is None or self._deadline == inf:
            return
        loop = asyncio.get_running_loop()
        now = loop.time()
        if now >= self._deadline:
            _wake(self._waiter, False)
        else:
            # Not sooner: timers that run at once would keep the processor busy until the deadline.
            self._set_timer(loop, max(self._deadline, now + _TIMER_MIN_S))


def deadline_of(timeout_s: float | None) -> float | None:
    """Return the deadline in loop time, or None without a timeout."""
    return None if timeout_s is None else asyncio.get_running_loop().time() + timeout_s


def seconds_left(deadline: float | None) -> float | None:
    """Return the seconds until the deadline, or None without one."""
    return None if deadline is None else deadline - asyncio.get_running_loop().time()
