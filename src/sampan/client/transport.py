"""`Transport`: interface between the client and HTTP. It has one method, so a fake is a function in a class.

Transports are stacked: credentials, retries and warnings are transports around another (`RoundTripper`s in Go).
"""

from typing import Protocol

from sampan.http.client.request import Headers, HttpRequest, HttpResponse

__all__ = ["Headers", "HttpRequest", "HttpResponse", "Transport"]


class Transport(Protocol):
    """Sends requests. Many tasks of one event loop can share it."""

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and return the response, whatever its code, when its head arrives. Raises `TransportError`.

        After a cancellation, the request may or may not have arrived.
        """
        ...

    async def aclose(self) -> None:
        """Close all connections. Requests in flight fail with `TransportError`."""
        ...
