"""Requests and responses through the proxy."""

import asyncio
import contextlib
import hashlib

import pytest

from tests.server.proxy.upstream import ReceivedRequest, fronted, split, to, upstream


async def hello(requested: ReceivedRequest) -> None:
    await requested.body()
    await requested.response(b"hello")


async def test_hop_by_hop_headers_and_credentials_are_not_forwarded() -> None:
    async with upstream(hello) as served, fronted(to(served)) as front:
        request = (
            b"GET /a%2Fb?x=%20&y HTTP/1.1\r\nHost: api:6443\r\nAuthorization: Bearer secret\r\nX-Remote-User: root\r\n"
            b"Impersonate-User: root\r\nConnection: close, X-Mine\r\nX-Mine: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\n"
            b"Proxy-Authorization: x\r\nX-Other: 2\r\nCookie: a=b\r\nX-Forwarded-For: 10.0.0.9\r\n"
            b"Sec-WebSocket-Protocol: a, base64url.bearer.authorization.k8s.io.c2VjcmV0\r\n\r\n"
        )
        assert split(await front.raw(request))[0] == 200
        assert (served.last.method, served.last.target) == ("GET", "/a%2Fb?x=%20&y")
        assert served.last.headers == {
            "host": "api:6443",
            "x-other": "2",
            "cookie": "a=b",
            "x-forwarded-for": "10.0.0.9, 127.0.0.1",
            "sec-websocket-protocol": "a",
        }


async def test_below_a_prefix_the_upstream_is_reported_where_its_client_sees_it() -> None:
    async with upstream(hello) as served, fronted(to(served, prefix="/api/proxy")) as front:
        await front.get("/page")
        headers = served.last.headers
        assert headers["x-forwarded-uri"] == "/api/proxy/page"
        assert (headers["x-forwarded-host"], headers["x-forwarded-proto"]) == ("h", "https")


async def test_hop_by_hop_and_cors_headers_of_a_response_are_dropped() -> None:
    async def response(requested: ReceivedRequest) -> None:
        await requested.response(
            b"{}",
            "HTTP/1.1 418 Teapot\r\nContent-Type: text/x\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 1\r\n"
            "Access-Control-Allow-Origin: *\r\nSet-Cookie: a=1\r\nContent-Encoding: gzip\r\nX-End: 1\r\n",
        )

    async with upstream(response) as served, fronted(to(served)) as front:
        code, headers, body = await front.get()
        assert (code, body, headers["content-type"]) == (418, b"{}", "text/x")
        assert (headers["set-cookie"], headers["content-encoding"], headers["x-end"]) == ("a=1", "gzip", "1")
        assert not {"x-hop", "keep-alive", "access-control-allow-origin"} & set(headers)


@pytest.mark.parametrize("chunked", [True, False], ids=["chunked", "with a length"])
async def test_large_bodies_stream_in_both_directions_at_once(chunked: bool) -> None:
    piece, count = bytes(range(256)) * 256, 160

    async def echo(requested: ReceivedRequest) -> None:
        await requested.send(
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (len(piece) * count)
        )
        left = len(piece) * count
        if requested.headers.get("transfer-encoding"):
            async for data in requested.pieces():
                await requested.send(data)
            return
        while left:
            data = await requested.reader.read(1 << 16)
            left -= len(data)
            await requested.send(data)

    framing = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(piece) * count}"
    async with upstream(echo) as served, fronted(to(served)) as front, asyncio.timeout(60):
        reader, writer = await front.open(
            f"PUT / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n{framing}\r\n\r\n".encode()
        )

        async def send() -> None:
            for _ in range(count):
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
                await writer.drain()
            if chunked:
                writer.write(b"0\r\n\r\n")

        async with asyncio.TaskGroup() as group:
            group.create_task(send())
            response = await reader.read()
        writer.close()
        body = response.partition(b"\r\n\r\n")[2]
        assert hashlib.md5(body).digest() == hashlib.md5(piece * count).digest()


