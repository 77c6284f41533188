"""Virtual time: an event loop whose clock jumps to the next timer when nothing else is to be done.

All of `sampan.client`, `informer` and `operator` takes time from the running loop (`loop.time()`, `asyncio.sleep`,
`asyncio.timeout`), so a test of a ten-minute back-off takes a millisecond and is exact. Only code that waits for
nothing but timers and other tasks may run in it: real sockets would find that hours have passed.
"""

import asyncio
import functools
import selectors
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Deadlock(RuntimeError):
    """Every task waits and no timer is set: nothing can ever happen again."""


class _JumpingSelector(selectors.SelectSelector):
    """Waits for nothing: adds what the loop wanted to wait to the loop's clock."""

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


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop with a clock of its own, which begins at 0."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._jumping.elapsed_s


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
    """Let all tasks that can go on go on, without any time passing; stop early when `until` holds."""
    for _ in range(rounds):
        if until is not None and until():
            return
        await asyncio.sleep(0)


async def elapsed(awaitable: Awaitable[Any]) -> float:
    """How long something takes, in the loop's seconds."""
    loop = asyncio.get_running_loop()
    begin = loop.time()
    await awaitable
    return loop.time() - begin
