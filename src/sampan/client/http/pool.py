"""`ConnectionPool`: the connections to one server.

Concurrency: no task of its own. At most `connections_max` connections are in use by plain requests or being made for
them; who comes beyond that waits in a queue, first come first served, and gives its place up when it is cancelled.
Idle connections are used youngest first; one timer closes those that have been idle too long.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from sampan.client.errors import TransportError
from sampan.client.http.connection import Connection
from sampan.client.http.settings import HttpSettings

_CLOSE_TIMEOUT_S = 1.0


class ConnectionPool:
    """Hands connections out and takes them back. `dial` makes a new one, or raises `TransportError`."""

    def __init__(self, settings: HttpSettings, dial: Callable[[], Awaitable[Connection]]) -> None:
        self.settings = settings
        self._dial = dial
        self._idle: deque[Connection] = deque()
        self._all: set[Connection] = set()
        self._counted: set[Connection] = set()
        self._dialling = 0
        self._waiters: deque[asyncio.Future[Connection | None]] = deque()
        self._sweep: asyncio.TimerHandle | None = None
        self._closing = False
        self._empty = asyncio.Event()

    @property
    def connection_count(self) -> int:
        """How many connections there are, idle ones included."""
        return len(self._all)

    async def acquire(self, *, stream: bool) -> Connection:
        """A connection for one request. Cancelled while it waits, it leaves nothing behind. Raises `TransportError`."""
        self._check_open()
        if stream:
            return self._idle_connection() or await self._new()
        if not self._waiters:
            connection = self._idle_connection()
            if connection is not None:
                self._counted.add(connection)
                return connection
            if self._has_room:
                self._dialling += 1
                return await self._new_counted()
        return await self._queue()

    def release(self, connection: Connection) -> None:
        """A connection's answer is complete: it is free again."""
        self._counted.discard(connection)
        if self._closing or connection.retired:
            connection.close()
            if self._has_room:
                self._pass_place_on()
            return
        waiter = self._next_waiter() if self._has_room else None
        if waiter is not None:
            self._counted.add(connection)
            waiter.set_result(connection)
            return
        loop = asyncio.get_running_loop()
        connection.idle_since = loop.time()
        self._idle.append(connection)
        if self._sweep is None:
            self._sweep = loop.call_later(self.settings.idle_timeout_s, self._close_idle)

    def lost(self, connection: Connection) -> None:
        """A connection has gone."""
        self._all.discard(connection)
        if connection in self._counted:
            self._counted.discard(connection)
            self._pass_place_on()
        elif connection in self._idle:
            self._idle.remove(connection)
        if not self._all:
            self._empty.set()

    def drop_idle(self) -> None:
        """Close what is idle: the server seems to have forgotten its connections."""
        while self._idle:
            self._idle.pop().close()

    def retire(self) -> None:
        """Use no present connection for another request: they show an old certificate."""
        self.drop_idle()
        for connection in self._all:
            connection.retired = True

    async def aclose(self) -> None:
        """Cut all connections; who waits or reads gets a `TransportError`."""
        self._closing = True
        if self._sweep is not None:
            self._sweep.cancel()
        while (waiter := self._next_waiter()) is not None:
            waiter.set_exception(_closed())
        for connection in list(self._all):
            connection.cut()
        if self._all:
            self._empty.clear()
            try:
                async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                    await self._empty.wait()
            except TimeoutError:
                pass

    # --- inside

    @property
    def _has_room(self) -> bool:
        return len(self._counted) + self._dialling < self.settings.connections_max

    def _check_open(self) -> None:
        if self._closing:
            raise _closed()

    def _idle_connection(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if not connection.closed:
                return connection
        return None

    async def _new(self) -> Connection:
        connection = await self._dial()
        if self._closing:
            connection.cut()
            raise _closed()
        if not connection.closed:
            self._all.add(connection)
        return connection

    async def _new_counted(self) -> Connection:
        """A new connection on a place that `_dialling` holds."""
        try:
            connection = await self._new()
        except BaseException:
            self._dialling -= 1
            self._pass_place_on()
            raise
        self._dialling -= 1
        self._counted.add(connection)
        return connection

    async def _queue(self, *, first: bool = False) -> Connection:
        waiter: asyncio.Future[Connection | None] = asyncio.get_running_loop().create_future()
        if first:
            self._waiters.appendleft(waiter)
        else:
            self._waiters.append(waiter)
        try:
            connection = await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._give_back(waiter.result())
            raise
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
        if connection is None:
            return await self._new_counted()
        if not connection.closed:
            return connection
        # It was lost on its way here, and its place went to the next in the queue.
        if self._has_room:
            self._dialling += 1
            return await self._new_counted()
        return await self._queue(first=True)

    def _give_back(self, connection: Connection | None) -> None:
        if connection is None:
            self._dialling -= 1
            self._pass_place_on()
        elif not connection.closed:
            self.release(connection)

    def _pass_place_on(self) -> None:
        """A place is free: the first in the queue may make a connection."""
        waiter = self._next_waiter()
        if waiter is not None:
            self._dialling += 1
            waiter.set_result(None)

    def _next_waiter(self) -> "asyncio.Future[Connection | None] | None":
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                return waiter
        return None

    def _close_idle(self) -> None:
        self._sweep = None
        loop = asyncio.get_running_loop()
        oldest_allowed = loop.time() - self.settings.idle_timeout_s
        while self._idle and self._idle[0].idle_since <= oldest_allowed:
            self._idle.popleft().close()
        if self._idle:
            self._sweep = loop.call_at(self._idle[0].idle_since + self.settings.idle_timeout_s, self._close_idle)


def _closed() -> TransportError:
    return TransportError("the transport is closed", sent=False)
