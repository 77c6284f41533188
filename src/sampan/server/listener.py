"""`HttpServer`: the listening socket, its connections, and their orderly end.

Concurrency: `run()` closes connections that idle or stall; each connection runs a task of its own for each request.
"""

import asyncio
import logging
import socket
import ssl
import time
from typing import cast

from sampan.server.heads import Heads
from sampan.server.http import Connection
from sampan.server.http2.connection import Http2Connection
from sampan.server.owner import Served
from sampan.server.request import Handler
from sampan.server.request_info import TargetCache
from sampan.server.settings import HttpSettings
from sampan.server.tls import HTTP_2

_log = logging.getLogger("sampan.http")


class Negotiated(asyncio.Protocol):
    """A connection until its handshake has settled what is spoken."""

    def __init__(self, owner: "HttpServer") -> None:
        self._owner = owner
        self._settled = False

    def __del__(self) -> None:
        """Of handshakes that fail, event loops tell nobody else."""
        if not self._settled:
            self._owner.handshake_errors += 1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._settled = True
        ssl_object = transport.get_extra_info("ssl_object")
        is_http_2 = ssl_object is not None and ssl_object.selected_alpn_protocol() == HTTP_2
        protocol = Http2Connection(self._owner) if is_http_2 else Connection(self._owner)
        cast(asyncio.Transport, transport).set_protocol(protocol)
        protocol.connection_made(transport)


class HttpServer:
    """Accepts connections and hands their requests to `handler`.

    Guarantees: after `close_streams()` and `drain()` every answer that was begun has been sent or its time is up.
    """

    def __init__(self, handler: Handler, settings: HttpSettings | None = None) -> None:
        self.handler = handler
        self.settings = settings or HttpSettings()
        self.loop = asyncio.get_running_loop()
        self.heads = Heads()
        self.targets = TargetCache()
        self.header_names: dict[bytes, str] = {}
        self.handshake_errors = 0
        """Connections that came to nothing before anything was asked."""
        self.leaving = False
        self._connections: set[Served] = set()
        self._server: asyncio.Server | None = None
        self._empty = asyncio.Event()
        self._empty.set()

    def connected(self, connection: Served) -> None:
        """A client came."""
        self._connections.add(connection)
        self._empty.clear()

    def disconnected(self, connection: Served) -> None:
        """A client went."""
        self._connections.discard(connection)
        if not self._connections:
            self._empty.set()

    @property
    def connection_count(self) -> int:
        return len(self._connections)

    async def start(self, sock: socket.socket, context: ssl.SSLContext | None) -> None:
        """Serve on a bound socket; HTTP/2 where the client and `context` have agreed on it. Raises `OSError`."""
        self._server = await self.loop.create_server(
            lambda: Negotiated(self),
            sock=sock,
            ssl=context,
            backlog=self.settings.backlog,
            ssl_handshake_timeout=self.settings.handshake_timeout_s if context else None,
            ssl_shutdown_timeout=self.settings.close_timeout_s if context else None,
        )

    async def run(self) -> None:
        """Close connections that idle or stall, for ever."""
        while True:
            await asyncio.sleep(self.settings.sweep_interval_s)
            self.sweep(time.monotonic())

    def sweep(self, now: float) -> None:
        """Close what has idled or stalled too long at monotonic time `now`."""
        settings = self.settings
        for connection in list(self._connections):
            if connection.write_paused_at and now - connection.write_paused_at > settings.write_timeout_s:
                connection.abort()
            elif connection.idle and (
                now - connection.head_began > settings.header_timeout_s
                if connection.head_began
                else now - connection.active > settings.idle_timeout_s
            ):
                connection.end()

    def stop_listening(self) -> None:
        """Accept no further connections."""
        if self._server is not None:
            self._server.close()

    async def close_streams(self, batch: int = 200) -> None:
        """End the open streams properly, and not all in one go, so that their clients do not return as one crowd."""
        streams = [c for c in self._connections if c.streaming]
        for start in range(0, len(streams), batch):
            for connection in streams[start : start + batch]:
                connection.end()
            await asyncio.sleep(0.01)

    async def drain(self, timeout_s: float) -> None:
        """Let requests under way finish, close every connection; cut those that are left after `timeout_s` seconds."""
        for connection in list(self._connections):
            connection.end()
        try:
            async with asyncio.timeout(timeout_s):
                await self._empty.wait()
        except TimeoutError:
            _log.warning("connections cut at shutdown", extra={"count": len(self._connections)})
            for connection in list(self._connections):
                connection.abort()
