"""SPDY client for tests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from sampan.node.server.spdy.decoder import FrameDecoder
from sampan.node.server.spdy.frames import Data, Frame, FrameEncoder, GoAway, RstStream, SynReply, SynStream
from tests.node.server.served import Node


class Wire(Protocol):
    async def send(self, data: bytes) -> None: ...

    async def receive(self) -> bytes: ...


class TcpWire:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def receive(self) -> bytes:
        return await self.reader.read(65_536)


class SpdyClient:
    """Opens streams, and collects the data of each."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.frames: list[Frame] = []
        self.received: dict[int, bytes] = {}
        self.over: dict[int, str] = {}
        """Streams that the server has ended: `fin` or `reset`."""
        self.replied: set[int] = set()
        self.gone = False
        self._encoder = FrameEncoder()
        self._next = 1
        self._changed = asyncio.Condition()

    async def begin(self, **headers: str) -> int:
        stream_id, self._next = self._next, self._next + 2
        await self.send(SynStream(stream_id, {name.lower(): value for name, value in headers.items()}))
        return stream_id

    async def send(self, frame: Frame) -> None:
        await self.wire.send(self._encoder.encode(frame))

    async def write(self, stream_id: int, data: bytes, *, fin: bool = False) -> None:
        for start in range(0, len(data) or 1, 30_000):
            last = start + 30_000 >= len(data)
            await self.send(Data(stream_id, data[start : start + 30_000], fin and last))

    async def run(self) -> None:
        decoder = FrameDecoder()
        while data := await self.wire.receive():
            async with self._changed:
                for frame in decoder.feed(data):
                    self._take(frame)
                self._changed.notify_all()
        async with self._changed:
            self.gone = True
            self._changed.notify_all()

    def _take(self, frame: Frame) -> None:
        self.frames.append(frame)
        match frame:
            case Data():
                self.received[frame.stream_id] = self.received.get(frame.stream_id, b"") + frame.data
                if frame.fin:
                    self.over[frame.stream_id] = "fin"
            case RstStream():
                self.over[frame.stream_id] = "reset"
            case SynReply():
                self.replied.add(frame.stream_id)
            case GoAway():
                self.gone = True

    async def until_over(self, *streams: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: all(each in self.over for each in streams))

    async def until_received(self, stream_id: int, data: bytes) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self.received.get(stream_id) == data)

    async def until_frame(self, frame: Frame) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: frame in self.frames)

    async def until_gone(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self.gone)


@asynccontextmanager
async def spdy(served: Node, target: str, *protocols: str) -> AsyncIterator[SpdyClient]:
    """Return an upgraded connection."""
    lines = "".join(f"X-Stream-Protocol-Version: {protocol}\r\n" for protocol in protocols)
    upgrade = "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n"
    reader, writer = await served.open(f"POST {target} HTTP/1.1\r\nHost: x\r\n{upgrade}{lines}\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 "), head
    assert f"x-stream-protocol-version: {protocols[0]}\r\n".encode() in head
    async with running(SpdyClient(TcpWire(reader, writer))) as client:
        yield client
    writer.transport.abort()


@asynccontextmanager
async def running(client: SpdyClient) -> AsyncIterator[SpdyClient]:
    """Run a client that reads continuously."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(client.run())
        yield client
        task.cancel()
