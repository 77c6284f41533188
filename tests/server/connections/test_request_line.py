"""Methods and versions in a request line, over real sockets without TLS.

Source: Go's net/http, which kube-apiserver is served by.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest

from sampan.server.request import Handler, Request, Response
from tests.server.connections.test_http1 import connect, echo, finish, response


async def everything(data: bytes, handler: Handler = echo) -> tuple[bytes, bytes]:
    """Head and body of the answer after which the server closes the connection."""
    server, reader, writer = await connect(handler)
    writer.write(data)
    head, _, body = (await asyncio.wait_for(reader.read(), 30)).partition(b"\r\n\r\n")
    await finish(server, writer)
    return head, body


async def test_http_1_0_gets_its_own_version_and_a_closed_connection() -> None:
    head, body = await everything(b"GET /a HTTP/1.0\r\n\r\n")
    assert head.startswith(b"HTTP/1.0 200 OK\r\n")
    assert b"Connection" not in head
    assert body == b"GET /a  0"


async def test_http_1_0_stays_open_with_keep_alive() -> None:
    server, reader, writer = await connect(echo)
    for path in ("a", "b"):
        writer.write(f"GET /{path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n".encode())
        status, headers, body = await response(reader)
        assert (status, headers["connection"], body) == (200, "keep-alive", f"GET /{path}  0".encode())
    await finish(server, writer)


async def test_a_stream_of_http_1_0_has_no_chunks_and_ends_with_the_connection() -> None:
    async def stream() -> AsyncIterator[bytes]:
        yield b"one "
        yield b"two"

    async def handler(request: Request) -> Response:
        return Response(stream=stream())

    head, body = await everything(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", handler)
    assert head.startswith(b"HTTP/1.0 200 OK\r\n")
    assert b"Transfer-Encoding" not in head
    assert body == b"one two"


@pytest.mark.parametrize("version", [b"0.9", b"2.0"])
async def test_another_version_of_http_is_refused(version: bytes) -> None:
    head, body = await everything(b"GET / HTTP/%b\r\nHost: h\r\n\r\n" % version)
    assert head.startswith(b"HTTP/1.1 505 ")
    assert body == b"505 HTTP Version Not Supported: unsupported protocol version"


async def test_a_method_that_no_client_has_reaches_the_handler_with_its_body() -> None:
    server, reader, writer = await connect(echo)
    for method in ("FOO", "foo_bar", "GETS", "PROPFIND", "M-SEARCH"):
        writer.write(f"{method} /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi".encode())
        assert (await response(reader))[2] == f"{method} /a  2".encode()
    writer.write(b"GET /b HTTP/1.1\r\nHost: h\r\n\r\n")
    assert (await response(reader))[2] == b"GET /b  0"
    await finish(server, writer)


@pytest.mark.parametrize("method", [b"FOO", b"GETS", b"GET", b"POST"])
@pytest.mark.parametrize("first", [1, 2, 3])
async def test_a_method_may_come_in_two_pieces(method: bytes, first: int) -> None:
    server, reader, writer = await connect(echo)
    writer.write(method[:first])
    await writer.drain()
    await asyncio.sleep(0.01)
    writer.write(method[first:] + b" /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi")
    assert (await response(reader))[2] == method + b" /a  2"
    await finish(server, writer)


async def test_a_method_may_come_letter_by_letter() -> None:
    server, reader, writer = await connect(echo)
    for letter in b"PROPFIND /a HTTP/1.1\r\nHost: h\r\n\r\n":
        writer.write(bytes([letter]))
        await writer.drain()
        await asyncio.sleep(0)
    assert (await response(reader))[2] == b"PROPFIND /a  0"
    await finish(server, writer)


@pytest.mark.parametrize("line", [b"F(O / HTTP/1.1", b" / HTTP/1.1", b"FOO  / HTTP/1.1 x", b"FOO"])
async def test_a_request_line_without_a_method_is_refused(line: bytes) -> None:
    head, body = await everything(line + b"\r\nHost: h\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert body == b"400 Bad Request"


@pytest.mark.parametrize(
    "line",
    [
        b"GET  /livez HTTP/1.1",
        b"GET /livez  HTTP/1.1",
        b"GET /livez HTTP/1.1 ",
        b" GET /livez HTTP/1.1",
        b"GET\t/livez HTTP/1.1",
        b"GET /livez\tHTTP/1.1",
        b"GET /livez",
        b"GET /livez RTSP/1.0",
        b"SOURCE /livez ICE/1.0",
        b"GET /livez http/1.1",
        b"\r\nGET /livez HTTP/1.1",
        b"\nGET /livez HTTP/1.1",
        b"FOO  /livez HTTP/1.1",
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_a_request_line_that_go_refuses_is_refused(line: bytes, size: int) -> None:
    server, reader, writer = await connect(echo)
    data = line + b"\r\nHost: h\r\nConnection: close\r\n\r\n"
    for start in range(0, len(data), size):
        writer.write(data[start : start + size])
        await writer.drain()
        await asyncio.sleep(0)
    assert (await asyncio.wait_for(reader.read(), 30)).startswith(b"HTTP/1.1 400 ")
    await finish(server, writer)


@pytest.mark.parametrize("body", [b"", b"hi"], ids=["no body", "a body"])
async def test_the_line_of_a_pipelined_request_is_checked(body: bytes) -> None:
    first = b"POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    head, found = await everything(first + b"GET  /2 HTTP/1.1\r\nHost: h\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"/2" not in found


@pytest.mark.parametrize("target", [b"http://x:y/livez", b"https://[::1/livez", b"http://a b/livez"])
async def test_a_target_with_a_malformed_host_is_refused(target: bytes) -> None:
    head, _ = await everything(b"GET %b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" % target)
    assert head.startswith(b"HTTP/1.1 400 ")


async def test_another_expectation_than_100_continue_is_refused() -> None:
    head, _ = await everything(b"GET / HTTP/1.1\r\nHost: h\r\nExpect: 200-ok\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 417 ")
