"""`FreeMemory`: gives memory that is not in use back to the system.

glibc keeps what was freed in its heaps, and a heap in which one late piece is in use is not given back by itself. With
17 MB in use the server had 126, 148, 159 and 167 MB resident after waves of 1,000 TLS connections; with a trim after
each wave it stays at 101 MB. A trim takes 0.3 ms, or 5 ms if there is much to give back.
"""

import asyncio
import ctypes
from collections.abc import Callable
from typing import Final

PERIOD_S: Final = 60.0


def trim() -> bool:
    """Give free memory back. Return whether there was any; False where the C library has no `malloc_trim`."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return malloc_trim is not None and bool(malloc_trim(0))


class FreeMemory:
    """Trims the heap once a minute. A `Runnable`."""

    needs_leader_election = False

    def __init__(self, trim: Callable[[], bool] = trim) -> None:
        self._trim = trim

    def __str__(self) -> str:
        return "free memory"

    async def run(self) -> None:
        """Trim until cancelled."""
        while True:
            await asyncio.sleep(PERIOD_S)
            self._trim()
