"""The clock: the only place that reads the time of the operating system.

    loop = asyncio.get_running_loop()      # a VirtualTimeLoop
    utc_now()                              # 2030-01-01T00:00:00Z plus the virtual seconds of that loop

An event loop with a clock (`LoopClock`) sets the time of everything that runs in it: timestamps, expiry, leases,
tokens, certificates and measured durations. All other code, and every thread, gets the time of the operating system. A
test in tests/style forbids other reads of the time.
"""

import datetime as dt
import time
from collections.abc import Callable
from time import monotonic as _system_monotonic
from typing import Any

_running_loop: Callable[[], object] | None = None
"""Returns the running loop once a class of event loops with a clock exists, so in tests. It is not imported from
asyncio here, because commands that only need the time would take 25 ms longer to start.

Without such a class, the system's clock is read at once. To look at the running loop takes 0.2 µs, and a request reads
the time 11 times.
"""


class LoopClock:
    """Base class of event loops with a clock. Its monotonic time is the loop's own `time()`.

    `running` returns the running loop: `class Loop(LoopClock, ..., running=asyncio._get_running_loop)`.
    """

    def __init_subclass__(cls, *, running: Callable[[], object], **options: Any) -> None:
        global _running_loop
        super().__init_subclass__(**options)
        _running_loop = running

    def unix_time(self) -> float:
        """Return the seconds since the epoch in this loop."""
        raise NotImplementedError

    def time(self) -> float:
        """Return the loop's monotonic seconds."""
        raise NotImplementedError


def unix_time() -> float:
    """Return the seconds since the epoch."""
    if _running_loop is not None and isinstance(loop := _running_loop(), LoopClock):
        return loop.unix_time()
    return time.time()


def unix_time_ns() -> int:
    """Return the nanoseconds since the epoch."""
    if _running_loop is not None and isinstance(loop := _running_loop(), LoopClock):
        return int(loop.unix_time() * 1e9)
    return time.time_ns()


def utc_now() -> dt.datetime:
    """Return the current time, in UTC."""
    if _running_loop is not None and isinstance(loop := _running_loop(), LoopClock):
        return dt.datetime.fromtimestamp(loop.unix_time(), dt.UTC)
    return dt.datetime.now(dt.UTC)


def monotonic() -> float:
    """Return the seconds of a monotonic clock, like `time()` of the event loop. Only differences have a meaning."""
    if _running_loop is not None and isinstance(loop := _running_loop(), LoopClock):
        return loop.time()
    return _system_monotonic()
