"""Requests and answers of an operator's endpoints, and the bounds of both."""

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
    """A request with its whole body. Header names are in lower case."""

    method: str
    target: str
    """Path and query, as they came."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    client_certificate: bytes = b""
    """The certificate that the client has proved to own (DER); empty without TLS, or if it showed none."""

    @property
    def path(self) -> str:
        """Without the query."""
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, list[str]]:
        """The parameters, also those without a value."""
        return parse_qs(urlsplit(self.target).query, keep_blank_values=True)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its whole body."""

    code: int
    body: bytes = b""
    media_type: str = TEXT
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further ones."""


@dataclass(frozen=True, slots=True)
class StreamedAnswer:
    """An answer whose body comes in parts. The connection ends behind it."""

    code: int
    parts: AsyncGenerator[bytes, None]
    """Asked for the next part when the client has taken most of what came before; closed when the client has gone. When
    it raises, the connection is cut, so that the client knows that something is missing."""
    media_type: str = TEXT


@dataclass(frozen=True, slots=True)
class Takeover:
    """The answer 101: the connection speaks another protocol from here on."""

    headers: Mapping[str, str]
    """`upgrade` and what else the protocol wants."""
    serve: Callable[[Tunnel], Awaitable[None]]
    """Has the connection until it returns; it learns by reading that the client has gone. It is cancelled when the
    server ends."""


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Bounds of a listener; times in seconds, sizes in bytes."""

    head_bytes_max: int = 1 << 20
    """Request line and header fields; a longer head is answered with 431. The API server has the same limit: it passes
    long commands on to nodes in the request line."""
    body_bytes_max: Callable[[str], int] = lambda path: 0
    """By path. A longer body is answered with 413, and not read."""
    connections_max: int = 64
    """Further ones are closed at once."""
    request_timeout_s: float = 10.0
    """From the first byte of a request to the last one of its answer; then the connection is cut."""
    keep_alive: bool = True
    """False: a connection is closed behind its first answer."""
    idle_timeout_s: float = 10.0
    """How long a connection may wait for its next request, and for its first one."""
    upgrades: bool = False
    """Whether a request may ask for another protocol; otherwise such a one is answered with 400."""
    stream_idle_timeout_s: float = 14_400.0
    """How long nothing may pass in a streamed answer, or behind a takeover."""
    close_timeout_s: float = 1.0
    """How long a client may take to read the last of an answer when a connection with TLS is closed."""


AnyAnswer = Answer | StreamedAnswer | Takeover
Respond = Callable[[Request], Awaitable[AnyAnswer]]
"""Answers a request. What it raises is logged and answered with 500."""


def head_of(answer: Answer, *, keep_alive: bool) -> bytes:
    """The status line and the header fields."""
    fields = {"content-type": answer.media_type, "content-length": str(len(answer.body)), **answer.headers}
    return _head(answer.code, {**fields, **_NOSNIFF, "connection": "keep-alive" if keep_alive else "close"})


def head_of_stream(answer: StreamedAnswer) -> bytes:
    """The same for a body in chunks."""
    fields = {"content-type": answer.media_type, "transfer-encoding": "chunked", "connection": "close"}
    return _head(answer.code, {**_NOSNIFF, **fields})


def head_of_takeover(answer: Takeover) -> bytes:
    """The same, behind which HTTP ends."""
    return _head(101, {**answer.headers, "connection": "Upgrade"})


def _head(code: int, fields: Mapping[str, str]) -> bytes:
    return response_head(code, fields.items())
