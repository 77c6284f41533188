"""A bound on how fast a client asks (QPS and burst in Go). Off by default: servers share their time out by themselves.

Source: client-go util/flowcontrol/throttle.go (1.36); controller-runtime pkg/client/config (off since API priority and
fairness).
"""

import asyncio
from dataclasses import dataclass

from sampan.client.transport import HttpRequest, HttpResponse, Transport


@dataclass(frozen=True, slots=True)
class RateLimit:
    """So many requests a second on average, and so many at once after a rest."""

    per_s: float
    burst: int = 1

    def __post_init__(self) -> None:
        if self.per_s <= 0 or self.burst < 1:
            raise ValueError("a rate limit needs a positive rate and a burst of at least 1")


class RateLimitingTransport:
    """Lets requests through as a token bucket does, in the order of their coming. Who is cancelled has used a token."""

    def __init__(self, inner: Transport, limit: RateLimit) -> None:
        self._inner = inner
        self._interval_s = 1.0 / limit.per_s
        self._ahead_s = (limit.burst - 1) * self._interval_s
        self._next = 0.0

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Wait for its turn, then send."""
        now = asyncio.get_running_loop().time()
        turn = max(self._next, now)
        self._next = turn + self._interval_s
        wait_s = turn - self._ahead_s - now
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        return await self._inner.send(request)

    async def aclose(self) -> None:
        """Close what is inside."""
        await self._inner.aclose()
