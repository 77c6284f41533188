"""`Transport`: the seam between the client and HTTP. It has one method, so a fake is a function in a class.

Transports are stacked: credentials, retries and warnings are transports around another (`RoundTripper`s in Go).
"""

from typing import Protocol

from sampan.http.request import Headers, HttpRequest, HttpResponse

__all__ = ["Headers", "HttpRequest", "HttpResponse", "Transport"]


class Transport(Protocol):
    """Sends requests. Safe to use from many tasks of one event loop."""

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and wait for the answer's head, whatever its code. Raises `TransportError`.

        When it is cancelled the request may or may not have arrived.
        """
        ...

    async def aclose(self) -> None:
        """Close all connections. Requests under way fail with `TransportError`."""
        ...
