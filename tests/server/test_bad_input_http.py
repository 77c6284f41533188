"""A whole server behind a real socket: what clients may do to it between the bytes. It lives on, and keeps nothing."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sampan.server.connections.listener import HttpServer
from tests.server.cluster import Api, served
from tests.server.connections.test_http1 import response

AUTH = b"Authorization: Bearer master-token\r\n"
MAPS = b"/api/v1/namespaces/default/configmaps"
Address = tuple[str, int]


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[Api, HttpServer, Address]]:
    """A server and where it listens; all connections are gone at the end."""
    async with served() as api:
        server = HttpServer(api.server.handler)
        sock = socket.socket()
        sock.bind(("127.0.0.1", 0))
        address = sock.getsockname()
        await server.start(sock, None)
        before = _watchers(api)
        yield api, server, address
        assert await healthy(address)
        server.stop_listening()
        await server.drain(5)
        assert server.connection_count == 0
        assert _watchers(api) == before
        assert not api.server.deadlines.under_way()


def _watchers(api: Api) -> int:
    return sum(cache.watchers for cache in api.cluster.caches.values())


async def healthy(address: Address) -> bool:
    """Return whether another client is served."""
    reader, writer = await asyncio.open_connection(*address)
    writer.write(b"GET " + MAPS + b" HTTP/1.1\r\nHost: x\r\n" + AUTH + b"Connection: close\r\n\r\n")
    async with asyncio.timeout(60):
        status, _, _ = await response(reader)
    writer.close()
    return status == 200


GARBAGE = {
    "nothing": b"",
    "lines": b"\r\n\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no version": b"GET /\r\n\r\n",
    "HTTP/9": b"GET / HTTP/9.9\r\n\r\n",
    "no target": b"GET  HTTP/1.1\r\n\r\n",
    "NUL": b"GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a header without colon": b"GET / HTTP/1.1\r\nHost\r\n\r\n",
    "a header of NULs": b"GET / HTTP/1.1\r\nX: \0\0\r\n\r\n",
    "two lengths": b"POST " + MAPS + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "a negative length": b"POST " + MAPS + b" HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "a length that is no number": b"POST " + MAPS + b" HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
    "length and chunks": b"POST " + MAPS + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a bad chunk": b"POST " + MAPS + b" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
    "a huge chunk": b"POST " + MAPS + b" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n",
    "a huge header": b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
    "many headers": b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(20_000)) + b"\r\n",
    "a long target": b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "bytes": bytes(range(256)) * 20,
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE.keys())
async def test_garbage(data: bytes) -> None:
    async with listening() as (_, _, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(data)
        writer.write_eof()
        async with asyncio.timeout(60):
            try:
                sent = await reader.read()
            except ConnectionError:
                sent = b""
        assert b"Traceback" not in sent
        if sent:
            status = int(sent.split(b" ", 2)[1])
            assert 400 <= status <= 505
            assert status != 500
        writer.close()


@pytest.mark.parametrize("cut", [10, 60, 140, 190, 215])
async def test_a_client_that_goes_in_the_middle(cut: int) -> None:
    body = b'{"metadata":{"name":"a"},"data":{"k":"' + b"x" * 200 + b'"}}'
    head = b"POST " + MAPS + b" HTTP/1.1\r\nHost: x\r\n" + AUTH + b"Content-Type: application/json\r\n"
    request = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    async with listening() as (api, _, address):
        _, writer = await asyncio.open_connection(*address)
        writer.write(request[:cut])
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        assert await healthy(address)
        assert (await api.get(MAPS.decode())).body["items"] == []


async def test_pipelined_requests_get_their_responses_in_order() -> None:
    async with listening() as (_, _, address):
        reader, writer = await asyncio.open_connection(*address)
        paths = [b"/version", b"/nope", MAPS, b"/api/v1/nopes", b"/livez"]
        writer.write(b"".join(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n" + AUTH + b"\r\n" for path in paths))
        async with asyncio.timeout(60):
            assert [(await response(reader))[0] for _ in paths] == [200, 404, 200, 404, 200]
        writer.close()


async def test_a_body_that_comes_byte_by_byte() -> None:
    body = b'{"metadata":{"name":"slow"}}'
    head = b"POST " + MAPS + b" HTTP/1.1\r\nHost: x\r\n" + AUTH + b"Content-Type: application/json\r\n"
    async with listening() as (_, _, address):
        reader, writer = await asyncio.open_connection(*address)
        for byte in head + b"Content-Length: %d\r\n\r\n" % len(body) + body:
            writer.write(bytes([byte]))
            await writer.drain()
        async with asyncio.timeout(60):
            assert (await response(reader))[0] == 201
        writer.close()


async def test_watches_of_clients_that_go_end() -> None:
    async with listening() as (api, _, address):
        before = _watchers(api)
        writers = []
        for _ in range(20):
            reader, writer = await asyncio.open_connection(*address)
            writer.write(b"GET " + MAPS + b"?watch=1 HTTP/1.1\r\nHost: x\r\n" + AUTH + b"\r\n")
            writers.append(writer)
            async with asyncio.timeout(60):
                assert b" 200 " in await reader.readline()
        assert _watchers(api) == before + 20
        for writer in writers:
            writer.transport.abort()


async def test_a_watch_whose_client_is_gone_at_once_leaves_nothing() -> None:
    async with listening() as (_, _, address):
        for _ in range(20):
            _, writer = await asyncio.open_connection(*address)
            writer.write(b"GET " + MAPS + b"?watch=1 HTTP/1.1\r\nHost: x\r\n" + AUTH + b"\r\n")
            writer.transport.abort()
