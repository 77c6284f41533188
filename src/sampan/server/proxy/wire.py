"""`Wire`: one connection to an upstream, as bytes in both directions.

What the upstream sends waits, up to `READ_AHEAD_BYTES`, for `read`; then reading stops. What is written waits for the
upstream in `drain`.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import cast

from sampan.core.dial import create_connection
from sampan.server.proxy.target import Target

READ_AHEAD_BYTES = 256 << 10
LINGER_S = 10.0


class Wire(asyncio.Protocol):
    """One reader and one writer at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport = cast(asyncio.Transport, None)
        self._received = bytearray()
        self._ended = False
        self._error: Exception | None = None
        self._paused = False
        self._reader: asyncio.Future[None] | None = None
        self._can_write: asyncio.Future[None] | None = None
        self.idle_since = 0.0
        """Loop time since which nothing is under way; for the pool."""

    async def read(self) -> bytes:
        """What has come, at least a byte; nothing at the end. Raises `ConnectionError` when the connection was cut."""
        while not self._received and not self._ended:
            self._reader = self._loop.create_future()
            await self._reader
        if not self._received and self._error is not None:
            raise ConnectionResetError(str(self._error)) from self._error
        data = bytes(self._received)
        self._received.clear()
        if self._paused and not self._ended:
            self._paused = False
            self._transport.resume_reading()
        return data

    async def write(self, data: bytes) -> None:
        """Send, and wait until the upstream has taken most of it. Raises `ConnectionError` when it is gone."""
        if self._transport.is_closing():
            raise ConnectionResetError("the connection is closed")
        self._transport.write(data)
        if self._can_write is not None:
            await asyncio.shield(self._can_write)

    def send_last(self, data: bytes) -> None:
        """Send what is left, and close when it is gone, or not wanted for `LINGER_S` seconds."""
        transport = self._transport
        if not transport.is_closing():
            if data:
                transport.write(data)
            if transport.get_write_buffer_size():
                self._loop.call_later(LINGER_S, transport.abort)
            transport.close()

    def abort(self) -> None:
        """Cut the connection."""
        self._transport.abort()

    @property
    def quiet(self) -> bool:
        """Whether it is open and nothing has come: only such a connection may be used again."""
        return not self._ended and not self._received and not self._transport.is_closing()

    # --- the transport's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if len(self._received) > READ_AHEAD_BYTES and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        self._wake(self._reader)

    def eof_received(self) -> None:
        self._ended = True
        self._wake(self._reader)

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._error = self._error or exc
        self._wake(self._reader)
        self.resume_writing()

    def pause_writing(self) -> None:
        self._can_write = self._loop.create_future()

    def resume_writing(self) -> None:
        waiter, self._can_write = self._can_write, None
        self._wake(waiter)

    def _wake(self, waiter: asyncio.Future[None] | None) -> None:
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


async def connect(target: Target, timeout_s: float) -> Wire:
    """Open a connection. Raises `OSError` (`AddressNotAllowed`, `TimeoutError`, `ssl.SSLError` among them)."""
    host = target.address or target.host
    async with asyncio.timeout(timeout_s):
        return await create_connection(Wire, host, target.port, tls=target.tls, server_name=target.host)


@contextlib.asynccontextmanager
async def aborted_with(gone: Callable[[], Awaitable[None]] | None, wire: Wire) -> AsyncIterator[None]:
    """Cut the connection if the client goes while the block runs."""
    if gone is None:
        yield
        return

    async def watch() -> None:
        await gone()
        wire.abort()

    watcher = asyncio.create_task(watch())
    try:
        yield
    finally:
        watcher.cancel()
