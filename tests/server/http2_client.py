"""A client of HTTP/2 that records all frames it receives, on the client's half of h2; and a server for it."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from h2.config import H2Configuration
from h2.connection import ConnectionState, H2Connection
from h2.events import ConnectionTerminated, DataReceived, Event, ResponseReceived, StreamEnded

from sampan.core.errors import StatusError
from sampan.server.connections.listener import HttpServer
from sampan.server.connections.settings import HttpSettings
from sampan.server.request import Handler, Request, Response, UserInfo
from sampan.server.status import status_response
from sampan.server.tls.serving import HTTP_1, HTTP_2, ServingTls, TlsSettings
from tests.server.tls_files import Files, client_context

E = TypeVar("E", bound=Event)


LIMIT = 3 << 20
"""Largest size of a body."""


class Route:
    """Answers by path; every request has the same authenticated user."""

    def __init__(self) -> None:
        self.user = UserInfo("jane")
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.ended = asyncio.Event()
        self.written = asyncio.Event()
        self.chunks: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.finished = 0

    async def __call__(self, request: Request) -> Response:
        request.user = self.user
        return await getattr(self, request.wire.path.split("/")[1])(request)  # type: ignore[no-any-return]

    async def echo(self, request: Request) -> Response:
        try:
            body = await request.wire.read_body(LIMIT)
        except StatusError as error:
            return status_response(error)
        wire = request.wire
        text = f"{wire.method} {wire.path} {wire.query_string} {request.headers.get('x-a', '')} {len(body)}"
        return Response(body=text.encode(), content_type="text/plain", headers=[(b"X-Upper", b"1")])

    async def headers(self, request: Request) -> Response:
        return Response(body=repr(sorted(request.headers.items())).encode())

    async def big(self, request: Request) -> Response:
        return Response(body=b"x" * int(request.wire.path.rpartition("/")[2]))

    async def empty(self, request: Request) -> Response:
        return Response(204)

    async def fault(self, request: Request) -> Response:
        raise ZeroDivisionError

    async def wait(self, request: Request) -> Response:
        self.begun.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.ended.set()
            raise
        self.written.set()
        return Response(body=b"done")

    async def gone(self, request: Request) -> Response:
        self.begun.set()
        assert request.wire.disconnected is not None
        await request.wire.disconnected()
        self.ended.set()
        return Response()

    async def watch(self, request: Request) -> Response:
        return Response(stream=self._chunks(), finished=self._finish)

    async def _chunks(self) -> AsyncIterator[bytes]:
        self.begun.set()
        try:
            while (chunk := await self.chunks.get()) is not None:
                yield chunk
        finally:
            self.ended.set()

    def _finish(self) -> None:
        self.finished += 1


@dataclass
class Running:
    """A server on TLS, and how to reach it."""

    server: HttpServer
    port: int
    files: Files

    def context(self, *protocols: str) -> ssl.SSLContext:
        return client_context(self.files, protocols=protocols or (HTTP_2,))


@asynccontextmanager
async def running(
    files: Files, handler: Handler, settings: HttpSettings | None = None, protocols: Sequence[str] = (HTTP_1, HTTP_2)
) -> AsyncIterator[Running]:
    """`handler` behind TLS; ends with the block."""
    tls = ServingTls(TlsSettings(files.serving("serving"), protocols=tuple(protocols)))
    server = HttpServer(handler, settings or HttpSettings(linger_s=0.01))
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    await server.start(sock, tls.context)
    try:
        yield Running(server, sock.getsockname()[1], files)
    finally:
        server.stop_listening()
        await server.drain(5)


@dataclass
class Http2Response:
    """The headers and the body of an answer on a stream."""

    headers: dict[str, str]
    body: bytes = b""

    @property
    def status(self) -> int:
        return int(self.headers[":status"])


@dataclass
class Http2Client:
    """Sends the requests of a test and keeps everything it receives."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    h2: H2Connection
    events: list[Event] = field(default_factory=list)
    raw: bytes = b""
    acknowledges: bool = True

    def request(self, method: str, path: str, *, end: bool = True, headers: Sequence[tuple[str, str]] = ()) -> int:
        """Open a stream; gives its number."""
        stream_id = self.h2.get_next_available_stream_id()
        fields = [(":method", method), (":path", path), (":scheme", "https"), (":authority", "localhost"), *headers]
        self.h2.send_headers(stream_id, fields, end_stream=end)
        self.flush()
        return stream_id

    def flush(self) -> None:
        self.writer.write(self.h2.data_to_send())

    async def receive(self) -> bool:
        """Take in what comes next; False at the end."""
        async with asyncio.timeout(60):
            data = await self.reader.read(1 << 20)
        self.raw += data
        while len(self.raw) >= 9 and len(self.raw) >= (size := 9 + int.from_bytes(self.raw[:3], "big")):
            frame, self.raw = self.raw[:size], self.raw[size:]
            self._receive_frame(frame)
        self.flush()
        return bool(data)

    def _receive_frame(self, frame: bytes) -> None:
        for event in self.h2.receive_data(frame):
            self.events.append(event)
            if isinstance(event, DataReceived) and self.acknowledges:
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if isinstance(event, ConnectionTerminated):
                # Open streams go on after a GOAWAY, but h2 would accept no more frames.
                self.h2.state_machine.state = ConnectionState.CLIENT_OPEN

    async def wait(self, kind: type[E], stream_id: int | None = None) -> E:
        """The first event of a kind (on a stream), when it has come. Raises `EOFError` when it cannot come any more."""
        while True:
            for event in self.events:
                if isinstance(event, kind) and stream_id in (None, getattr(event, "stream_id", None)):
                    return event
            if not await self.receive():
                raise EOFError(kind.__name__)

    async def response(self, stream_id: int) -> Http2Response:
        """The whole answer on a stream."""
        head = await self.wait(ResponseReceived, stream_id)
        await self.wait(StreamEnded, stream_id)
        return Http2Response(_texts(head), self.body(stream_id))

    async def fetch(self, method: str, path: str, body: bytes = b"") -> Http2Response:
        """A request, and its answer."""
        stream_id = self.request(method, path, end=not body)
        await self.upload(stream_id, body)
        return await self.response(stream_id)

    async def upload(self, stream_id: int, body: bytes) -> None:
        """Send a body as fast as the windows allow; returns when it is sent or the stream is answered."""
        at = 0
        while at < len(body):
            room = min(self.h2.local_flow_control_window(stream_id), self.h2.max_outbound_frame_size, len(body) - at)
            if room:
                self.h2.send_data(stream_id, body[at : at + room], end_stream=at + room == len(body))
                at += room
                self.flush()
                await self.writer.drain()
                continue
            await self.receive()
            if any(isinstance(e, StreamEnded) and e.stream_id == stream_id for e in self.events):
                return

    def body(self, stream_id: int) -> bytes:
        """Return the part of a body that has come so far."""
        return b"".join(
            event.data or b""
            for event in self.events
            if isinstance(event, DataReceived) and event.stream_id == stream_id
        )

    async def closed(self) -> None:
        """Returns when the server has closed the connection."""
        while await self.receive():
            pass


def _texts(head: ResponseReceived) -> dict[str, str]:
    return {_text(name): _text(value) for name, value in head.headers or ()}


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


@asynccontextmanager
async def connected(running: Running) -> AsyncIterator[Http2Client]:
    """A connection that has been greeted; ends with the block."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", running.port, ssl=running.context(), server_hostname="localhost"
    )
    h2 = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
    h2.initiate_connection()
    client = Http2Client(reader, writer, h2)
    client.flush()
    try:
        yield client
    finally:
        writer.close()
