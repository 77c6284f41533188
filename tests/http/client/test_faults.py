"""Faults of servers and networks: each is a `TransportError` that names the fault and whether the request was sent."""

import asyncio
import gzip
import socket

import pytest

from sampan.client.errors import TransportError, TransportTimeout
from sampan.client.transport import HttpRequest
from sampan.http.client.address import ServerAddress
from sampan.http.client.settings import HttpClientSettings
from sampan.http.client.transport import HttpTransport
from tests.http.client.scripted import GET, OK, STREAM, Peer, Script, responds, responds_once, scripted

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
GZIPPED = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n"


async def silent(peer: Peer) -> None:
    await peer.requested()
    await peer.gone()


async def resets_before_the_head(peer: Peer) -> None:
    await peer.requested()
    peer.reset()


NO_RESPONSE: dict[str, tuple[Script, str]] = {
    "closed before the head": (responds_once(), "closed the connection before it answered"),
    "reset before the head": (resets_before_the_head, "before it answered"),
    "closed in the head": (responds_once(b"HTTP/1.1 200 OK\r\nx: "), "in the middle of the head"),
    "garbage": (responds_once(b"SSH-2.0-OpenSSH_9\r\n"), "not HTTP"),
    "two lengths": (responds_once(HEAD[:-2] + b"transfer-encoding: chunked\r\n\r\n"), "not HTTP"),
    "another protocol": (
        responds_once(b"HTTP/1.1 101 X\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"),
        "another protocol",
    ),
    "a head without end": (responds_once(b"HTTP/1.1 200 OK\r\n" + b"x: %b\r\n" % (b"a" * 1000) * 2000), "head"),
}


@pytest.mark.parametrize(("script", "message"), NO_RESPONSE.values(), ids=NO_RESPONSE)
async def test_without_a_head_the_request_fails_and_may_have_arrived(script: Script, message: str) -> None:
    async with scripted(script) as server, server.transport() as transport:
        with pytest.raises(TransportError, match=message) as caught:
            await transport.send(GET)
        assert caught.value.sent
        assert server.connections == 1


TRUNCATED = {
    "fewer bytes than announced": (HEAD + b"abc", "in the middle of the body"),
    "chunks without end": (CHUNKED + b"3\r\nabc\r\n", "in the middle of the body"),
    "garbled chunk": (CHUNKED + b"3\r\nabc\r\nxyz", "not HTTP"),
    "half a gzip": (GZIPPED + gzip.compress(b"abc" * 100)[:-9], "middle of its gzip"),
    "no gzip at all": (GZIPPED + b"abcdefgh", "gzip"),
}


@pytest.mark.parametrize(("reply", "message"), TRUNCATED.values(), ids=TRUNCATED)
async def test_a_broken_body_fails_the_reader(reply: bytes, message: str) -> None:
    async with scripted(responds_once(reply)) as server, server.transport() as transport:
        with pytest.raises(TransportError, match=message) as caught:
            await (await transport.send(GET)).read()
        assert caught.value.sent


@pytest.mark.parametrize(("reply", "message"), TRUNCATED.values(), ids=TRUNCATED)
async def test_a_broken_stream_gives_what_came_and_fails(reply: bytes, message: str) -> None:
    async with scripted(responds_once(reply)) as server, server.transport() as transport:
        response = await transport.send(STREAM)
        with pytest.raises(TransportError, match=message):
            async for _ in response.chunks():
                pass


async def test_a_refused_connection_was_not_sent() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        transport = HttpTransport(ServerAddress("http", "127.0.0.1", sock.getsockname()[1]))
        with pytest.raises(
            TransportError, match=r"cannot connect to http://127\.0\.0\.1:\d+: connection refused"
        ) as caught:
            await transport.send(GET)
        assert not caught.value.sent
        await transport.aclose()


async def test_a_late_head_is_a_time_out() -> None:
    async with scripted(silent) as server, server.transport() as transport:
        with pytest.raises(TransportTimeout, match="no answer within") as caught:
            await transport.send(HttpRequest("GET", "/x", timeout_s=0.05))
        assert caught.value.sent


