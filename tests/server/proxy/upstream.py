"""Upstreams of a test: servers on real sockets whose responses are functions, and a front that proxies to them."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sampan.server.filters.error_responses import with_error_responses
from sampan.server.proxy.forward import Proxy
from sampan.server.proxy.target import ProxyTarget
from sampan.server.request import Request, Response
from tests.server.test_websocket import listening


@dataclass
class ReceivedRequest:
    """Request as the upstream received it, with its connection."""

    method: str
    target: str
    headers: dict[str, str]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    lines: list[tuple[str, str]] = field(default_factory=list)
    """Headers as received."""

    async def body(self) -> bytes:
        """Return the whole body."""
        return b"".join([piece async for piece in self.pieces()])

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the parts of the body as they arrive."""
        if self.headers.get("transfer-encoding") == "chunked":
            while size := int(await self.reader.readline(), 16):
                yield await self.reader.readexactly(size)
                await self.reader.readline()
            await self.reader.readline()
        else:
            yield await self.reader.readexactly(int(self.headers.get("content-length", "0")))

    async def send(self, data: bytes) -> None:
        """Send bytes."""
        self.writer.write(data)
        await self.writer.drain()

    async def response(self, body: bytes = b"", head: str = "HTTP/1.1 200 OK\r\n") -> None:
        """Send a response with a length."""
        await self.send(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    async def gone(self) -> None:
        """Return when the other side has closed the connection."""
        try:
            async with asyncio.timeout(60):
                while await self.reader.read(1 << 16):
                    pass
        except ConnectionError:
            pass


Respond = Callable[[ReceivedRequest], Awaitable[None]]


@dataclass
class Upstream:
    """Server that responds by a function. `requested` holds the received requests."""

    response: Respond
    port: int = 0
    connections: int = 0
    requested: list[ReceivedRequest] = field(default_factory=list)
    certificates: list[object] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Event that is set when a connection has ended."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self.connections += 1
        ssl_object = writer.get_extra_info("ssl_object")
        if ssl_object is not None:
            self.certificates.append(ssl_object.getpeercert())
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, target, _ = head[0].split(" ")
                pairs = [line.partition(":") for line in head[1:] if line]
                lines = [(name, value.strip()) for name, _, value in pairs]
                headers = {name.lower(): value for name, value in lines}
                once = [name.lower() for name, _ in lines if name != "X-Remote-Group"]
                assert len(once) == len(set(once)), "a header twice"
                requested = ReceivedRequest(method, target, headers, reader, writer, lines)
                self.requested.append(requested)
                await self.response(requested)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            self.ended.set()

    @property
    def last(self) -> ReceivedRequest:
        """Return the last request."""
        return self.requested[-1]


@asynccontextmanager
async def upstream(response: Respond, tls: ssl.SSLContext | None = None) -> AsyncIterator[Upstream]:
    """Run a server on a free port until the end of the block."""
    served, tasks = Upstream(response), set[asyncio.Task[None]]()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.create_task(served.serve(reader, writer)))

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls, limit=1 << 20)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@dataclass
class Front:
    """Server that forwards all requests."""

    proxy: Proxy
    port: int

    async def raw(self, request: bytes) -> bytes:
        """Send bytes. Return all bytes received until the connection ends."""
        reader, writer = await self.open(request)
        try:
            async with asyncio.timeout(60):
                return await reader.read()
        finally:
            writer.close()

    async def open(self, request: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection and send some bytes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request)
        await writer.drain()
        return reader, writer

    async def get(self, target: str = "/", headers: str = "") -> tuple[int, dict[str, str], bytes]:
        """Send GET on a new connection. Return code, headers (lower case) and body."""
        return split(await self.raw(f"GET {target} HTTP/1.1\r\nHost: h\r\n{headers}Connection: close\r\n\r\n".encode()))


def split(response: bytes) -> tuple[int, dict[str, str], bytes]:
    """Return code, headers and body of a response that is not chunked."""
    head, _, body = response.partition(b"\r\n\r\n")
    line, *lines = head.decode("latin-1").split("\r\n")
    pairs = (each.partition(":") for each in lines)
    return int(line.split(" ")[1]), {name.lower(): value.strip() for name, _, value in pairs}, body


@asynccontextmanager
async def fronted(
    target_of: Callable[[Request], ProxyTarget], *, sandboxed: bool = True, page_port: bool = False
) -> AsyncIterator[Front]:
    """Run a front on a real socket. Its proxy keeps idle connections. `page_port`: the socket is that of the page."""
    proxy = Proxy(connect_timeout_s=5, sandboxed=sandboxed)

    async def handler(request: Request) -> Response:
        request.on_page_port = page_port
        return await proxy.forward(request, target_of(request))

    async with asyncio.TaskGroup() as group:
        running = group.create_task(proxy.run())
        try:
            async with listening(with_error_responses([])(handler)) as (_, port):
                yield Front(proxy, port)
        finally:
            running.cancel()


def to(served: Upstream, **more: object) -> Callable[[Request], ProxyTarget]:
    """Return a function that forwards all requests to that upstream, under the same path."""

    def target_of(request: Request) -> ProxyTarget:
        path, query = request.wire.raw_path, request.wire.query_string
        return ProxyTarget("127.0.0.1", served.port, path, query, **more)  # type: ignore[arg-type]

    return target_of
