"""Servers behind a proxy."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from sampan.client.errors import TransportError
from sampan.client.http import HttpTransport, ProxyAddress, ServerAddress, TlsOptions
from tests.client.http.certificates import Authority
from tests.client.http.scripted import GET, OK, Asked, Peer, Scripted, answers, recording, scripted

AUTHORITY = Authority()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with closing(writer):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def proxy(asked: list[Asked]) -> AsyncIterator[Scripted]:
    """A proxy that knows CONNECT."""

    async def script(peer: Peer) -> None:
        request = await peer.asked()
        asked.append(request)
        host, port = request.line.split()[1].rsplit(":", 1)
        reader, writer = await asyncio.open_connection(host, int(port))
        await peer.send(b"HTTP/1.1 200 Connection established\r\nx: y\r\n\r\n")
        async with asyncio.TaskGroup() as group:
            group.create_task(_copy(peer.reader, writer))
            group.create_task(_copy(reader, peer.writer))

    async with scripted(script) as server:
        yield server


@asynccontextmanager
async def through(address: ServerAddress, by: ServerAddress, login: str = "") -> AsyncIterator[HttpTransport]:
    """A transport through a proxy."""
    url = f"{by.scheme}://{login}{by.authority}"
    transport = HttpTransport(address, tls=TlsOptions(ca_data=AUTHORITY.certificate), proxy=ProxyAddress.parse(url))
    try:
        yield transport
    finally:
        await transport.aclose()


async def test_a_server_with_tls_is_reached_through_a_tunnel(tmp_path: Path) -> None:
    asked: list[Asked] = []
    context = AUTHORITY.server_context(AUTHORITY.issue(), tmp_path)
    async with (
        scripted(answers(OK), context=context) as server,
        proxy(asked) as between,
        through(server.address, between.address, "me:p%40ss@") as transport,
    ):
        for _ in range(2):
            assert await (await transport.send(GET)).read() == b"ok"
    assert [request.line for request in asked] == [f"CONNECT {server.address.authority} HTTP/1.1"]
    assert asked[0].headers["proxy-authorization"] == ["Basic " + b64encode(b"me:p@ss").decode()]


async def test_a_server_without_tls_is_asked_for_by_its_whole_url() -> None:
    asked: list[Asked] = []
    async with (
        scripted(recording(asked)) as between,
        through(ServerAddress("http", "example.org", 80, "/a"), between.address, "me:x@") as transport,
    ):
        assert await (await transport.send(GET)).read() == b"ok"
    assert asked[0].line == "GET http://example.org/a/x HTTP/1.1"
    assert asked[0].headers["host"] == ["example.org"]
    assert asked[0].headers["proxy-authorization"] == ["Basic " + b64encode(b"me:x").decode()]


REFUSALS = {
    "refused": (b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n", "refused with 407"),
    "garbage": (b"garbage\r\n\r\n", "does not answer in HTTP"),
    "closed": (b"", "closed the connection"),
    "endless": (b"HTTP/1.1 200 OK\r\nx: " + b"a" * 100_000, "without end"),
}


@pytest.mark.parametrize(("answer", "message"), REFUSALS.values(), ids=REFUSALS)
async def test_a_proxy_that_refuses_is_named(answer: bytes, message: str) -> None:
    async def refuses(peer: Peer) -> None:
        await peer.asked()
        await peer.send(answer)

    async with (
        scripted(refuses) as between,
        through(ServerAddress("https", "example.org", 443), between.address) as transport,
    ):
        with pytest.raises(TransportError, match=message) as caught:
            await transport.send(GET)
        assert not caught.value.sent
        assert str(between.address) in str(caught.value)


async def test_a_certificate_behind_a_proxy_is_checked(tmp_path: Path) -> None:
    context = AUTHORITY.server_context(Authority("others").issue(), tmp_path)
    async with (
        scripted(answers(OK), context=context) as server,
        proxy([]) as between,
        through(server.address, between.address) as transport,
    ):
        with pytest.raises(TransportError, match=r"by proxy .* its certificate is not trusted"):
            await transport.send(GET)


@pytest.mark.parametrize("url", ["proxy:3128", "ftp://proxy", "http://", "http://proxy:port", "socks5://proxy"])
def test_what_is_no_proxy_is_refused(url: str) -> None:
    with pytest.raises(ValueError):
        ProxyAddress.parse(url)


def test_a_proxys_password_does_not_show() -> None:
    proxy = ProxyAddress.parse("http://me:secret@proxy:3128")
    assert "secret" not in f"{proxy} {proxy!r}"
