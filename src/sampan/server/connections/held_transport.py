"""`HeldTransport`: TLS transport that reports the end of the client's data only after the data itself.

TLS transports end a connection as soon as the socket reports its end. They discard data that is not decrypted, or that
waits because the protocol has paused reading. A client that stops sending right after a large request would lose the
rest of it. So the socket is not read while data waits, and the end stays in the kernel.
"""

import asyncio
import socket
import ssl
import sys
from asyncio import sslproto
from functools import cache
from typing import Any, Final, cast

WRITE_BUFFER_BYTES: Final = 64 << 10
"""Unencrypted bytes that wait for the client, above which the protocol pauses writing."""
_UNLIMITED: Final = 1 << 30
"""Bytes that the TLS transport may have received before it stops reading by itself. It never gets as many."""


class HeldTransport(asyncio.Transport):
    """Transport for the protocol. `socket_transport` receives what `tls_transport` decrypts."""

    def __init__(
        self, socket_transport: asyncio.Transport, tls_transport: asyncio.Transport, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._socket_transport, self._tls_transport, self._loop = socket_transport, tls_transport, loop
        self._waits = False
        """True if `LimitedReads` has left data undecrypted."""
        # Both transports have this method, but the interface lacks it.
        tls_transport.set_read_buffer_limits(_UNLIMITED, 0)  # type: ignore[attr-defined]
        # The default is 512 KiB for each connection, next to the buffer of the socket's transport.
        tls_transport.set_write_buffer_limits(WRITE_BUFFER_BYTES)
        # Responses are written without one more call for each.
        self.write = tls_transport.write  # type: ignore[method-assign]
        self.is_closing = tls_transport.is_closing  # type: ignore[method-assign]

    def wait(self) -> None:
        """Stop reading the socket, because data is left undecrypted, until `decrypt`."""
        self._waits = True
        self._socket_transport.pause_reading()

    def decrypt(self) -> None:
        """Decrypt the data that was left, unless the protocol has paused reading: then after it resumes."""
        self._waits = False
        if self.is_closing():
            self._socket_transport.resume_reading()
        elif self._tls_transport.is_reading():
            self._tls_transport.pause_reading()
            self.resume_reading()

    def _read_socket(self) -> None:
        if self.is_closing() or (not self._waits and self._tls_transport.is_reading()):
            self._socket_transport.resume_reading()

    # --- as in `asyncio.Transport`

    def pause_reading(self) -> None:
        self._tls_transport.pause_reading()
        self._socket_transport.pause_reading()

    def resume_reading(self) -> None:
        self._tls_transport.resume_reading()  # makes the event loop decrypt what waits, before it calls this:
        self._loop.call_soon(self._read_socket)

    def is_reading(self) -> bool:
        return self._tls_transport.is_reading()

    def close(self) -> None:
        self._tls_transport.close()
        self._socket_transport.resume_reading()  # it waits for the client's `close_notify`

    def abort(self) -> None:
        self._tls_transport.abort()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._tls_transport.get_extra_info(name, default)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._tls_transport.set_protocol(protocol)

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._tls_transport.get_protocol()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._tls_transport.set_write_buffer_limits(high, low)

    def get_write_buffer_size(self) -> int:
        """Return the bytes that the client has not read, encrypted and not."""
        return self._tls_transport.get_write_buffer_size() + self._socket_transport.get_write_buffer_size()

    def can_write_eof(self) -> bool:
        return False


class _StoresTransport:
    """The part of a TLS protocol that stores the transport of the socket."""

    socket_transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.socket_transport = cast(asyncio.Transport, transport)
        super().connection_made(transport)  # type: ignore[misc]  # the TLS protocol has it


@cache
def _tls_protocol(loop_type: type[asyncio.AbstractEventLoop]) -> type[Any]:
    """Return the TLS protocol for an event loop. uvloop has its own, in the module of its event loop."""
    modules = [sys.modules[each.__module__] for each in loop_type.__mro__]
    found = [module.SSLProtocol for module in modules if hasattr(module, "SSLProtocol")]
    return type("StoringTlsProtocol", (_StoresTransport, *(found[:1] or (sslproto.SSLProtocol,))), {})


async def handshake(
    sock: socket.socket,
    context: ssl.SSLContext,
    protocol: asyncio.Protocol,
    *,
    handshake_timeout_s: float,
    shutdown_timeout_s: float,
) -> None:
    """Handshake with the client of an accepted connection. `hold` makes its transport a `HeldTransport`.

    Does the same as `connect_accepted_socket` with a TLS context, which gives no access to the transport of the socket.
    **Raises** `OSError` if the handshake fails.
    """
    loop = asyncio.get_running_loop()
    finished = loop.create_future()
    tls = _tls_protocol(cast(Any, type(loop)))(
        loop,
        protocol,
        context,
        finished,
        server_side=True,
        ssl_handshake_timeout=handshake_timeout_s,
        ssl_shutdown_timeout=shutdown_timeout_s,
    )
    below, _ = await loop.connect_accepted_socket(lambda: tls, sock)
    try:
        await finished
    except BaseException:
        below.abort()
        raise


def hold(transport: asyncio.Transport) -> asyncio.Transport:
    """Return the `HeldTransport` of a connection that `handshake` made, and another transport as it is."""
    tls = transport.get_extra_info("uvloop.sslproto") or getattr(transport, "_ssl_protocol", None)
    if not isinstance(tls, _StoresTransport):
        return transport
    return HeldTransport(tls.socket_transport, transport, asyncio.get_running_loop())
