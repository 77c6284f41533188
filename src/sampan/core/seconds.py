"""`seconds`: clock for timeouts and leases."""

import time

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def seconds() -> float:
    """Return seconds since an arbitrary point.

    Includes the time in which the machine sleeps, if the system supports it.
    """
    return time.clock_gettime(_CLOCK)
