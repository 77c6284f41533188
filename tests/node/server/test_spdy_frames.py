"""SPDY frames: encoded frames are decoded again, however the network splits them."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.node.server.spdy.decoder import CONTROL_BYTES_MAX, FrameDecoder
from sampan.node.server.spdy.dictionary import DICTIONARY
from sampan.node.server.spdy.frames import (
    Data,
    Frame,
    FrameEncoder,
    GoAway,
    Headers,
    Ping,
    RstStream,
    SettingsFrame,
    SpdyError,
    SynReply,
    SynStream,
    WindowUpdate,
)

IDS = st.integers(1, 2**31 - 1)
WORDS = st.integers(0, 2**32 - 1)
HEADERS = st.dictionaries(st.text("abcdefg-", min_size=1), st.text(max_size=30), max_size=5)
FRAMES: st.SearchStrategy[Frame] = st.one_of(
    st.builds(SynStream, IDS, HEADERS, st.booleans(), st.booleans()),
    st.builds(SynReply, IDS, HEADERS, st.booleans()),
    st.builds(Headers, IDS, HEADERS, st.booleans()),
    st.builds(RstStream, IDS, WORDS),
    st.builds(SettingsFrame, st.dictionaries(WORDS, WORDS, max_size=3)),
    st.builds(Ping, WORDS),
    st.builds(GoAway, IDS, WORDS),
    st.builds(WindowUpdate, IDS, WORDS),
    st.builds(Data, IDS, st.binary(max_size=100), st.booleans()),
)


def joined(frames: list[Frame]) -> list[Frame]:
    """Join the parts of each data frame. A part with `fin` ends its stream."""
    found: list[Frame] = []
    for frame in frames:
        last = found[-1] if found else None
        if isinstance(frame, Data) and isinstance(last, Data) and last.stream_id == frame.stream_id and not last.fin:
            found[-1] = Data(frame.stream_id, last.data + frame.data, frame.fin)
        else:
            found.append(frame)
    return found


@given(st.lists(FRAMES, min_size=1, max_size=6), st.data())
def test_frames_survive_any_split(sent: list[Frame], data: st.DataObject) -> None:
    encoder, decoder = FrameEncoder(), FrameDecoder()
    stream = b"".join(encoder.encode(frame) for frame in sent)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=10)))
    found: list[Frame] = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += decoder.feed(stream[start:end])
    assert joined(found) == joined(sent)


@given(st.binary(max_size=200))
def test_garbage_is_refused_or_incomplete(data: bytes) -> None:
    try:
        FrameDecoder().feed(data)
    except SpdyError:
        pass


@given(st.lists(FRAMES, min_size=1, max_size=4), st.integers(0, 10_000), st.integers(1, 255))
def test_frames_with_a_changed_byte_are_decoded_or_refused(sent: list[Frame], position: int, change: int) -> None:
    encoder = FrameEncoder()
    data = bytearray(b"".join(encoder.encode(frame) for frame in sent))
    data[position % len(data)] ^= change
    try:
        FrameDecoder().feed(bytes(data))
    except SpdyError:
        pass


def test_dictionary_is_that_of_the_protocol() -> None:
    assert (len(DICTIONARY), zlib.adler32(DICTIONARY)) == (1423, 0xE3C6A7C2)


def test_bytes_of_a_frame_are_those_of_the_protocol() -> None:
    assert FrameEncoder().encode(Ping(5)) == b"\x80\x03\x00\x06\x00\x00\x00\x04\x00\x00\x00\x05"
    assert FrameEncoder().encode(Data(3, b"ab", True)) == b"\x00\x00\x00\x03\x01\x00\x00\x02ab"
    assert FrameEncoder().encode(GoAway(7)) == b"\x80\x03\x00\x07" + struct.pack(">III", 8, 7, 0)


def test_unknown_frames_are_ignored() -> None:
    unknown = b"\x80\x03\x00\x63\x00\x00\x00\x01x"
    assert FrameDecoder().feed(unknown + FrameEncoder().encode(Ping(1))) == [Ping(1)]


def control(kind: int, payload: bytes, version: int = 3) -> bytes:
    return struct.pack(">HHI", 0x8000 | version, kind, len(payload)) + payload


def packed(plain: bytes) -> bytes:
    deflate = zlib.compressobj(zdict=DICTIONARY)
    return deflate.compress(plain) + deflate.flush(zlib.Z_SYNC_FLUSH)


@pytest.mark.parametrize(
    "data",
    [
        control(6, b"\0\0\0\1", version=2),
        control(6, b"\0\0\0"),
        struct.pack(">II", 0x80030001, CONTROL_BYTES_MAX + 1),
        control(1, b"\0\0\0\1" + bytes(6) + b"no zlib"),
        control(1, b"\0\0\0\1" + bytes(6) + packed(bytes(1 << 20))),
        control(2, b"\0\0\0\1" + packed(b"\0\0\0\1\0\0\0\1A\0\0\0\0")),
        control(2, b"\0\0\0\1" + packed(b"\0\0\0\1\xff\0\0\0A")),
        control(4, b"\0\0\0\2" + bytes(8)),
        bytes(8),
    ],
    ids=["version", "short", "long", "no zlib", "bomb", "upper case", "cut header", "settings", "no stream"],
)
def test_protocol_violations_are_refused(data: bytes) -> None:
    with pytest.raises(SpdyError):
        FrameDecoder().feed(data)
