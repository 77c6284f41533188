"""An HTTP/2 client that floods the server is disconnected, and its frames do not keep other clients waiting."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from h2.errors import ErrorCodes
from h2.events import ConnectionTerminated
from h2.settings import SettingCodes
from hpack import Decoder, Encoder, HeaderTuple
from hpack.exceptions import HPACKError, OversizedHeaderListError
from hypothesis import given
from hypothesis import strategies as st

from sampan.server.connections.http2.connection import Http2Connection
from sampan.server.connections.http2.frames import Frames
from sampan.server.connections.listener import FRAMES_PER_TURN, HttpServer
from sampan.server.connections.settings import HttpSettings
from sampan.streams.http2.frame_budget import (
    TOKENS_AT_START,
    TOKENS_MAX,
    TOKENS_PER_S,
    FrameBudget,
    FrameFlood,
)
from sampan.streams.http2.header_compression import HUFFMAN_BYTES_MAX, TABLE_BYTES_MAX, BoundedDecoder, BoundedEncoder
from sampan.streams.http2.inbound import FRAME_BYTES_MAX, FRAMES_PER_SLICE, SETTINGS_PER_FRAME_MAX, Inbound
from tests.server.connections.test_http2_fuzz import PREFACE, Wire
from tests.server.http2_client import Route, connected, running
from tests.server.tls_files import make_files

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 8, 9
END_STREAM, END_HEADERS, PADDED = 1, 4, 8
GET = Encoder().encode([(":method", "GET"), (":scheme", "https"), (":path", "/wait"), (":authority", "h")])
POST = Encoder().encode([(":method", "POST"), (":scheme", "https"), (":path", "/wait"), (":authority", "h")])
MANY = 3 * TOKENS_AT_START
NO_LINGER = HttpSettings(linger_s=0)


def frame(kind: int, payload: bytes = b"", *, stream: int = 0, flags: int = 0) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


def setting(value: int, code: int = SettingCodes.HEADER_TABLE_SIZE) -> bytes:
    return int(code).to_bytes(2, "big") + value.to_bytes(4, "big")


def opened(stream: int) -> bytes:
    return frame(HEADERS, GET, stream=stream, flags=END_HEADERS | END_STREAM)


def reset(stream: int) -> bytes:
    return frame(RST_STREAM, (8).to_bytes(4, "big"), stream=stream)


POSTED = frame(HEADERS, POST, stream=1, flags=END_HEADERS)
BLOCK_IN_EMPTY_PIECES = [
    frame(HEADERS, GET, stream=1, flags=END_STREAM),
    *[frame(CONTINUATION, stream=1)] * 60,
    frame(CONTINUATION, stream=1, flags=END_HEADERS),
]
FLOODS: dict[str, Callable[[], bytes]] = {
    "settings": lambda: frame(SETTINGS) * MANY,
    "table sizes": lambda: b"".join(frame(SETTINGS, setting(n)) for n in range(MANY)),
    "one frame of many settings": lambda: frame(SETTINGS, setting(1) * (SETTINGS_PER_FRAME_MAX + 1)),
    "ping": lambda: frame(PING, b"12345678") * MANY,
    "ping acknowledgements": lambda: frame(PING, b"12345678", flags=1) * MANY,
    "priority": lambda: frame(PRIORITY, bytes(5), stream=1) * MANY,
    "window of the connection": lambda: frame(WINDOW_UPDATE, bytes((0, 0, 0, 1))) * MANY,
    "window of a stream": lambda: opened(1) + frame(WINDOW_UPDATE, bytes((0, 0, 0, 1)), stream=1) * MANY,
    "requests reset at once": lambda: b"".join(opened(2 * n + 1) + reset(2 * n + 1) for n in range(MANY)),
    "empty data": lambda: POSTED + frame(DATA, stream=1) * MANY,
    "data of padding alone": lambda: POSTED + frame(DATA, b"\x01\x00", stream=1, flags=PADDED) * MANY,
    "data for no stream": lambda: opened(1) + reset(1) + frame(DATA, b"x", stream=1) * MANY,
    "empty continuations": lambda: b"".join(
        piece[:5] + (2 * n + 1).to_bytes(4, "big") + piece[9:] for n in range(9) for piece in BLOCK_IN_EMPTY_PIECES
    ),
    "unknown frames": lambda: frame(0x42) * MANY,
    "table size updates in a header block": lambda: frame(
        HEADERS, b"\x20" * 9000 + GET, stream=1, flags=END_HEADERS | END_STREAM
    ),
}
SINGLE_FRAMES = ("one frame of many settings", "table size updates in a header block")


async def drained(connection: Http2Connection) -> None:
    """Wait until the connection has handled what it has received."""
    for _ in range(MANY):
        await asyncio.sleep(0)
    assert not connection.frames.inbound.more or connection.ending


@pytest.mark.parametrize("flood", FLOODS)
async def test_a_flood_ends_its_connection_with_enhance_your_calm(flood: str) -> None:
    connection, wire = Http2Connection(HttpServer(Route(), NO_LINGER)), Wire()
    connection.connection_made(wire)
    connection.data_received(PREFACE + FLOODS[flood]())
    await drained(connection)
    connection.connection_lost(None)
    assert wire.closed
    assert wire.written[-17:-8] == frame(7, bytes(8))[:9]
    assert wire.written[-4:] == int(ErrorCodes.ENHANCE_YOUR_CALM).to_bytes(4, "big")


@pytest.mark.parametrize("flood", [name for name in FLOODS if name not in SINGLE_FRAMES])
async def test_the_frames_of_a_flood_are_handled_a_few_at_a_time(flood: str) -> None:
    connection, wire = Http2Connection(HttpServer(Route(), NO_LINGER)), Wire()
    connection.connection_made(wire)
    taken: list[int] = []
    receive = connection.frames.receive
    iterations = 0

    def counting() -> object:
        taken.append(iterations)
        return receive()

    connection.frames.receive = counting  # type: ignore[assignment,method-assign]
    connection.data_received(PREFACE + FLOODS[flood]())
    while not wire.closed:
        iterations += 1
        await asyncio.sleep(0)
    connection.connection_lost(None)
    assert len(taken) > 2
    assert taken == sorted(set(taken)), "at most one slice in a turn of the loop"


@pytest.mark.parametrize("kind", [DATA, HEADERS, PING, 0x42])
async def test_a_frame_that_is_too_long_ends_its_connection_before_its_payload_arrives(kind: int) -> None:
    connection, wire = Http2Connection(HttpServer(Route(), NO_LINGER)), Wire()
    connection.connection_made(wire)
    connection.data_received(PREFACE + (FRAME_BYTES_MAX + 1).to_bytes(3, "big") + bytes((kind, 0, 0, 0, 0, 1)))
    await drained(connection)
    connection.connection_lost(None)
    assert wire.closed
    assert wire.written[-4:] == int(ErrorCodes.FRAME_SIZE_ERROR).to_bytes(4, "big")


async def test_a_flood_over_tls_ends_and_another_client_is_served(tmp_path: Path) -> None:
    async with running(make_files(tmp_path), Route()) as server, connected(server) as bad, connected(server) as good:
        bad.writer.write(FLOODS["ping"]())
        assert (await bad.wait(ConnectionTerminated)).error_code == ErrorCodes.ENHANCE_YOUR_CALM
        await bad.closed()
        assert (await good.fetch("GET", "/echo")).status == 200


async def test_a_client_that_updates_its_window_for_each_4_kib_reads_a_large_body(tmp_path: Path) -> None:
    size = 8 << 20
    async with running(make_files(tmp_path), Route()) as server, connected(server) as client:
        client.h2.max_inbound_frame_size = 4096
        client.h2.update_settings({SettingCodes.MAX_FRAME_SIZE: 16384})
        stream_id = client.request("GET", f"/big/{size}")
        read = 0
        while read < size:
            await client.receive()
            done = len(client.body(stream_id))
            while read + 4096 <= done or (read < done == size):
                read = min(read + 4096, done)
                client.h2.increment_flow_control_window(4096)
                if done < size:
                    client.h2.increment_flow_control_window(4096, stream_id)
            client.flush()
        assert (await client.fetch("GET", "/echo")).status == 200


async def test_many_requests_one_after_another_cost_no_budget(tmp_path: Path) -> None:
    async with running(make_files(tmp_path), Route()) as server, connected(server) as client:
        for _ in range(TOKENS_AT_START + TOKENS_MAX):
            assert (await client.fetch("GET", "/echo")).status == 200


# --- the budget


class Clock:
    """Monotonic seconds that the test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_tokens_come_back_with_time() -> None:
    clock = Clock()
    budget = FrameBudget(clock)
    budget.charge(TOKENS_AT_START)
    with pytest.raises(FrameFlood):
        budget.charge()
    clock.now = 10 / TOKENS_PER_S
    for _ in range(9):
        budget.charge()


