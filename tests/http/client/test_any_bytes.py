"""A connection against all bytes there are, cut anywhere: without sockets."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.client.errors import TransportError
from sampan.client.transport import HttpRequest
from sampan.core.event_loop.turns import LoopTurns
from sampan.http.client.connection import Connection
from sampan.http.client.intake import PIECES_PER_TURN, SLICE_BYTES_MIN
from sampan.http.client.pending_response import PendingResponse
from sampan.http.client.settings import HttpClientSettings
from sampan.testing import settle
from sampan.wire.http1 import NameCache

GET = HttpRequest("GET", "/x")
RESPONSES = [
    (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx: y\r\n\r\nhello", 200, b"hello"),
    (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nx: y\r\n\r\n", 200, b"hello"),
    (b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n", 404, b""),
    (b"HTTP/1.1 304 Same\r\n\r\n", 304, b""),
    (b"HTTP/1.0 200 OK\r\n\r\nhello", 200, b"hello"),
]


class Wire:
    """A transport that swallows what is written."""

    def __init__(self, protocol: Connection) -> None:
        self.protocol = protocol
        self.gone = False

    def write(self, data: bytes) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def abort(self) -> None:
        self.close()

    def close(self) -> None:
        if not self.gone:
            self.gone = True
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)


class Log:
    """Counts a connection's calls to its pool."""

    def __init__(self) -> None:
        self.released = 0
        self.lost = 0

    def connection(self, *, is_sliced: bool = False) -> tuple[Connection, Wire]:
        """`is_sliced`: a turn of the loop has room for a few bytes only."""

        def count(name: str) -> Callable[[Connection], None]:
            def counted(_: Connection) -> None:
                setattr(self, name, getattr(self, name) + 1)

            return counted

        turn_limit = LoopTurns(asyncio.get_running_loop(), 1 if is_sliced else PIECES_PER_TURN)
        connection = Connection(
            HttpClientSettings(), NameCache(), turn_limit, released=count("released"), lost=count("lost")
        )
        if is_sliced:
            connection._intake._slice_bytes = 2
        wire = Wire(connection)
        connection.connection_made(cast(Any, wire))
        return connection, wire


def deliver(connection: Connection, wire: Wire, data: bytes, cuts: list[int]) -> None:
    """Deliver data in pieces, and the end of the connection."""
    borders = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for begin, end in pairwise(borders):
        if begin < end and not wire.gone:
            connection.data_received(data[begin:end])
    wire.close()


async def body_of(response: PendingResponse) -> bytes:
    try:
        await response.head()
        return await response.read()
    finally:
        await settle()


@given(which=st.sampled_from(RESPONSES), cuts=st.lists(st.integers(0, 200), max_size=8), is_sliced=st.booleans())
def test_a_response_is_the_same_for_all_cuts_of_its_bytes(
    which: tuple[bytes, int, bytes], cuts: list[int], is_sliced: bool
) -> None:
    data, status, body = which

    async def scenario() -> None:
        log = Log()
        connection, wire = log.connection(is_sliced=is_sliced)
        response = connection.begin(GET, b"")
        deliver(connection, wire, data, cuts)
        assert (await body_of(response), response.status) == (body, status)
        assert log.lost == 1
        # A connection that ends while its bytes wait for their turn is never free again.
        assert is_sliced or log.released == (0 if data.startswith(b"HTTP/1.0") else 1)

    asyncio.run(scenario())


@given(
    data=st.one_of(
        st.binary(max_size=200),
        st.builds(
            lambda response, at, noise: (
                response[: at % len(response)] + noise + response[at % len(response) + len(noise) :]
            ),
            st.sampled_from([response for response, _, _ in RESPONSES]),
            st.integers(0, 200),
            st.binary(max_size=4),
        ),
    ),
    cuts=st.lists(st.integers(0, 200), max_size=4),
    is_sliced=st.booleans(),
)
def test_no_bytes_do_more_than_fail_the_request(data: bytes, cuts: list[int], is_sliced: bool) -> None:
    async def scenario() -> None:
        log = Log()
        connection, wire = log.connection(is_sliced=is_sliced)
        response = connection.begin(GET, b"")
        deliver(connection, wire, data, cuts)
        with suppress(TransportError):
            await body_of(response)
        assert log.released <= 1
        assert (log.lost, connection.closed) == (1, True)

    asyncio.run(scenario())


async def test_a_connection_is_not_free_before_the_end_of_its_response() -> None:
    log = Log()
    connection, wire = log.connection()
    response = connection.begin(GET, b"")
    connection.data_received(RESPONSES[0][0][:-1])
    await response.head()
    assert log.released == 0
    connection.data_received(RESPONSES[0][0][-1:])
    assert log.released == 1
    wire.close()


async def test_a_connection_whose_response_fails_is_never_free() -> None:
    log = Log()
    connection, _ = log.connection()
    response = connection.begin(GET, b"")
    connection.data_received(RESPONSES[0][0][:-1])
    response.close()
    connection.data_received(RESPONSES[0][0][-1:])
    await asyncio.sleep(0)
    assert (log.released, log.lost) == (0, 1)
    with pytest.raises(TransportError):
        await response.read()


SMALL_CHUNKS = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 100_000 + b"0\r\n\r\n"


async def test_chunks_of_one_byte_are_read_in_many_turns_of_the_loop() -> None:
    log = Log()
    connection, wire = log.connection()
    response = connection.begin(GET, b"")
    for begin in range(0, len(SMALL_CHUNKS), 256 << 10):
        connection.data_received(SMALL_CHUNKS[begin : begin + (256 << 10)])
    first = response._buffered
    assert 0 < first < (256 << 10) // 6 + SLICE_BYTES_MIN
    await asyncio.sleep(0)
    assert response._buffered - first < PIECES_PER_TURN + SLICE_BYTES_MIN
    assert await body_of(response) == b"x" * 100_000
    assert log.released == 1
    wire.close()


async def test_connections_of_a_client_share_the_limit_of_a_turn() -> None:
    turn_limit = LoopTurns(asyncio.get_running_loop(), PIECES_PER_TURN)
    responses = []
    for _ in range(10):
        connection = Connection(
            HttpClientSettings(), NameCache(), turn_limit, released=lambda _: None, lost=lambda _: None
        )
        connection.connection_made(cast(Any, Wire(connection)))
        responses.append(connection.begin(GET, b""))
        connection.data_received(SMALL_CHUNKS[: 64 << 10])
    assert sum(response._buffered for response in responses) < 2 * PIECES_PER_TURN
    await settle()
    assert all(response._buffered > 10_000 for response in responses)


async def test_bytes_after_the_end_are_never_the_response_to_the_next_request() -> None:
    log = Log()
    connection, _ = log.connection(is_sliced=True)
    response = connection.begin(GET, b"")
    connection.data_received(RESPONSES[0][0] + b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
    assert await body_of(response) == b"hello"
    assert (log.released, connection.closed) == (0, True)
