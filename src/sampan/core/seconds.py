"""`seconds`: the clock of what holds for a while."""

import time

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def seconds() -> float:
    """Seconds from some beginning. It goes on while the machine sleeps, where the system has such a clock."""
    return time.clock_gettime(_CLOCK)
