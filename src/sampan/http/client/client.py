"""`HttpClient`: HTTP/1.1 to any number of servers, over pooled connections.

Concurrency: it runs no task. `ConnectionPool` bounds the connections, `PendingResponse` the buffers, and timers the
waits.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from sampan.core.event_loop.turns import LoopTurns
from sampan.http.client.connection import Connection
from sampan.http.client.errors import TransportError, TransportTimeout
from sampan.http.client.intake import PIECES_PER_TURN
from sampan.http.client.pending_response import PendingResponse
from sampan.http.client.pool import ConnectionPool, Origin
from sampan.http.client.request import HttpRequest
from sampan.http.client.settings import HttpClientSettings
from sampan.wire.http1 import NameCache

REPLAYABLE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""Methods that may be retried if a kept-alive connection breaks before the response.

Source: Go net/http.
"""

Begun = Callable[[Connection, PendingResponse], None]
"""Callback after the head of a request is written. A retry calls it again."""


class DialledOrigin(Origin, Protocol):
    """Server that the client can connect to."""

    async def connect(self, make: Callable[[], Connection]) -> Connection:
        """Return a connection that is ready for a request. Raises `TransportError` with `sent` False."""
        ...


class HttpClient:
    """Client of any number of servers.

    Guarantees: a request is sent once more, on a new connection, if a kept-alive connection ends before the first byte
    of the response. The request must be replayable. Nothing else is ever sent twice. `TransportError.sent` is
    False for a failure before the first byte was written.
    """

    def __init__(self, settings: HttpClientSettings) -> None:
        self.settings = settings
        self.pool: ConnectionPool[DialledOrigin] = ConnectionPool(settings, self._dial)
        self._names = NameCache()
        self._turn_limit: LoopTurns | None = None

    async def send(
        self,
        origin: DialledOrigin,
        request: HttpRequest,
        head: bytes,
        *,
        replay: bool | None = None,
        fresh: bool = False,
        begun: Begun | None = None,
        more: bool = False,
    ) -> PendingResponse:
        """Send a request with this head and wait for the head of the response. Raises `TransportError`.

        Cancellation before the head arrives cuts the connection. `replay` allows sending the request twice; None: if
        its method allows that. `fresh` requires a new connection. With `begun` the callback sends the body.
        """
        timeout_s = self.settings.request_timeout_s if request.timeout_s is None else request.timeout_s
        deadline = None if timeout_s is None else asyncio.get_running_loop().time() + timeout_s
        if replay is None:
            replay = request.method in REPLAYABLE
        while True:
            connection = None if fresh else self.pool.take_idle(origin, stream=request.stream)
            if connection is None:
                connection = await self._connection(origin, request, deadline, fresh=fresh)
            reused = connection.reused
            response = connection.begin(request, head, more=more)
            if deadline is not None and timeout_s is not None:
                response.expire_at(deadline, timeout_s)
            if begun is not None:
                begun(connection, response)
            try:
                await response.head()
            except TransportTimeout:
                # Idle connections use the same network path, so they may be broken like this one.
                self.pool.drop_idle(origin)
                raise
            except TransportError:
                if not reused or connection.response_begun or not replay:
                    raise
                # A server may close kept-alive connections at any time; the idle ones are probably closed too.
                self.pool.drop_idle(origin)
                continue
            except BaseException:
                response.close()
                raise
            return response

    async def aclose(self) -> None:
        """Cut all connections."""
        await self.pool.aclose()

    async def _connection(
        self, origin: DialledOrigin, request: HttpRequest, deadline: float | None, *, fresh: bool
    ) -> Connection:
        if deadline is None:
            return await self.pool.acquire(origin, stream=request.stream, fresh=fresh)
        try:
            async with asyncio.timeout_at(deadline):
                return await self.pool.acquire(origin, stream=request.stream, fresh=fresh)
        except TimeoutError as error:
            raise TransportTimeout(f"no connection to {origin} was free in time", sent=False) from error

    async def _dial(self, origin: DialledOrigin) -> Connection:
        return await origin.connect(self._new_connection)

    def _new_connection(self) -> Connection:
        if self._turn_limit is None:
            self._turn_limit = LoopTurns(asyncio.get_running_loop(), PIECES_PER_TURN)
        return Connection(self.settings, self._names, self._turn_limit, released=self._released, lost=self._lost)

    def _released(self, connection: Connection) -> None:
        self.pool.release(connection)

    def _lost(self, connection: Connection) -> None:
        self.pool.lost(connection)
