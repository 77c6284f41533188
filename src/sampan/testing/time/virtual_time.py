"""Virtual time: an event loop whose clock jumps to the next timer when no task can run.

All of Sampan takes its time from the running loop: `loop.time()`, `asyncio.sleep`, `asyncio.timeout`, and the wall
clock of `sampan.core.clock`. So a test of a ten-minute backoff takes a millisecond and is exact. Code in this loop may
wait only for timers, tasks and threads: while it waited for a real socket, a timeout of hours would pass at once. While
a thread works, the clock stands still.
"""

import asyncio
import contextvars
import datetime as dt
import functools
import selectors
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, Final, ParamSpec, TypeVar, TypeVarTuple, Unpack

from sampan.core.clock import LoopClock
from sampan.core.event_loop.background import IS_BACKGROUND

P = ParamSpec("P")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

START: Final = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
"""First instant of every virtual clock, so that two runs have equal timestamps."""
_THREAD_LOOK_S: Final = 0.05
_WAKE_UP_S: Final = 1.0
_BUSY_MAX: Final = 50
"""Iterations of a busy loop without sockets after which it polls its descriptors for signals, with a system call."""


running_loop: Final = asyncio._get_running_loop
"""Returns the running loop, or None."""


class Deadlock(RuntimeError):
    """Every task waits and no timer is set: no task can run again."""


class JumpingSelector(selectors.BaseSelector):
    """Selector that wraps another one. It returns at once, and adds the requested timeout to the loop's clock."""

    def __init__(self, real: selectors.BaseSelector) -> None:
        self.real = real
        self.elapsed_s = 0.0
        self._busy = 0
        """Iterations of the loop since the last one in which no task could run."""
        self.threads = 0
        """Number of calls in threads that the loop waits for."""
        self.waiters: list[tuple[float, asyncio.Future[None]]] = []
        """Futures that complete when no task can run for this number of seconds."""
        self.next_work_s: Callable[[], float | None] = lambda: None
        """Returns the seconds until the next timer that is not of the background; None: there is none."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._busy = self._busy + 1 if timeout == 0 else 0
        # The loop has only its self-pipe, which matters for signals alone: threads also append their calls to the loop.
        if self._busy % _BUSY_MAX and len(self.real.get_map()) == 1:
            return []
        ready = self.real.select(0)
        if ready or timeout == 0:
            return ready
        if self.threads:
            return self.real.select(_THREAD_LOOK_S)
        if self._end_waits(timeout):
            return []
        return self.advance(timeout)

    def advance(self, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        """Pass this time, as no task can run before; None: no timer is set. Return descriptors that are ready then."""
        if timeout is None:
            # A thread that the loop does not know may still wake it through its self-pipe.
            woken = self.real.select(_WAKE_UP_S)
            if not woken:
                raise Deadlock("all tasks wait, and no timer is set")
            return woken
        self.elapsed_s += timeout
        return []

    def _end_waits(self, timeout: float | None) -> bool:
        """End the waits of `idle` that a pause of this length satisfies."""
        if not self.waiters:
            return False
        if timeout is not None and any(timeout <= pause_s for pause_s, _ in self.waiters):
            timeout = self.next_work_s()
        ended = [each for each in self.waiters if timeout is None or timeout > each[0]]
        self.waiters = [each for each in self.waiters if each not in ended]
        for _, waiter in ended:
            if not waiter.done():
                waiter.set_result(None)
        return bool(ended)

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self.real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self.real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self.real.modify(fileobj, events, data)

    def get_map(self) -> Any:
        return self.real.get_map()

    def close(self) -> None:
        self.real.close()


class VirtualTimeLoop(LoopClock, asyncio.SelectorEventLoop, running=running_loop):
    """An event loop with a virtual clock. Its monotonic time starts at 0, its wall clock at `start`."""

    def __init__(self, start: dt.datetime = START, selector: JumpingSelector | None = None) -> None:
        self._begin(selector or JumpingSelector(selectors.DefaultSelector()), start)
        super().__init__(self._jumping)

    def _begin(self, jumping: JumpingSelector, start: dt.datetime) -> None:
        self._jumping = jumping
        self._background: weakref.WeakSet[asyncio.TimerHandle] = weakref.WeakSet()
        jumping.next_work_s = self._next_work_s
        self._epoch_s = start.timestamp() - jumping.elapsed_s

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        """Set a timer, and note it if it belongs to the background."""
        handle = super().call_at(when, callback, *args, context=context)
        if IS_BACKGROUND.get():
            self._background.add(handle)
        return handle

    def _next_work_s(self) -> float | None:
        timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]  # of asyncio's loop
        due = [each.when() for each in timers if not each.cancelled() and each not in self._background]
        return min(due) - self.time() if due else None

    def time(self) -> float:
        """Return the virtual seconds since the loop was created."""
        return self._jumping.elapsed_s

    def unix_time(self) -> float:
        """Return the virtual wall clock, in seconds since the epoch."""
        return self._epoch_s + self._jumping.elapsed_s

    def set_unix_time(self, seconds: float) -> None:
        """Set the wall clock. Timers do not change."""
        self._epoch_s = seconds - self._jumping.elapsed_s

    async def idle(self, pause_s: float = 0.0) -> None:
        """Wait until no task can run for more than `pause_s` virtual seconds. Timers within the pause still run."""
        waiter = self.create_future()
        self._jumping.waiters.append((pause_s, waiter))
        await waiter

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """Run a function in a thread. The clock stands still until it returns."""
        future = super().run_in_executor(executor, func, *args)
        self._jumping.threads += 1
        future.add_done_callback(self._thread_done)
        return future

    def _thread_done(self, _: asyncio.Future[Any]) -> None:
        self._jumping.threads -= 1


@contextmanager
def virtualized(loop: asyncio.AbstractEventLoop, start: dt.datetime = START) -> Iterator[VirtualTimeLoop]:
    """Give a loop of asyncio a virtual clock during the block: the loop of pytest-asyncio or anyio, for example.

    Raises `TypeError` for another loop, such as uvloop's.
    """
    if isinstance(loop, VirtualTimeLoop):
        yield loop
        return
    kind = type(loop)
    if kind is not asyncio.SelectorEventLoop:
        raise TypeError(f"{kind.__module__}.{kind.__name__} cannot run in virtual time: use asyncio.SelectorEventLoop")
    changed: Any = loop
    jumping = JumpingSelector(changed._selector)
    # Timers that are already set keep their distance. Without any, the clock starts at 0, as in every other run.
    jumping.elapsed_s = loop.time() if changed._scheduled else 0.0
    changed.__class__, changed._selector = VirtualTimeLoop, jumping
    changed._begin(jumping, start)
    try:
        yield changed
    finally:
        changed.__class__, changed._selector = kind, jumping.real


def run_virtual(main: Coroutine[Any, Any, T], start: dt.datetime = START) -> T:
    """Run a coroutine to its end in virtual time. Raises what it raises, or `Deadlock`."""
    with asyncio.Runner(loop_factory=functools.partial(VirtualTimeLoop, start)) as runner:
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
