"""`ConnectionPool`: connections to servers, and a queue of requests that wait for one.

Concurrency: it runs no task. Plain requests use at most `connections_max` connections, including those being opened.
Further requests wait in a FIFO queue; a cancelled request leaves it. The youngest idle connection is used first. One
timer closes connections that are idle for too long.
"""

import asyncio
from collections import deque
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar

from sampan.http.client.connection import Connection
from sampan.http.client.errors import TransportError
from sampan.http.client.settings import HttpClientSettings

_CLOSE_TIMEOUT_S = 1.0


class Origin(Protocol):
    """Server to connect to. Requests to origins with equal keys share connections."""

    @property
    def key(self) -> Hashable: ...


AnOrigin = TypeVar("AnOrigin", bound=Origin, contravariant=True)


class Dial(Protocol[AnOrigin]):
    """Factory of connections."""

    async def __call__(self, origin: AnOrigin) -> Connection:
        """Return a new connection. Raises `TransportError`."""
        ...


class ConnectionPool(Generic[AnOrigin]):
    """Pool of connections. `dial` opens a new one, or raises `TransportError`."""

    def __init__(self, settings: HttpClientSettings, dial: Dial[AnOrigin]) -> None:
        self.settings = settings
        self._dial = dial
        self._idle: dict[Hashable, list[Connection]] = {}
        """Idle connections by key of the server, the youngest last. No list is empty."""
        self._idle_count = 0
        self._keys: dict[Connection, Hashable] = {}
        """All connections, each with the key of its server."""
        self._counted: set[Connection] = set()
        self._dialling = 0
        self._waiters: deque[tuple[AnOrigin, asyncio.Future[Connection | None]]] = deque()
        self._sweep: asyncio.TimerHandle | None = None
        self._keeping = True
        self._closing = False
        self._empty = asyncio.Event()

    def __len__(self) -> int:
        """Number of idle connections."""
        return self._idle_count

    @property
    def connection_count(self) -> int:
        """Number of connections, including idle ones."""
        return len(self._keys)

    async def acquire(self, origin: AnOrigin, *, stream: bool, fresh: bool = False) -> Connection:
        """Return a connection for one request; with `fresh` never an idle one. Raises `TransportError`.

        A cancelled call leaves nothing behind.
        """
        connection = None if fresh else self.take_idle(origin, stream=stream)
        if connection is not None:
            return connection
        self._check_open()
        if stream:
            return await self._new(origin)
        if not self._waiters and self._has_room:
            self._dialling += 1
            return await self._new_counted(origin)
        return await self._queue(origin)

    def take_idle(self, origin: AnOrigin, *, stream: bool) -> Connection | None:
        """Return an idle connection for one request, unless earlier requests wait. Raises `TransportError`."""
        self._check_open()
        if stream:
            return self._idle_connection(origin.key)
        if self._waiters:
            return None
        connection = self._idle_connection(origin.key)
        if connection is not None:
            self._counted.add(connection)
        return connection

    def release(self, connection: Connection) -> None:
        """Take a connection back whose response is complete."""
        self._counted.discard(connection)
        if self._closing or connection.retired or not self._keeping:
            connection.close()
            if self._has_room:
                self._pass_place_on()
            return
        key = self._keys.get(connection)
        if self._waiters and self._has_room and (waiter := self._next_waiter(key)) is not None:
            self._counted.add(connection)
            waiter.set_result(connection)
            return
        self._keep(connection, key)
        if self._has_room:
            self._pass_place_on()

    def lost(self, connection: Connection) -> None:
        """Remove a closed connection."""
        key = self._keys.pop(connection, None)
        if connection in self._counted:
            self._counted.discard(connection)
            self._pass_place_on()
        else:
            idle = self._idle.get(key)
            if idle is not None and connection in idle:
                idle.remove(connection)
                self._idle_count -= 1
                if not idle:
                    del self._idle[key]
        if not self._keys:
            self._empty.set()

    def drop_idle(self, origin: AnOrigin | None = None) -> None:
        """Close the idle connections to a server that no longer responds on them; None: to all servers."""
        for key in list(self._idle) if origin is None else [origin.key]:
            connections = self._idle.pop(key, ())
            self._idle_count -= len(connections)
            for connection in connections:
                connection.close()

    def retire(self) -> None:
        """Stop using the open connections for further requests, because they were opened with an old certificate."""
        self.drop_idle()
        for connection in self._keys:
            connection.retired = True

    def stop_keeping(self) -> None:
        """Close the idle connections now, and each other connection after its response."""
        self._keeping = False
        if self._sweep is not None:
            self._sweep.cancel()
        self.drop_idle()

    def sweep(self, before: float) -> None:
        """Close the connections that have been idle since before this loop time."""
        for key, idle in list(self._idle.items()):
            old = [connection for connection in idle if connection.idle_since <= before]
            self._idle_count -= len(old)
            del idle[: len(old)]
            if not idle:
                del self._idle[key]
            for connection in old:
                connection.close()

    async def aclose(self) -> None:
        """Cut all connections. Waiting and active requests get a `TransportError`."""
        self._closing = True
        if self._sweep is not None:
            self._sweep.cancel()
        while self._waiters:
            _, waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_exception(_closed())
        for connection in list(self._keys):
            connection.cut()
        if self._keys:
            self._empty.clear()
            try:
                async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                    await self._empty.wait()
            except TimeoutError:
                pass

    # --- inside

    @property
    def _has_room(self) -> bool:
        limit = self.settings.connections_max
        return limit is None or len(self._counted) + self._dialling < limit

    def _check_open(self) -> None:
        if self._closing:
            raise _closed()

    def _keep(self, connection: Connection, key: Hashable) -> None:
        """Keep a connection for later requests, or close it if the limits of idle connections are reached."""
        settings = self.settings
        idle = self._idle.get(key)
        if (settings.idle_max is not None and self._idle_count >= settings.idle_max) or (
            settings.idle_per_server_max is not None and len(idle or ()) >= settings.idle_per_server_max
        ):
            connection.close()
            return
        loop = asyncio.get_running_loop()
        connection.idle_since = loop.time()
        if idle:
            idle.append(connection)
        else:
            self._idle[key] = [connection]
        self._idle_count += 1
        if self._sweep is None:
            self._sweep = loop.call_later(settings.idle_timeout_s, self._close_idle)

    def _idle_connection(self, key: Hashable) -> Connection | None:
        idle = self._idle.get(key)
        while idle:
            # The newest: it is least likely to be closed by the server, and the oldest can time out.
            connection = idle.pop()
            self._idle_count -= 1
            if not idle:
                del self._idle[key]
            if not connection.closed:
                return connection
        return None

    async def _new(self, origin: AnOrigin) -> Connection:
        connection = await self._dial(origin)
        # `aclose` may have run during the dial. It could not see this connection.
        if self._closing:
            connection.cut()
            raise _closed()
        if not connection.closed:
            self._keys[connection] = origin.key
        return connection

    async def _new_counted(self, origin: AnOrigin) -> Connection:
        """Open a connection in a slot that `_dialling` already counts."""
        try:
            connection = await self._new(origin)
        except BaseException:
            self._dialling -= 1
            self._pass_place_on()
            raise
        self._dialling -= 1
        self._counted.add(connection)
        return connection

    async def _queue(self, origin: AnOrigin, *, first: bool = False) -> Connection:
        waiter: asyncio.Future[Connection | None] = asyncio.get_running_loop().create_future()
        entry = (origin, waiter)
        if first:
            self._waiters.appendleft(entry)
        else:
            self._waiters.append(entry)
        try:
            connection = await waiter
        except asyncio.CancelledError:
            # The slot was assigned just before the cancellation. Without this, it would be lost for the pool.
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._give_back(waiter.result())
            raise
        finally:
            if entry in self._waiters:
                self._waiters.remove(entry)
        if connection is None:
            return await self._new_counted(origin)
        if not connection.closed:
            return connection
        # The connection was lost before this task resumed, and its slot went to the next waiter.
        if self._has_room:
            self._dialling += 1
            return await self._new_counted(origin)
        return await self._queue(origin, first=True)

    def _give_back(self, connection: Connection | None) -> None:
        if connection is None:
            self._dialling -= 1
            self._pass_place_on()
        elif not connection.closed:
            self.release(connection)

    def _pass_place_on(self) -> None:
        """Give a free slot to the first waiter, which then opens a connection."""
        while self._waiters:
            _, waiter = self._waiters.popleft()
            if not waiter.done():
                self._dialling += 1
                waiter.set_result(None)
                return

    def _next_waiter(self, key: Hashable) -> "asyncio.Future[Connection | None] | None":
        """Remove and return the first waiter if it waits for this server."""
        while self._waiters:
            origin, waiter = self._waiters[0]
            if not waiter.done():
                if origin.key != key:
                    return None
                self._waiters.popleft()
                return waiter
            self._waiters.popleft()
        return None

    def _close_idle(self) -> None:
        self._sweep = None
        loop = asyncio.get_running_loop()
        self.sweep(loop.time() - self.settings.idle_timeout_s)
        if self._idle:
            oldest = min(idle[0].idle_since for idle in self._idle.values())
            self._sweep = loop.call_at(oldest + self.settings.idle_timeout_s, self._close_idle)


def _closed() -> TransportError:
    return TransportError("the transport is closed", sent=False)
