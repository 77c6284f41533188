"""The HTTP edge, over real sockets without TLS."""

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator

import pytest

from sampan.core.errors import StatusError
from sampan.core.event_loop.turns import LoopTurns
from sampan.server.compression import SIZE_MIN_BYTES
from sampan.server.connections.listener import HttpServer
from sampan.server.connections.owner import BODY_AHEAD_BYTES, HEADER_BYTES_MAX
from sampan.server.connections.receiver import SLICE_BYTES_MAX
from sampan.server.connections.settings import HttpSettings
from sampan.server.request import Handler, Request, Response
from sampan.server.status import status_response

Connect = tuple[HttpServer, asyncio.StreamReader, asyncio.StreamWriter]


async def echo(request: Request) -> Response:
    """Answers with the method, the path, a header and the size of the body."""
    try:
        body = await request.wire.read_body(1 << 20)
    except StatusError as error:
        return status_response(error)
    text = f"{request.wire.method} {request.wire.path} {request.headers.get('x-a', '')} {len(body)}"
    return Response(body=text.encode(), content_type="text/plain")


async def connect(handler: Handler, settings: HttpSettings | None = None) -> Connect:
    server = HttpServer(handler, settings or HttpSettings(linger_s=0.1))
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    await server.start(sock, None)
    reader, writer = await asyncio.open_connection(*sock.getsockname())
    return server, reader, writer


async def finish(server: HttpServer, writer: asyncio.StreamWriter) -> None:
    writer.close()
    server.stop_listening()
    await server.drain(5)


