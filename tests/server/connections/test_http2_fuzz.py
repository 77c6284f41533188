"""For all input of a client of HTTP/2: nothing is raised, no task is left."""

import asyncio
import contextlib
import random

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.exceptions import H2Error
from h2.settings import SettingCodes
from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.server.connections.http2.connection import Http2Connection
from sampan.server.connections.http2.frames import UNREAD_BYTES_MAX
from sampan.server.connections.listener import HttpServer
from sampan.server.connections.settings import HttpSettings
from tests.properties import examples
from tests.server.http2_client import Route


class Wire(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1)})
        self.written = b""
        self.closed = False
        self.unread = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        """Bytes come from the test alone."""

    def resume_reading(self) -> None:
        """See `pause_reading`."""

    def get_write_buffer_size(self) -> int:
        return self.unread


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
FRAME = st.builds(
    lambda kind, flags, stream, payload: (
        len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload
    ),
    st.integers(0, 12),
    st.integers(0, 255),
    st.integers(0, 9),
    st.one_of(st.binary(max_size=40), st.just(bytes.fromhex("8284870103666f6f"))),
)


async def test_a_client_that_requests_and_does_not_read_is_cut() -> None:
    connection, wire = Http2Connection(HttpServer(Route())), Wire()
    connection.connection_made(wire)
    ping = bytes.fromhex("0000080600000000003132333435363738")
    connection.data_received(PREFACE + ping)
    assert not wire.closed
    wire.unread = UNREAD_BYTES_MAX + 1
    connection.data_received(ping)
    assert wire.closed


@settings(max_examples=examples(150))
@given(st.lists(st.one_of(FRAME, st.binary(max_size=40)), max_size=12), st.booleans())
async def test_garbage_ends_the_connection_and_nothing_else(pieces: list[bytes], greeted: bool) -> None:
    route = Route()
    server = HttpServer(route)
    connection, wire = Http2Connection(server), Wire()
    connection.connection_made(wire)
    if greeted:
        connection.data_received(PREFACE)
    for piece in pieces:
        if not wire.closed:
            connection.data_received(piece)
            await asyncio.sleep(0)
    connection.connection_lost(None)
    assert server.connection_count == 0
    assert connection.idle


PATHS = ("/echo", "/wait", "/watch", "/big/200000", "/empty", "/gone", "/a%zz", "/headers", "nonsense", "")
METHODS = ("GET", "POST", "HEAD", "CONNECT", "X")
ODD_HEADERS = (("connection", "x"), ("expect", "100-continue"), ("content-length", "5"), ("te", "trailers"))


class Conversation:
    """A client that sends random input, mostly within the rules, and sometimes not."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.route = Route()
        self.server = HttpServer(self.route, HttpSettings(http2_streams_max=4, linger_s=0))
        self.connection = Http2Connection(self.server)
        self.wire = Wire()
        self.connection.connection_made(self.wire)
        self.client = H2Connection(H2Configuration(client_side=True, validate_outbound_headers=False))
        self.client.initiate_connection()
        self.streams: list[int] = [1]

    async def step(self) -> None:
        """Do one random thing, and let the server answer."""
        with contextlib.suppress(H2Error, KeyError):  # the client's half of h2 refuses some of it
            self.dice.choice((self.fetch, self.fetch, self.fetch, self.talk, self.control, self.serve))()
        sent = self.client.data_to_send()
        if sent and not self.wire.closed:
            self.connection.data_received(sent)
        for _ in range(self.dice.randint(0, 4)):
            await asyncio.sleep(0)
        received, self.wire.written = self.wire.written, b""
        with contextlib.suppress(H2Error):
            self.client.receive_data(received)

    def fetch(self) -> None:
        stream_id = self.client.get_next_available_stream_id()
        headers = [(":method", self.dice.choice(METHODS)), (":path", self.dice.choice(PATHS)), (":scheme", "https")]
        if self.dice.random() < 0.2:
            headers.append(self.dice.choice(ODD_HEADERS))
        self.streams.append(stream_id)
        self.client.send_headers(stream_id, headers, end_stream=self.dice.random() < 0.6)

    def talk(self) -> None:
        stream_id = self.dice.choice(self.streams)
        if self.dice.random() < 0.6:
            body = b"x" * self.dice.choice((0, 1, 1000, 16000))
            self.client.send_data(stream_id, body, end_stream=self.dice.random() < 0.3)
        else:
            self.client.reset_stream(stream_id, self.dice.choice((0, 8)))

    def control(self) -> None:
        match self.dice.randint(0, 3):
            case 0:
                self.client.increment_flow_control_window(
                    self.dice.choice((1, 100_000)), self.dice.choice(self.streams)
                )
            case 1:
                self.client.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: self.dice.choice((0, 10, 100_000))})
            case 2:
                self.client.ping(b"12345678")
            case _:
                if self.dice.random() < 0.2:
                    self.connection.data_received(self.dice.randbytes(20))

    def serve(self) -> None:
        """Do one random thing on the server's side."""
        match self.dice.randint(0, 5):
            case 0:
                self.route.go.set()
            case 1:
                self.route.chunks.put_nowait(self.dice.choice((b"x" * 70_000, b"a", None)))
            case 2:
                self.connection.pause_writing()
            case 3 | 4:
                self.connection.resume_writing()
            case _:
                if self.dice.random() < 0.3:
                    self.connection.end()

    async def end(self) -> None:
        """The client goes, and what waits is let go."""
        self.connection.resume_writing()
        self.connection.connection_lost(None)
        self.route.go.set()
        for _ in range(50):
            await asyncio.sleep(0)


@settings(max_examples=examples(150))
@given(st.randoms(use_true_random=False), st.integers(1, 40))
async def test_whatever_a_client_does_nothing_is_left_when_it_has_gone(dice: random.Random, steps: int) -> None:
    conversation = Conversation(dice)
    for _ in range(steps):
        await conversation.step()
    await conversation.end()
    assert conversation.server.connection_count == 0
    assert conversation.connection.idle
    assert asyncio.all_tasks() == {asyncio.current_task()}