async def test_a_late_body_is_a_time_out() -> None:
    async def stops(peer: Peer) -> None:
        await peer.requested()
        await peer.send(HEAD)
        await peer.gone()

    async with scripted(stops) as server, server.transport() as transport:
        response = await transport.send(HttpRequest("GET", "/x", timeout_s=0.1))
        with pytest.raises(TransportTimeout, match="no whole answer"):
            await response.read()


async def test_the_time_of_a_stream_ends_with_its_head() -> None:
    async def slow(peer: Peer) -> None:
        await peer.requested()
        await peer.send(CHUNKED)
        await release.wait()
        await peer.send(b"1\r\na\r\n0\r\n\r\n")

    release = asyncio.Event()
    async with scripted(slow) as server, server.transport() as transport:
        response = await transport.send(HttpRequest("GET", "/x", stream=True, timeout_s=0.05))
        asyncio.get_running_loop().call_later(0.1, release.set)
        assert [chunk async for chunk in response.chunks()] == [b"a"]


async def test_a_silent_stream_is_a_time_out() -> None:
    async def falls_silent(peer: Peer) -> None:
        await peer.requested()
        await peer.send(CHUNKED + b"1\r\na\r\n")
        await peer.gone()

    async with scripted(falls_silent) as server, server.transport() as transport:
        response = await transport.send(HttpRequest("GET", "/x", stream=True, idle_timeout_s=0.05))
        chunks = response.chunks()
        assert await anext(chunks) == b"a"
        with pytest.raises(TransportTimeout, match="sent nothing for"):
            await anext(chunks)


async def test_connecting_takes_no_longer_than_allowed() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(address)
        transport = HttpTransport(ServerAddress("http", *address), settings=HttpClientSettings(connect_timeout_s=0.05))
        with pytest.raises(TransportTimeout, match="no connection to") as caught:
            await transport.send(GET)
        assert not caught.value.sent
        await transport.aclose()
        for filler in fillers:
            filler.close()


async def test_a_reset_in_the_body_fails_the_reader() -> None:
    async def resets(peer: Peer) -> None:
        await peer.requested()
        await peer.send(HEAD + b"abc")
        await go.wait()
        peer.reset()

    go = asyncio.Event()
    async with scripted(resets) as server, server.transport() as transport:
        response = await transport.send(GET)
        go.set()
        with pytest.raises(TransportError, match="in the middle of the body"):
            await response.read()


async def test_a_body_that_is_too_large_fails() -> None:
    settings = HttpClientSettings(body_bytes_max=5)
    async with scripted(responds(HEAD + b"0123456789")) as server, server.transport(settings=settings) as transport:
        with pytest.raises(TransportError, match="larger than 5 bytes"):
            await (await transport.send(GET)).read()


async def test_a_small_body_that_unpacks_to_a_large_one_fails() -> None:
    reply = GZIPPED + gzip.compress(bytes(10_000))
    settings = HttpClientSettings(body_bytes_max=5000)
    async with scripted(responds_once(reply)) as server, server.transport(settings=settings) as transport:
        with pytest.raises(TransportError, match="larger than 5000 bytes"):
            await (await transport.send(GET)).read()


async def test_an_unexpected_second_response_ends_the_connection() -> None:
    async with scripted(responds(OK + OK)) as server, server.transport() as transport:
        for _ in range(2):
            assert await (await transport.send(GET)).read() == b"ok"
            await asyncio.sleep(0)
        assert server.connections == 2


BAD = {
    "line break in a field": HttpRequest("GET", "/x", {"a": "b\r\nc: d"}),
    "return in a field": HttpRequest("GET", "/x", {"a": "b\rc"}),
    "zero in a field": HttpRequest("GET", "/x", {"a": "b\0c"}),
    "space in the target": HttpRequest("GET", "/x y"),
    "line break in the target": HttpRequest("GET", "/x\r\ny"),
    "target without a slash": HttpRequest("GET", "x"),
    "target not in ASCII": HttpRequest("GET", "/ü"),
}


@pytest.mark.parametrize("request_", BAD.values(), ids=BAD)
async def test_a_request_that_would_be_two_is_refused(request_: HttpRequest) -> None:
    async with scripted(responds(OK)) as server, server.transport() as transport:
        with pytest.raises(ValueError):
            await transport.send(request_)
        assert server.connections == 0
