"""Requests and responses, as transports exchange them."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

Headers = Mapping[str, str]
"""Header fields; names in lower case. A field that is sent or received more than once is a `Repeated`."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request. `target` is path and query as they are sent."""

    method: str
    target: str
    headers: Headers = field(default_factory=dict)
    body: bytes = b""
    timeout_s: float | None = None
    """Longest wait for the whole answer; for its head, if `stream` or `idle_timeout_s` is set. None: no limit."""
    idle_timeout_s: float | None = None
    """Longest silence within the body: then `read` and `chunks` raise `TransportTimeout`. None: no limit."""
    stream: bool = False
    """The body is read as it arrives (a watch). It does not count for the limit of connections; `aclose` cuts it."""


class HttpResponse(Protocol):
    """A response with a body to be read. It must be read to its end or closed."""

    @property
    def status(self) -> int:
        """The code."""
        ...

    @property
    def headers(self) -> Headers:
        """The header fields, names in lower case."""
        ...

    async def read(self) -> bytes:
        """Return the whole body, decompressed. Raises `TransportError`."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives; chunk borders mean nothing. Raises `TransportError` if it breaks off."""
        ...

    async def aclose(self) -> None:
        """Give the connection up, unless the body has been read to its end. Can be called twice."""
        ...
