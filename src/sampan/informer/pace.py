"""`Pace`: how long a reflector waits after a failure."""

import asyncio
from collections.abc import Callable

from sampan.client.backoff import Backoff


class Pace:
    """Waits longer each time, and begins anew after a time without waiting.

    Source: apimachinery pkg/util/wait/delay.go `DelayFunc`, backoff.go `DelayWithReset` (1.36).
    """

    def __init__(self, backoff: Backoff, reset_s: float, rand: Callable[[], float]) -> None:
        self._backoff = backoff
        self._reset_s = reset_s
        self._rand = rand
        self._delays = backoff.delays(rand)
        self._waited_until = float("-inf")

    async def wait(self, at_least_s: float = 0.0) -> None:
        """Wait once, not shorter than the server asked for."""
        now = asyncio.get_running_loop().time()
        if now - self._waited_until > self._reset_s:
            self._delays = self._backoff.delays(self._rand)
        delay = max(next(self._delays, self._backoff.cap_s), at_least_s)
        self._waited_until = now + delay
        await asyncio.sleep(delay)
