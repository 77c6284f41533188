"""Clients that are slow, greedy or ambiguous, on HTTP/1.1."""

import asyncio
import resource
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sampan.core.errors import StatusError
from sampan.server.connections.listener import HttpServer
from sampan.server.connections.owner import BODY_DISCARD_BYTES_MAX, HEADER_BYTES_MAX
from sampan.server.connections.settings import HttpSettings
from sampan.server.filters.deadline import Deadlines
from sampan.server.filters.error_responses import with_error_responses
from sampan.server.incoming import BODY_PIECES_MAX
from sampan.server.request import Handler, Request, Response
from sampan.server.status import status_response

CONNECTIONS = 2000
LIMIT = 1 << 20
POST = b"POST /x HTTP/1.1\r\nHost: h\r\n"


async def echo(request: Request) -> Response:
    """Answers with the target and the size of the body."""
    try:
        body = await request.wire.read_body(LIMIT)
    except StatusError as error:
        return status_response(error)
    return Response(body=f"{request.wire.method} {request.wire.path} {len(body)}".encode())


@asynccontextmanager
async def listening(handler: Handler = echo) -> AsyncIterator[tuple[HttpServer, tuple[str, int]]]:
    server = HttpServer(handler, HttpSettings(linger_s=0.1))
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    await server.start(sock, None)
    try:
        yield server, sock.getsockname()
    finally:
        server.stop_listening()
        await server.drain(5)


async def response_to(*pieces: bytes, handler: Handler = echo) -> bytes:
    """Send these pieces one after another, and return all that the server sends until it closes."""
    async with listening(handler) as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.005)
        try:
            async with asyncio.timeout(60):
                return await reader.read()
        finally:
            writer.close()


CLOSE = b"Connection: close\r\n"


