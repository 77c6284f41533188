"""`HttpServer`: the listening socket, its connections, and graceful shutdown.

Concurrency: `run()` closes idle and stalled connections. Each connection runs one task for each request in progress.
"""

import asyncio
import logging
import socket
import ssl
from contextlib import suppress
from typing import cast

from sampan.core.clock import monotonic
from sampan.core.event_loop.task_scope import TaskScope
from sampan.core.event_loop.turns import LoopTurns
from sampan.server.connections.accept_filter import drop_new_connections, has_pending_connection
from sampan.server.connections.handshakes import Handshakes
from sampan.server.connections.held_transport import HeldTransport, hold
from sampan.server.connections.http1 import Http1Connection
from sampan.server.connections.http2.connection import Http2Connection
from sampan.server.connections.limited_reads import ALL_READS_PER_TURN, LimitedReads
from sampan.server.connections.owner import ServedConnection
from sampan.server.connections.response_heads import ResponseHeads
from sampan.server.connections.settings import HttpSettings
from sampan.server.connections.tls_acceptor import TlsAcceptor
from sampan.server.connections.unread import UnreadBytes
from sampan.server.request import Handler
from sampan.server.request_info import TargetCache
from sampan.server.tls.serving import HTTP_2
from sampan.wire.http1 import NameCache

_log = logging.getLogger("sampan.http")

_POLL_S = 0.02
"""Interval in seconds of polling during shutdown."""
FRAMES_PER_TURN = 512
"""Maximum number of HTTP/2 frames of all connections in one turn of the loop. They take about 10 ms."""
PARSE_US_PER_TURN = 10_000
"""Maximum time for parsing HTTP/1.1 of all connections in one turn of the loop, in microseconds."""


class Negotiated(asyncio.Protocol):
    """Connection during its handshake, before the protocol is negotiated."""

    def __init__(self, owner: "HttpServer") -> None:
        self._owner = owner
        self._settled = False
        owner.handshaking += 1

    def __del__(self) -> None:
        """Count the failed handshake: event loops report it in no other way."""
        if not self._settled:
            self._owner.handshaking -= 1
            self._owner.handshakes.failed()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._settled = True
        self._owner.handshaking -= 1
        ssl_object = transport.get_extra_info("ssl_object")
        is_http_2 = ssl_object is not None and ssl_object.selected_alpn_protocol() == HTTP_2
        protocol = Http2Connection(self._owner) if is_http_2 else Http1Connection(self._owner)
        transport = hold(cast(asyncio.Transport, transport))
        transport.set_protocol(protocol)
        if isinstance(ssl_object, LimitedReads) and isinstance(transport, HeldTransport):
            ssl_object.attach(transport, self._owner.read_limit)
            self._owner.limit(protocol, ssl_object)
        protocol.connection_made(transport)


