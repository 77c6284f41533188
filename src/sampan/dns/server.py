"""`DnsServer`: receives queries over UDP and TCP.

Concurrency: `run` owns the sockets and one `TaskGroup`, with a task for each connection and for each datagram that
waits for an upstream. Responses of the zone are sent at once, without a task. Bounds: in one turn of the event loop,
responses over UDP take at most `TURN_MICROSECONDS`, and so do those over TCP; further queries wait for the next turns.
At most `WAITING_MAX` datagrams wait for a turn, and as many for upstreams; further ones are dropped. At most
`CONNECTIONS_MAX` connections are open, and `CONNECTIONS_OF_ADDRESS_MAX` from one address; further ones are closed. A
connection is closed if its client neither sends nor reads for `IDLE_S`.
"""

import asyncio
import logging
import socket
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from time import perf_counter
from typing import Any, Final

from sampan.core.event_loop.turns import LoopTurns
from sampan.dns.message import MESSAGE_BYTES_MAX, BadQuery, NotAQuery, Query, Rcode, parse_query
from sampan.dns.names import format_name
from sampan.dns.relayed import failure
from sampan.dns.resolver import Resolver

WAITING_MAX: Final = 1000
CONNECTIONS_MAX: Final = 256
CONNECTIONS_OF_ADDRESS_MAX: Final = 64
IDLE_S: Final = 10.0
BACKLOG: Final = 128
TURN_MICROSECONDS: Final = 5000

Send = Callable[[bytes], None]
"""Sends a response to a client."""

_log = logging.getLogger("sampan.dns")


