"""Requests that an HTTP/1.1 client sends without waiting for responses."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic

import pytest

from sampan.core.errors import StatusError
from sampan.server.connections.http1 import Http1Connection
from sampan.server.connections.listener import HttpServer
from sampan.server.connections.owner import BODY_AHEAD_BYTES
from sampan.server.connections.receiver import PIPELINE_MAX, SLICE_BYTES_MAX
from sampan.server.request import Handler, Request, Response
from sampan.server.status import status_response
from tests.server.connections.test_http2_fuzz import Wire
from tests.server.test_abuse import listening

GET = b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n"
CHUNKED = b"POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"


class Recorder:
    """Handler that records its requests."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.received: list[float] = []
        self.responded: list[float] = []

    async def __call__(self, request: Request) -> Response:
        self.paths.append(request.wire.path)
        self.received.append(request.wire.received)
        await asyncio.sleep(0)
        self.responded.append(monotonic())
        return Response(body=b"ok")


@asynccontextmanager
async def connection_of(handler: Handler) -> AsyncIterator[tuple[Http1Connection, Wire]]:
    connection, wire = Http1Connection(HttpServer(handler)), Wire()
    connection.connection_made(wire)
    yield connection, wire
    connection.connection_lost(None)


async def until(condition: Callable[[], bool]) -> None:
    """Return when `condition` holds."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  # nothing announces it
            await asyncio.sleep(0)


async def test_thousands_of_pipelined_requests_get_their_responses_in_order() -> None:
    recorder, count = Recorder(), 5000
    async with listening(recorder) as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"".join(GET.replace(b"/x", b"/%d" % n) for n in range(count)))
        for _ in range(count):
            await reader.readuntil(b"\r\n\r\nok")
        writer.close()
    assert recorder.paths == [f"/{n}" for n in range(count)]


async def test_no_more_requests_are_parsed_than_may_wait() -> None:
    recorder, count, most = Recorder(), 7000, 0
    async with connection_of(recorder) as (connection, _):
        connection.data_received(GET * count)
        while len(recorder.responded) < count:
            most = max(most, len(connection._receiver._queue))
            await asyncio.sleep(0)
    assert most <= PIPELINE_MAX + SLICE_BYTES_MAX // len(GET)


async def test_a_client_that_does_not_read_gets_no_further_responses() -> None:
    recorder = Recorder()
    async with connection_of(recorder) as (connection, _):
        connection.pause_writing()
        connection.data_received(GET * 5)
        await until(lambda: len(recorder.responded) == 1)
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(recorder.responded) == 1
        connection.resume_writing()
        await until(lambda: len(recorder.responded) == 5)


async def test_the_latency_of_a_request_begins_after_the_previous_response() -> None:
    recorder = Recorder()
    async with connection_of(recorder) as (connection, _):
        connection.data_received(GET * 20)
        await until(lambda: len(recorder.responded) == 20)
    assert len(recorder.received) == 20
    assert all(begun >= done for begun, done in zip(recorder.received[1:], recorder.responded, strict=False))


@pytest.mark.parametrize("excess", [1, BODY_AHEAD_BYTES])
async def test_a_body_beyond_the_limit_is_refused_when_all_of_it_has_come(excess: int) -> None:
    limit = BODY_AHEAD_BYTES + 1000
    may_read = asyncio.Event()

    async def handler(request: Request) -> Response:
        await may_read.wait()
        try:
            await request.wire.read_body(limit)
        except StatusError as error:
            return status_response(error)
        return Response()

    body = b"%x\r\n" % (limit + excess) + b"x" * (limit + excess) + b"\r\n0\r\n\r\n"
    async with connection_of(handler) as (connection, wire):
        connection.data_received(CHUNKED + body)
        may_read.set()
        await until(lambda: bool(wire.written))
        assert wire.written.startswith(b"HTTP/1.1 413 ")


async def test_headers_of_a_head_that_came_in_pieces_are_not_taken_for_all_of_the_next() -> None:
    observed: list[dict[str, str]] = []

    async def handler(request: Request) -> Response:
        observed.append(dict(request.headers))
        return Response()

    async with connection_of(handler) as (connection, _):
        connection.data_received(b"GET /a HTTP/1.1\r\nX-A: 1\r\nX-B: ")
        connection.data_received(b"GET HTTP/1.1\r\nHost: h\r\n\r\n")
        await until(lambda: connection.idle and len(observed) == 1)
        connection.data_received(b"GET /b HTTP/1.1\r\nHost: h\r\n\r\n")
        await until(lambda: len(observed) == 2)
    assert observed[1] == {"host": "h"}


async def test_bytes_after_an_upgrade_reach_its_tunnel() -> None:
    sent = bytes(range(256)) * 150
    taken = asyncio.get_running_loop().create_future()

    async def handler(request: Request) -> Response:
        async def takeover(tunnel: object) -> None:
            taken.set_result(tunnel.take())  # type: ignore[attr-defined]

        return Response(101, takeover=takeover)

    async with listening(handler) as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"GET /x HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n" + sent)
        found = await asyncio.wait_for(taken, 60)
        assert sent.startswith(found)
        await reader.read()
        writer.close()
