"""A server that is about to end sends its clients elsewhere, and answers what they have sent before they know."""

import asyncio
import os
import socket
import ssl
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from h2.events import ConnectionTerminated

from sampan.core.event_loop.turns import LoopTurns
from sampan.server.connections.listener import HttpServer
from sampan.server.connections.receiver import SLICE_BYTES_MAX
from sampan.server.connections.settings import HttpSettings
from sampan.server.request import Request, Response
from tests.server.connections.test_http1 import Connect, connect, echo, finish, response
from tests.server.http2_client import Route, connected, running
from tests.server.tls_files import client_context, make_files

GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nabcd"
RESTLESS = HttpSettings(quiet_s=60)
LARGE = 8 << 20


async def requested(settings: HttpSettings) -> Connect:
    """A connection on which a request was answered."""
    server, reader, writer = await connect(echo, settings)
    writer.write(GET)
    await response(reader)
    return server, reader, writer


async def test_a_response_during_shutdown_closes_the_connection_without_losing_a_request() -> None:
    server, reader, writer = await connect(echo)
    writer.write(GET)
    assert "connection" not in (await response(reader))[1]
    server.shutting_down = True
    writer.write(GET)
    status, headers, _ = await response(reader)
    assert (status, headers["connection"]) == (200, "close")
    assert await reader.read() == b""
    await finish(server, writer)


@pytest.mark.parametrize("leaving", [False, True])
async def test_a_stream_reports_whether_its_connection_ends_with_it(leaving: bool) -> None:
    async def two() -> AsyncIterator[bytes]:
        yield b"a"
        yield b"b"

    async def stream(request: Request) -> Response:
        return Response(stream=two())

    server, reader, writer = await connect(stream)
    server.shutting_down = leaving
    writer.write(GET)
    assert (b"connection: close" in (await reader.readuntil(b"\r\n\r\n")).lower()) is leaving
    assert await reader.readuntil(b"0\r\n\r\n") == b"1\r\na\r\n1\r\nb\r\n0\r\n\r\n"
    await finish(server, writer)


async def test_an_active_connection_is_closed_with_its_next_response() -> None:
    server, reader, writer = await requested(RESTLESS)
    drain = asyncio.create_task(server.drain(60))
    await asyncio.sleep(0.05)
    writer.write(POST)
    status, headers, _ = await response(reader)
    assert (status, headers["connection"]) == (200, "close")
    await asyncio.wait_for(drain, 30)
    await finish(server, writer)


async def test_a_client_that_rests_is_closed() -> None:
    server, reader, writer = await requested(HttpSettings(quiet_s=0.01))
    await server.drain(60)
    assert await reader.read() == b""
    await finish(server, writer)


@pytest.mark.parametrize("cut", [2, 20, len(POST) - 2], ids=["method", "head", "body"])
async def test_a_partially_received_request_is_served_during_the_drain(cut: int) -> None:
    server, reader, writer = await requested(HttpSettings(quiet_s=0.0))
    writer.write(POST[:cut])
    await asyncio.sleep(0.05)
    drain = asyncio.create_task(server.drain(60))
    await asyncio.sleep(0.05)
    writer.write(POST[cut:])
    status, headers, body = await response(reader)
    assert (status, headers["connection"], body) == (200, "close", b"POST /  4")
    await drain
    await finish(server, writer)


async def test_a_request_in_the_socket_buffer_is_served_during_the_drain() -> None:
    server, reader, writer = await requested(HttpSettings(quiet_s=0.0))
    os.write(
        writer.get_extra_info("socket").fileno(), GET
    )  # past the event loop, which does not get to read before the end
    drain = asyncio.create_task(server.drain(60))
    assert (await response(reader))[1]["connection"] == "close"
    await drain
    await finish(server, writer)


async def test_pipelined_requests_are_all_served_during_shutdown() -> None:
    server, reader, writer = await requested(RESTLESS)
    server.shutting_down = True
    writer.write(GET * 3)
    reported = [(await response(reader))[1].get("connection", "") for _ in range(3)]
    assert reported == ["", "", "close"]
    await finish(server, writer)


async def test_a_response_to_an_unread_body_arrives() -> None:
    async def refuse(request: Request) -> Response:
        return Response(429, b"later", close=True)

    server, reader, writer = await connect(refuse)
    writer.write(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % LARGE)
    for _ in range(32):
        writer.write(b"x" * (64 << 10))
        await asyncio.sleep(0)
    assert (await response(reader))[0] == 429
    writer.write(b"x" * 100)
    await writer.drain()
    assert await asyncio.wait_for(reader.read(), 30) == b""
    await finish(server, writer)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the server cannot make the system ignore new clients")
