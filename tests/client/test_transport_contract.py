"""Behaviour of every transport: over sockets, over TLS, as the whole stack, and inside one process."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import orjson
import pytest

from sampan.client.config import Config
from sampan.client.errors import TransportError, TransportTimeout
from sampan.client.stack import connect_transport
from sampan.client.transport import HttpRequest, Transport
from sampan.http.client.address import ServerAddress
from sampan.http.client.tls import TlsOptions
from sampan.http.client.transport import HttpTransport
from sampan.server.connections.listener import HttpServer
from sampan.server.request import Handler, Request, Response
from sampan.testing.servers.in_process import InProcessTransport
from sampan.wire.http1 import Repeated, values_of
from tests.http.client.certificates import Authority
from tests.server.cluster import served
from tests.server.frame import MASTER

AUTHORITY = Authority()
Connect = Callable[[Handler], AbstractAsyncContextManager[Transport]]


@asynccontextmanager
async def listening(handler: Handler, context: ssl.SSLContext | None) -> AsyncIterator[int]:
    """A server on loopback; gives its port."""
    server = HttpServer(handler)
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    await server.start(sock, context)
    try:
        yield sock.getsockname()[1]
    finally:
        server.stop_listening()
        await server.close_streams()
        await server.drain(5)


@pytest.fixture(params=["http", "https", "stack", "in process"])
def connect(request: pytest.FixtureRequest, tmp_path: Path) -> Connect:
    """Connects a transport to a handler."""
    kind = request.param
    context = None if kind == "http" else AUTHORITY.server_context(AUTHORITY.issue(), tmp_path)
    tls = TlsOptions(ca_data=AUTHORITY.certificate)

    def over(port: int) -> Transport:
        if kind == "stack":
            return connect_transport(Config(f"https://127.0.0.1:{port}", tls=tls, token="a"))
        return HttpTransport(ServerAddress(kind, "127.0.0.1", port), tls=tls)

    @asynccontextmanager
    async def opened(handler: Handler) -> AsyncIterator[Transport]:
        if kind == "in process":
            transport: Transport = InProcessTransport(handler)
            try:
                yield transport
            finally:
                await transport.aclose()
        else:
            async with listening(handler, context) as port:
                transport = over(port)
                try:
                    yield transport
                finally:
                    await transport.aclose()

    return opened


async def echo(request: Request) -> Response:
    body = await request.wire.read_body(1 << 20)
    output = [
        request.wire.method,
        request.wire.path,
        request.wire.query_string,
        request.headers.get("x-many", ""),
        body.decode(),
    ]
    return Response(202, orjson.dumps(output), headers=[(b"X-Two", b"1"), (b"X-Two", b"2")])


async def hangs(request: Request) -> Response:
    await asyncio.Event().wait()
    raise AssertionError


class Streaming:
    """A handler whose stream gives what is put into it; None ends it."""

    def __init__(self) -> None:
        self.chunks: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.closed = asyncio.Event()

    async def __call__(self, request: Request) -> Response:
        return Response(stream=self.stream(), finished=self.closed.set)

    async def stream(self) -> AsyncIterator[bytes]:
        while (chunk := await self.chunks.get()) is not None:
            if chunk == b"break":
                raise RuntimeError("the stream breaks")
            yield chunk


WATCH = HttpRequest("GET", "/api/v1/pods?watch=1", stream=True)


async def test_a_request_and_its_response_arrive_complete(connect: Connect) -> None:
    async with connect(echo) as transport:
        response = await transport.send(HttpRequest("PUT", "/a%20b?c=d", {"x-many": Repeated.of(["1", "2"])}, b"body"))
        assert (response.status, values_of(response.headers["x-two"])) == (202, ("1", "2"))
        assert response.headers["content-type"] == "application/json"
        assert orjson.loads(await response.read()) == ["PUT", "/a b", "c=d", "1, 2", "body"]


async def test_concurrent_requests_get_their_own_responses(connect: Connect) -> None:
    async with connect(echo) as transport:

        async def fetch(number: int) -> str:
            response = await transport.send(HttpRequest("GET", f"/{number}"))
            path: str = orjson.loads(await response.read())[1]
            return path

        assert await asyncio.gather(*map(fetch, range(100))) == [f"/{number}" for number in range(100)]


@pytest.mark.parametrize("size", [0, 1, 200_000, 5_000_000])
async def test_bodies_of_any_size_come_back_whole(connect: Connect, size: int) -> None:
    body = bytes(range(256)) * (size // 256 + 1)

    async def large(request: Request) -> Response:
        return Response(body=body[:size], content_type="text/plain")

    async with connect(large) as transport:
        assert await (await transport.send(HttpRequest("GET", "/"))).read() == body[:size]
        response = await transport.send(HttpRequest("GET", "/"))
        assert b"".join([chunk async for chunk in response.chunks()]) == body[:size]


async def test_a_stream_gives_each_chunk_when_it_comes(connect: Connect) -> None:
    handler = Streaming()
    async with connect(handler) as transport:
        response = await transport.send(WATCH)
        chunks = response.chunks()
        for chunk in (b"one", b"two"):
            handler.chunks.put_nowait(chunk)
            assert await anext(chunks) == chunk
        handler.chunks.put_nowait(None)
        with pytest.raises(StopAsyncIteration):
            await anext(chunks)
        await asyncio.wait_for(handler.closed.wait(), 60)


async def test_a_stream_that_is_closed_ends_at_the_server(connect: Connect) -> None:
    handler = Streaming()
    async with connect(handler) as transport:
        response = await transport.send(WATCH)
        await response.aclose()
        await asyncio.wait_for(handler.closed.wait(), 60)


async def test_a_stream_that_breaks_at_the_server_fails_its_reader(connect: Connect) -> None:
    handler = Streaming()
    async with connect(handler) as transport:
        chunks = (await transport.send(WATCH)).chunks()
        handler.chunks.put_nowait(b"one")
        assert await anext(chunks) == b"one"
        handler.chunks.put_nowait(b"break")
        with pytest.raises(TransportError):
            await anext(chunks)


async def test_a_silent_stream_fails_its_reader(connect: Connect) -> None:
    async with connect(Streaming()) as transport:
        response = await transport.send(HttpRequest("GET", WATCH.target, stream=True, idle_timeout_s=0.02))
        with pytest.raises(TransportTimeout, match="sent nothing"):
            await anext(response.chunks())


async def test_a_late_response_is_a_timeout(connect: Connect) -> None:
    async with connect(hangs) as transport:
        with pytest.raises(TransportTimeout) as caught:
            await transport.send(HttpRequest("POST", WATCH.target, timeout_s=0.1))
        assert caught.value.sent


async def test_closing_fails_waiting_and_new_requests(connect: Connect) -> None:
    async with connect(Streaming()) as transport:
        chunks = (await transport.send(WATCH)).chunks()
        reader = asyncio.ensure_future(anext(chunks))
        await asyncio.sleep(0)
        await transport.aclose()
        with pytest.raises(TransportError):
            await reader
        with pytest.raises(TransportError):
            await transport.send(HttpRequest("POST", "/"))


async def test_a_request_that_is_cancelled_leaves_the_transport_in_order(connect: Connect) -> None:
    async def sometimes(request: Request) -> Response:
        return await (hangs if "slow" in request.wire.path else echo)(request)

    async with connect(sometimes) as transport:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await transport.send(HttpRequest("GET", f"/slow?{WATCH.target}", stream=True))
        assert (await transport.send(HttpRequest("GET", "/"))).status == 202


async def test_a_cluster_is_listed_written_and_watched(connect: Connect) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    async with served() as api, connect(api.server.handler) as transport:

        async def fetch(method: str, target: str, body: bytes = b"") -> tuple[int, dict[str, object]]:
            headers = {**MASTER, "content-type": "application/json"}
            response = await transport.send(HttpRequest(method, target, headers, body))
            return response.status, orjson.loads(await response.read())

        _, listed = await fetch("GET", path)
        version = listed["metadata"]["resourceVersion"]  # type: ignore[index]
        watch = HttpRequest("GET", f"{path}?watch=1&resourceVersion={version}", MASTER, stream=True)
        response = await transport.send(watch)
        created, _ = await fetch("POST", path, orjson.dumps({"metadata": {"name": "a"}}))
        missing, status = await fetch("GET", f"{path}/b")
        event = orjson.loads(await anext(response.chunks()))
        await response.aclose()
    assert (created, missing, status["reason"]) == (201, 404, "NotFound")
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "a")
