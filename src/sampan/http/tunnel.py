"""`Tunnel`: a connection as a stream of bytes in both directions.

A connection becomes a tunnel when it stops being HTTP: after an upgrade (WebSocket, SPDY), and while a proxy connects
it to a server. The API server, its proxy, nodes and operators use the same tunnel.

Received bytes are buffered for `read`, up to `READ_AHEAD_BYTES`; then reading stops. `drain` waits until the peer has
read most of the written bytes. There is one reader and one writer at a time.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol, cast

READ_AHEAD_BYTES = 64 << 10
LINGER_S = 10.0


class UpgradedProtocol(Protocol):
    """Protocol that used the connection before the tunnel. It still gets the callbacks for flow control and the end."""

    def connection_lost(self, exc: Exception | None) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    async def drain(self) -> None: ...


class Tunnel(asyncio.Protocol):
    """Stream of bytes from and to a peer."""

    def __init__(
        self,
        *,
        read_ahead_bytes: int = READ_AHEAD_BYTES,
        half_open: bool = False,
        made: Callable[["Tunnel"], None] | None = None,
    ) -> None:
        """Create a tunnel. `made` is called when the connection is open.

        `half_open`: continue writing to a peer that has stopped sending, unless TLS forbids that.
        """
        self._transport: asyncio.Transport = cast(asyncio.Transport, None)
        self._carrier: UpgradedProtocol | None = None
        self._write_paused = False
        self._made = made
        self._half_open = half_open
        self._read_ahead_bytes = read_ahead_bytes
        self._received = bytearray()
        self._ended = False
        self._paused = False
        self._reader: asyncio.Future[None] | None = None
        self._can_write: asyncio.Future[None] | None = None
        self._lost: asyncio.Future[None] | None = None
        self.touched: Callable[[], None] | None = None
        """Callback after bytes are read or written."""

    @classmethod
    def take_over(
        cls,
        transport: asyncio.Transport,
        *,
        carrier: UpgradedProtocol | None = None,
        ahead: bytes = b"",
        read_ahead_bytes: int = READ_AHEAD_BYTES,
    ) -> "Tunnel":
        """Return a tunnel over an open connection. `ahead`: bytes that were received already."""
        tunnel = cls(read_ahead_bytes=read_ahead_bytes)
        tunnel._transport = transport
        tunnel._carrier = carrier
        tunnel._received += ahead
        transport.set_protocol(tunnel)
        return tunnel

    @property
    def transport(self) -> asyncio.Transport:
        """Transport of the connection."""
        return self._transport

    @property
    def closed(self) -> bool:
        """True if no more bytes can be written."""
        return self._transport.is_closing()

    async def read(self) -> bytes:
        """Return received bytes, at least one; b"" at the end."""
        while not self._received and not self._ended:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        data = self.take()
        if self._paused and not self._ended:
            self._paused = False
            self._transport.resume_reading()
        if self.touched is not None:
            self.touched()
        return data

    def take(self) -> bytes:
        """Return the buffered bytes without waiting, perhaps none."""
        data = bytes(self._received)
        self._received.clear()
        return data

    def unread(self, data: bytes) -> None:
        """Put bytes back for the next read."""
        self._received[:0] = data

    def write(self, data: bytes) -> None:
        """Send bytes. Does nothing if the connection is closed."""
        if not self._transport.is_closing():
            self._transport.write(data)
            if self.touched is not None:
                self.touched()

    @property
    def is_drained(self) -> bool:
        """Return True if the connection is open and `drain` need not wait."""
        return not self._write_paused and not self._transport.is_closing()

    async def drain(self) -> None:
        """Wait until the peer has read most of the written bytes.

        Raises `ConnectionResetError` if the connection is closed. With a carrier it does not raise, because the carrier
        ends the writer's task.
        """
        if self._carrier is not None:
            await self._carrier.drain()
            return
        if self._can_write is not None:
            await asyncio.shield(self._can_write)
        if self._transport.is_closing():
            raise ConnectionResetError("connection is closed")

    def send_last(self, data: bytes) -> None:
        """Send bytes and close within `LINGER_S` seconds."""
        transport = self._transport
        if not transport.is_closing():
            if data:
                transport.write(data)
            if transport.get_write_buffer_size():
                asyncio.get_running_loop().call_later(LINGER_S, transport.abort)
            transport.close()

    async def aclose(self) -> None:
        """Send all written bytes, close, and wait for the close."""
        if not self._transport.is_closing():
            # A second `close` of a TLS transport makes its `abort` fail. Source: CPython 3.11 asyncio/sslproto.py.
            self._transport.close()
        if self._lost is None:
            self._lost = asyncio.get_running_loop().create_future()
        await self._lost

    def abort(self) -> None:
        """Cut the connection."""
        self._transport.abort()

    # --- the transport's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if self._made is not None:
            self._made(self)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if len(self._received) > self._read_ahead_bytes and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self._ended = True
        self._wake()
        return self._half_open and self._transport.get_extra_info("ssl_object") is None

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._wake()
        if self._lost is None:
            self._lost = asyncio.get_running_loop().create_future()
        if not self._lost.done():
            self._lost.set_result(None)
        self._write_again()
        if self._carrier is not None:
            self._carrier.connection_lost(exc)

    def pause_writing(self) -> None:
        self._write_paused = True
        if self._carrier is not None:
            self._carrier.pause_writing()
        else:
            self._can_write = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        self._write_paused = False
        if self._carrier is not None:
            self._carrier.resume_writing()
        else:
            self._write_again()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def _write_again(self) -> None:
        waiter, self._can_write = self._can_write, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)
