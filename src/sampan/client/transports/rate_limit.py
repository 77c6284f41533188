"""Client-side rate limit (QPS and burst in Go). Off by default: servers have API priority and fairness.

Source: client-go util/flowcontrol/throttle.go (1.36); controller-runtime pkg/client/config (off for the same reason).
"""

import asyncio
from dataclasses import dataclass

from sampan.client.transport import HttpRequest, HttpResponse, Transport


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Average requests for each second, and maximum burst."""

    per_s: float
    burst: int = 1

    def __post_init__(self) -> None:
        if self.per_s <= 0 or self.burst < 1:
            raise ValueError("rate limit: the rate must be positive and the burst at least 1")


class RateLimitingTransport:
    """Limits requests with a token bucket, in order of arrival. A cancelled request has used a token."""

    def __init__(self, inner: Transport, limit: RateLimit) -> None:
        self._inner = inner
        self._interval_s = 1.0 / limit.per_s
        self._ahead_s = (limit.burst - 1) * self._interval_s
        self._next = 0.0

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Wait for a token, then send the request."""
        now = asyncio.get_running_loop().time()
        turn = max(self._next, now)
        self._next = turn + self._interval_s
        wait_s = turn - self._ahead_s - now
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        return await self._inner.send(request)

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()