def test_a_client_saves_no_more_than_the_maximum() -> None:
    clock = Clock()
    budget = FrameBudget(clock)
    for _ in range(TOKENS_MAX):
        budget.earn_response()
    budget.earn_data(1 << 30)
    budget.charge(TOKENS_MAX)
    with pytest.raises(FrameFlood):
        budget.charge()


# --- slices


@given(st.lists(st.integers(0, 300), max_size=200), st.lists(st.integers(1, 400), max_size=50))
def test_slices_are_the_bytes_that_came(lengths: list[int], cuts: list[int]) -> None:
    sent = PREFACE[:24] + b"".join(frame(DATA, b"x" * length) for length in lengths)
    inbound, received, at = Inbound(FrameBudget()), b"", 0
    for cut in [*cuts, len(sent)]:
        inbound.feed(sent[at : at + cut])
        at += cut
        taken = inbound.take()
        while inbound.more:
            received += taken
            taken = inbound.take()
        received += taken
    assert received == sent


def test_a_slice_holds_a_few_frames() -> None:
    inbound = Inbound(FrameBudget())
    inbound.feed(PREFACE[:24] + frame(DATA) * 10 * FRAMES_PER_SLICE)
    assert inbound.take() == PREFACE[:24] + frame(DATA) * FRAMES_PER_SLICE
    assert inbound.more


