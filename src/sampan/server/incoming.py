"""`Incoming`: a request while it is received, and its body."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Final, Protocol
from urllib.parse import unquote

import msgspec

from sampan.core.errors import StatusError, request_entity_too_large
from sampan.server.secret_paths import loggable
from sampan.wire.http1 import values_of

_MALFORMED_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
BODY_PIECES_MAX = 1024
"""Maximum number of pieces of a buffered body. More are joined, so a body that arrives byte by byte needs little
memory.
"""
SAFE: Final = frozenset({"GET", "HEAD"})
"""Methods that change nothing: such a request can be cancelled at any time."""


def identity_values(header: str) -> tuple[str, ...]:
    """Return the values of a header that identifies a user. Their bytes are UTF-8."""
    values = (value.strip(" \t") for value in values_of(header))
    return tuple(v if v.isascii() else v.encode("latin-1").decode("utf-8", "replace") for v in values)


def extra_key(escaped: str) -> str:
    """Return the key of an extra value from the name of its header. A key with a malformed escape stays as it is."""
    return escaped if _MALFORMED_ESCAPE.search(escaped) else unquote(escaped)


class ClientGone(ConnectionResetError):
    """The client disconnected before it sent the whole request."""


class RequestSource(Protocol):
    """Connection that receives a request."""

    closed: bool
    loop: asyncio.AbstractEventLoop

    def send_continue(self) -> None: ...

    def resume_reading(self) -> None: ...

    async def wait_closed(self) -> None: ...


class Incoming(msgspec.Struct, eq=False):
    """Request while it is received."""

    connection: RequestSource
    method: str = ""
    raw_target: bytes = b""
    headers: dict[str, str] = {}
    keep_alive: bool = True
    http_1_0: bool = False
    expect_continue: bool = False
    body: list[bytes] = []
    size: int = 0
    limit: int = -1
    complete: bool = False
    waiter: asyncio.Future[None] | None = None

    @property
    def logged_target(self) -> str:
        """Target for logs, without secrets."""
        return loggable(self.raw_target.decode("latin-1"))

    async def read_body(self, limit: int) -> bytes:
        """Read the whole body. **Raises** `StatusError` 413 beyond `limit` bytes; `ClientGone`."""
        if self.complete and self.size <= limit:
            return self.body[0] if len(self.body) == 1 else b"".join(self.body)
        self.limit = limit
        declared = self.headers.get("content-length", "")
        if self.size > limit or (declared.isdigit() and int(declared) > limit):
            raise _too_large(limit)
        if self.expect_continue:
            self.expect_continue = False
            self.connection.send_continue()
        self.connection.resume_reading()
        while not self.complete and self.size <= limit:
            if self.connection.closed:
                raise ClientGone("the client went away while sending the body")
            self.waiter = self.connection.loop.create_future()
            await self.waiter
        if self.size > limit:
            self.body.clear()
            raise _too_large(limit)
        return b"".join(self.body)

    async def stream_body(self) -> AsyncIterator[bytes]:
        """Yield the body in pieces; see `Request.stream_body`. Unread data is buffered up to the limit of the
        connection.
        """
        if self.expect_continue:
            self.expect_continue = False
            self.connection.send_continue()
        while self.body or not self.complete:
            if self.body:
                piece = b"".join(self.body)
                self.body.clear()
                self.size = 0
                self.connection.resume_reading()
                yield piece
            elif self.connection.closed:
                raise ClientGone("the client went away while sending the body")
            else:
                self.waiter = self.connection.loop.create_future()
                await self.waiter

    def join(self) -> None:
        """Join the pieces of the body."""
        self.body[:] = [b"".join(self.body)]

    async def disconnected(self) -> None:
        """Wait until the client disconnects."""
        await self.connection.wait_closed()

    def wake(self) -> None:
        """Wake the reader of the body."""
        waiter = self.waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


def _too_large(limit: int) -> StatusError:
    return request_entity_too_large(f"limit is {limit}")