async def test_chunks_of_a_response_are_forwarded_as_they_arrive() -> None:
    more = asyncio.Event()

    async def response(requested: ReceivedRequest) -> None:
        await requested.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        await more.wait()
        await requested.send(b"3\r\ntwo\r\n0\r\nX-Trailer: 1\r\n\r\n")

    async with upstream(response) as served, fronted(to(served)) as front, asyncio.timeout(60):
        reader, writer = await front.open(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        assert (await reader.readuntil(b"one\r\n")).endswith(b"3\r\none\r\n")
        more.set()
        assert await reader.read() == b"3\r\ntwo\r\n0\r\n\r\n"
        writer.close()


@pytest.mark.parametrize(
    ("method", "head", "length"),
    [
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n", "7"),
        ("GET", "HTTP/1.1 304 Not Modified\r\nETag: x\r\n", None),
        ("DELETE", "HTTP/1.1 204 No Content\r\n", None),
    ],
    ids=["HEAD", "304", "204"],
)
async def test_responses_without_a_body_have_none(method: str, head: str, length: str | None) -> None:
    async def response(requested: ReceivedRequest) -> None:
        await requested.send(f"{head}\r\n".encode())

    async with upstream(response) as served, fronted(to(served)) as front:
        request = f"{method} / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".encode()
        code, headers, body = split(await front.raw(request))
        assert (str(code), headers.get("content-length"), body) == (head.split(" ")[1], length, b"")


async def test_interim_responses_are_skipped() -> None:
    async def response(requested: ReceivedRequest) -> None:
        await requested.send(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
        await requested.response(b"done")

    async with upstream(response) as served, fronted(to(served)) as front:
        code, headers, body = await front.get()
        assert (code, body, "link" in headers) == (200, b"done", False)


async def test_a_response_without_a_length_ends_with_its_connection() -> None:
    async def response(requested: ReceivedRequest) -> None:
        await requested.send(b"HTTP/1.1 200 OK\r\n\r\nuntil the end")
        requested.writer.close()

    async with upstream(response) as served, fronted(to(served)) as front:
        assert b"until the end" in (await front.get())[2]


async def test_an_early_response_does_not_wait_for_the_body() -> None:
    async def refuse(requested: ReceivedRequest) -> None:
        await requested.response(b"too large", "HTTP/1.1 413 Too Large\r\nConnection: close\r\n")

    async with upstream(refuse) as served, fronted(to(served)) as front, asyncio.timeout(60):
        reader, writer = await front.open(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\nbeginning")
        assert (await reader.readuntil(b"too large")).startswith(b"HTTP/1.1 413")
        writer.close()


async def test_a_client_that_waits_for_100_is_sent_100_continue() -> None:
    async with upstream(hello) as served, fronted(to(served)) as front, asyncio.timeout(60):
        head = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
        reader, writer = await front.open(head)
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"body")
        assert (await reader.read()).endswith(b"hello")
        assert "expect" not in served.last.headers
        writer.close()


# --- idle connections


async def test_reads_share_a_connection_and_writes_get_a_new_one() -> None:
    async with upstream(hello) as served, fronted(to(served)) as front:
        for _ in range(3):
            await front.get()
        assert served.connections == 1
        await front.raw(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        assert served.connections == 2
        assert len(front.proxy.pool) == 2
    assert len(front.proxy.pool) == 0


async def test_a_kept_connection_that_was_dead_is_replaced_once() -> None:
    responses = 0

    async def response(requested: ReceivedRequest) -> None:
        nonlocal responses
        responses += 1
        if responses == 2:
            requested.writer.close()
            raise ConnectionResetError
        await requested.response(b"hello")

    async with upstream(response) as served, fronted(to(served)) as front:
        await front.get()
        assert (await front.get())[0] == 200
        assert (served.connections, len(served.requested)) == (2, 3)


async def test_a_connection_with_more_than_was_requested_is_not_used_again() -> None:
    async def response(requested: ReceivedRequest) -> None:
        await requested.send(
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        )

    async with upstream(response) as served, fronted(to(served)) as front:
        assert (await front.get())[2] == b"ok"
        assert (await front.get())[2] == b"ok"
        assert served.connections == 2


async def test_idle_connections_are_closed_in_time() -> None:
    async with upstream(hello) as served, fronted(to(served)) as front:
        await front.get()
        front.proxy.pool.sweep(asyncio.get_running_loop().time() - 1)
        assert len(front.proxy.pool) == 1
        front.proxy.pool.sweep(asyncio.get_running_loop().time() + 1)
        assert len(front.proxy.pool) == 0
        async with asyncio.timeout(60):
            await served.ended.wait()


# --- disconnects


async def test_an_upstream_that_is_not_there_is_503() -> None:
    async with upstream(hello) as served:
        pass
    async with fronted(to(served)) as front:
        code, _, body = await front.get()
        text = f"error trying to reach service: dial tcp 127.0.0.1:{served.port}: connect: connection refused"
        assert code == 503
        assert text.encode() in body


@pytest.mark.parametrize(
    "response",
    [
        b"",
        b"HTTP/1.1 200",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nX: a\nSet-Cookie: evil=1\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * (2 << 20),
    ],
    ids=["none", "half", "nonsense", "both", "two", "minus", "gzip", "identity", "lf", "unasked 101", "huge"],
)
async def test_an_ambiguous_response_is_503(response: bytes) -> None:
    async def write(requested: ReceivedRequest) -> None:
        await requested.send(response)
        requested.writer.close()
        raise ConnectionResetError

    async with upstream(write) as served, fronted(to(served)) as front:
        assert (await front.get())[0] == 503


@pytest.mark.parametrize("framing", ["Content-Length: 10", "Transfer-Encoding: chunked"], ids=["length", "chunked"])
async def test_a_truncated_response_cuts_the_client(framing: str) -> None:
    async def response(requested: ReceivedRequest) -> None:
        await requested.send(f"HTTP/1.1 200 OK\r\n{framing}\r\n\r\n3\r\nabc\r\n".encode())
        requested.writer.close()
        raise ConnectionResetError

    async with upstream(response) as served, fronted(to(served)) as front:
        got = b""
        with contextlib.suppress(ConnectionResetError):
            got = await front.raw(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert not got.endswith(b"0\r\n\r\n")


@pytest.mark.parametrize("begun", [True, False], ids=["in the answer", "before the answer"])
async def test_a_client_that_goes_takes_the_upstream_with_it(begun: bool) -> None:
    requested_name, gone = asyncio.Event(), asyncio.Event()

    async def response(requested: ReceivedRequest) -> None:
        if begun:
            await requested.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        requested_name.set()
        await requested.gone()
        gone.set()

    async with upstream(response) as served, fronted(to(served)) as front, asyncio.timeout(60):
        reader, writer = await front.open(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        await requested_name.wait()
        if begun:
            await reader.readuntil(b"abc")
        writer.close()
        await gone.wait()


async def test_half_a_body_is_never_taken_for_a_whole_one() -> None:
    came, cut = asyncio.Event(), asyncio.Event()

    async def response(requested: ReceivedRequest) -> None:
        await requested.reader.readline()
        came.set()
        try:
            while await requested.reader.readline():
                pass
        except ConnectionError:
            pass
        cut.set()
        raise ConnectionResetError

    async with upstream(response) as served, fronted(to(served)) as front, asyncio.timeout(60):
        _, writer = await front.open(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        await came.wait()
        writer.close()
        await cut.wait()