# --- header blocks

Field = tuple[bytes, bytes, bool]
NAMES = st.one_of(st.sampled_from([b":path", b"accept", b"x-a", b"cookie"]), st.binary(min_size=1, max_size=20))
FIELDS = st.lists(st.tuples(NAMES, st.binary(max_size=300), st.booleans()), max_size=40)


@given(st.lists(FIELDS, max_size=5), st.booleans())
def test_header_blocks_are_decoded_as_the_library_does(
    blocks: list[list[tuple[bytes, bytes, bool]]], huffman: bool
) -> None:
    encoder, ours, theirs = Encoder(), BoundedDecoder(1 << 20), Decoder(1 << 20)
    for fields in blocks:
        block = encoder.encode(fields, huffman=huffman)
        assert ours.decode(block, raw=True) == theirs.decode(block, raw=True)


@given(st.binary(max_size=60))
def test_garbage_is_refused_as_the_library_does(block: bytes) -> None:
    def outcome(decoder: Decoder) -> list[HeaderTuple] | None:
        try:
            return list(decoder.decode(block, raw=True))
        except HPACKError:
            return None

    found = outcome(BoundedDecoder())
    assert found is None or found == outcome(Decoder())


@pytest.mark.parametrize(
    "block",
    [b"\x20" * 3, b"\x82" * 5000, b"\x00\x01x\xff\x82\xff\x07" + b"\x07" * (HUFFMAN_BYTES_MAX + 1)],
    ids=["table size updates", "fields", "huffman"],
)
def test_a_header_block_that_is_expensive_to_decode_is_oversized(block: bytes) -> None:
    with pytest.raises(OversizedHeaderListError):
        BoundedDecoder(1 << 20).decode(block, raw=True)


@pytest.mark.parametrize("block", [b"\x82\x20", b"\x00", b"\x00\x05x", b"\x7f" + b"\xff" * 9, b"\x00\x01x\x7f\x80\x80"])
def test_a_malformed_header_block_is_refused(block: bytes) -> None:
    with pytest.raises(HPACKError):
        BoundedDecoder().decode(block, raw=True)


def test_a_client_cannot_make_the_table_for_response_headers_larger() -> None:
    encoder = BoundedEncoder()
    encoder.header_table_size = 1 << 31
    for n in range(1000):
        encoder.encode([("x-request", str(n))])
    assert encoder.header_table_size == TABLE_BYTES_MAX
    assert len(encoder.header_table.dynamic_entries) <= TABLE_BYTES_MAX // 32


@given(st.lists(st.integers(0, 9000), max_size=6))
def test_size_changes_of_the_table_are_announced(sizes: list[int]) -> None:
    encoder, decoder = BoundedEncoder(), BoundedDecoder()
    for fields in ([("x-a", "1")], [("x-a", "1"), ("x-b", "2")]):
        for size in sizes:
            encoder.header_table_size = size
        assert [tuple(header) for header in decoder.decode(encoder.encode(fields), raw=True)] == [
            (name.encode(), value.encode()) for name, value in fields
        ]


async def test_connections_share_the_frames_of_a_turn() -> None:
    server = HttpServer(Route(), NO_LINGER)
    handled: list[int] = []
    iterations = 0
    connections = []
    for _ in range(40):
        connection, wire = Http2Connection(server), Wire()
        connection.connection_made(wire)
        connections.append(connection)
        receive = connection.frames.receive

        def counting(receive: Callable[[], object] = receive, frames: Frames = connection.frames) -> object:
            events = receive()
            handled.extend([iterations] * frames.inbound.frames)
            return events

        connection.frames.receive = counting  # type: ignore[assignment,method-assign]
    for connection in connections:
        connection.data_received(PREFACE + frame(PING, b"12345678") * 200)
    while any(connection.frames.inbound.more for connection in connections):
        iterations += 1
        await asyncio.sleep(0)
    for connection in connections:
        connection.connection_lost(None)
    assert len(handled) == 40 * 201  # with the SETTINGS frame
    assert max(Counter(handled).values()) < FRAMES_PER_TURN + FRAMES_PER_SLICE


async def test_one_connection_does_not_wait_for_a_turn() -> None:
    connection, wire = Http2Connection(HttpServer(Route(), NO_LINGER)), Wire()
    connection.connection_made(wire)
    connection.data_received(PREFACE + frame(PING, b"12345678"))
    assert frame(PING, b"12345678", flags=1) in wire.written
    connection.connection_lost(None)
