"""Streams carry bytes in both directions, within bounds, and end with their connection."""

import asyncio
import ssl
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from h2.connection import H2Connection

from sampan.core.tls.trust import client_context
from sampan.http.tunnel import Tunnel
from sampan.streams.errors import StreamRefused
from sampan.streams.limits import StreamLimits
from sampan.streams.session import StreamSession
from sampan.streams.transport import StreamTransport
from tests.server.tls_files import make_files
from tests.streams.sessions import Echo, Flood, Pair, connect_local, listening, pair, tunnels

WAIT_S = 60.0
PING, RST_STREAM = 6, 3


async def received(tunnel: Tunnel, size: int) -> bytes:
    """Return this number of bytes, or fewer if the stream ends."""
    data = b""
    async with asyncio.timeout(WAIT_S):
        while len(data) < size and (piece := await tunnel.read()):
            data += piece
    return data


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not condition():  # noqa: ASYNC110 - a session has no event for it
            await asyncio.sleep(0.01)


async def test_bytes_come_back_in_order() -> None:
    sent = bytes(range(256)) * 8000
    async with pair() as ends, listening() as port:
        stream = await ends.opening.open(Tunnel, port)
        stream.write(sent)
        assert await received(stream, len(sent)) == sent


async def test_many_streams_at_once_do_not_mix_their_bytes() -> None:
    async def one(ends: Pair, port: str, number: int) -> None:
        stream = await ends.opening.open(Tunnel, port)
        sent = f"{number},".encode() * 20_000
        stream.write(sent)
        assert await received(stream, len(sent)) == sent
        stream.transport.close()

    async with pair() as ends, listening() as port:
        async with asyncio.TaskGroup() as group:
            for number in range(100):
                group.create_task(one(ends, port, number))
        await until(lambda: not ends.opening.stream_count and not ends.accepting.stream_count)


async def test_tls_passes_through_a_stream(tmp_path: Path) -> None:
    files = make_files(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pair_ = files.serving("server", "127.0.0.1")
    context.load_cert_chain(pair_.certificate, pair_.key)
    sent = bytes(range(256)) * 2000
    async with pair() as ends, listening(tls=context) as port:
        trust = client_context(files.ca_file.read_text())
        stream = await ends.opening.open(Tunnel, port, tls=trust, server_name="127.0.0.1")
        stream.write(sent)
        assert await received(stream, len(sent)) == sent
        stream.transport.close()
        await until(lambda: not ends.opening.stream_count)
        with pytest.raises(ssl.SSLCertVerificationError):
            await ends.opening.open(Tunnel, port, tls=trust, server_name="other.test")


async def test_an_end_of_the_target_arrives_after_its_last_bytes() -> None:
    class Sends(Echo):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            self.transport.write(bytes(1 << 20))
            self.transport.close()

    async with pair() as ends, listening(Sends) as port:
        stream = await ends.opening.open(Tunnel, port)
        await until(lambda: not ends.accepting.stream_count or ends.opening.waiting_bytes)
        assert len(await received(stream, 1 << 21)) == 1 << 20
        await until(lambda: not ends.opening.stream_count and not ends.accepting.stream_count)


async def test_a_stream_that_is_not_read_stops_its_sender_and_no_other_stream() -> None:
    Flood.sent_bytes = 0
    limits = StreamLimits(window_bytes=1 << 16)
    async with pair(limits) as ends, listening(Flood) as flood, listening() as port:
        unread = await ends.opening.open(Tunnel, flood)
        await until(lambda: ends.opening.waiting_bytes)
        stream = await ends.opening.open(Tunnel, port)
        for _ in range(200):
            stream.write(b"x" * 10_000)
            assert len(await received(stream, 10_000)) == 10_000
        assert ends.opening.waiting_bytes <= 1 << 16
        # Besides the window, bytes wait in buffers of sockets, of the other end and of this one's protocol.
        assert Flood.sent_bytes < 20 << 20
        assert len(unread.take()) <= 2 << 16


async def test_streams_that_together_have_too_many_unread_bytes_are_reset() -> None:
    limits = StreamLimits(window_bytes=1 << 18, waiting_bytes_max=1 << 20)
    async with pair(limits) as ends, listening(Flood) as port:
        streams = [await ends.opening.open(Tunnel, port) for _ in range(10)]
        await until(lambda: any(each.closed for each in streams))
        assert ends.opening.waiting_bytes <= 1 << 20
        assert not all(each.closed for each in streams)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ConnectionRefusedError(111, "refused"), ConnectionRefusedError),
        (TimeoutError(), TimeoutError),
        (StreamRefused("its address is none of a Pod"), StreamRefused),
        (OSError("other reason"), OSError),
    ],
)
async def test_the_error_of_the_target_is_that_of_the_caller(error: OSError, expected: type[OSError]) -> None:
    async def refuse(target: str, make: object) -> None:
        raise error

    near, far, server = await tunnels()
    opening, accepting = StreamSession(near, name="node b"), StreamSession(far, name="server", connect=refuse)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(opening.run()), group.create_task(accepting.run())]
        with pytest.raises(OSError) as caught:
            await opening.open(Tunnel, "anything")
        for each in tasks:
            each.cancel()
    server.close()
    assert type(caught.value) is expected
    assert "Pod" not in str(error) or str(caught.value) == f"node b: {error}"


