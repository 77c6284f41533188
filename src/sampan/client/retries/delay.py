"""`RetryDelay`: the delay before the next attempt after a failure."""

import asyncio
import random
from collections.abc import Callable
from typing import Final

from sampan.client.retries.backoff import Backoff

BACKOFF_RESET_S: Final = 120.0
"""Time without a failure after which the backoff starts from its first delay again."""


class RetryDelay:
    """Delays that grow with each failure and start again after a success, or after `reset_s` without a failure.

    Source: apimachinery pkg/util/wait/delay.go `DelayFunc`, backoff.go `DelayWithReset` (1.36). The reset after a
    success is an addition: without it, the first failure after an outage waits as long as the last one of the outage.
    """

    def __init__(
        self, backoff: Backoff, reset_s: float = BACKOFF_RESET_S, rand: Callable[[], float] = random.random
    ) -> None:
        self._backoff = backoff
        self._reset_s = reset_s
        self._rand = rand
        self._delays = backoff.delays(rand)
        self._waited_until = float("-inf")

    def succeeded(self) -> None:
        """Start from the first delay again."""
        self._delays = self._backoff.delays(self._rand)

    def next_delay_s(self, at_least_s: float = 0.0) -> float | None:
        """Return the delay before the next attempt, from now; None if the backoff allows no further attempt.

        `at_least_s` is the delay that the server requested.
        """
        now = asyncio.get_running_loop().time()
        if now - self._waited_until > self._reset_s:
            self.succeeded()
        delay = next(self._delays, None)
        if delay is None:
            return None
        delay = max(delay, at_least_s)
        self._waited_until = now + delay
        return delay
