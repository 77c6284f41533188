"""`FreeMemory`: frees unreachable objects, and gives memory that is not in use back to the system.

CPython pauses the whole process while it collects unreachable objects: 0.5 to 1 ms for each 1,000 objects that it
examines. So the process often examines new objects only. It examines all objects once a minute, less often if there are
many, and freezes very many. Without these full collections, unreachable objects of resources and connections would stay
for hours: CPython examines old objects only after 100 million allocations. A deleted CRD, for example, leaves 600
objects.

glibc keeps freed memory in its heaps. It does not return a heap without a trim while a block near its end is in use.
With 17 MB in use the server had 126, 148, 159 and 167 MB resident after waves of 1,000 TLS connections; with a trim
after each wave it stays at 101 MB. A trim takes 0.3 ms, or up to 100 ms after a process has used much memory, so it
runs in a thread.

What makes a trim worthwhile is resident memory that no block uses. The resident memory alone does not show it: it grows
with the blocks in use, and stays the same when they are freed. After 100 watches that were not read, 45 MB more than
before were free and stayed resident for a minute.

A trim cannot return a page of which a small part is in use. All threads share one heap of glibc, which reduces the
number of such pages. Separate pages for buffers of 256 KiB or more would save another 1 MB of 84. But a mapping for
each large buffer made lists of 5,000 objects three times slower (3,600 to 1,300 a second).
"""

import asyncio
import ctypes
import gc
import resource
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

PERIOD_S: Final = 60.0
_ARENA_MAX = -8
"""Parameter of glibc's mallopt(3). Source: malloc.h."""
GC_THRESHOLDS: Final = (10_000, 10, 1000)
"""The collector examines new objects every 10,000 allocations, and again every 100,000.

It examines all objects after 100 million. With 50,000 and 1,000,000, one collection took up to 840 ms.
"""
OBJECTS_A_PERIOD: Final = 150_000
"""Number of objects that a collection examines in 75 to 150 ms.

Up to this number, all objects are examined once a period; n times as many are examined after n periods.

A server with a low load has 80,000 objects. With a limit of 50,000, unreachable objects stayed for 2 to 4 minutes, and
longer as the caches grew. The memory of a soak grew by 16 MB after 20 minutes.
"""
OBJECTS_MAX: Final = 450_000
"""A collection of so many objects takes up to 500 ms.

Above this number the objects are frozen: collections examine only newer ones, so they continue. Most of so many objects
are in caches and stay. What is unreachable among them at that moment is not freed, but newer unreachable objects are.
"""
CHECK_S: Final = 2.0
"""Interval in seconds of the checks for memory that is no longer used.

With 5 s, lists in all forms that were not read took 248 MB; with 2 s they take 225 MB.
"""
GROWTH_BYTES: Final = 16 << 20
"""Growth of the resident memory that is not in use, after which the heap is trimmed at the next check."""
IDLE_PERIODS_MAX: Final = 10
"""Periods without a collection in an idle process. One a minute took half of an idle server's processor time."""


def start_collector() -> None:
    """Start the collector of unreachable objects. It never examines the objects that exist already: they stay."""
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    gc.enable()


def limit_fragmentation() -> bool:
    """Configure the C library's heap so that most free memory can be returned. Return False if it cannot be done.

    Call it before other threads start. Their own heaps would only help if they allocated at the same time, and CPython
    runs one thread at a time.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_ARENA_MAX, 1))


def tracked() -> int:
    """Return the number of objects that the collector examines."""
    return len(gc.get_objects())


def partial_looks() -> int:
    """Return the number of collections so far.

    The collector runs only after enough new objects, so not in an idle process.
    """
    return sum(generation["collections"] for generation in gc.get_stats())


def resident_bytes() -> int:
    """Return the resident memory of the process; 0 where the kernel does not report it."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


class _HeapSizes(ctypes.Structure):
    """Result of mallinfo2(3). Source: malloc.h."""

    _fields_ = tuple((f"size_{index}", ctypes.c_size_t) for index in range(10))


_IN_MAPPINGS, _IN_USE = "size_4", "size_7"


def heap_bytes() -> int:
    """Return the size of the blocks that are in use in the C library's heap; 0 if it does not report it.

    CPython's small objects are not in this heap.
    """
    mallinfo2 = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo2 is None:
        return 0
    mallinfo2.restype = _HeapSizes
    sizes = mallinfo2()
    return int(getattr(sizes, _IN_MAPPINGS) + getattr(sizes, _IN_USE))


def unused_bytes() -> int:
    """Return the resident memory outside of the heap's blocks: free memory, and a part that changes little."""
    return max(resident_bytes() - heap_bytes(), 0)


def trim() -> bool:
    """Return free memory to the system. Return True if there was any; False if the C library has no `malloc_trim`."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return malloc_trim is not None and bool(malloc_trim(0))


async def unused_in_thread() -> int:
    """Return `unused_bytes` without blocking the event loop: glibc counts free blocks, 300,000 of them in 35 ms."""
    return await asyncio.to_thread(unused_bytes)


async def trim_in_thread() -> None:
    """Trim in a thread, without blocking the event loop."""
    await asyncio.to_thread(trim)


def _nothing(now: float) -> None:
    """Forget nothing, because there are no caches."""


class FreeMemory:
    """Collects unreachable objects and trims the heap once a minute. A `Runnable`.

    Every `CHECK_S` it empties caches of what was not used lately, and trims the heap if much memory is no longer used.
    """

    needs_leader_election = False

    def __init__(
        self,
        trim: Callable[[], Awaitable[object]] = trim_in_thread,
        collect: Callable[[], object] = gc.collect,
        tracked: Callable[[], int] = tracked,
        looks: Callable[[], int] = partial_looks,
        unused: Callable[[], Awaitable[int]] = unused_in_thread,
        freeze: Callable[[], object] = gc.freeze,
        forget_unused: Callable[[float], None] = _nothing,
    ) -> None:
        """`looks` counts the collector's own collections: without a new one the process is idle.

        `forget_unused` empties caches; its argument is the loop time.
        """
        self._trim, self._collect, self._tracked, self._looks = trim, collect, tracked, looks
        self._unused, self._freeze, self._forget_unused = unused, freeze, forget_unused
        self._periods = 0
        """Periods since all objects were examined."""
        self._looks_before = -1

    def __str__(self) -> str:
        return "free memory"

    async def run(self) -> None:
        """Collect and trim until cancelled."""
        while True:
            await self._wait_for_period()
            self._periods += 1
            idle = self._looks() == self._looks_before and self._periods < IDLE_PERIODS_MAX
            if not idle:
                self._examine(self._tracked())
            await self._trim()

    async def _wait_for_period(self) -> None:
        """Wait for a period. Trim meanwhile if much memory was freed, as after many responses that were not read."""
        least = await self._unused()
        for _ in range(round(PERIOD_S / CHECK_S)):
            await asyncio.sleep(CHECK_S)
            self._forget_unused(asyncio.get_running_loop().time())
            unused = await self._unused()
            if unused - least > GROWTH_BYTES:
                await self._trim()
                unused = least = await self._unused()
            least = min(least, unused)

    def _examine(self, objects: int) -> None:
        """Collect, unless there are too many objects for this period. Freeze them if there are too many for any."""
        if objects > OBJECTS_MAX:
            self._freeze()
        elif objects <= self._periods * OBJECTS_A_PERIOD:
            self._collect()
        else:
            return
        self._periods = 0
        self._looks_before = self._looks()