class DnsServer:
    """Serves DNS on a port of some addresses."""

    def __init__(
        self, resolver: Resolver, hosts: Sequence[str], port: int, *, options: str = "another --bind or --port"
    ) -> None:
        """`port` 0 means a free one, the same for UDP and TCP. `options`: what a user sets to use another address."""
        self._options = options
        self._resolver = resolver
        self._hosts = hosts
        self.port = port
        self._listening = asyncio.Event()
        self._connections: Counter[str] = Counter()
        self._waiting = 0
        self._held = 0
        """Datagrams that wait for a turn."""

    def __str__(self) -> str:
        return "dns server"

    async def ready(self) -> None:
        """Wait until the server listens."""
        await self._listening.wait()

    async def run(self) -> None:
        """Serve until cancelled. Raises `OSError` if a socket cannot be bound."""
        loop = asyncio.get_running_loop()
        self._udp, self._tcp = (LoopTurns(loop, TURN_MICROSECONDS) for _ in range(2))
        with ExitStack() as sockets:
            bound = [sockets.enter_context(sock) for sock in self._bind()]
            async with asyncio.TaskGroup() as tasks:
                for sock in bound:
                    if sock.type == socket.SOCK_DGRAM:
                        transport, _ = await loop.create_datagram_endpoint(lambda: _Datagrams(self, tasks), sock=sock)
                        sockets.callback(transport.close)
                    else:
                        tasks.create_task(self._accept(sock, tasks))
                self._listening.set()
                _log.info("serving DNS", extra={"addresses": ", ".join(self._hosts), "port": self.port})
                await loop.create_future()

    def _bind(self) -> list[socket.socket]:
        """Return a UDP and a TCP socket for each address. Raises `OSError`."""
        bound: list[socket.socket] = []
        try:
            for host in self._hosts:
                for type in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                    bound.append(_bound(host, self.port, type))
                    self.port = bound[-1].getsockname()[1]
        except OSError as error:
            for sock in bound:
                sock.close()
            raise OSError(_advice(error, host, self.port, self._options)) from error
        return bound

    def respond_to_datagram(self, data: bytes, tasks: asyncio.TaskGroup, send: Send) -> None:
        """Send the response to a datagram: now, in a later turn of the event loop, or when an upstream responds."""
        if self._udp.open:
            self._process(data, tasks, send)
        elif self._held < WAITING_MAX:
            self._held += 1
            self._udp.wait(lambda: self._process_held(data, tasks, send))

    def _process_held(self, data: bytes, tasks: asyncio.TaskGroup, send: Send) -> None:
        self._held -= 1
        self._process(data, tasks, send)

    def _process(self, data: bytes, tasks: asyncio.TaskGroup, send: Send) -> None:
        began = perf_counter()
        try:
            self._begin_response(data, tasks, send)
        finally:
            self._udp.spend(_microseconds_since(began))

    def _begin_response(self, data: bytes, tasks: asyncio.TaskGroup, send: Send) -> None:
        try:
            query = parse_query(data)
        except BadQuery as error:
            send(error.response)
            return
        except NotAQuery:
            return
        response = self._respond_now(query, query.udp_bytes_max)
        if response is not None:
            send(response)
        elif self._waiting < WAITING_MAX:
            self._waiting += 1
            tasks.create_task(self._respond_later(query, send))

    async def _respond_later(self, query: Query, send: Send) -> None:
        try:
            send(await self._respond(query, query.udp_bytes_max))
        finally:
            self._waiting -= 1

    async def _respond_in_turn(self, query: Query) -> bytes | None:
        """Return the result of `_respond_now` for a connection. Waits for a turn of the event loop."""
        if self._tcp.open:
            return self._respond_and_spend(query)
        response: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()

        def respond() -> None:
            if not response.done():  # the connection may have ended meanwhile
                response.set_result(self._respond_and_spend(query))

        self._tcp.wait(respond)
        return await response

    def _respond_and_spend(self, query: Query) -> bytes | None:
        began = perf_counter()
        try:
            return self._respond_now(query, MESSAGE_BYTES_MAX)
        finally:
            self._tcp.spend(_microseconds_since(began))

    def _respond_now(self, query: Query, size_max: int) -> bytes | None:
        """Return the response, or None if an upstream must be queried.

        An error in one query does not end the server.
        """
        try:
            return self._resolver.respond_now(query, size_max)
        except Exception:
            return _unexpected(query, size_max)

    async def _respond(self, query: Query, size_max: int) -> bytes:
        try:
            return await self._resolver.respond(query, size_max)
        except Exception:
            return _unexpected(query, size_max)

    async def _accept(self, sock: socket.socket, tasks: asyncio.TaskGroup) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, address = await loop.sock_accept(sock)
            except OSError as error:
                # Too many open files, for example. Accepting again at once would use a whole core.
                _log.warning("cannot accept a connection: %s", error)
                await asyncio.sleep(1.0)
                continue
            host = address[0]
            full = self._connections.total() >= CONNECTIONS_MAX
            if full or self._connections[host] >= CONNECTIONS_OF_ADDRESS_MAX:
                connection.close()
                continue
            self._connections[host] += 1
            tasks.create_task(self._serve_connection(connection, host))

    async def _serve_connection(self, connection: socket.socket, host: str) -> None:
        try:
            with connection, suppress(OSError, asyncio.IncompleteReadError, BadQuery, NotAQuery):
                await self._respond_to_connection(connection)
        finally:
            self._connections[host] -= 1
            if not self._connections[host]:
                del self._connections[host]

    async def _respond_to_connection(self, connection: socket.socket) -> None:
        """Resolve the queries of a connection one after the other. Malformed data ends it."""
        reader, writer = await asyncio.open_connection(sock=connection, limit=MESSAGE_BYTES_MAX)
        try:
            while True:
                async with asyncio.timeout(IDLE_S):
                    (size,) = struct.unpack("!H", await reader.readexactly(2))
                    data = await reader.readexactly(size)
                query = parse_query(data)
                response = await self._respond_in_turn(query)
                if response is None:
                    response = await self._respond(query, MESSAGE_BYTES_MAX)
                writer.write(struct.pack("!H", len(response)) + response)
                async with asyncio.timeout(IDLE_S):
                    await writer.drain()
        finally:
            writer.close()


class _Datagrams(asyncio.DatagramProtocol):
    """Socket for datagrams."""

    def __init__(self, server: DnsServer, tasks: asyncio.TaskGroup) -> None:
        self._server, self._tasks = server, tasks
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Send the response to a query."""
        self._server.respond_to_datagram(data, self._tasks, lambda response: self._transport.sendto(response, addr))


def _microseconds_since(began: float) -> int:
    return 1 + int((perf_counter() - began) * 1e6)


def _unexpected(query: Query, size_max: int) -> bytes:
    _log.exception("cannot answer a query", extra={"name": format_name(query.question.name)})
    return failure(query, Rcode.SERVFAIL, size_max)


def _bound(host: str, port: int, type: socket.SocketKind) -> socket.socket:
    family, _, _, _, address = socket.getaddrinfo(host, port, type=type, flags=socket.AI_PASSIVE)[0]
    sock = socket.socket(family, type)
    try:
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if type == socket.SOCK_STREAM:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.setblocking(False)
        if type == socket.SOCK_STREAM:
            sock.listen(BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock


def _advice(error: OSError, host: str, port: int, options: str) -> str:
    """Return the error message for a socket that cannot be bound, with the action to take."""
    reason = f"cannot serve DNS on {host}:{port}: {error.strerror or error}"
    if isinstance(error, PermissionError):
        return f"{reason}; ports below 1024 need root or CAP_NET_BIND_SERVICE, or set {options}"
    return f"{reason}; stop the program that uses it, or set {options}"
