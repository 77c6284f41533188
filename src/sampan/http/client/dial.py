"""Connections to servers over TCP, with optional proxy and TLS.

`Dialer` connects a client to the server of its configuration, at any address. `Upstream` is for requests of the API
server or a node. By default it refuses the addresses that `core.dial` refuses.
"""

import asyncio
import socket
import ssl
from asyncio import sslproto
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Protocol, cast

from sampan.core.addresses.dial import check_port, create_connection
from sampan.core.tls.trust import client_context
from sampan.http.client.address import ProxyAddress, ServerAddress
from sampan.http.client.connection import Connection
from sampan.http.client.errors import TransportError, TransportTimeout
from sampan.http.client.proxies import open_way
from sampan.http.client.tls import TlsContexts
from sampan.http.tunnel import Tunnel

_KEEPALIVE_IDLE_S = 30
_KEEPALIVE_INTERVAL_S = 5
_KEEPALIVE_PROBES = 3
_UNACKNOWLEDGED_MS = 45_000
"""Time without acknowledgement after which the kernel closes a connection, as with client-go's pings (30 s + 15 s).

HTTP/1.1 has no ping. Source: apimachinery pkg/util/net/http.go, `readIdleTimeout` and `pingTimeout` (1.36).
"""
_TLS_BUFFER_BYTES = 32 * 1024
_SHUTDOWN_TIMEOUT_S = 1.0
"""Time that a closing connection waits for the peer's close."""


class Way(Protocol):
    """Way to a server that this machine may be unable to reach, such as the tunnel of a node. It is hashable."""

    @property
    def is_open(self) -> bool:
        """False to connect directly."""
        ...

    async def connect(
        self,
        make: Callable[[], Connection],
        host: str,
        port: int,
        *,
        tls: ssl.SSLContext | None,
        server_name: str,
    ) -> Connection | None:
        """Return a connection, or None to connect directly. Raises `OSError`, `AddressNotAllowed` as `core.dial`."""
        ...


@dataclass(frozen=True, slots=True)
class Upstream:
    """Server that the API server or a node sends requests to.

    `connect` raises a `TransportError` whose `__cause__` is an `OSError`, for example `AddressNotAllowed`,
    `socket.gaierror`, `ssl.SSLError` or `TimeoutError`.
    """

    host: str
    """Name that the certificate must be valid for."""
    port: int
    tls: ssl.SSLContext | None = None
    """TLS context; None: plain HTTP."""
    address: str = ""
    """Address to connect to; empty: `host`."""
    any_address: bool = False
    """Allow any address. True only if a setting names the host, not an object."""
    connect_timeout_s: float | None = 30.0
    """Time limit; None: the caller limits the time."""
    way: Way | None = None
    """Way to the address, used while it is open."""

    @property
    def key(self) -> Hashable:
        """Key of the pool. Requests to endpoints with equal keys share connections."""
        return (self.address or self.host, self.port, self.host if self.tls else "", self.tls, self.way)

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    async def connect(self, make: Callable[[], Connection]) -> Connection:
        """Return a connection that is ready for a request. Raises `TransportError` with `sent` False."""
        try:
            async with asyncio.timeout(self.connect_timeout_s):
                connection = await self._through(self.way, make) if self.way is not None else None
                if connection is not None:
                    return connection
                connection = await create_connection(
                    make,
                    self.address or self.host,
                    self.port,
                    tls=self.tls,
                    server_name=self.host,
                    any_address=self.any_address,
                )
        except (OSError, ValueError) as error:
            raise TransportError(f"cannot connect to {self}: {_fault(error)}", sent=False) from error
        keep_alive(connection.socket)
        return connection

    async def _through(self, way: Way, make: Callable[[], Connection]) -> Connection | None:
        """Return a connection on the way; None if the way is closed or does not lead there. Raises `OSError`."""
        check_port(self.port)
        return await way.connect(make, self.address or self.host, self.port, tls=self.tls, server_name=self.host)