async def test_connections_accepted_before_the_stop_are_served_and_later_ones_refused() -> None:
    server = HttpServer(echo, HttpSettings(accept_drain_s=0.2))
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    await server.start(sock, None)
    address = sock.getsockname()
    early = [socket.create_connection(address) for _ in range(50)]  # the event loop has had no time to accept them
    turning = asyncio.create_task(server.stop_accepting())
    await asyncio.sleep(0)
    with socket.socket() as late:
        late.settimeout(0.05)
        with pytest.raises(TimeoutError):
            late.connect(address)
    await turning
    drain = asyncio.create_task(server.drain(60))
    for client in early:
        client.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=client)
        writer.write(GET)
        assert (await response(reader))[0] == 200
        writer.close()
    await drain
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)


async def test_a_client_before_its_handshake_is_served_during_the_drain(tmp_path: Path) -> None:
    files = make_files(tmp_path)
    async with running(files, Route()) as server:
        raw = socket.create_connection(("127.0.0.1", server.port))
        raw.setblocking(False)
        await server.server.stop_accepting()
        drain = asyncio.create_task(server.server.drain(60))
        await asyncio.sleep(0.05)
        reader, writer = await asyncio.open_connection(sock=raw, ssl=client_context(files), server_hostname="localhost")
        writer.write(b"GET /echo HTTP/1.1\r\nHost: h\r\n\r\n")
        assert (await response(reader))[0] == 200
        await drain
        writer.close()


async def test_a_last_response_over_tls_reaches_a_slow_reader(tmp_path: Path) -> None:
    files = make_files(tmp_path)

    def read(port: int) -> int:
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.connect(("127.0.0.1", port))
        with client_context(files).wrap_socket(raw, server_hostname="localhost") as tls:
            tls.sendall(b"GET /big/%d HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" % LARGE)
            time.sleep(0.5)
            return sum(map(len, iter(lambda: _read(tls), b"")))

    async with running(files, Route(), HttpSettings(close_timeout_s=0.05)) as server:
        assert await asyncio.to_thread(read, server.port) > LARGE


def _read(tls: ssl.SSLSocket) -> bytes:
    try:
        return tls.recv(64 << 10)
    except (ConnectionError, ssl.SSLError):
        return b""


async def test_a_client_that_ignores_the_end_of_tls_does_not_delay_the_drain(tmp_path: Path) -> None:
    files = make_files(tmp_path)
    async with running(files, Route(), HttpSettings(close_timeout_s=0.05, quiet_s=0.0)) as server:
        raw = await asyncio.to_thread(socket.create_connection, ("127.0.0.1", server.port))
        tls = await asyncio.to_thread(client_context(files).wrap_socket, raw, server_hostname="localhost")
        await asyncio.wait_for(server.server.drain(60), 20)
        assert server.server.connection_count == 0
        tls.close()


async def test_a_client_of_http_2_is_reported_to_go_when_nothing_of_its_is_under_way(tmp_path: Path) -> None:
    route = Route()
    settings = HttpSettings(linger_s=0.01, quiet_s=60)
    async with running(make_files(tmp_path), route, settings) as server, connected(server) as client:
        waiting = client.request("GET", "/wait")
        await route.begun.wait()
        drain = asyncio.create_task(server.server.drain(60))
        await asyncio.sleep(0.05)
        assert (await client.fetch("GET", "/echo")).status == 200
        assert not any(isinstance(event, ConnectionTerminated) for event in client.events)
        route.go.set()
        assert (await client.response(waiting)).body == b"done"
        await client.wait(ConnectionTerminated)
        await drain


async def test_a_request_that_waits_to_be_parsed_is_served_during_the_drain() -> None:
    server, reader, writer = await connect(echo, HttpSettings(quiet_s=0.01))
    parse_turns = server.parse_turns = LoopTurns(server.loop, 0)  # no turn has any time
    writer.write(b"GET / HTTP/1.1\r\nHost: h\r\nX-A: " + b"a" * 2 * SLICE_BYTES_MAX + b"\r\n\r\n")
    await asyncio.sleep(0.05)
    drain = asyncio.create_task(server.drain(60))
    await asyncio.sleep(0.05)
    parse_turns._units_per_turn = 1
    assert (await response(reader))[0] == 200
    await asyncio.wait_for(drain, 30)
    await finish(server, writer)
