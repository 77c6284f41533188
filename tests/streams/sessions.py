"""Two sessions that are connected over the loopback interface."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

from sampan.core.event_loop.task_scope import TaskScope
from sampan.http.tunnel import Tunnel
from sampan.streams.limits import DEFAULT_LIMITS, StreamLimits
from sampan.streams.session import StreamSession
from sampan.streams.splice import Splice


@dataclass
class Pair:
    """Both ends of a connection."""

    opening: StreamSession
    accepting: StreamSession
    ended: "asyncio.Task[None]"
    """Run of the opening end."""


async def connect_local(target: str, make: Callable[[], Splice]) -> None:
    """Connect to a port of the loopback interface."""
    await asyncio.get_running_loop().create_connection(make, "127.0.0.1", int(target))


async def tunnels() -> tuple[Tunnel, Tunnel, asyncio.Server]:
    """Return both ends of a TCP connection, and the listener."""
    loop = asyncio.get_running_loop()
    accepted: asyncio.Future[Tunnel] = loop.create_future()
    server = await loop.create_server(lambda: Tunnel(made=accepted.set_result), "127.0.0.1", 0)
    _, client = await loop.create_connection(Tunnel, *server.sockets[0].getsockname())
    return client, await accepted, server


@asynccontextmanager
async def pair(
    limits: StreamLimits = DEFAULT_LIMITS, accepting_limits: StreamLimits = DEFAULT_LIMITS
) -> AsyncIterator[Pair]:
    """Run two connected sessions."""
    near, far, server = await tunnels()
    opening = StreamSession(near, name="node b", limits=limits)
    accepting = StreamSession(far, name="server", connect=connect_local, limits=accepting_limits)
    async with TaskScope() as tasks:
        running = tasks.begin(opening.run())
        tasks.begin(accepting.run())
        yield Pair(opening, accepting, running)
    server.close()


class Echo(asyncio.Protocol):
    """Sends back what it receives. It does not read while the client does not read."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.transport.write(data)

    def pause_writing(self) -> None:
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        self.transport.resume_reading()


class Flood(Echo):
    """Sends as much as the client takes, in pieces of 64 KiB, and counts the bytes."""

    sent_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._is_writing = True
        self._send()

    def _send(self) -> None:
        if self._is_writing and not self.transport.is_closing():
            Flood.sent_bytes += 1 << 16
            self.transport.write(bytes(1 << 16))
            asyncio.get_running_loop().call_soon(self._send)

    def pause_writing(self) -> None:
        self._is_writing = False

    def resume_writing(self) -> None:
        self._is_writing = True
        self._send()


@asynccontextmanager
async def listening(
    protocol: Callable[[], asyncio.Protocol] = Echo, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    """Run a server on the loopback interface, and return its port."""
    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0, ssl=tls)
    try:
        yield str(server.sockets[0].getsockname()[1])
    finally:
        server.close()
