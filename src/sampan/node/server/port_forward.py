"""Port forwarding over SPDY, over SPDY in a WebSocket, and over the channels of old WebSocket protocols.

Concurrency: each connection to a port has a task, with one more for each direction. A slow connection stops all others
of the same client, because its SPDY library has no flow control for single streams. An error of one connection is sent
on its error stream and does not affect other streams.
Source: cri-streaming pkg/streaming/portforward/{httpstream,websocket}.go (1.36); containerd's sandbox_portforward.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from sampan.http.server import AnyResponse, Request, Response, Tunnel
from sampan.node.server.channels import WebSocketChannels
from sampan.node.server.conversation import converse
from sampan.node.server.spdy import SpdyConnection, SpdyStream
from sampan.node.server.streams import ByteSource, Sink
from sampan.node.server.upgrade import accept_spdy, accept_websocket, is_websocket
from sampan.node.sessions import Connection, Unsupported
from sampan.wire.websocket import ByteStream, WebSocket

_log = logging.getLogger("sampan.node.server")

STREAM_CREATION_TIMEOUT_S: Final = 30.0
_PROTOCOL: Final = "portforward.k8s.io"
TUNNEL_PROTOCOL: Final = f"SPDY/3.1+{_PROTOCOL}"
CHANNEL_PROTOCOLS: Final = ("v4.channel.k8s.io", "v4.base64.channel.k8s.io", "")
_READ_BYTES: Final = 1 << 16
_LAST_WORDS_S: Final = 1.0
"""Seconds in which the client may still send data after the Pod has closed its direction."""
_PORTS_MAX: Final = 100
_PORT_DIGITS_MAX: Final = 5

Dial = Callable[[int], Awaitable[Connection]]
"""Connects to a port of the Pod. Raises `OSError`, `LookupError`, `Unsupported`."""


class BadPort(ValueError):
    """A port is malformed. The message is sent to the client."""


def serve_port_forward(request: Request, pod: str, dial: Dial) -> AnyResponse:
    """Return the response to a request for port forwarding. `pod`: the Pod's name, for error messages."""

    async def over_spdy(tunnel: Tunnel, protocol: str) -> None:
        await _Forwarder(tunnel, pod, dial).serve()

    async def tunnelled(websocket: WebSocket) -> None:
        await _Forwarder(_Messages(websocket), pod, dial).serve()
        websocket.close()

    if not is_websocket(request):
        return accept_spdy(request, (_PROTOCOL,), over_spdy)
    if TUNNEL_PROTOCOL in request.headers.get("sec-websocket-protocol", ""):
        return accept_websocket(request, (TUNNEL_PROTOCOL,), tunnelled)
    try:
        ports = _ports(request.query.get("port") or [])
    except BadPort as error:
        return Response(400, str(error).encode())

    async def over_channels(websocket: WebSocket) -> None:
        await _serve_channels(websocket, ports, pod, dial)

    return accept_websocket(request, CHANNEL_PROTOCOLS, over_channels)


def _ports(values: Sequence[str]) -> list[int]:
    if not values:
        raise BadPort('query parameter "port" is required')
    if "" in values:
        raise BadPort('query parameter "port" cannot be empty')
    found = [_port(text) for value in values for text in value.split(",")]
    if len(found) > _PORTS_MAX:
        raise BadPort(f"too many ports: at most {_PORTS_MAX}")
    return found


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= _PORT_DIGITS_MAX and int(text) < 1 << 16):
        raise BadPort(f'unable to parse "{text}" as a port')
    if not int(text):
        raise BadPort(f'port "{text}" must be > 0')
    return int(text)


class _Messages:
    """Yield the bytes of binary messages."""

    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket

    async def read(self) -> bytes:
        while (message := await self._websocket.receive()) is not None:
            if message:
                return message.encode() if isinstance(message, str) else message
        return b""

    def write(self, data: bytes) -> None:
        self._websocket.write(data)

    async def drain(self) -> None:
        await self._websocket.drain()


