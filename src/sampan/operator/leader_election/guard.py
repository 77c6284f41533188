"""`GuardedTransport`: refuses writes of a leader whose lease has expired, even before the leader has detected it.

A process that was paused for longer than its lease continues where it stopped, and another leader exists by then.
Requests that it sent before the pause may still reach the server, so writes also need resourceVersions as
preconditions.
"""

from collections.abc import Callable
from typing import Final

from sampan.client.errors import ClientError
from sampan.client.transport import HttpRequest, HttpResponse, Transport

_READS: Final = frozenset({"GET", "HEAD"})


class LeaseOver(ClientError):
    """The write was not sent: this process was the leader, and another one may lead now."""


class GuardedTransport:
    """Passes requests to `inner`; writes only while `is_over()` is false."""

    def __init__(self, inner: Transport, is_over: Callable[[], bool]) -> None:
        self._inner = inner
        self._is_over = is_over

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request. Raises `LeaseOver` for a write after the lease has expired, else the errors of `inner`."""
        if request.method not in _READS and self._is_over():
            raise LeaseOver(f"{request.method} {request.target} is not sent: the lease of this leader is over")
        return await self._inner.send(request)

    async def aclose(self) -> None:
        """Close `inner`."""
        await self._inner.aclose()
