"""`RequestCounts`: numbers and durations of a client's requests. `CountingTransport` fills it.

Source: client-go tools/metrics/metrics.go, component-base metrics/prometheus/restclient/metrics.go (1.36).
"""

from bisect import bisect_left
from typing import Final

from sampan.client.transport import HttpRequest, HttpResponse, Transport
from sampan.core.clock import monotonic

DURATION_BUCKETS: Final = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
"""Upper bounds of the histogram's buckets in seconds."""
_ERROR: Final = "<error>"


class RequestCounts:
    """Counts of requests to one server. Every attempt counts as a request."""

    def __init__(self, host: str = "") -> None:
        self.host = host
        """Host and port of the server."""
        self.requests: dict[tuple[str, str], int] = {}
        """Number of requests by code and method."""
        self.durations: dict[str, list[float]] = {}
        """Durations by method: the sum in seconds, then the count of each bucket. The last bucket is unbounded."""

    def count(self, method: str, code: str, seconds: float) -> None:
        """Count one attempt. `seconds` is the time until the head of the response arrived."""
        self.requests[code, method] = self.requests.get((code, method), 0) + 1
        series = self.durations.setdefault(method, [0.0] * (len(DURATION_BUCKETS) + 2))
        series[0] += seconds
        series[bisect_left(DURATION_BUCKETS, seconds) + 1] += 1


class CountingTransport:
    """Counts the requests that pass through it."""

    def __init__(self, inner: Transport, counts: RequestCounts) -> None:
        self._inner = inner
        self._counts = counts

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request, and record its status code and the time until the response began."""
        began, code = monotonic(), _ERROR
        try:
            response = await self._inner.send(request)
            code = str(response.status)
            return response
        finally:
            self._counts.count(request.method, code, monotonic() - began)

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()
