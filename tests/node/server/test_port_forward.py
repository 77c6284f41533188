"""Port forwarding, in all protocols."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage

from sampan.node.server.spdy.frames import RstStream
from tests.node.server.served import Node, node
from tests.node.server.spdy_client import SpdyClient, running, spdy

TARGET = "/portForward/default/web"
PROTOCOL = "portforward.k8s.io"
REFUSED = b"error forwarding port 81 to pod web_default, uid u-1: connection refused"
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.write(b"end")


@asynccontextmanager
async def port(served: Node, number: int, talk: Talk = echo) -> AsyncIterator[None]:
    """Listen at a port of the Pod."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    served.runtime.ports[number] = server.sockets[0].getsockname()[1]
    try:
        yield
    finally:
        server.close()


class MessageWire:
    """SPDY in a WebSocket, with a sub-protocol name that other libraries refuse."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.frames = Connection(ConnectionType.CLIENT)
        self.received: deque[bytes] = deque()

    async def send(self, data: bytes) -> None:
        self.writer.write(self.frames.send(BytesMessage(data)))
        await self.writer.drain()

    async def receive(self) -> bytes:
        while not self.received:
            data = await self.reader.read(65_536)
            if not data:
                return b""
            self.frames.receive_data(data)
            self.received += [bytes(event.data) for event in self.frames.events() if isinstance(event, BytesMessage)]
        return self.received.popleft()


@asynccontextmanager
async def plain(served: Node) -> AsyncIterator[SpdyClient]:
    async with spdy(served, TARGET, PROTOCOL) as client:
        yield client


@asynccontextmanager
async def tunnelled(served: Node) -> AsyncIterator[SpdyClient]:
    protocol = f"Sec-WebSocket-Protocol: SPDY/3.1+{PROTOCOL}\r\n"
    key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    head = f"GET {TARGET} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{key}{protocol}\r\n"
    reader, writer = await served.open(head.encode())
    assert protocol.lower().encode() in (await reader.readuntil(b"\r\n\r\n")).lower()
    async with running(SpdyClient(MessageWire(reader, writer))) as client:
        yield client
    writer.transport.abort()


WAYS = pytest.mark.parametrize("way", [plain, tunnelled], ids=["SPDY", "SPDY in WebSocket"])
Way = Callable[[Node], AbstractAsyncContextManager[SpdyClient]]


async def connect(client: SpdyClient, number: int, request_id: str = "0") -> tuple[int, int]:
    """Open the data and error streams as kubectl does."""
    error = await client.begin(streamType="error", port=str(number), requestID=request_id)
    await client.write(error, b"", fin=True)
    return await client.begin(streamType="data", port=str(number), requestID=request_id), error


@WAYS
async def test_data_and_ends_are_passed_on_in_both_directions(way: Way) -> None:
    sent = bytes(range(256)) * 5_000
    async with node() as served, port(served, 80), way(served) as client:
        data, error = await connect(client, 80)
        await client.write(data, sent, fin=True)
        await client.until_over(data, error)
        assert client.received[data] == sent + b"end"
        assert client.received[error] == b""


@WAYS
async def test_refused_port_is_reported_and_other_connections_continue(way: Way) -> None:
    async with node() as served, port(served, 80), way(served) as client:
        living, _ = await connect(client, 80, "0")
        data, error = await connect(client, 81, "1")
        await client.until_over(data, error)
        assert client.received[error] == REFUSED
        await client.write(living, b"hello")
        await client.until_received(living, b"hello")


async def test_streams_end_with_the_connection_of_the_pod() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"bye")

    async with node() as served, port(served, 80, greet), plain(served) as client:
        data, error = await connect(client, 80)
        await client.until_over(data)
        await client.send(RstStream(data, 5))
        await client.until_over(error)
        assert client.received[data] == b"bye"


async def test_connections_end_when_the_client_disconnects() -> None:
    ended = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        try:
            await reader.read()
        except ConnectionError:
            pass
        ended.set()

    async with node() as served, port(served, 80, listen):
        async with plain(served) as client:
            data, _ = await connect(client, 80)
            await client.until_received(data, b"hello")
        await ended.wait()


async def test_reset_connection_ends_while_its_pod_does_not_read() -> None:
    ended = asyncio.Event()

    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        await go_on.wait()
        try:
            while await reader.read(65_536):
                pass
        except ConnectionError:
            pass
        ended.set()

    go_on = asyncio.Event()
    async with node() as served, port(served, 80, deaf), plain(served) as client:
        data, error = await connect(client, 80)
        await client.until_received(data, b"hello")
        await client.write(data, bytes(100_000))
        await client.send(RstStream(data, 5))
        await client.until_over(error)
        go_on.set()
        await ended.wait()


@pytest.mark.parametrize(
    "headers",
    [{"streamType": "data"}, {"streamType": "data", "port": "0"}, {"streamType": "x", "port": "80"}, {"port": "80"}],
    ids=["no port", "port 0", "other type", "no type"],
)
async def test_streams_without_a_type_are_reset(headers: dict[str, str]) -> None:
    async with node() as served, plain(served) as client:
        stream_id = await client.begin(**headers)
        await client.until_frame(RstStream(stream_id, 5))


async def test_old_clients_send_no_request_id() -> None:
    async with node() as served, port(served, 80), plain(served) as client:
        error = await client.begin(streamType="error", port="80")
        data = await client.begin(streamType="data", port="80")
        await client.write(data, b"hello", fin=True)
        await client.until_over(data, error)
        assert client.received[data] == b"helloend"


async def test_channels_of_old_websockets_start_with_their_port() -> None:
    target = f"{TARGET}?port=80,81"
    async with node() as served, port(served, 80), served.websocket(target, "v4.channel.k8s.io") as websocket:
        firsts = [await websocket.recv() for _ in range(4)]
        assert firsts == [b"\x00\x50\x00", b"\x01\x50\x00", b"\x02\x51\x00", b"\x03\x51\x00"]
        assert await websocket.recv() == b"\x03" + REFUSED
        await websocket.send(b"\x00hello")
        assert await websocket.recv() == b"\x00hello"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("", b'query parameter "port" is required'),
        ("?port=", b'query parameter "port" cannot be empty'),
        ("?port=x", b'unable to parse "x" as a port'),
        ("?port=0", b'port "0" must be > 0'),
        ("?port=" + 5000 * "1", b'unable to parse "' + 5000 * b"1" + b'" as a port'),
    ],
    ids=["none", "empty", "word", "zero", "endless"],
)
async def test_ports_of_old_websockets_are_validated(query: str, text: bytes) -> None:
    upgrade = "upgrade: websocket\r\nconnection: upgrade\r\n"
    async with node() as served:
        assert await served.get(TARGET + query, headers=upgrade) == (400, text)
