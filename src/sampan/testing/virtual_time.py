"""Virtual time: an event loop whose clock jumps to the next timer when no task can run.

All of Sampan takes its time from the running loop: `loop.time()`, `asyncio.sleep`, `asyncio.timeout`, and the wall
clock of `sampan.core.clock`. So a test of a ten-minute backoff takes a millisecond and is exact. Code in this loop may
wait only for timers and tasks: to a real socket, a timeout of hours would pass at once.
"""

import asyncio
import datetime as dt
import functools
import selectors
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, ParamSpec, TypeVar

from sampan.core.clock import LoopClock

P = ParamSpec("P")
T = TypeVar("T")

START: Final = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
"""First instant of every virtual clock, so that two runs have equal timestamps."""


class Deadlock(RuntimeError):
    """Every task waits and no timer is set: no task can run again."""


class _JumpingSelector(selectors.SelectSelector):
    """Returns at once, and adds the requested timeout to the loop's clock."""

    def __init__(self) -> None:
        super().__init__()
        self.elapsed_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            # A thread (to_thread, getaddrinfo) may still wake the loop through its self-pipe.
            woken = super().select(1.0)
            if not woken:
                raise Deadlock("all tasks wait, and no timer is set")
            return woken
        self.elapsed_s += timeout
        return ready


class VirtualTimeLoop(LoopClock, asyncio.SelectorEventLoop):
    """An event loop with a virtual clock. Its monotonic time starts at 0, its wall clock at `start`."""

    def __init__(self, start: dt.datetime = START) -> None:
        self._jumping = _JumpingSelector()
        self._start_s = start.timestamp()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Return the virtual seconds since the loop was created."""
        return self._jumping.elapsed_s

    def unix_time(self) -> float:
        """Return the virtual wall clock, in seconds since the epoch."""
        return self._start_s + self._jumping.elapsed_s


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in virtual time. Raises what it raises, or `Deadlock`."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)


def virtual_time(test: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Turn an asynchronous test into one that runs in virtual time. Its fixtures must be synchronous."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_virtual(test(*args, **kwargs))

    return run


async def settle(until: Callable[[], bool] | None = None, *, rounds: int = 100) -> None:
    """Run all tasks that can run, without advancing the clock. Stop early when `until` returns true."""
    for _ in range(rounds):
        if until is not None and until():
            return
        await asyncio.sleep(0)


async def elapsed(awaitable: Awaitable[Any]) -> float:
    """Await something and return the seconds of the loop's clock that it took."""
    loop = asyncio.get_running_loop()
    begin = loop.time()
    await awaitable
    return loop.time() - begin
