"""`HttpListener`: serves HTTP/1.1 on one address, with or without TLS and with keep-alive.

Concurrency: `run` owns the listening socket and a task group with one task for each connection, which serves one
request after the other. It ends by cancellation; `drain` lets running requests finish first.
"""

import asyncio
import contextlib
import errno
import logging
import ssl
from collections.abc import Callable
from typing import Final

from sampan.http.server.exchange import AnyResponse, HttpLimits, Request, Respond, Response, StreamedResponse, head_of
from sampan.http.server.parser import RequestParser, RequestRefused
from sampan.http.server.streaming import send_parts, take_over
from sampan.http.tunnel import Tunnel
from sampan.wire.http1 import CONTINUE

_log = logging.getLogger("sampan.http")

_HANDSHAKE_TIMEOUT_S: Final = 10.0
_LINGER_S: Final = 1.0
_SILENCE_S: Final = 0.1
_BIND_ATTEMPTS: Final = 20


class HttpListener:
    """Serves requests with `respond`. `host` "" means all addresses, `port` 0 a port that is free on all. Runs once."""

    def __init__(
        self,
        respond: Respond,
        host: str,
        port: int,
        *,
        limits: HttpLimits = HttpLimits(),
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._respond = respond
        self._host = host
        self._port = port
        self._limits = limits
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._listening = asyncio.Event()
        self._connections: dict[asyncio.Task[None], bool] = {}
        """Tasks of the open connections, each with True while it serves a request."""
        self._none_left = asyncio.Event()
        self._draining = False

    @property
    def port(self) -> int:
        """Port of the listener, once it is ready."""
        return self._port

    @property
    def serving(self) -> bool:
        """True while the listener accepts connections."""
        return self._server is not None and self._server.is_serving()

    async def ready(self) -> None:
        """Wait until the listener accepts connections."""
        await self._listening.wait()

    async def run(self) -> None:
        """Serve until cancelled or drained. Raises `OSError` if it cannot listen."""
        async with asyncio.TaskGroup() as tasks:

            def connected(connection: Tunnel) -> None:
                self._begin(tasks, connection)

            self._server = await self._bind(connected)
            try:
                (self._port,) = _ports(self._server)
                self._listening.set()
                _log.info("listening at %s:%d", self._host or "*", self._port)
                await self._none_left.wait()
            finally:
                self._draining = True
                self._server.close()
                for connection in self._connections:
                    connection.cancel()

    async def _bind(self, connected: Callable[[Tunnel], None]) -> asyncio.Server:
        """Bind the port on all addresses of the host: an IPv4 and an IPv6 address for a host such as "".

        With port 0, the event loop gives each address another port. The port of one of them is then bound on all; if
        another program has taken it on one of the addresses, the next attempt has other ports.
        """
        for _ in range(_BIND_ATTEMPTS):
            server = await self._bind_to(self._port, connected)
            ports = _ports(server)
            if len(ports) == 1:
                return server
            server.close()
            with contextlib.suppress(OSError):
                return await self._bind_to(min(ports), connected)
        raise OSError(errno.EADDRINUSE, f"no port is free on all addresses of {self._host or '*'}")

    async def _bind_to(self, port: int, connected: Callable[[Tunnel], None]) -> asyncio.Server:
        return await asyncio.get_running_loop().create_server(
            lambda: Tunnel(half_open=True, made=connected),
            self._host or None,
            port,
            ssl=self._tls,
            ssl_handshake_timeout=_HANDSHAKE_TIMEOUT_S if self._tls else None,
            ssl_shutdown_timeout=self._limits.close_timeout_s if self._tls else None,
        )

    async def drain(self) -> None:
        """Accept no more connections, finish running requests, then end."""
        self._draining = True
        if self._server is not None:
            self._server.close()
        for connection, busy in self._connections.items():
            if not busy:
                connection.cancel()
        if self._connections:
            await asyncio.wait(set(self._connections))
        self._none_left.set()

    def _begin(self, tasks: asyncio.TaskGroup, connection: Tunnel) -> None:
        if self._draining or len(self._connections) >= self._limits.connections_max:
            connection.abort()
            return
        task = tasks.create_task(self._serve(connection), name="connection")
        self._connections[task] = False
        task.add_done_callback(lambda done: self._connections.pop(done, None))

    async def _serve(self, connection: Tunnel) -> None:
        parser = RequestParser(self._limits, _client_certificate(connection))
        try:
            while await self._one_request(parser, connection):
                pass
            await connection.aclose()
        except (TimeoutError, OSError):
            pass
        except Exception:
            # A fault that one client has caused must not end the listener, and with it the operator.
            _log.exception("connection failed")
        finally:
            connection.abort()
            parser.close()

    async def _one_request(self, parser: RequestParser, connection: Tunnel) -> bool:
        """Serve one request. Return True if the connection stays open."""
        if not parser.requests:
            async with asyncio.timeout(self._limits.idle_timeout_s):
                data = await connection.read()
            if not data:
                return False
        else:
            data = b""
        self._busy(True)
        try:
            async with asyncio.timeout(self._limits.request_timeout_s):
                received = await self._read_request(data, parser, connection)
                if received is None:
                    return False
                request, alive = received
                response = await self._safe_response(request)
                if isinstance(response, Response):
                    alive = alive and self._limits.keep_alive and not self._draining
                    connection.write(
                        head_of(response, keep_alive=alive) + (b"" if request.method == "HEAD" else response.body)
                    )
                    await connection.drain()
                    return alive
            idle_timeout_s = self._limits.stream_idle_timeout_s
            if isinstance(response, StreamedResponse):
                await send_parts(response, connection, idle_timeout_s)
            else:
                await take_over(response, parser.take_ahead(), connection, idle_timeout_s)
        finally:
            self._busy(False)
        return False

    async def _read_request(
        self, data: bytes, parser: RequestParser, connection: Tunnel
    ) -> tuple[Request, bool] | None:
        """Return the next request, and True if the connection stays open after it.

        Return None if the client has closed the connection, or if its request was refused.
        """
        try:
            while data:
                parser.feed(data)
                if parser.requests:
                    break
                if parser.expects_continue:
                    parser.expects_continue = False
                    connection.write(CONTINUE)
                data = await connection.read()
        except RequestRefused as refusal:
            await _refuse(refusal.response, connection)
            return None
        return parser.requests.popleft() if parser.requests else None

    async def _safe_response(self, request: Request) -> AnyResponse:
        try:
            return await self._respond(request)
        except Exception:
            _log.exception("request failed: %s %s", request.method, request.path)
            return Response(500, b"internal error\n")

    def _busy(self, busy: bool) -> None:
        task = asyncio.current_task()
        if task in self._connections:
            self._connections[task] = busy


def _ports(server: asyncio.Server) -> set[int]:
    return {sock.getsockname()[1] for sock in server.sockets}


def _client_certificate(connection: Tunnel) -> bytes:
    tls = connection.transport.get_extra_info("ssl_object")
    return (tls.getpeercert(binary_form=True) or b"") if tls is not None else b""


async def _refuse(response: Response, connection: Tunnel) -> None:
    """Send a response before the whole request is read, and discard the remaining bytes.

    Otherwise the connection could be reset while the client sends, and the client might never see the response.
    """
    connection.write(head_of(response, keep_alive=False) + response.body)
    await connection.drain()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_S):
            while True:
                async with asyncio.timeout(_SILENCE_S):
                    if not await connection.read():
                        return