class Dialer:
    """Dialer for one server. `tls` applies to a server whose scheme is https. A proxy's TLS trusts the system's CAs."""

    def __init__(
        self, address: ServerAddress, *, tls: TlsContexts, proxy: ProxyAddress | None, connect_timeout_s: float
    ) -> None:
        self.address = address
        self.tls = tls
        self.proxy = proxy
        self.connect_timeout_s = connect_timeout_s

    @property
    def key(self) -> Hashable:
        """Key of the pool. It is constant, because all connections go to one server."""
        return None

    @property
    def absolute(self) -> bool:
        """True if a proxy forwards each request, so that targets must be absolute URLs."""
        return self.proxy is not None and not self.proxy.socks and not self.address.secure

    async def connect(self, make: Callable[[], Connection]) -> Connection:
        """Return a connection that is ready for a request. Raises `TransportError` with `sent` False."""
        try:
            async with asyncio.timeout(self.connect_timeout_s):
                connection = await (self._direct(make) if self.proxy is None else self._through(self.proxy, make))
                keep_alive(connection.socket)
                return connection
        except TimeoutError as error:
            raise TransportTimeout(
                f"no connection to {self._where} within {self.connect_timeout_s:g} s", sent=False
            ) from error
        except ssl.SSLError as error:
            raise TransportError(f"{self._where}: {_tls_fault(error)}", sent=False) from error
        except (OSError, ValueError) as error:
            raise TransportError(f"cannot connect to {self._where}: {_fault(error)}", sent=False) from error

    def __str__(self) -> str:
        return str(self.address)

    @property
    def _where(self) -> str:
        where = f"{self.address.scheme}://{self.address.authority}"
        return where if self.proxy is None else f"{where} (by proxy {self.proxy})"

    @property
    def _server_name(self) -> str:
        return self.tls.options.server_name or self.address.host

    async def _direct(self, make: Callable[[], Connection]) -> Connection:
        loop = asyncio.get_running_loop()
        address = self.address
        if not address.secure:
            _, connection = await loop.create_connection(make, address.host, address.port)
            return connection
        transport, connection = await loop.create_connection(
            make,
            address.host,
            address.port,
            ssl=self.tls.current(),
            server_hostname=self._server_name,
            ssl_handshake_timeout=self.connect_timeout_s,
            ssl_shutdown_timeout=_SHUTDOWN_TIMEOUT_S,
        )
        _shrink_buffer(transport)
        return connection

    async def _through(self, proxy: ProxyAddress, make: Callable[[], Connection]) -> Connection:
        loop = asyncio.get_running_loop()
        secure = client_context(None) if proxy.scheme == "https" else None
        if self.absolute:
            _, plain = await loop.create_connection(make, proxy.host, proxy.port, ssl=secure)
            return plain
        _, tunnel = await loop.create_connection(Tunnel, proxy.host, proxy.port, ssl=secure)
        transport = tunnel.transport
        inner: asyncio.BaseTransport | None = transport
        try:
            await open_way(tunnel, proxy, self.address.host, self.address.port)
            if tunnel.take():
                raise TransportError(f"proxy {proxy}: it sent bytes before the request", sent=False)
            connection = make()
            if self.address.secure:
                inner = await loop.start_tls(
                    transport,
                    connection,
                    self.tls.current(),
                    server_hostname=self._server_name,
                    ssl_handshake_timeout=self.connect_timeout_s,
                    ssl_shutdown_timeout=_SHUTDOWN_TIMEOUT_S,
                )
            else:
                transport.set_protocol(connection)
        except BaseException:
            transport.abort()
            raise
        # Transports do not call `connection_made` of a new protocol, so it is called here.
        connection.connection_made(cast(asyncio.BaseTransport, inner))
        return connection


def _shrink_buffer(transport: asyncio.BaseTransport) -> None:
    """Reduce the receive buffer of asyncio's TLS, 256 KiB for each connection, which an operator has many of.

    A larger one makes no difference: a TLS record has at most 16 KiB.
    """
    tls = getattr(transport, "_ssl_protocol", None)
    if isinstance(tls, sslproto.SSLProtocol):
        protocol: Any = tls
        protocol.max_size = _TLS_BUFFER_BYTES
        protocol._ssl_buffer = bytearray(_TLS_BUFFER_BYTES)
        protocol._ssl_buffer_view = memoryview(protocol._ssl_buffer)


def keep_alive(sock: socket.socket) -> None:
    """Let the kernel close a connection whose peer no longer responds."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", _KEEPALIVE_IDLE_S),
        ("TCP_KEEPINTVL", _KEEPALIVE_INTERVAL_S),
        ("TCP_KEEPCNT", _KEEPALIVE_PROBES),
        ("TCP_USER_TIMEOUT", _UNACKNOWLEDGED_MS),
    ):
        # Not every system supports all of these options.
        option = getattr(socket, name, None)
        if option is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)


def _tls_fault(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if error.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"):
        return "it does not speak TLS (http instead of https?)"
    return f"TLS failed: {error.reason or error}"


def _fault(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return f"the name cannot be resolved ({error.strerror})"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    return str(error) or type(error).__name__