async def test_a_client_that_goes_away_while_it_sends_is_no_fault_of_the_servers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    responses = asyncio.Event()

    async def reading(request: Request) -> Response:
        return Response(body=await request.wire.read_body(LIMIT))

    async def noting(request: Request) -> Response:
        response = await with_error_responses([])(reading)(request)
        responses.set()
        return response

    async with listening(noting) as (_, address):
        _, writer = await asyncio.open_connection(*address)
        writer.write(POST + b"Content-Length: 5\r\n\r\nab")
        await writer.drain()
        await asyncio.sleep(0.01)
        writer.close()
        async with asyncio.timeout(60):
            await responses.wait()
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n",
        b"Content-Length: 5, 6\r\n",
        b"Content-Length: +5\r\n",
        b"Content-Length: -5\r\n",
        b"Content-Length: 0x5\r\n",
        b"Content-Length : 5\r\n",
        b"Content-Length: 99999999999999999999\r\n",
        b"Transfer-Encoding: identity, chunked, identity\r\n",
        b"Transfer-Encoding: chunked, chunkedx\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"X: a\x00b\r\n",
        b"X: a\r\n folded\r\n Content-Length: 1\r\nNo colon\r\n",
    ],
    ids=lambda head: head.decode("latin-1").strip()[:44],
)
async def test_a_request_whose_end_is_ambiguous_is_refused_and_ends_the_connection(head: bytes) -> None:
    found = await response_to(POST + head + b"\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
    assert found.startswith(b"HTTP/1.1 400 ")
    assert found.count(b"HTTP/1.1 ") == 1
    assert b"smuggled" not in found


@pytest.mark.parametrize(
    "chunks",
    [b"x\r\n", b"-1\r\n", b"5\r\nabcdeX\r\n", b"ffffffffffffffffff\r\n", b"5 ;\x00\r\nabcde\r\n"],
    ids=["no-number", "negative", "too-long", "huge", "extension"],
)
async def test_a_malformed_chunk_ends_the_connection(chunks: bytes) -> None:
    found = await response_to(POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"GET /smuggled HTTP/1.1\r\n\r\n")
    assert b"smuggled" not in found
    assert b" 200 " not in found


async def test_the_first_piece_of_a_head_is_not_taken_for_all_of_it() -> None:
    found = await response_to(b"GET /x HTTP/1.1", b"\r\nHost: h\r\n" + CLOSE, b"\r\n")
    assert found.count(b"HTTP/1.1 ") == 1
    assert found.endswith(b"GET /x 0")


async def test_a_request_may_come_byte_by_byte() -> None:
    found = await response_to(*(bytes((byte,)) for byte in b"GET /x HTTP/1.1\r\nHost: h\r\n" + CLOSE + b"\r\n"))
    assert found.endswith(b"GET /x 0")


async def test_an_endless_request_line_is_refused() -> None:
    found = await response_to(b"GET /" + b"a" * (HEADER_BYTES_MAX + 1))
    assert found.startswith(b"HTTP/1.1 431 ")


async def test_many_small_headers_are_refused_beyond_the_limit() -> None:
    found = await response_to(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * (HEADER_BYTES_MAX // 6 + 10))
    assert found.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("split", [False, True], ids=["at-once", "in-pieces"])
async def test_a_trailer_after_a_body_is_not_a_header(split: bool) -> None:
    async def route(request: Request) -> Response:
        await request.wire.read_body(LIMIT)
        return Response(body=repr(sorted(request.headers)).encode())

    head = POST + CLOSE + b"Transfer-Encoding: chunked\r\n\r\n"
    rest = b"1\r\na\r\n0\r\nHost: other\r\nImpersonate-User: root\r\n\r\n"
    found = await response_to(*((head, rest) if split else (head + rest,)), handler=route)
    assert found.endswith(b"['connection', 'host', 'transfer-encoding']")


async def test_a_body_that_goes_on_after_its_refusal_ends_the_connection() -> None:
    size = LIMIT + BODY_DISCARD_BYTES_MAX * 2
    async with listening() as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(POST + b"Content-Length: %d\r\n\r\n" % size)
        assert b" 413 " in await reader.readuntil(b"\r\n\r\n")
        with pytest.raises(ConnectionError):
            await _pour(writer, size)
        writer.close()


async def _pour(writer: asyncio.StreamWriter, size: int) -> None:
    for _ in range(size >> 16):
        writer.write(b"x" * (1 << 16))
        await writer.drain()
        await asyncio.sleep(0)


async def test_a_body_in_tiny_chunks_takes_no_more_room_than_one_in_large_ones() -> None:
    pieces: list[int] = []

    async def route(request: Request) -> Response:
        incoming = request.wire.read_body.__self__  # type: ignore[attr-defined]  # a method of the request as it arrives
        body = await request.wire.read_body(LIMIT)
        pieces.append(len(incoming.body))
        return Response(body=str(len(body)).encode())

    count = BODY_PIECES_MAX * 20
    head = POST + CLOSE + b"Transfer-Encoding: chunked\r\n\r\n"
    found = await response_to(head, b"2\r\nab\r\n" * count + b"0\r\n\r\n", handler=route)
    assert found.endswith(str(count * 2).encode())
    assert max(pieces) <= BODY_PIECES_MAX


async def test_a_slow_body_gets_504_at_its_deadline() -> None:
    deadlines = Deadlines(60)
    begun = asyncio.Event()

    async def route(request: Request) -> Response:
        begun.set()
        return await echo(request)

    async with listening(with_error_responses([])(deadlines.filter(route))) as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(POST + b"Content-Length: 10\r\n\r\nslow")
        await begun.wait()
        deadlines.expire(asyncio.get_running_loop().time() + 61)
        assert b" 504 " in await reader.readuntil(b"\r\n\r\n")
        writer.close()


async def test_two_thousand_idle_connections_cost_little_and_are_swept() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * CONNECTIONS + 200
    if soft < needed:
        if hard not in (-1, resource.RLIM_INFINITY) and hard < needed:
            pytest.skip(f"needs {needed} open files, may have {hard}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    async with listening() as (server, address):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        clients = [await asyncio.open_connection(*address) for _ in range(CONNECTIONS)]
        while server.connection_count < CONNECTIONS:  # noqa: ASYNC110  # the server tells nobody
            await asyncio.sleep(0)
        grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        server.sweep(asyncio.get_running_loop().time() + server.settings.idle_timeout_s + 1)
        assert [await reader.read() for reader, _ in clients] == [b""] * CONNECTIONS
        for _, client in [*clients, (reader, writer)]:
            client.close()
    assert grown_kb < 60 * CONNECTIONS
    assert server.connection_count == 0
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
