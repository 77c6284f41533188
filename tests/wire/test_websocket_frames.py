"""Split a byte stream at the ends of WebSocket frames."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, TextMessage
from wsproto.frame_protocol import FrameProtocol, Opcode

from sampan.wire.websocket import WebSocket
from sampan.wire.websocket_frames import FrameCutter, frame_bytes


class Written:
    """Connection that keeps what is written."""

    is_drained = True

    def __init__(self) -> None:
        self.data = b""

    async def read(self) -> bytes:
        """Return nothing: the client has disconnected."""
        return b""

    def write(self, data: bytes) -> None:
        """Keep data."""
        self.data += data

    async def drain(self) -> None:
        """Return at once."""


def framed(size: int, *, client: bool = False) -> bytes:
    return bytes(FrameProtocol(client, [])._serialize_frame(Opcode.BINARY, b"x" * size))


SIZES = st.lists(st.one_of(st.integers(0, 130), st.integers(65_000, 66_000)), max_size=8)


@pytest.mark.parametrize("client", [False, True], ids=["unmasked", "masked"])
@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536])
def test_frame_size_is_computed_from_its_header(size: int, client: bool) -> None:
    frame = framed(size, client=client)
    assert frame_bytes(frame[:14]) == len(frame)


@given(SIZES, st.lists(st.integers(1, 40_000), max_size=20))
def test_no_piece_holds_bytes_of_two_frames(sizes: list[int], reads: list[int]) -> None:
    frames = [framed(size) for size in sizes]
    sent, cutter, at = b"".join(frames), FrameCutter(), 0
    pieces: list[bytes] = []
    for read in [*reads, len(sent)]:
        pieces += cutter.cut(sent[at : at + read])
        at += read
    assert b"".join(pieces) == sent
    ends, at = set(), 0
    for piece in pieces:
        at += len(piece)
        ends.add(at)
    at = 0
    for frame in frames:
        at += len(frame)
        assert at in ends


def test_frames_that_arrive_together_are_split() -> None:
    frames = [framed(5), framed(0), framed(300)]
    assert list(FrameCutter().cut(b"".join(frames))) == frames


def received(data: bytes) -> list[str | bytes]:
    """Return the messages that a client reads."""
    client = Connection(ConnectionType.CLIENT)
    client.receive_data(data)
    events = [each for each in client.events() if isinstance(each, TextMessage | BytesMessage)]
    assert all(each.message_finished for each in events)
    return [each.data if isinstance(each, TextMessage) else bytes(each.data) for each in events]


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536])
async def test_a_client_reads_the_messages_that_are_written(size: int) -> None:
    written = Written()
    websocket = WebSocket(written)
    websocket.write("x" * size)
    websocket.write(b"\xff" * size)
    await websocket.send_text("é".encode() * (size // 2))
    assert received(written.data) == ["x" * size, b"\xff" * size, "é" * (size // 2)]
    websocket.close()
    before = written.data
    await websocket.send_text(b"after the close")
    assert written.data == before
