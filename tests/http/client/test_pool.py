"""Connections: their number, their distribution among requests, and the loss of one."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from sampan.client.errors import TransportError, TransportTimeout
from sampan.client.transport import HttpRequest
from sampan.http.client.settings import HttpClientSettings
from sampan.http.client.tls import TlsOptions
from tests.http.client.certificates import Authority
from tests.http.client.scripted import GET, OK, STREAM, Peer, ReceivedRequest, responds, scripted, until

CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


class Gate:
    """A script that answers no request until it is opened, and notes each request."""

    def __init__(self) -> None:
        self.requested: list[ReceivedRequest] = []
        self.open = asyncio.Event()
        self.arrived = asyncio.Condition()

    async def __call__(self, peer: Peer) -> None:
        while True:
            requested = await peer.requested()
            async with self.arrived:
                self.requested.append(requested)
                self.arrived.notify_all()
            await self.open.wait()
            await peer.send(OK)

    async def wait_for(self, count: int) -> None:
        """Return when this many requests have come."""
        async with self.arrived:
            await self.arrived.wait_for(lambda: len(self.requested) >= count)


async def test_requests_beyond_the_bound_wait_and_are_sent_in_order() -> None:
    gate = Gate()
    async with scripted(gate) as server, server.transport(settings=HttpClientSettings(connections_max=2)) as transport:

        async def fetch(number: int) -> None:
            await (await transport.send(HttpRequest("GET", f"/{number}"))).read()

        async with asyncio.TaskGroup() as group:
            for number in range(30):
                group.create_task(fetch(number))
            await gate.wait_for(2)
            assert server.connections == 2
            gate.open.set()
        lines = [int(requested.line.split()[1][1:]) for requested in gate.requested]
        assert server.connections == 2
        assert sorted(lines) == list(range(30))
        # Two connections answer side by side, so neighbours may change places.
        assert all(abs(line - place) <= 1 for place, line in enumerate(lines))


async def test_a_client_that_is_cancelled_while_waiting_leaves_the_connection_to_the_next() -> None:
    gate = Gate()
    async with scripted(gate) as server, server.transport(settings=HttpClientSettings(connections_max=1)) as transport:
        first = asyncio.create_task(transport.send(GET))
        await gate.wait_for(1)
        second = asyncio.create_task(transport.send(HttpRequest("GET", "/second")))
        third = asyncio.create_task(transport.send(HttpRequest("GET", "/third")))
        await asyncio.sleep(0)
        second.cancel()
        gate.open.set()
        await (await first).read()
        assert await (await third).read() == b"ok"
        assert [requested.line.split()[1] for requested in gate.requested] == ["/x", "/third"]


async def test_a_cancelled_request_frees_its_place_in_the_pool() -> None:
    gate = Gate()
    async with scripted(gate) as server, server.transport(settings=HttpClientSettings(connections_max=1)) as transport:
        first = asyncio.create_task(transport.send(GET))
        await gate.wait_for(1)
        first.cancel()
        with suppress(asyncio.CancelledError):
            await first
        gate.open.set()
        assert await (await transport.send(GET)).read() == b"ok"
        assert server.connections == 2


async def test_cancellations_at_any_moment_lose_no_place() -> None:
    settings = HttpClientSettings(connections_max=2)
    async with scripted(responds(OK)) as server, server.transport(settings=settings) as transport:

        async def fetch() -> bytes:
            return await (await transport.send(GET)).read()

        for iterations in range(60):
            tasks = [asyncio.create_task(fetch()) for _ in range(6)]
            for _ in range(iterations):
                await asyncio.sleep(0)
            for task in tasks[::2]:
                task.cancel()
            done = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(result == b"ok" for result in done[1::2])


async def test_waiting_for_a_connection_counts_as_time_of_the_request() -> None:
    gate = Gate()
    async with scripted(gate) as server, server.transport(settings=HttpClientSettings(connections_max=1)) as transport:
        first = asyncio.create_task(transport.send(GET))
        await gate.wait_for(1)
        with pytest.raises(TransportTimeout) as caught:
            await transport.send(HttpRequest("POST", "/x", timeout_s=0.02))
        assert not caught.value.sent
        gate.open.set()
        await (await first).read()


async def closes_at_second_request(peer: Peer) -> None:
    """Answers once; takes a second request in and closes: what a keep-alive time-out looks like from outside."""
    await peer.requested()
    await peer.send(OK)
    await peer.requested()


async def test_a_get_on_a_connection_that_closes_is_sent_on_another() -> None:
    async with scripted(closes_at_second_request) as server, server.transport() as transport:
        for _ in range(3):
            assert await (await transport.send(GET)).read() == b"ok"
        assert server.connections == 3


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_write_on_a_connection_that_closes_is_not_sent_twice(method: str) -> None:
    async with scripted(closes_at_second_request) as server, server.transport() as transport:
        await (await transport.send(GET)).read()
        with pytest.raises(TransportError, match="before it answered") as caught:
            await transport.send(HttpRequest(method, "/x", body=b"{}"))
        assert caught.value.sent
        assert server.connections == 1


async def test_a_get_is_not_sent_again_after_the_first_bytes_of_its_response() -> None:
    async def begins(peer: Peer) -> None:
        await peer.requested()
        await peer.send(OK)
        await peer.requested()
        await peer.send(b"HTTP/1.1 2")

    async with scripted(begins) as server, server.transport() as transport:
        await (await transport.send(GET)).read()
        with pytest.raises(TransportError, match="in the middle of the head"):
            await transport.send(GET)
        assert server.connections == 1


async def test_a_connection_that_was_closed_while_idle_is_not_used() -> None:
    async def closes(peer: Peer) -> None:
        await peer.requested()
        await peer.send(OK)

    async with scripted(closes) as server, server.transport() as transport:
        await (await transport.send(GET)).read()
        await until(lambda: transport.connection_count == 0)
        assert await (await transport.send(HttpRequest("POST", "/x"))).read() == b"ok"
        assert server.connections == 2


async def test_a_response_with_connection_close_ends_the_connection() -> None:
    response = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok"
    async with scripted(responds(response)) as server, server.transport() as transport:
        for _ in range(2):
            assert await (await transport.send(GET)).read() == b"ok"
        assert server.connections == 2


async def test_idle_connections_are_closed_after_their_time() -> None:
    async with (
        scripted(responds(OK)) as server,
        server.transport(settings=HttpClientSettings(idle_timeout_s=0.02)) as transport,
    ):
        await (await transport.send(GET)).read()
        assert transport.connection_count == 1
        await until(lambda: transport.connection_count == 0)


async def test_streams_do_not_take_the_places_of_requests() -> None:
    async def serve(peer: Peer) -> None:
        while True:
            requested = await peer.requested()
            await peer.send(CHUNKED + b"1\r\na\r\n" if "watch" in requested.line else OK)

    async with scripted(serve) as server, server.transport(settings=HttpClientSettings(connections_max=1)) as transport:
        streams = [await transport.send(STREAM) for _ in range(3)]
        assert await (await transport.send(GET)).read() == b"ok"
        assert server.connections == 4
        for stream in streams:
            await stream.aclose()


async def test_closing_a_stream_cuts_its_connection() -> None:
    gone = asyncio.Event()

    async def serve(peer: Peer) -> None:
        await peer.requested()
        await peer.send(CHUNKED + b"1\r\na\r\n")
        await peer.gone()
        gone.set()

    async with scripted(serve) as server, server.transport() as transport:
        stream = await transport.send(STREAM)
        await stream.aclose()
        await stream.aclose()
        async with asyncio.timeout(60):
            await gone.wait()


async def test_closing_a_stream_ends_its_reader() -> None:
    async def serve(peer: Peer) -> None:
        await peer.requested()
        await peer.send(CHUNKED)
        await peer.gone()

    async with scripted(serve) as server, server.transport() as transport:
        stream = await transport.send(STREAM)

        async def read() -> None:
            async for _ in stream.chunks():
                pass

        reader = asyncio.create_task(read())
        await asyncio.sleep(0)
        await stream.aclose()
        with pytest.raises(TransportError, match="closed"):
            await reader


async def test_a_stream_that_is_left_early_cuts_its_connection() -> None:
    gone = asyncio.Event()

    async def serve(peer: Peer) -> None:
        await peer.requested()
        await peer.send(CHUNKED + b"1\r\na\r\n")
        await peer.gone()
        gone.set()

    async with scripted(serve) as server, server.transport() as transport:
        chunks = (await transport.send(STREAM)).chunks()
        assert await anext(chunks) == b"a"
        await chunks.aclose()  # type: ignore[attr-defined]  # an asynchronous generator
        async with asyncio.timeout(60):
            await gone.wait()


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
async def test_a_stream_that_no_client_reads_stops_the_server(tmp_path: Path, secure: bool) -> None:
    sent = 0

    async def floods(peer: Peer) -> None:
        nonlocal sent
        await peer.requested()
        await peer.send(CHUNKED)
        for _ in range(2000):
            await peer.send(b"10000\r\n" + bytes(1 << 16) + b"\r\n")
            sent += 1 << 16
        await peer.send(b"0\r\n\r\n")

    authority = Authority()
    context = authority.server_context(authority.issue(), tmp_path) if secure else None
    settings = HttpClientSettings(buffer_bytes_max=1 << 18)
    tls = TlsOptions(ca_data=authority.certificate)
    async with (
        scripted(floods, context=context) as server,
        server.transport(tls=tls, settings=settings) as transport,
    ):
        stream = await transport.send(STREAM)
        before = -1
        while before != sent:
            before = sent
            await asyncio.sleep(0.05)
        assert sent < 64 << 20
        size = 0
        async for chunk in stream.chunks():
            size += len(chunk)
        assert size == 2000 << 16


async def test_closing_the_transport_fails_all_waiting_requests() -> None:
    gate = Gate()
    async with scripted(gate) as server, server.transport(settings=HttpClientSettings(connections_max=1)) as transport:
        tasks = [asyncio.create_task(transport.send(GET)) for _ in range(3)]
        await gate.wait_for(1)
        await transport.aclose()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(result) for result in done] == [TransportError] * 3
        assert [result.sent for result in done if isinstance(result, TransportError)] == [True, False, False]
        assert transport.connection_count == 0
        with pytest.raises(TransportError, match="the transport is closed"):
            await transport.send(GET)
