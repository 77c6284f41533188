"""Large responses are written in pieces; the event loop serves other connections between two pieces."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection

from sampan.server.connections.http1 import WRITE_CHUNK_BYTES, Http1Connection
from sampan.server.connections.http2.connection import Http2Connection
from sampan.server.connections.listener import HttpServer
from sampan.server.request import Handler, Request, Response
from tests.server.connections.test_http2_fuzz import Wire
from tests.server.connections.test_pipelining import GET, until

BODY = b"x" * (10 * WRITE_CHUNK_BYTES)


class LoopRecorder(Wire):
    """Transport that is never full, as that of a fast client. Records the turn of the loop and the size of writes."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = 0
        self.writes: list[tuple[int, int]] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        super().write(data)
        self.writes.append((self.turn, len(data)))

    async def until(self, text: bytes) -> None:
        """Count turns until `text` is written."""
        async with asyncio.timeout(60):
            while text not in self.written[-100:]:
                self.turn += 1
                await asyncio.sleep(0)

    def largest_turn(self) -> int:
        """Return the number of bytes written in one turn, at most."""
        written: dict[int, int] = {}
        for turn, size in self.writes:
            written[turn] = written.get(turn, 0) + size
        return max(written.values())


async def whole(request: Request) -> Response:
    return Response(body=BODY + b"end")


async def streamed(request: Request) -> Response:
    async def stream() -> AsyncIterator[bytes]:
        yield BODY
        yield b"end"

    return Response(stream=stream())


@pytest.mark.parametrize("handler", [whole, streamed])
async def test_a_fast_client_of_http_1_does_not_block_the_event_loop(handler: Handler) -> None:
    wire = LoopRecorder()
    connection = Http1Connection(HttpServer(handler))
    connection.connection_made(wire)
    connection.data_received(GET)
    await wire.until(b"end")
    assert wire.largest_turn() < 2 * WRITE_CHUNK_BYTES
    assert wire.written.count(b"x") == len(BODY)
    connection.connection_lost(None)


@pytest.mark.parametrize("handler", [whole, streamed])
async def test_a_fast_client_of_http_2_with_large_windows_does_not_block_the_event_loop(handler: Handler) -> None:
    wire = LoopRecorder()
    connection = Http2Connection(HttpServer(handler))
    connection.connection_made(wire)
    client = H2Connection(H2Configuration(client_side=True))
    client.initiate_connection()
    client.update_settings({4: 1 << 30})
    client.increment_flow_control_window(1 << 30)
    client.send_headers(1, [(":method", "GET"), (":path", "/x"), (":scheme", "https"), (":authority", "h")], True)
    connection.data_received(client.data_to_send())
    await wire.until(b"end")
    assert wire.largest_turn() < 2 * WRITE_CHUNK_BYTES
    assert wire.written.count(b"x") == len(BODY)
    connection.connection_lost(None)


async def test_a_chunk_that_has_begun_is_complete_when_the_server_ends_the_stream() -> None:
    wire = LoopRecorder()
    connection = Http1Connection(HttpServer(streamed))
    connection.connection_made(wire)
    connection.data_received(GET)
    await until(lambda: wire.written.count(b"x") > WRITE_CHUNK_BYTES)
    connection.end_streams()
    await wire.until(b"0\r\n\r\n")
    assert wire.written.count(b"x") == len(BODY)
