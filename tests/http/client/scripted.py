"""A server on loopback that follows a test's script, byte by byte."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sampan.client.transport import HttpRequest
from sampan.http.client.address import ServerAddress
from sampan.http.client.settings import HttpClientSettings
from sampan.http.client.tls import TlsOptions
from sampan.http.client.transport import HttpTransport

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
GET = HttpRequest("GET", "/x")
STREAM = HttpRequest("GET", "/x?watch=1", stream=True)


@dataclass
class ReceivedRequest:
    """A request as it came."""

    line: str
    headers: dict[str, list[str]]
    body: bytes


class Peer:
    """The server's end of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def requested(self) -> ReceivedRequest:
        """The next request. Raises `IncompleteReadError` when the client has gone."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers: dict[str, list[str]] = {}
        for line in head[1:-2]:
            name, _, value = line.partition(": ")
            headers.setdefault(name.lower(), []).append(value)
        body = await self.reader.readexactly(int(headers.get("content-length", ["0"])[0]))
        return ReceivedRequest(head[0], headers, body)

    async def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """Cut the connection with a RST."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def gone(self) -> None:
        """Returns when the client has gone."""
        try:
            while await self.reader.read(1 << 16):
                pass
        except OSError:
            pass


Script = Callable[[Peer], Awaitable[None]]


@dataclass
class Scripted:
    """A server at work."""

    address: ServerAddress
    requested: list[ReceivedRequest] = field(default_factory=list)
    connections: int = 0

    @asynccontextmanager
    async def transport(
        self, *, tls: TlsOptions | None = None, settings: HttpClientSettings | None = None
    ) -> AsyncIterator[HttpTransport]:
        """A transport to it."""
        transport = HttpTransport(self.address, tls=tls, settings=settings)
        try:
            yield transport
        finally:
            await transport.aclose()


@asynccontextmanager
async def scripted(
    script: Script, *, context: ssl.SSLContext | None = None, name: str = "127.0.0.1"
) -> AsyncIterator[Scripted]:
    """Run `script` for each connection until the block ends; the connection is closed after it."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await script(Peer(reader, writer))
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            tasks.discard(task)
            writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    port = listening.sockets[0].getsockname()[1]
    server = Scripted(ServerAddress("https" if context else "http", name, port))
    try:
        yield server
    finally:
        listening.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def until(condition: Callable[[], bool]) -> None:
    """Returns when the condition holds, which takes the network a moment. Raises `TimeoutError`."""
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.002)
    raise TimeoutError


def responds(*parts: bytes) -> Script:
    """A script that answers every request with these bytes."""

    async def script(peer: Peer) -> None:
        while True:
            await peer.requested()
            for part in parts:
                await peer.send(part)

    return script


def responds_once(*parts: bytes) -> Script:
    """A script that answers one request and closes the connection."""

    async def script(peer: Peer) -> None:
        await peer.requested()
        for part in parts:
            await peer.send(part)

    return script


def recording(into: list[ReceivedRequest], response: bytes = OK) -> Script:
    """A script that notes each request and answers it."""

    async def script(peer: Peer) -> None:
        while True:
            into.append(await peer.requested())
            await peer.send(response)

    return script
