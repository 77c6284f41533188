"""Requests and responses of transports."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

Headers = Mapping[str, str]
"""Header fields; names in lower case. The value of a repeated field is a `Repeated`."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """Request. `target` is path and query as sent."""

    method: str
    target: str
    headers: Headers = field(default_factory=dict)
    body: bytes = b""
    timeout_s: float | None = None
    """Time limit for the whole response, or only for its head with `stream` or `idle_timeout_s`. None: no limit."""
    idle_timeout_s: float | None = None
    """Maximum silence within the body; `read` and `chunks` then raise `TransportTimeout`. None: no limit."""
    stream: bool = False
    """True if the body is read as it arrives (a watch). The connection limit excludes streams; `aclose` cuts them."""


class HttpResponse(Protocol):
    """Response with a body. The caller must read it to its end or close it."""

    @property
    def status(self) -> int:
        """Status code."""
        ...

    @property
    def headers(self) -> Headers:
        """Header fields, names in lower case."""
        ...

    async def read(self) -> bytes:
        """Return the whole body, decompressed. Raises `TransportError`."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives, in arbitrary chunks. Raises `TransportError` if it breaks off."""
        ...

    async def aclose(self) -> None:
        """Close the connection unless the whole body has been read. It may be called twice."""
        ...
