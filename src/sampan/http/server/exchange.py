"""Requests and responses of an operator's endpoints, and their limits."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs, urlsplit

from sampan.http.tunnel import Tunnel
from sampan.wire.http1 import response_head

TEXT: Final = "text/plain; charset=utf-8"
_NOSNIFF: Final = {"x-content-type-options": "nosniff"}


@dataclass(frozen=True, slots=True)
class Request:
    """Request with its whole body. Header names are in lower case."""

    method: str
    target: str
    """Path and query, as received."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    client_certificate: bytes = b""
    """Certificate of the client (DER), whose key it has proved to own; empty without TLS or without a certificate."""

    @property
    def path(self) -> str:
        """Path without the query."""
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, list[str]]:
        """Query parameters, also those without a value."""
        return parse_qs(urlsplit(self.target).query, keep_blank_values=True)


@dataclass(frozen=True, slots=True)
class Response:
    """Response with its whole body."""

    code: int
    body: bytes = b""
    media_type: str = TEXT
    headers: Mapping[str, str] = field(default_factory=dict)
    """Additional headers."""


@dataclass(frozen=True, slots=True)
class StreamedResponse:
    """Response whose body is sent in parts. The connection closes after it."""

    code: int
    parts: AsyncGenerator[bytes, None]
    """Parts of the body. The next one is requested when the client has read most of the previous ones.

    The generator is closed when the client disconnects. If it raises, the connection is closed abruptly, so that the
    client detects the incomplete body.
    """
    media_type: str = TEXT


@dataclass(frozen=True, slots=True)
class Takeover:
    """Response 101: the connection continues with another protocol."""

    headers: Mapping[str, str]
    """`upgrade` and other headers of the protocol."""
    serve: Callable[[Tunnel], Awaitable[None]]
    """Function that owns the connection until it returns. It must read to detect that the client has disconnected.

    It is cancelled when the server stops.
    """


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Limits of a listener; times in seconds, sizes in bytes."""

    head_bytes_max: int = 1 << 20
    """Limit of the request line and header fields; a request with a longer head gets 431.

    The API server has the same limit, because it passes long commands on to nodes in the request line.
    """
    body_bytes_max: Callable[[str], int] = lambda path: 0
    """Limit of the body for a path. A longer body gets 413, and is not read."""
    connections_max: int = 64
    """Limit of connections. Further connections are closed immediately."""
    request_timeout_s: float = 10.0
    """Limit from the first byte of a request to the last one of its response; then the connection is closed."""
    keep_alive: bool = True
    """True: a connection may serve several requests. False: it is closed after its first response."""
    idle_timeout_s: float = 10.0
    """Limit of the wait for the first or the next request."""
    upgrades: bool = False
    """True: a request may switch to another protocol. False: such a request gets 400."""
    stream_idle_timeout_s: float = 14_400.0
    """Limit of the time without data in a streamed response, or after a switch of the protocol."""
    close_timeout_s: float = 1.0
    """Limit of the time in which a client must read the remaining response when a TLS connection closes."""


AnyResponse = Response | StreamedResponse | Takeover
Respond = Callable[[Request], Awaitable[AnyResponse]]
"""Returns the response to a request. An exception is logged, and the client gets 500."""


def head_of(response: Response, *, keep_alive: bool) -> bytes:
    """Return the status line and the header fields."""
    fields = {"content-type": response.media_type, "content-length": str(len(response.body)), **response.headers}
    return _head(response.code, {**fields, **_NOSNIFF, "connection": "keep-alive" if keep_alive else "close"})


def head_of_stream(response: StreamedResponse) -> bytes:
    """Return the head of a response with a chunked body."""
    fields = {"content-type": response.media_type, "transfer-encoding": "chunked", "connection": "close"}
    return _head(response.code, {**_NOSNIFF, **fields})


def head_of_takeover(response: Takeover) -> bytes:
    """Return the head of a response after which HTTP ends."""
    return _head(101, {**response.headers, "connection": "Upgrade"})


def _head(code: int, fields: Mapping[str, str]) -> bytes:
    return response_head(code, fields.items())
