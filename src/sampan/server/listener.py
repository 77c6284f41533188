"""`HttpServer`: the listening socket, its connections, and their orderly end.

Concurrency: `run()` closes connections that idle or stall; each connection runs a task of its own for each request.
"""

import asyncio
import logging
import socket
import ssl
import time
from contextlib import suppress
from typing import cast

from sampan.server.door import shut, somebody_waits
from sampan.server.heads import Heads
from sampan.server.http import Connection
from sampan.server.http2.connection import Http2Connection
from sampan.server.http2.frame_turns import FrameTurns
from sampan.server.owner import Served
from sampan.server.request import Handler
from sampan.server.request_info import TargetCache
from sampan.server.settings import HttpSettings
from sampan.server.tls import HTTP_2
from sampan.wire.http1 import NameCache

_log = logging.getLogger("sampan.http")

_LOOK_S = 0.02
"""How often it is looked, at the end, who is left."""


class Negotiated(asyncio.Protocol):
    """A connection until its handshake has settled what is spoken."""

    def __init__(self, owner: "HttpServer") -> None:
        self._owner = owner
        self._settled = False
        owner.arriving += 1

    def __del__(self) -> None:
        """Of handshakes that fail, event loops tell nobody else."""
        if not self._settled:
            self._owner.arriving -= 1
            self._owner.handshake_errors += 1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._settled = True
        self._owner.arriving -= 1
        ssl_object = transport.get_extra_info("ssl_object")
        is_http_2 = ssl_object is not None and ssl_object.selected_alpn_protocol() == HTTP_2
        protocol = Http2Connection(self._owner) if is_http_2 else Connection(self._owner)
        cast(asyncio.Transport, transport).set_protocol(protocol)
        protocol.connection_made(transport)


class HttpServer:
    """Accepts connections and hands their requests to `handler`.

    Guarantees: after `turn_away()`, `close_streams()` and `drain()` every answer that was begun has been sent or its
    time is up; so has that to each request which came before its connection was closed. None is closed of which a
    request was read in part, or whose client has asked within the last `rest_s` seconds: it is told with its next
    answer.
    """

    def __init__(self, handler: Handler, settings: HttpSettings | None = None) -> None:
        self.handler = handler
        self.settings = settings or HttpSettings()
        self.loop = asyncio.get_running_loop()
        self.heads = Heads()
        self.targets = TargetCache()
        self.header_names = NameCache()
        self.frame_turns = FrameTurns(self.loop)
        self.handshake_errors = 0
        """Connections that came to nothing before anything was asked."""
        self.arriving = 0
        """Connections of which it is not known yet what is spoken."""
        self.leaving = False
        self._sock: socket.socket | None = None
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
        self._sock = sock
        self._server = await self.loop.create_server(
            lambda: Negotiated(self),
            sock=sock,
            ssl=context,
            backlog=self.settings.backlog,
            ssl_handshake_timeout=self.settings.handshake_timeout_s if context else None,
            ssl_shutdown_timeout=self.settings.write_timeout_s if context else None,  # see Farewell
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
            elif connection.idle and connection.head_began:
                if now - connection.head_began > settings.header_timeout_s:
                    connection.abort()
            elif connection.idle and now - connection.active > settings.idle_timeout_s:
                connection.end()

    def stop_listening(self) -> None:
        """Accept no further connections. Those that the system has accepted, and we have not, are reset."""
        if self._server is not None:
            self._server.close()

    async def turn_away(self) -> None:
        """Accept those whom the system has accepted, and nobody else."""
        sock = self._sock
        assert sock is not None, "it listens"
        shut(sock)
        until = time.monotonic() + self.settings.rest_s
        await asyncio.sleep(self.settings.door_s)
        while somebody_waits(sock) and time.monotonic() < until:  # noqa: ASYNC110  # the loop was busy
            await asyncio.sleep(_LOOK_S)
        self.stop_listening()

    async def close_streams(self, batch: int = 200) -> None:
        """End the open streams properly, and not all in one go, so that their clients do not return as one crowd."""
        streams = [c for c in self._connections if c.streaming]
        for start in range(0, len(streams), batch):
            for connection in streams[start : start + batch]:
                connection.end_streams()
            await asyncio.sleep(0.01)

    async def drain(self, timeout_s: float) -> None:
        """Let requests under way finish, tell who asks that its connection ends, and close those that rest; cut what is
        left after `timeout_s` seconds.
        """
        self.leaving = True
        until = time.monotonic() + self.settings.rest_s
        try:
            async with asyncio.timeout(timeout_s):
                while self._connections or (self.arriving and time.monotonic() < until):
                    self._end_resting(until)
                    await self._look_again()
        except TimeoutError:
            _log.warning("connections cut at shutdown", extra={"count": len(self._connections)})
            for connection in list(self._connections):
                connection.abort()

    def _end_resting(self, until: float) -> None:
        """One of HTTP/2 may never rest: it is told when it does, or after `until`."""
        now = time.monotonic()
        for connection in list(self._connections):
            if now - connection.active >= connection.rest_s if connection.idle else now >= until:
                connection.end()

    async def _look_again(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_S):
                await (self._empty.wait() if self._connections else asyncio.sleep(_LOOK_S))
