"""`TimeSlices`: gives way to other tasks during a long computation on the event loop."""

import asyncio
from typing import Final

from sampan.core.clock import monotonic

_SLICE_S: Final = 0.005


class TimeSlices:
    """Slices of one computation. The caller calls `give_way` often: each call costs less than a microsecond."""

    def __init__(self) -> None:
        self._began = monotonic()

    async def give_way(self) -> None:
        """Let other tasks run if the current slice is over."""
        if monotonic() - self._began > _SLICE_S:
            await asyncio.sleep(0)
            self._began = monotonic()
