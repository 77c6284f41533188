"""`Transport`: the seam between the client and the wire. One method; a fake of it is a function with a class around.

Transports are stacked: credentials, retries and warnings are transports around another (`RoundTripper`s in Go).
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

Headers = Mapping[str, str]
"""Header fields; names in lower case. Several values of one name are joined by newlines (they cannot hold one)."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request. `target` is path and query as they go on the wire."""

    method: str
    target: str
    headers: Headers = field(default_factory=dict)
    body: bytes = b""
    timeout_s: float | None = None
    """Longest wait for the whole answer; for its head, if `stream` or `idle_timeout_s` is set. None: no limit."""
    idle_timeout_s: float | None = None
    """Longest silence within the body: then `read` and `chunks` raise `TransportTimeout`. None: no limit."""
    stream: bool = False
    """The answer is read as it comes (a watch): it gets a connection of its own, which `aclose` cuts."""


class HttpResponse(Protocol):
    """An answer whose body is still to be read. It must be read to its end or closed."""

    @property
    def status(self) -> int:
        """The code."""
        ...

    @property
    def headers(self) -> Headers:
        """The header fields, names in lower case."""
        ...

    async def read(self) -> bytes:
        """The whole body, decompressed. Raises `TransportError`."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes; chunk borders mean nothing. Raises `TransportError` when it breaks off."""
        ...

    async def aclose(self) -> None:
        """Give the connection up, if the body has not been read to its end. May be called twice."""
        ...


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
