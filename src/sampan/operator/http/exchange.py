"""Requests and answers of an operator's endpoints, and the bounds of both."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs, urlsplit

TEXT: Final = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Request:
    """A request with its whole body. Header names are in lower case."""

    method: str
    target: str
    """Path and query, as they came."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

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


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Bounds of a listener; times in seconds, sizes in bytes."""

    head_bytes_max: int = 16_384
    """Request line and header fields; a longer one is answered with 431."""
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


Respond = Callable[[Request], Awaitable[Answer]]
"""Answers a request. What it raises is logged and answered with 500."""


def head_of(answer: Answer, *, keep_alive: bool) -> bytes:
    """The status line and the header fields."""
    return (
        f"HTTP/1.1 {answer.code} {HTTPStatus(answer.code).phrase}\r\ncontent-type: {answer.media_type}\r\n"
        f"content-length: {len(answer.body)}\r\nx-content-type-options: nosniff\r\n"
        f"connection: {'keep-alive' if keep_alive else 'close'}\r\n\r\n"
    ).encode("latin-1")