async def test_a_stream_above_the_maximum_is_refused() -> None:
    async with pair(StreamLimits(streams_max=2)) as ends, listening() as port:
        streams = [await ends.opening.open(Tunnel, port) for _ in range(2)]
        with pytest.raises(OSError, match="node b has 2 streams, the maximum"):
            await ends.opening.open(Tunnel, port)
        streams[0].abort()
        await ends.opening.open(Tunnel, port)


async def test_the_accepting_end_has_its_own_maximum_of_streams() -> None:
    async with pair(StreamLimits(), StreamLimits(streams_max=2)) as ends, listening() as port:
        for _ in range(2):
            await ends.opening.open(Tunnel, port)
        with pytest.raises(OSError, match="node b: "):
            await ends.opening.open(Tunnel, port)


async def test_streams_end_with_their_connection_and_the_error_names_the_peer() -> None:
    class Lost(Tunnel):
        error: Exception | None = None

        def connection_lost(self, exc: Exception | None) -> None:
            self.error = exc
            super().connection_lost(exc)

    async with pair() as ends, listening() as port:
        stream = await ends.opening.open(Lost, port)
        ends.accepting.end("test")
        async with asyncio.timeout(WAIT_S):
            assert await stream.read() == b""
        assert "the tunnel of node b ended" in str(stream.error)
        with pytest.raises(ConnectionResetError, match="the tunnel of node b ended"):
            await ends.opening.open(Lost, port)


async def test_a_peer_without_pongs_is_dead() -> None:
    near, _, server = await tunnels()
    session = StreamSession(near, name="node b", limits=StreamLimits(ping_s=0.01, pings_lost_max=3))
    async with asyncio.timeout(WAIT_S):
        await session.run()
    server.close()
    assert session.reason == "it does not answer"


async def test_a_peer_that_acknowledges_pings_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    pings: list[bytes] = []
    ping = H2Connection.ping

    def counted(self: H2Connection, data: bytes) -> None:
        pings.append(data)
        ping(self, data)

    monkeypatch.setattr(H2Connection, "ping", counted)
    async with pair(StreamLimits(ping_s=0.05, pings_lost_max=10)) as ends, listening() as port:
        await until(lambda: len(pings) > 30)
        stream = await ends.opening.open(Tunnel, port)
        stream.write(b"alive")
        assert await received(stream, 5) == b"alive"


async def test_an_idle_stream_is_closed() -> None:
    async with pair(StreamLimits(), StreamLimits(ping_s=0.01, idle_s=0.05)) as ends, listening() as port:
        stream = await ends.opening.open(Tunnel, port)
        async with asyncio.timeout(WAIT_S):
            assert await stream.read() == b""
        await until(lambda: not ends.accepting.stream_count)


@pytest.mark.parametrize("accepts", [True, False])
async def test_a_flood_of_control_frames_ends_the_connection(accepts: bool) -> None:
    near, far, server = await tunnels()
    session = StreamSession(near, name="node b", connect=connect_local if accepts else None)
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" if accepts else b""
    ping = (8).to_bytes(3, "big") + bytes((PING, 0)) + bytes(12)
    far.write(preface + (0).to_bytes(3, "big") + bytes((4, 0)) + bytes(4) + ping * 2000)
    async with asyncio.timeout(WAIT_S):
        await session.run()
    server.close()
    assert session.reason == "it sends too many control frames"


