"""`Tunnel`: a connection after its upgrade, as bytes in both directions.

This is the seam of WebSocket and SPDY. A handler that takes an upgrade answers `Response(101, takeover=serve)` with the
headers that the protocol wants; when the head has been sent, the connection stops to be HTTP and
`await serve(tunnel)` has it. The connection is closed when `serve` returns or raises; it is cancelled when the client
goes, and when the server ends: then it has the time of the server's drain to say good-bye, and lets the cancellation
pass. Upgrades are of HTTP/1.1 alone.

What the client sends waits, up to `READ_AHEAD_BYTES`, for `read`; then reading stops. What is written waits for the
client in `drain`.
"""

import asyncio
from typing import Protocol

import httptools

READ_AHEAD_BYTES = 64 << 10


class Carrier(Protocol):
    """The connection that a tunnel goes through."""

    loop: asyncio.AbstractEventLoop
    active: float

    def connection_lost(self, exc: Exception | None) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    async def drain(self) -> None: ...


class Tunnel(asyncio.Protocol):
    """Bytes from and to a client; see the module for who owns it."""

    def __init__(self, transport: asyncio.Transport, carrier: Carrier, ahead: bytes = b"") -> None:
        """`ahead`: what the client has sent behind its request."""
        self._transport = transport
        self._carrier = carrier
        self._received = bytearray(ahead)
        self._ended = False
        self._paused = False
        self._waiter: asyncio.Future[None] | None = None

    async def read(self) -> bytes:
        """What has come, at least a byte; nothing at the end of what the client sends. One reader at a time."""
        while not self._received and not self._ended:
            self._waiter = self._carrier.loop.create_future()
            await self._waiter
        data = self.take()
        if self._paused and not self._ended:
            self._paused = False
            self._transport.resume_reading()
        return data

    def take(self) -> bytes:
        """What has come and nobody has read, perhaps nothing: what a client sent last before it went."""
        data = bytes(self._received)
        self._received.clear()
        return data

    def write(self, data: bytes) -> None:
        """Send; nothing happens when the client has gone."""
        if not self._transport.is_closing():
            self._transport.write(data)

    async def drain(self) -> None:
        """Wait until the client has read most of what was written, or has gone."""
        await self._carrier.drain()

    # --- the transport's callbacks

    def data_received(self, data: bytes) -> None:
        self._received += data
        if len(self._received) > READ_AHEAD_BYTES and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._wake()
        self._carrier.connection_lost(exc)

    def pause_writing(self) -> None:
        self._carrier.pause_writing()

    def resume_writing(self) -> None:
        self._carrier.resume_writing()

    def _wake(self) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


class SentAhead:
    """Stands in for the parser of a connection that may be upgraded: keeps what comes before that is decided."""

    def __init__(self, data: bytes) -> None:
        self._data = bytearray(data)

    def feed(self, data: bytes) -> None:
        """Raises `httptools.HttpParserError` when there is too much."""
        self._data += data
        if len(self._data) > READ_AHEAD_BYTES:
            raise httptools.HttpParserError("too much was sent ahead of an upgrade")

    def take(self) -> bytes:
        """All of it."""
        return bytes(self._data)
