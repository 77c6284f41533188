"""A client that stops sending right after its request loses no part of it, however large the request is."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import uvloop
from h2.config import H2Configuration
from h2.connection import H2Connection

from sampan.core.clock import monotonic
from sampan.server.connections.http2.frames import STREAM_WINDOW_BYTES
from sampan.server.connections.limited_reads import READS_PER_TURN, RECORD_BYTES
from sampan.server.connections.receiver import PIPELINE_MAX
from sampan.server.request import Request, Response, UserInfo
from sampan.server.tls.serving import HTTP_1, HTTP_2
from tests.server.http2_client import Route, Running, running
from tests.server.tls_files import make_files

BODY_BYTES = 4 * READS_PER_TURN * RECORD_BYTES
LIMIT = BODY_BYTES


def on_each_loop(test: Callable[[Path, bool], Coroutine[None, None, None]]) -> Callable[..., None]:
    """Run a test on both event loops, for both ends of a connection."""

    @pytest.mark.parametrize("new_loop", [asyncio.SelectorEventLoop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
    @pytest.mark.parametrize("close_notify", [True, False], ids=["close_notify", "FIN"])
    def run(tmp_path: Path, close_notify: bool, new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(test(tmp_path, close_notify))

    run.__doc__ = test.__doc__
    return run


class Received:
    """Handler that records the size of each body that it has read to its end, or the error."""

    def __init__(self) -> None:
        self.results: asyncio.Queue[int | Exception] = asyncio.Queue()

    async def __call__(self, request: Request) -> Response:
        request.user = UserInfo("jane")
        await asyncio.sleep(0.05)  # reading is paused meanwhile, because much of the body is buffered
        try:
            self.results.put_nowait(len(await request.wire.read_body(LIMIT)))
        except Exception as error:
            self.results.put_nowait(error)
            raise
        return Response()


class TlsClient:
    """TLS over a plain connection, so that a test decides how the connection ends."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, context: ssl.SSLContext) -> None:
        self.reader, self.writer = reader, writer
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")

    async def handshake(self) -> None:
        while True:
            with suppress(ssl.SSLWantReadError):
                self.tls.do_handshake()
                break
            await self.receive_records()
        self.flush()

    def flush(self) -> None:
        self.writer.write(self.outgoing.read())

    async def receive_records(self) -> None:
        self.flush()
        async with asyncio.timeout(30):
            self.incoming.write(await self.reader.read(1 << 16))

    def send(self, data: bytes) -> None:
        self.tls.write(data)
        self.flush()

    async def receive(self) -> bytes:
        while True:
            with suppress(ssl.SSLWantReadError):
                return self.tls.read(1 << 16)
            await self.receive_records()

    def end(self, *, close_notify: bool) -> None:
        if close_notify:
            with suppress(ssl.SSLError):  # the server does not end, or has sent data
                self.tls.unwrap()
            self.flush()
        self.writer.write_eof()


@asynccontextmanager
async def client_of(server: Running, protocol: str) -> AsyncIterator[TlsClient]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    client = TlsClient(reader, writer, server.context(protocol))
    try:
        await client.handshake()
        yield client
    finally:
        writer.close()


@asynccontextmanager
async def serving(directory: Path) -> AsyncIterator[tuple[Running, Received]]:
    received = Received()
    async with running(make_files(directory), received) as server:
        yield server, received


async def result(received: Received) -> int | Exception:
    async with asyncio.timeout(30):
        return await received.results.get()


@on_each_loop
async def test_a_large_body_is_read_to_its_end(tmp_path: Path, close_notify: bool) -> None:
    async with serving(tmp_path) as (server, received), client_of(server, HTTP_1) as client:
        client.send(b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % BODY_BYTES + b"x" * BODY_BYTES)
        client.end(close_notify=close_notify)
        assert await result(received) == BODY_BYTES


@on_each_loop
async def test_large_bodies_over_http_2_are_read_to_their_ends(tmp_path: Path, close_notify: bool) -> None:
    async with serving(tmp_path) as (server, received), client_of(server, HTTP_2) as client:
        h2 = H2Connection(H2Configuration(client_side=True))
        h2.initiate_connection()
        client.send(h2.data_to_send())
        while h2.outbound_flow_control_window < BODY_BYTES:
            h2.receive_data(await client.receive())
        streams = range(1, 1 + 2 * (BODY_BYTES // STREAM_WINDOW_BYTES), 2)
        for stream in streams:
            h2.send_headers(stream, [(":method", "POST"), (":path", "/x"), (":scheme", "https"), (":authority", "h")])
            for at in range(0, STREAM_WINDOW_BYTES, h2.max_outbound_frame_size):
                h2.send_data(stream, bytes(min(h2.max_outbound_frame_size, STREAM_WINDOW_BYTES - at)))
            h2.end_stream(stream)
        client.send(h2.data_to_send())
        client.end(close_notify=close_notify)
        assert [await result(received) for _ in streams] == [STREAM_WINDOW_BYTES] * len(streams)


@on_each_loop
async def test_a_client_of_a_stream_that_disconnects_after_many_requests_is_noticed(
    tmp_path: Path, close_notify: bool
) -> None:
    route = Route()
    async with running(make_files(tmp_path), route) as server:
        async with client_of(server, HTTP_1) as client:
            client.send(b"GET /watch HTTP/1.1\r\nHost: h\r\n\r\n" * (PIPELINE_MAX + 2))
            await route.begun.wait()
            client.end(close_notify=close_notify)
        async with asyncio.timeout(30):
            while not route.ended.is_set():
                server.server.sweep(monotonic())
                await asyncio.sleep(0.01)
