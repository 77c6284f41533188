"""A server that is about to end sends its clients elsewhere."""

from collections.abc import AsyncIterator

import pytest

from sampan.server.request import Request, Response
from tests.server.test_http import answer, connect, echo, finish

GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"


async def test_a_client_is_told_to_turn_elsewhere_with_its_answer_and_loses_no_request() -> None:
    server, reader, writer = await connect(echo)
    writer.write(GET)
    assert "connection" not in (await answer(reader))[1]
    server.leaving = True
    writer.write(GET)
    status, headers, _ = await answer(reader)
    assert (status, headers["connection"]) == (200, "close")
    assert await reader.read() == b""
    await finish(server, writer)


@pytest.mark.parametrize("leaving", [False, True])
async def test_a_stream_says_whether_its_connection_ends_with_it(leaving: bool) -> None:
    async def two() -> AsyncIterator[bytes]:
        yield b"a"
        yield b"b"

    async def stream(request: Request) -> Response:
        return Response(stream=two())

    server, reader, writer = await connect(stream)
    server.leaving = leaving
    writer.write(GET)
    assert (b"connection: close" in (await reader.readuntil(b"\r\n\r\n")).lower()) is leaving
    assert await reader.readuntil(b"0\r\n\r\n") == b"1\r\na\r\n1\r\nb\r\n0\r\n\r\n"
    await finish(server, writer)
