"""Servers behind a proxy."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path

import pytest

from sampan.client.errors import TransportError
from sampan.http.client.address import ProxyAddress, ServerAddress
from sampan.http.client.tls import TlsOptions
from sampan.http.client.transport import HttpTransport
from tests.http.client.certificates import Authority
from tests.http.client.scripted import GET, OK, Peer, ReceivedRequest, Scripted, recording, responds, scripted

AUTHORITY = Authority()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with closing(writer):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def proxy(requested: list[ReceivedRequest]) -> AsyncIterator[Scripted]:
    """A proxy that supports CONNECT."""

    async def script(peer: Peer) -> None:
        request = await peer.requested()
        requested.append(request)
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
    requested: list[ReceivedRequest] = []
    context = AUTHORITY.server_context(AUTHORITY.issue(), tmp_path)
    async with (
        scripted(responds(OK), context=context) as server,
        proxy(requested) as between,
        through(server.address, between.address, "me:p%40ss@") as transport,
    ):
        for _ in range(2):
            assert await (await transport.send(GET)).read() == b"ok"
    assert [request.line for request in requested] == [f"CONNECT {server.address.authority} HTTP/1.1"]
    assert requested[0].headers["proxy-authorization"] == ["Basic " + b64encode(b"me:p@ss").decode()]


async def test_a_server_without_tls_is_requested_by_its_whole_url() -> None:
    requested: list[ReceivedRequest] = []
    async with (
        scripted(recording(requested)) as between,
        through(ServerAddress("http", "example.org", 80, "/a"), between.address, "me:x@") as transport,
    ):
        assert await (await transport.send(GET)).read() == b"ok"
    assert requested[0].line == "GET http://example.org/a/x HTTP/1.1"
    assert requested[0].headers["host"] == ["example.org"]
    assert requested[0].headers["proxy-authorization"] == ["Basic " + b64encode(b"me:x").decode()]


REFUSALS = {
    "refused": (b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n", "refused with 407"),
    "garbage": (b"garbage\r\n\r\n", "sent no HTTP response"),
    "closed": (b"", "closed the connection"),
    "endless": (b"HTTP/1.1 200 OK\r\nx: " + b"a" * 100_000, "too large"),
}


@pytest.mark.parametrize(("response", "message"), REFUSALS.values(), ids=REFUSALS)
async def test_a_proxy_that_refuses_is_named(response: bytes, message: str) -> None:
    async def refuses(peer: Peer) -> None:
        await peer.requested()
        await peer.send(response)

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
        scripted(responds(OK), context=context) as server,
        proxy([]) as between,
        through(server.address, between.address) as transport,
    ):
        with pytest.raises(TransportError, match=r"by proxy .* its certificate is not trusted"):
            await transport.send(GET)


@pytest.mark.parametrize("url", ["proxy:3128", "ftp://proxy", "http://", "http://proxy:port", "socks4://proxy"])
def test_an_invalid_proxy_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError):
        ProxyAddress.parse(url)


@asynccontextmanager
async def socks(requested: list[bytes], *, login: bytes = b"", reply: bytes = b"") -> AsyncIterator[Scripted]:
    """A SOCKS5 proxy that accepts IPv4 addresses and names; it always connects to loopback."""

    async def script(peer: Peer) -> None:
        version, count = await peer.reader.readexactly(2)
        methods = await peer.reader.readexactly(count)
        assert (version, methods) == (5, b"\x02" if login else b"\x00")
        await peer.send(b"\x05" + methods)
        if login:
            await peer.reader.readexactly(1)
            output = [await peer.reader.readexactly((await peer.reader.readexactly(1))[0]) for _ in range(2)]
            await peer.send(b"\x01\x00" if b":".join(output) == login else b"\x01\x01")
        await peer.reader.readexactly(3)
        kind = (await peer.reader.readexactly(1))[0]
        size = 4 if kind == 1 else (await peer.reader.readexactly(1))[0]
        host, port = await peer.reader.readexactly(size), await peer.reader.readexactly(2)
        requested.append(host)
        if reply:
            await peer.send(reply)
            return
        reader, writer = await asyncio.open_connection("127.0.0.1", int.from_bytes(port, "big"))
        for byte in b"\x05\x00\x00\x03\x04name\x00\x50":
            await peer.send(bytes([byte]))
        async with asyncio.TaskGroup() as group:
            group.create_task(_copy(peer.reader, writer))
            group.create_task(_copy(reader, peer.writer))

    async with scripted(script) as server:
        yield replace(server, address=replace(server.address, scheme="socks5"))


@pytest.mark.parametrize("login", ["", "me:secret@"], ids=["anybody", "login"])
@pytest.mark.parametrize("secure", [True, False], ids=["tls", "plain"])
async def test_a_server_is_reached_through_socks(tmp_path: Path, login: str, secure: bool) -> None:
    requested: list[bytes] = []
    context = AUTHORITY.server_context(AUTHORITY.issue(), tmp_path) if secure else None
    async with (
        scripted(responds(OK), context=context) as server,
        socks(requested, login=login.encode()[:-1]) as between,
        through(server.address, between.address, login) as transport,
    ):
        for _ in range(2):
            assert await (await transport.send(GET)).read() == b"ok"
    assert requested == [bytes([127, 0, 0, 1])]


async def test_names_are_left_to_socks(tmp_path: Path) -> None:
    requested: list[bytes] = []
    context = AUTHORITY.server_context(AUTHORITY.issue(hosts=("example.org",)), tmp_path)
    async with (
        scripted(responds(OK), context=context) as server,
        socks(requested) as between,
        through(replace(server.address, host="example.org"), between.address) as transport,
    ):
        assert await (await transport.send(GET)).read() == b"ok"
    assert requested == [b"example.org"]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ({"reply": b"\x05\x05\x00\x01\x00\x00"}, "refused: connection refused"),
        ({"reply": b"\x05\x63\x00\x01\x00\x00"}, "refused: code 99"),
        ({"reply": b"\x05\x00\x00\x09\x00\x00"}, "unknown address type"),
        ({"reply": b"\x05"}, "closed the connection"),
        ({"login": b"me:other"}, "refused the credentials"),
    ],
    ids=["refused", "unknown code", "unknown address", "closed", "login"],
)
async def test_a_socks_proxy_that_refuses_is_named(output: dict[str, bytes], message: str) -> None:
    login = "me:secret@" if "login" in output else ""
    async with (
        socks([], **output) as between,
        through(ServerAddress("https", "example.org", 443), between.address, login) as transport,
    ):
        with pytest.raises(TransportError, match=message) as caught:
            await transport.send(GET)
        assert not caught.value.sent
        assert "secret" not in str(caught.value)


async def test_a_proxy_without_socks_is_named_in_the_error() -> None:
    async def accepts_http(peer: Peer) -> None:
        await peer.reader.read(1)
        await peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with scripted(accepts_http) as between:
        address = replace(between.address, scheme="socks5")
        async with through(ServerAddress("https", "example.org", 443), address) as transport:
            with pytest.raises(TransportError, match="does not speak SOCKS5"):
                await transport.send(GET)


def test_a_proxys_password_does_not_show() -> None:
    proxy = ProxyAddress.parse("http://me:secret@proxy:3128")
    assert "secret" not in f"{proxy} {proxy!r}"