async def test_a_peer_that_sends_something_else_ends_the_connection() -> None:
    near, far, server = await tunnels()
    session = StreamSession(near, name="node b")
    far.write(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 100)
    async with asyncio.timeout(WAIT_S):
        await session.run()
    server.close()
    assert session.reason == "frame of 4740180 bytes, at most 65536 are allowed"


async def test_a_cancelled_caller_leaves_no_stream() -> None:
    async def never(target: str, make: object) -> None:
        await asyncio.get_running_loop().create_future()

    near, far, server = await tunnels()
    opening, accepting = StreamSession(near, name="node b"), StreamSession(far, name="server", connect=never)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(opening.run()), group.create_task(accepting.run())]
        attempt = group.create_task(opening.open(Tunnel, "anything"))
        await until(lambda: accepting.stream_count)
        attempt.cancel()
        await until(lambda: not opening.stream_count and not accepting.stream_count)
        for each in tasks:
            each.cancel()
    server.close()


async def test_streams_of_a_cancelled_session_end_with_a_reason() -> None:
    async with pair() as ends, listening() as port:
        stream = await ends.opening.open(Tunnel, port)
        ends.ended.cancel()
        async with asyncio.timeout(WAIT_S):
            assert await stream.read() == b""
        assert ends.opening.reason == "the connection was closed"


async def test_unread_bytes_of_streams_that_were_cut_do_not_use_up_the_connections_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sampan.streams.framing._CONNECTION_WINDOW_BYTES", 1 << 20)
    async with pair(StreamLimits(window_bytes=1 << 18)) as ends, listening(Flood) as flood, listening() as port:
        for _ in range(12):
            unread = await ends.opening.open(Tunnel, flood)
            await until(lambda: ends.opening.waiting_bytes >= 1 << 17)
            unread.abort()
        stream = await ends.opening.open(Tunnel, port)
        stream.write(b"x" * 300_000)
        assert len(await received(stream, 300_000)) == 300_000


class NoCarrier:
    """Connection that sends nothing."""

    linger_s: float | None = None

    def push(self, stream: StreamTransport) -> None: ...

    def acknowledge(self, stream: StreamTransport, size: int) -> None: ...

    def reset(self, stream: StreamTransport) -> None: ...

    def forget(self, stream: StreamTransport) -> None: ...


async def test_a_stream_that_was_reset_before_its_protocol_is_connected_ends() -> None:
    stream, protocol = StreamTransport(NoCarrier(), 1, "target"), Tunnel()
    stream.lost(ConnectionResetError("gone"))
    stream.begin(protocol)
    async with asyncio.timeout(WAIT_S):
        assert await protocol.read() == b""


def test_the_memory_of_unread_bytes_does_not_depend_on_their_pieces() -> None:
    async def unread() -> tuple[StreamTransport, int]:
        stream = StreamTransport(NoCarrier(), 1, "target")
        tracemalloc.start()
        try:
            for number in range(100_000):
                stream.receive(number.to_bytes(4, "big")[-1:], 1)
            return stream, tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    stream, size_bytes = asyncio.run(unread())
    assert stream.waiting_bytes == 100_000
    assert size_bytes < 500_000


async def test_padding_counts_as_unread_until_it_is_read() -> None:
    stream, protocol = StreamTransport(NoCarrier(), 1, "target"), Tunnel()
    stream.begin(protocol, reading=False)
    stream.receive(b"x", 256)
    stream.receive(b"", 256)
    assert stream.waiting_bytes == 512
    stream.resume_reading()
    assert await protocol.read() == b"x"
    assert stream.waiting_bytes == 0


async def test_nothing_waits_after_all_streams_have_ended() -> None:
    async with pair(StreamLimits(window_bytes=1 << 16)) as ends, listening(Flood) as flood:
        streams = [await ends.opening.open(Tunnel, flood) for _ in range(3)]
        await until(lambda: ends.opening.waiting_bytes >= 3 << 15)
        await streams[0].read()
        for each in streams:
            each.abort()
        assert ends.opening.waiting_bytes == 0