class HttpServer:
    """Accepts connections and passes their requests to `handler`.

    Guarantees: after `stop_accepting()`, `close_streams()` and `drain()`, each response that was begun is complete, or
    its time limit has passed. The same holds for each request that arrived before its connection was closed. A
    connection is not closed while a part of a request is received, nor within `quiet_s` seconds of the last request.
    Its next response closes it instead.
    """

    def __init__(
        self,
        handler: Handler,
        settings: HttpSettings | None = None,
        *,
        handshakes: Handshakes | None = None,
        unread: UnreadBytes | None = None,
    ) -> None:
        self.handler = handler
        self.settings = settings or HttpSettings()
        self.loop = asyncio.get_running_loop()
        self.heads = ResponseHeads()
        self.targets = TargetCache()
        self.header_names = NameCache()
        self.frame_turns = LoopTurns(self.loop, FRAMES_PER_TURN)
        self.parse_turns = LoopTurns(self.loop, PARSE_US_PER_TURN)
        self.read_limit = LoopTurns(self.loop, ALL_READS_PER_TURN)
        self.unread = unread or UnreadBytes(self.settings.unread)
        self.tasks = TaskScope()
        self.handshakes = handshakes or Handshakes()
        self.handshaking = 0
        """Number of connections whose TLS handshake has begun and is not complete."""
        self.shutting_down = False
        self._sock: socket.socket | None = None
        self._connections: set[ServedConnection] = set()
        self._reads: dict[ServedConnection, LimitedReads] = {}
        self._server: asyncio.Server | TlsAcceptor | None = None
        self._empty = asyncio.Event()
        self._empty.set()

    def connected(self, connection: ServedConnection) -> None:
        """Add a new connection."""
        self._connections.add(connection)
        self._empty.clear()

    def limit(self, connection: ServedConnection, reads: LimitedReads) -> None:
        """Store the `LimitedReads` of a connection until the connection is closed."""
        self._reads[connection] = reads

    def disconnected(self, connection: ServedConnection) -> None:
        """Remove a closed connection."""
        self._connections.discard(connection)
        reads = self._reads.pop(connection, None)
        if reads is not None:
            reads.detach()
        if not self._connections:
            self._empty.set()

    @property
    def connection_count(self) -> int:
        return len(self._connections)

    async def start(self, sock: socket.socket, context: ssl.SSLContext | None) -> None:
        """Serve on a bound socket, with HTTP/2 if `context` negotiates it. **Raises** `OSError`."""
        self._sock = sock
        if context is None:
            backlog = self.settings.backlog
            self._server = await self.loop.create_server(lambda: Negotiated(self), sock=sock, backlog=backlog)
        else:
            self._server = TlsAcceptor(sock, context, self.settings, lambda: Negotiated(self))

    async def run(self) -> None:
        """Close idle and stalled connections periodically. Never returns."""
        while True:
            await asyncio.sleep(self.settings.sweep_interval_s)
            self.sweep(monotonic())

    def sweep(self, now: float) -> None:
        """Close abandoned connections, and those that were idle or stalled too long at the monotonic time `now`."""
        settings = self.settings
        for connection in list(self._connections):
            stalled = connection.write_paused_at and now - connection.write_paused_at > settings.write_timeout_s
            if stalled or connection.is_abandoned:
                connection.abort()
            elif connection.idle and connection.head_began:
                if now - connection.head_began > settings.header_timeout_s:
                    connection.abort()
            elif connection.idle and now - connection.active > settings.idle_timeout_s:
                connection.end()

    def stop_listening(self) -> None:
        """Close the listening socket. The kernel resets established connections that were not accepted yet."""
        if self._server is not None:
            self._server.close()

    @property
    def _unsettled(self) -> int:
        """Number of connections that were accepted and have no protocol yet."""
        return self.handshaking + (self._server.pending if isinstance(self._server, TlsAcceptor) else 0)

    async def stop_accepting(self) -> None:
        """Accept the connections that are already established, then close the listening socket."""
        sock = self._sock
        assert sock is not None, "it listens"
        drop_new_connections(sock)
        until = monotonic() + self.settings.quiet_s
        await asyncio.sleep(self.settings.accept_drain_s)
        while has_pending_connection(sock) and monotonic() < until:  # noqa: ASYNC110  # the kernel notifies nothing
            await asyncio.sleep(_POLL_S)
        self.stop_listening()

    def close_after_responses(self) -> None:
        """Send clients to another server: in HTTP/1.1 the next response of each connection closes it."""
        self.shutting_down = True

    async def close_streams(self, batch: int = 200) -> None:
        """End the open streams in batches, so that their clients do not all reconnect at the same moment."""
        streams = [c for c in self._connections if c.streaming]
        for start in range(0, len(streams), batch):
            for connection in streams[start : start + batch]:
                connection.end_streams()
            await asyncio.sleep(0.01)

    async def drain(self, timeout_s: float) -> None:
        """Wait for requests in progress, and close each connection when it is quiet. Abort the rest after `timeout_s`
        seconds.
        """
        self.close_after_responses()
        until = monotonic() + self.settings.quiet_s
        try:
            async with asyncio.timeout(timeout_s):
                while self._connections or (self._unsettled and monotonic() < until):
                    self._end_quiet(until)
                    await self._wait_for_change()
        except TimeoutError:
            _log.warning("connections aborted at shutdown", extra={"count": len(self._connections)})
            for connection in list(self._connections):
                connection.abort()
        if isinstance(self._server, TlsAcceptor):
            await self._server.end()

    def _end_quiet(self, until: float) -> None:
        """End quiet connections, and after `until` also busy ones: an HTTP/2 connection may never be idle."""
        now = monotonic()
        for connection in list(self._connections):
            if now - connection.active >= connection.quiet_s if connection.idle else now >= until:
                connection.end()

    async def _wait_for_change(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_POLL_S):
                await (self._empty.wait() if self._connections else asyncio.sleep(_POLL_S))
