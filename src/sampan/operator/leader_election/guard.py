"""`GuardedTransport`: a leader whose lease is over writes nothing more, also before it has noticed.

A process that stood still for longer than its lease goes on in the middle of what it did, and another leads by then.
What it had sent before it stood still is on its way all the same: guard writes by resourceVersions as always.
"""

from collections.abc import Callable
from typing import Final

from sampan.client.errors import ClientError
from sampan.client.transport import HttpRequest, HttpResponse, Transport

_READS: Final = frozenset({"GET", "HEAD"})


class LeaseOver(ClientError):
    """Nothing was sent: this process led, and another one may lead now."""


class GuardedTransport:
    """Sends what `inner` does, and writes only while `is_over()` is false."""

    def __init__(self, inner: Transport, is_over: Callable[[], bool]) -> None:
        self._inner = inner
        self._is_over = is_over

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Raises `LeaseOver` for a write after the lease, else what `inner` does."""
        if request.method not in _READS and self._is_over():
            raise LeaseOver(f"{request.method} {request.target} is not sent: the lease of this leader is over")
        return await self._inner.send(request)

    async def aclose(self) -> None:
        """Close `inner`."""
        await self._inner.aclose()
