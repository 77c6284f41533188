"""Upgrades through the proxy: bytes in both directions, for any protocol."""

import asyncio
import os

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from sampan.http.tunnel import Tunnel
from sampan.server.proxy.forward import Proxy
from sampan.server.proxy.target import ProxyTarget
from sampan.server.request import Request
from tests.server.proxy.upstream import ReceivedRequest, fronted, split, to, upstream
from tests.server.requests import make_request

UPGRADE = b"POST /x?a=1 HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n\r\n"
SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream: v4\r\n\r\n"


async def echo(requested: ReceivedRequest) -> None:
    await requested.send(SWITCHED + b"ahead")
    while data := await requested.reader.read(1 << 16):
        await requested.send(data)


async def test_after_the_upstreams_101_bytes_go_both_ways() -> None:
    async with upstream(echo) as served, fronted(to(served)) as front, asyncio.timeout(60):
        reader, writer = await front.open(UPGRADE + b"sent ahead")
        code, headers, _ = split(await reader.readuntil(b"\r\n\r\n"))
        assert (code, headers["upgrade"], headers["connection"]) == (101, "SPDY/3.1", "Upgrade")
        assert (headers["x-stream"], "transfer-encoding" in headers) == ("v4", False)
        assert await reader.readexactly(15) == b"aheadsent ahead"
        assert served.last.target == "/x?a=1"
        assert (served.last.headers["upgrade"], served.last.headers["connection"]) == ("SPDY/3.1", "Upgrade")
        writer.close()
        await served.ended.wait()


async def test_much_arrives_unchanged_and_in_order() -> None:
    async with upstream(echo) as served, fronted(to(served)) as front, asyncio.timeout(60):
        reader, writer = await front.open(UPGRADE)
        await reader.readuntil(b"ahead")
        data = os.urandom(8 << 20)

        async def send() -> None:
            writer.write(data)
            await writer.drain()

        async with asyncio.TaskGroup() as group:
            group.create_task(send())
            assert await reader.readexactly(len(data)) == data
        writer.close()


async def test_the_last_bytes_of_an_upstream_are_delivered() -> None:
    last = os.urandom(3 << 20)

    async def reply(requested: ReceivedRequest) -> None:
        requested.writer.write(SWITCHED + last)
        requested.writer.close()
        raise ConnectionResetError

    async with upstream(reply) as served, fronted(to(served)) as front:
        assert (await front.raw(UPGRADE)).partition(b"\r\n\r\n")[2] == last


async def test_the_last_bytes_of_a_client_are_delivered() -> None:
    got, done = bytearray(), asyncio.Event()

    async def reply(requested: ReceivedRequest) -> None:
        await requested.send(SWITCHED)
        while data := await requested.reader.read(1 << 16):
            got.extend(data)
        done.set()

    async with upstream(reply) as served, fronted(to(served)) as front, asyncio.timeout(60):
        reader, writer = await front.open(UPGRADE)
        await reader.readuntil(b"\r\n\r\n")
        last = os.urandom(100_000)
        writer.write(last)
        writer.close()
        await done.wait()
        assert bytes(got) == last


async def test_a_side_that_does_not_read_stops_the_other() -> None:
    sent = 0

    async def reply(requested: ReceivedRequest) -> None:
        nonlocal sent
        await requested.send(SWITCHED)
        while True:
            await requested.send(bytes(1 << 16))
            sent += 1 << 16

    async with upstream(reply) as served, fronted(to(served)) as front, asyncio.timeout(60):
        reader, writer = await front.open(UPGRADE)
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # a plain TCP transport can
        before = -1
        while before != sent:
            before = sent
            await asyncio.sleep(0.1)  # until the kernel's buffers are full
        assert sent < 32 << 20
        writer.close()


async def test_a_refusal_is_passed_on_as_it_is() -> None:
    async def refuse(requested: ReceivedRequest) -> None:
        await requested.response(b"who are you", "HTTP/1.1 403 Forbidden\r\nX-Why: 1\r\nConnection: close\r\n")

    async with upstream(refuse) as served, fronted(to(served, upgrade_only=True)) as front:
        code, headers, body = split(await front.raw(UPGRADE))
        assert (code, headers["x-why"], body) == (403, "1", b"who are you")


async def test_an_ignored_upgrade_is_500_only_where_one_is_required() -> None:
    async def ignore(requested: ReceivedRequest) -> None:
        await requested.response(b"plain")

    async with upstream(ignore) as served:
        async with fronted(to(served, upgrade_only=True)) as front:
            code, _, body = split(await front.raw(UPGRADE))
            assert (code, b"invalid upgrade response: status code 200" in body) == (500, True)
        async with fronted(to(served)) as front:
            assert split(await front.raw(UPGRADE))[0] == 200


async def test_a_request_without_an_upgrade_is_refused_where_one_is_required() -> None:
    async with upstream(echo) as served, fronted(to(served, upgrade_only=True)) as front:
        code, _, body = await front.get()
        assert (code, b"Upgrade request required" in body, served.connections) == (400, True, 0)


async def test_a_websocket_goes_through() -> None:
    async def talk(connection: ServerConnection) -> None:
        async for message in connection:
            await connection.send(message)

    protocols = [Subprotocol("v5.channel.k8s.io")]
    async with serve(talk, "127.0.0.1", 0, subprotocols=protocols) as server:
        port = next(iter(server.sockets)).getsockname()[1]

        def target_of(request: Request) -> ProxyTarget:
            return ProxyTarget("127.0.0.1", port, request.wire.raw_path)

        async with (
            fronted(target_of) as front,
            connect(f"ws://127.0.0.1:{front.port}/x", subprotocols=protocols, compression=None) as websocket,
        ):
            assert websocket.subprotocol == protocols[0]
            for message in ("text", bytes(1 << 18)):
                await websocket.send(message)
                assert await websocket.recv() == message


class RecordingTunnel(Tunnel):
    """Client that only reads. Each write is a TLS record."""

    def __init__(self) -> None:
        self.records: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.records.append(data)

    async def drain(self) -> None:
        """Return immediately: the client reads without delay."""

    async def read(self) -> bytes:
        await asyncio.get_running_loop().create_future()
        return b""

    def take(self) -> bytes:
        return b""


async def test_each_frame_of_a_websocket_is_a_record_even_if_they_arrive_together() -> None:
    frames = [b"\x82\x03\x01ab", b"\x82\x02\x03{", b"\x88\x02\x03\xe8"]
    head = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

    async def reply(requested: ReceivedRequest) -> None:
        requested.writer.write(head + b"".join(frames))
        await requested.writer.drain()
        requested.writer.write(b"".join(frames))
        requested.writer.close()
        raise ConnectionResetError

    async with upstream(reply) as served:
        headers = {"connection": "Upgrade", "upgrade": "WebSocket"}
        request = make_request("GET", "/x", "", headers, read_body=None, query={}, info=None)  # type: ignore[arg-type]
        response = await Proxy().forward(request, to(served)(request))
        assert response.takeover is not None
        tunnel = RecordingTunnel()
        await response.takeover(tunnel)
    assert tunnel.records == frames * 2


async def test_the_end_of_the_server_ends_what_it_passes_on() -> None:
    async with upstream(echo) as served, asyncio.timeout(60):
        async with fronted(to(served)) as front:
            reader, writer = await front.open(UPGRADE)
            await reader.readuntil(b"ahead")
        assert await reader.read() == b""
        await served.ended.wait()
        writer.close()
