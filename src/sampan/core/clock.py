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


class LoopClock:
    """Base class of event loops with a clock. Its monotonic time is the loop's own `time()`."""

    def unix_time(self) -> float:
        """Return the seconds since the epoch in this loop."""
        raise NotImplementedError

    def time(self) -> float:
        """Return the loop's monotonic seconds."""
        raise NotImplementedError


def unix_time() -> float:
    """Return the seconds since the epoch."""
    loop = _get_running_loop()
    return loop.unix_time() if isinstance(loop, LoopClock) else time.time()


def unix_time_ns() -> int:
    """Return the nanoseconds since the epoch."""
    loop = _get_running_loop()
    return int(loop.unix_time() * 1e9) if isinstance(loop, LoopClock) else time.time_ns()


def utc_now() -> dt.datetime:
    """Return the current time, in UTC."""
    loop = _get_running_loop()
    if isinstance(loop, LoopClock):
        return dt.datetime.fromtimestamp(loop.unix_time(), dt.UTC)
    return dt.datetime.now(dt.UTC)


def monotonic() -> float:
    """Return the seconds of a monotonic clock, like `time()` of the event loop. Only differences have a meaning."""
    loop = _get_running_loop()
    return loop.time() if isinstance(loop, LoopClock) else time.monotonic()
