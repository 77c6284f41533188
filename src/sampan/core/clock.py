"""The clock: the only place that reads the time of the operating system.

    loop = asyncio.get_running_loop()      # a VirtualTimeLoop
    utc_now()                              # 2030-01-01T00:00:00Z plus the virtual seconds of that loop

An event loop with a clock (`LoopClock`) sets the time of everything that runs in it: timestamps, expiry, leases,
tokens, certificates and measured durations. All other code, and every thread, gets the time of the operating system. A
test in tests/style forbids other reads of the time.
"""

import asyncio
import datetime as dt
import time


class LoopClock:
    """Base class of event loops with a clock. Its monotonic time is the loop's own `time()`."""

    def unix_time(self) -> float:
        """Return the seconds since the epoch in this loop."""
        raise NotImplementedError

    def time(self) -> float:
        """Return the loop's monotonic seconds."""
        raise NotImplementedError


def _loop_clock() -> LoopClock | None:
    loop = asyncio._get_running_loop()
    return loop if isinstance(loop, LoopClock) else None


def unix_time() -> float:
    """Return the seconds since the epoch."""
    clock = _loop_clock()
    return time.time() if clock is None else clock.unix_time()


def unix_time_ns() -> int:
    """Return the nanoseconds since the epoch."""
    clock = _loop_clock()
    return time.time_ns() if clock is None else int(clock.unix_time() * 1e9)


def utc_now() -> dt.datetime:
    """Return the current time, in UTC."""
    clock = _loop_clock()
    return dt.datetime.now(dt.UTC) if clock is None else dt.datetime.fromtimestamp(clock.unix_time(), dt.UTC)


def monotonic() -> float:
    """Return seconds that never go back, as the event loop does. Only differences have a meaning."""
    clock = _loop_clock()
    return time.monotonic() if clock is None else clock.time()
