"""`when_idle`: runs deferrable work when the event loop has nothing else to do."""

import asyncio
from collections.abc import Callable

from sampan.core.clock import monotonic

_IDLE_TURN_S = 0.0002
"""Longest time that an idle iteration of the loop takes."""


def when_idle(call: Callable[[], None], within_s: float) -> None:
    """Call `call` after the first idle iteration of the event loop, or after `within_s` seconds at the latest."""
    loop = asyncio.get_running_loop()
    latest = monotonic() + within_s

    def look(before: float) -> None:
        now = monotonic()
        if now - before < _IDLE_TURN_S or now >= latest:
            call()
        else:
            loop.call_soon(look, now)

    loop.call_soon(look, monotonic())