class _Forwarder:
    """SPDY connection on which the client opens two streams, data and error, for each connection to a port."""

    def __init__(self, tunnel: ByteStream, pod: str, dial: Dial) -> None:
        self._pod = pod
        self._dial = dial
        self._halves: dict[str, dict[str, SpdyStream]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks = asyncio.TaskGroup()
        self._forwards: set[asyncio.Task[None]] = set()
        self._connection = SpdyConnection(tunnel, self._accept)

    async def serve(self) -> None:
        """Serve until the client disconnects."""
        try:
            async with self._tasks:
                await converse(self._connection.run(), _for_ever(), self._connection.close)
                for forward in self._forwards:
                    forward.cancel()
        finally:
            for timer in self._timers.values():
                timer.cancel()

    def _accept(self, stream: SpdyStream) -> bool:
        kind = stream.headers.get("streamtype", "")
        try:
            port = _port(stream.headers.get("port", ""))
        except BadPort:
            return False
        if kind not in ("data", "error"):
            return False
        request_id = _request_id(stream, kind)
        halves = self._halves.setdefault(request_id, {})
        if kind in halves:
            return False
        halves[kind] = stream
        if len(halves) == 1:
            loop = asyncio.get_running_loop()
            self._timers[request_id] = loop.call_later(STREAM_CREATION_TIMEOUT_S, self._give_up, request_id)
            return True
        self._timers.pop(request_id).cancel()
        del self._halves[request_id]
        data, error = halves["data"], halves["error"]
        if data.is_lost or error.is_lost:
            return False
        forward = self._tasks.create_task(self._forward(port, data, error), name=f"port {port}")
        self._forwards.add(forward)
        forward.add_done_callback(self._forwards.discard)
        # The copy may wait for the Pod, and would not notice that the client has disconnected.
        data.on_lost = forward.cancel
        return True

    def _give_up(self, request_id: str) -> None:
        """Reset the streams of a pair whose second stream was not opened in time."""
        del self._timers[request_id]
        for stream in self._halves.pop(request_id).values():
            stream.reset()

    async def _forward(self, port: int, data: SpdyStream, error: SpdyStream) -> None:
        error.incoming.abandon()
        try:
            if not await _forward(port, self._pod, self._dial, data, error):
                data.reset()
        except OSError:
            pass  # The client has disconnected.
        finally:
            data.incoming.abandon()
            data.finish()
            error.finish()


async def _for_ever() -> None:
    await asyncio.Event().wait()


def _request_id(stream: SpdyStream, kind: str) -> str:
    """Return the request id of a stream.

    Old clients send none: they open the error stream directly before the data stream.
    """
    found = stream.headers.get("requestid", "")
    return found or str(stream.stream_id if kind == "error" else stream.stream_id - 2)


async def _serve_channels(websocket: WebSocket, ports: Sequence[int], pod: str, dial: Dial) -> None:
    """Serve two channels for each port. The first message on each is the port, as two bytes (little endian)."""
    channels = WebSocketChannels(websocket, range(0, 2 * len(ports), 2))

    async def work() -> None:
        for number, port in enumerate(ports):
            for channel in (2 * number, 2 * number + 1):
                await channels.send(channel, port.to_bytes(2, "little"))
        async with asyncio.TaskGroup() as tasks:
            for number, port in enumerate(ports):
                data = _Duplex(channels, 2 * number)
                tasks.create_task(_forward(port, pod, dial, data, channels.sink(2 * number + 1)))

    await converse(channels.run(), work(), channels.close)


class _Duplex:
    """Both directions of a channel."""

    def __init__(self, channels: WebSocketChannels, number: int) -> None:
        self.read = channels.source(number).read
        sink = channels.sink(number)
        self.write, self.close = sink.write, sink.close


async def _forward(port: int, pod: str, dial: Dial, data: "SpdyStream | _Duplex", error: Sink) -> bool:
    """Connect, and copy until the Pod closes the connection. Returns False if the port cannot be reached.

    Raises `OSError` if the client has disconnected.
    """
    try:
        reader, writer = await dial(port)
    except (OSError, LookupError, Unsupported) as failure:
        text = f"error forwarding port {port} to pod {pod}: {failure}"
        _log.info("cannot forward port %d to pod %s: %s", port, pod, failure)
        await error.write(text.encode())
        return False
    try:
        async with asyncio.TaskGroup() as tasks:
            down = tasks.create_task(_to_client(reader, data))
            up = tasks.create_task(_to_pod(data, writer))
            await asyncio.wait({down})
            await asyncio.wait({up}, timeout=_LAST_WORDS_S)
            up.cancel()
        with contextlib.suppress(OSError):
            writer.close()
            await writer.wait_closed()
    finally:
        writer.transport.abort()
    return True


async def _to_pod(source: ByteSource, writer: asyncio.StreamWriter) -> None:
    """Copy the client's data to the Pod, then close this direction of the connection."""
    with contextlib.suppress(OSError):
        while data := await source.read():
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


async def _to_client(reader: asyncio.StreamReader, sink: Sink) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_READ_BYTES):
            await sink.write(data)
    await sink.close()
