"""`FreeMemory`: frees unreachable objects, and gives memory that is not in use back to the system.

CPython stops everything while it looks for unreachable objects, for 0.5 to 1 ms for each 1,000 objects. So it looks at
few objects at a time: at new ones often, at all of them once a minute while they are few, and less often if there are
more. Without the latter, what resources and connections leave behind stays for hours, as it is only looked at again
after 100 million allocations. A deleted CRD, for example, leaves 600 objects.

glibc keeps what was freed in its heaps, and a heap in which one late piece is in use is not given back by itself. With
17 MB in use the server had 126, 148, 159 and 167 MB resident after waves of 1,000 TLS connections; with a trim after
each wave it stays at 101 MB. A trim takes 0.3 ms, or up to 100 ms after a process used much; so a thread does it.

A trim cannot return a page of which a small part is in use. Two settings of glibc leave fewer of them: all threads
share one heap, and large buffers, such as those of TLS connections, get separate pages.
"""

import asyncio
import ctypes
import gc
from collections.abc import Awaitable, Callable
from typing import Final

PERIOD_S: Final = 60.0
OWN_PAGES_BYTES: Final = 256 * 1024
"""Allocations from this size on get separate pages, which go back at once. uvloop's buffer of a connection has it.

By default, glibc raises the size to that of the largest allocation that was freed, up to 32 MiB.
"""
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""Parameters of glibc's mallopt(3). Source: malloc.h."""
GC_THRESHOLDS: Final = (10_000, 10, 1000)
"""New objects are looked at each 10,000 allocations, and once more each 100,000; all after 100 million.

With 50,000 and 1,000,000 (20 times), one look took up to 840 ms.
"""
OBJECTS_A_PERIOD: Final = 150_000
"""Objects of which a look takes 75 to 150 ms. It is repeated once a period for so many, and for n times as many after
n periods.

A server with little to do has 80,000. With a limit of 50,000, unreachable objects stayed for 2 to 4 minutes, the longer
the more the caches filled. The memory of a soak grew by 16 MB after 20 minutes.
"""
OBJECTS_MAX: Final = 450_000
"""With more objects, a look would take up to 500 ms. All of them are only looked at after `GC_THRESHOLDS`."""
IDLE_PERIODS_MAX: Final = 10
"""Periods without a look while the process is idle. A look each minute took half of an idle server's processor time."""


def start_collector() -> None:
    """Start the collector of unreachable objects. What is there already is never looked at: it stays."""
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    gc.enable()


def limit_fragmentation() -> bool:
    """Configure the C library's heap so that most free memory can be returned. Return False if it cannot be done.

    Call it before other threads start. Their own heaps would only help if they allocated at the same time, and CPython
    runs one thread at a time.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_ARENA_MAX, 1)) and bool(mallopt(_MMAP_THRESHOLD, OWN_PAGES_BYTES))


def tracked() -> int:
    """Return the number of objects that the collector examines."""
    return len(gc.get_objects())


def partial_looks() -> int:
    """Return how often the collector has examined objects. The collector runs only after enough new objects, so not
    when idle.
    """
    return sum(generation["collections"] for generation in gc.get_stats())


def trim() -> bool:
    """Return free memory to the system. Return True if there was any; False if the C library has no `malloc_trim`."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return malloc_trim is not None and bool(malloc_trim(0))


async def trim_in_thread() -> None:
    """Trim in a thread, without blocking the event loop."""
    await asyncio.to_thread(trim)


class FreeMemory:
    """Collects unreachable objects and trims the heap once a minute. A `Runnable`."""

    needs_leader_election = False

    def __init__(
        self,
        trim: Callable[[], Awaitable[object]] = trim_in_thread,
        collect: Callable[[], object] = gc.collect,
        tracked: Callable[[], int] = tracked,
        looks: Callable[[], int] = partial_looks,
    ) -> None:
        """`looks` counts the collector's own collections: without a new one the process is idle."""
        self._trim, self._collect, self._tracked, self._looks = trim, collect, tracked, looks
        self._periods = 0
        """Periods since all objects were examined."""
        self._looks_before = -1

    def __str__(self) -> str:
        return "free memory"

    async def run(self) -> None:
        """Collect and trim until cancelled."""
        while True:
            await asyncio.sleep(PERIOD_S)
            self._periods += 1
            idle = self._looks() == self._looks_before and self._periods < IDLE_PERIODS_MAX
            if not idle and self._tracked() <= min(self._periods * OBJECTS_A_PERIOD, OBJECTS_MAX):
                self._periods = 0
                self._collect()
                self._looks_before = self._looks()
            await self._trim()