async def response(reader: asyncio.StreamReader, *, head_only: bool = False) -> tuple[int, dict[str, str], bytes]:
    """One answer with a Content-Length."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    length = 0 if head_only else int(headers.get("content-length", "0"))
    return int(head[0].split()[1]), headers, await reader.readexactly(length)


async def exchange(handler: Handler, data: bytes) -> tuple[int, dict[str, str], bytes]:
    server, reader, writer = await connect(handler)
    writer.write(data)
    found = await response(reader)
    await finish(server, writer)
    return found


async def test_a_get_receives_a_response() -> None:
    status, headers, body = await exchange(echo, b"GET /a%20b?x=1 HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nX-A: 2\r\n\r\n")
    assert (status, body) == (200, b"GET /a b 1, 2 0")
    assert "date" in headers


@pytest.mark.parametrize(
    ("head", "fault"),
    [
        (b"GET / HTTP/1.1\r\n", b": missing required Host header"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n", b""),
        (b"GET / HTTP/1.1\r\nHost: a b\r\n", b": malformed Host header"),
        (b"GET / HTTP/1.1\r\nHost: a/b@c\r\n", b": malformed Host header"),
        (b"GET / HTTP/1.0\r\nHost: a<b\r\n", b": malformed Host header"),
    ],
    ids=["none", "two", "space", "path", "HTTP/1.0"],
)
async def test_a_request_whose_host_is_no_host_is_refused(head: bytes, fault: bytes) -> None:
    status, headers, body = await exchange(echo, head + b"\r\n")
    assert (status, body) == (400, b"400 Bad Request" + fault)
    assert headers["connection"] == "close"


@pytest.mark.parametrize(
    "head", [b"GET / HTTP/1.0\r\n", b"GET / HTTP/1.1\r\nHost:\r\n", b"GET / HTTP/1.1\r\nHost: [::1]:6443\r\n"]
)
async def test_a_host_may_be_empty_and_in_http_1_0_not_there(head: bytes) -> None:
    assert (await exchange(echo, head + b"\r\n"))[0] == 200


async def test_a_connection_serves_many_requests_and_each_has_its_own_target_and_headers() -> None:
    server, reader, writer = await connect(echo)
    for path, value in [("a", 1), ("b", 1), ("c", 1), ("d", 2), ("e", 2)]:
        writer.write(f"GET /{path} HTTP/1.1\r\nHost: h\r\nX-A: {value}\r\n\r\n".encode())
        assert (await response(reader))[2] == f"GET /{path} {value} 0".encode()
    writer.write(b"POST /p HTTP/1.1\r\nHost: h\r\nX-A: 2\r\nContent-Length: 2\r\n\r\nhi")
    assert (await response(reader))[2] == b"POST /p 2 2"
    writer.write(b"GET /f HTTP/1.1\r\nHost: h\r\nX-A: 2\r\n\r\n")
    assert (await response(reader))[2] == b"GET /f 2 0"
    await finish(server, writer)


async def test_a_handler_that_changes_headers_does_not_change_the_next_request() -> None:
    async def route(request: Request) -> Response:
        return Response(body=request.headers.pop("x-a").encode())

    server, reader, writer = await connect(route)
    for _ in range(3):
        writer.write(b"GET / HTTP/1.1\r\nHost: h\r\nX-A: 1\r\n\r\n")
        assert (await response(reader))[2] == b"1"
    await finish(server, writer)


async def test_many_pipelined_posts_get_their_responses_in_order() -> None:
    server, reader, writer = await connect(echo)
    writer.write(b"".join(b"POST /%d HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx" % i for i in range(50)))
    for i in range(50):
        assert (await response(reader))[2] == f"POST /{i}  1".encode()
    await finish(server, writer)


async def test_a_body_may_come_in_pieces() -> None:
    server, reader, writer = await connect(echo)
    writer.write(b"PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nab")
    await asyncio.sleep(0.01)
    writer.write(b"cd")
    await asyncio.sleep(0.01)
    writer.write(b"ef")
    assert (await response(reader))[2] == b"PUT /x  6"
    await finish(server, writer)


async def test_a_chunked_body_is_read() -> None:
    data = b"PUT /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    assert (await exchange(echo, data))[2] == b"PUT /x  5"


async def test_a_large_body_is_read() -> None:
    size = BODY_AHEAD_BYTES * 3
    data = b"PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size
    assert (await exchange(echo, data))[2] == f"PUT /x  {size}".encode()


@pytest.mark.parametrize("framing", ["length", "chunked"])
async def test_a_body_beyond_the_limit_is_too_large_and_the_connection_lives(framing: str) -> None:
    size = (1 << 20) + 1
    server, reader, writer = await connect(echo)
    if framing == "length":
        writer.write(b"PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size)
    else:
        head = b"PUT /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        writer.write(head + b"%x\r\n" % size + b"x" * size + b"\r\n0\r\n\r\n")
    status, _, body = await response(reader)
    assert (status, b"RequestEntityTooLarge" in body) == (413, True)
    writer.write(b"GET /y HTTP/1.1\r\nHost: h\r\n\r\n")
    assert (await response(reader))[2] == b"GET /y  0"
    await finish(server, writer)


async def test_a_client_that_waits_is_sent_100_continue() -> None:
    server, reader, writer = await connect(echo)
    writer.write(b"PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
    assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    writer.write(b"ab")
    assert (await response(reader))[2] == b"PUT /x  2"
    await finish(server, writer)


async def test_head_has_no_body() -> None:
    server, reader, writer = await connect(echo)
    writer.write(b"HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n")
    status, headers, _ = await response(reader, head_only=True)
    assert (status, headers["content-length"]) == (200, "10")
    writer.write(b"GET /y HTTP/1.1\r\nHost: h\r\n\r\n")
    assert (await response(reader))[2] == b"GET /y  0"
    await finish(server, writer)


async def test_connection_close_is_honoured() -> None:
    server, reader, writer = await connect(echo)
    writer.write(b"GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    _, headers, _ = await response(reader)
    assert headers["connection"] == "close"
    assert await reader.read() == b""
    await finish(server, writer)


async def test_an_upgrade_is_ignored_and_the_request_is_served() -> None:
    data = b"GET /x HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    status, headers, body = await exchange(echo, data)
    assert (status, headers["connection"], body) == (200, "close", b"GET /x  0")


async def test_a_request_that_is_not_http_is_refused() -> None:
    status, headers, _ = await exchange(echo, b"\x16\x03\x01 nonsense\r\n\r\n")
    assert (status, headers["connection"]) == (400, "close")


async def test_a_malformed_target_is_refused() -> None:
    assert (await exchange(echo, b"GET /a%zz HTTP/1.1\r\nHost: h\r\n\r\n"))[0] == 400


async def test_endless_headers_are_refused() -> None:
    server, reader, writer = await connect(echo)
    writer.write(b"GET / HTTP/1.1\r\n" + b"X-A: " + b"a" * (HEADER_BYTES_MAX + 1))
    assert (await response(reader))[0] == 431
    await finish(server, writer)


async def test_a_fault_cuts_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    async def route(request: Request) -> Response:
        raise ZeroDivisionError

    server, reader, writer = await connect(route)
    writer.write(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
        await reader.readexactly(1)
    assert "ZeroDivisionError" in caplog.text
    await finish(server, writer)


@pytest.mark.parametrize("size", [SIZE_MIN_BYTES + 1, 3 << 20])
async def test_large_responses_are_gzipped_for_clients_that_accept_it(size: int) -> None:
    async def route(request: Request) -> Response:
        return Response(body=b"x" * size)

    plain = await exchange(route, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert (plain[1].get("content-encoding"), len(plain[2])) == (None, size)
    packed = await exchange(route, b"GET / HTTP/1.1\r\nHost: h\r\nAccept-Encoding: br, gzip\r\n\r\n")
    assert (packed[1]["content-encoding"], packed[1]["vary"]) == ("gzip", "accept-encoding")
    assert gzip.decompress(packed[2]) == b"x" * size


async def test_small_responses_are_not_gzipped() -> None:
    async def route(request: Request) -> Response:
        return Response(body=b"x" * SIZE_MIN_BYTES)

    found = await exchange(route, b"GET / HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip\r\n\r\n")
    assert "content-encoding" not in found[1]


async def test_a_body_that_is_gzipped_already_is_taken() -> None:
    async def route(request: Request) -> Response:
        return Response(body=b"hello", gzip_body=gzip.compress(b"hello"))

    found = await exchange(route, b"GET / HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip\r\n\r\n")
    assert gzip.decompress(found[2]) == b"hello"


class Stream:
    """A stream that the test fills; `ended` is set at its end."""

    def __init__(self) -> None:
        self.chunks: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.ended = asyncio.Event()
        self.finished = asyncio.Event()

    async def generate(self) -> AsyncIterator[bytes]:
        try:
            while (chunk := await self.chunks.get()) is not None:
                yield chunk
        finally:
            self.ended.set()

    async def route(self, request: Request) -> Response:
        return Response(stream=self.generate(), finished=self.finished.set)


async def streaming() -> tuple[Stream, HttpServer, asyncio.StreamReader, asyncio.StreamWriter]:
    stream = Stream()
    server, reader, writer = await connect(stream.route)
    writer.write(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert b"Transfer-Encoding: chunked" in await reader.readuntil(b"\r\n\r\n")
    return stream, server, reader, writer


async def test_each_chunk_of_a_stream_is_sent_as_it_comes() -> None:
    stream, server, reader, writer = await streaming()
    for text in (b"one", b"two"):
        stream.chunks.put_nowait(text)
        assert await reader.readexactly(8) == b"3\r\n" + text + b"\r\n"
    stream.chunks.put_nowait(None)
    assert await reader.readexactly(5) == b"0\r\n\r\n"
    await asyncio.wait_for(stream.finished.wait(), 60)
    await finish(server, writer)


async def test_a_client_that_goes_ends_its_stream() -> None:
    stream, server, _, writer = await streaming()
    writer.close()
    await asyncio.wait_for(stream.ended.wait(), 60)
    await asyncio.wait_for(stream.finished.wait(), 60)
    await finish(server, writer)


async def test_a_server_that_ends_ends_its_streams_properly() -> None:
    stream, server, reader, writer = await streaming()
    await server.close_streams()
    assert await reader.read() == b"0\r\n\r\n"
    assert stream.ended.is_set()
    await finish(server, writer)


async def test_a_request_in_progress_is_completed_before_the_server_ends() -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def route(request: Request) -> Response:
        begun.set()
        await go.wait()
        return Response(body=b"done")

    server, reader, writer = await connect(route)
    writer.write(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    await begun.wait()
    drain = asyncio.create_task(server.drain(5))
    await asyncio.sleep(0)
    go.set()
    _, headers, body = await response(reader)
    assert (headers["connection"], body) == ("close", b"done")
    await drain
    writer.close()
    server.stop_listening()


async def test_a_request_that_takes_too_long_is_cut_at_the_end() -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def route(request: Request) -> Response:
        begun.set()
        await go.wait()
        return Response()

    server, reader, writer = await connect(route)
    writer.write(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    await begun.wait()
    await server.drain(0.01)
    with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
        await reader.readexactly(1)
    go.set()
    await finish(server, writer)


async def test_a_connection_that_idles_is_closed() -> None:
    server, reader, writer = await connect(echo)
    writer.write(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    await response(reader)
    now = asyncio.get_running_loop().time()
    server.sweep(now + server.settings.idle_timeout_s - 1)
    assert server.connection_count == 1
    server.sweep(now + server.settings.idle_timeout_s + 1)
    assert await reader.read() == b""
    await finish(server, writer)


async def test_a_head_that_does_not_end_is_cut() -> None:
    server, reader, writer = await connect(echo)
    writer.write(b"GET / HTTP/1.1\r\nHos")
    await asyncio.sleep(0.01)
    server.sweep(asyncio.get_running_loop().time() + server.settings.header_timeout_s + 1)
    assert await reader.read() == b""
    await finish(server, writer)


async def test_a_head_that_goes_on_slowly_is_cut_too() -> None:
    server, reader, writer = await connect(echo)
    began = asyncio.get_running_loop().time()
    writer.write(b"GET / HTTP/1.1\r\nHos")
    while asyncio.get_running_loop().time() < began + 0.1:
        writer.write(b"t")
        await asyncio.sleep(0.01)
    server.sweep(began + server.settings.header_timeout_s + 0.05)
    assert await reader.read() == b""
    await finish(server, writer)


async def test_a_client_that_never_requests_is_closed_sooner_than_one_that_has_called() -> None:
    server, reader, writer = await connect(echo)
    server.sweep(asyncio.get_running_loop().time() + server.settings.header_timeout_s + 1)
    assert await reader.read() == b""
    await finish(server, writer)


async def test_a_handler_can_wait_for_its_client_to_go() -> None:
    gone = asyncio.Event()

    async def route(request: Request) -> Response:
        assert request.wire.disconnected is not None
        await request.wire.disconnected()
        gone.set()
        return Response()

    server, _, writer = await connect(route)
    writer.write(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
    await asyncio.sleep(0.01)
    writer.close()
    await asyncio.wait_for(gone.wait(), 60)
    await finish(server, writer)


@pytest.mark.parametrize(("method", "ended"), [("GET", True), ("HEAD", True), ("POST", False)])
async def test_a_client_that_goes_ends_its_reads_and_no_writes(method: str, ended: bool) -> None:
    begun, gone, cancelled = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def wait(request: Request) -> Response:
        begun.set()
        assert request.wire.disconnected is not None
        try:
            await request.wire.disconnected()
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        finally:
            gone.set()
        return Response()

    server, _, writer = await connect(wait)
    writer.write(f"{method} / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n".encode())
    await begun.wait()
    await finish(server, writer)
    await gone.wait()
    assert cancelled.is_set() is ended


async def test_a_header_that_would_split_the_response_cuts_the_connection() -> None:
    async def split(request: Request) -> Response:
        return Response(body=b"x", headers=[(b"Location", b"/a\r\nSet-Cookie: b")])

    server, reader, writer = await connect(split)
    writer.write(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert await reader.read() == b""
    await finish(server, writer)


async def test_large_bodies_that_share_the_turns_all_arrive() -> None:
    server, reader, writer = await connect(echo)
    assert server._sock is not None
    server.parse_turns = LoopTurns(server.loop, 1)
    rest = [await asyncio.open_connection(*server._sock.getsockname()) for _ in range(3)]
    for _, sender in [(reader, writer), *rest]:
        sender.write(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 1_000_000)
    async with asyncio.timeout(30):
        responses = [(await response(each))[2] for each, _ in [(reader, writer), *rest]]
    assert responses == [b"POST /  1000000"] * 4
    for _, sender in rest:
        sender.close()
    await finish(server, writer)


async def test_a_body_of_tiny_chunks_is_parsed_in_many_turns() -> None:
    server, reader, writer = await connect(echo)
    server.parse_turns = LoopTurns(server.loop, 1)  # each slice uses up its turn
    iterations = 0

    def count() -> None:
        nonlocal iterations
        iterations += 1
        server.loop.call_soon(count)

    writer.write(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
    await asyncio.sleep(0.01)
    count()
    writer.write(b"1\r\na\r\n" * 40_000 + b"0\r\n\r\n")
    assert (await response(reader))[2] == b"POST /  40000"
    assert iterations > 240_000 // SLICE_BYTES_MAX
    await finish(server, writer)
