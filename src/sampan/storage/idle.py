"""`when_idle`: what can wait is done when the event loop has nothing else to do."""

import asyncio
from collections.abc import Callable
from time import monotonic

_IDLE_TURN_S = 0.0002
"""A turn of the loop that takes no longer has done nothing of weight."""


def when_idle(call: Callable[[], None], within_s: float) -> None:
    """Call it once the event loop has had an idle turn, or after `within_s` seconds of busy ones."""
    loop = asyncio.get_running_loop()
    latest = monotonic() + within_s

    def look(before: float) -> None:
        now = monotonic()
        if now - before < _IDLE_TURN_S or now >= latest:
            call()
        else:
            loop.call_soon(look, now)

    loop.call_soon(look, monotonic())
