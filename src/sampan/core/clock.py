"""The clock: the only place that reads the time of the operating system.

    loop = asyncio.get_running_loop()      # a VirtualTimeLoop
    utc_now()                              # 2030-01-01T00:00:00Z plus the virtual seconds of that loop

An event loop with a clock (`LoopClock`) sets the time of everything that runs in it: timestamps, expiry, leases,
tokens, certificates and measured durations. All other code, and every thread, gets the time of the operating system. A
test in tests/style forbids other reads of the time.
"""

import datetime as dt
import time
from asyncio import _get_running_loop
from time import monotonic as _system_monotonic
from typing import Any

_has_loop_clocks = False
"""True once a class of event loops with a clock exists, so in tests.

Without one, the system's clock is read at once. To look at the running loop takes 0.2 µs, and a request reads the time
11 times.
"""


class LoopClock:
    """Base class of event loops with a clock. Its monotonic time is the loop's own `time()`."""

    def __init_subclass__(cls, **options: Any) -> None:
        global _has_loop_clocks
        super().__init_subclass__(**options)
        _has_loop_clocks = True

    def unix_time(self) -> float:
        """Return the seconds since the epoch in this loop."""
        raise NotImplementedError

    def time(self) -> float:
        """Return the loop's monotonic seconds."""
        raise NotImplementedError


def unix_time() -> float:
    """Return the seconds since the epoch."""
    clock = _loop_clock() if _has_loop_clocks else None
    return time.time() if clock is None else clock.unix_time()


def unix_time_ns() -> int:
    """Return the nanoseconds since the epoch."""
    clock = _loop_clock() if _has_loop_clocks else None
    return time.time_ns() if clock is None else int(clock.unix_time() * 1e9)


def utc_now() -> dt.datetime:
    """Return the current time, in UTC."""
    clock = _loop_clock() if _has_loop_clocks else None
    return dt.datetime.now(dt.UTC) if clock is None else dt.datetime.fromtimestamp(clock.unix_time(), dt.UTC)


def monotonic() -> float:
    """Return the seconds of a monotonic clock, like `time()` of the event loop. Only differences have a meaning."""
    if _has_loop_clocks and isinstance(loop := _get_running_loop(), LoopClock):
        return loop.time()
    return _system_monotonic()


def _loop_clock() -> LoopClock | None:
    loop = _get_running_loop()
    return loop if isinstance(loop, LoopClock) else None
