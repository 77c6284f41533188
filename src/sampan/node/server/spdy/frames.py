"""Frames of SPDY/3.1 and their encoding. No I/O.

Source: SPDY protocol draft 3.1, section 2; moby/spdystream spdy/{read,write}.go (0.5).
"""

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sampan.node.server.spdy.dictionary import DICTIONARY

VERSION: Final = 3
DATA_BYTES_MAX: Final = 1 << 15
"""Maximum size of a data frame that is sent. Received frames may be larger."""
FIN: Final = 0x01
UNIDIRECTIONAL: Final = 0x02
_CONTROL: Final = 0x8000
_HEAD: Final = struct.Struct(">II")
_PAIR: Final = struct.Struct(">II")
_WORD: Final = struct.Struct(">I")
_STREAM_ID_MAX: Final = 0x7FFFFFFF

# Statuses of RST_STREAM.
PROTOCOL_ERROR: Final = 1
REFUSED_STREAM: Final = 3
CANCEL: Final = 5


class SpdyError(ConnectionError):
    """The peer violates the protocol. The connection cannot continue."""


@dataclass(frozen=True, slots=True)
class SynStream:
    """SYN_STREAM: opens a stream. Names of headers are in lower case."""

    stream_id: int
    headers: Mapping[str, str]
    fin: bool = False
    unidirectional: bool = False


@dataclass(frozen=True, slots=True)
class SynReply:
    """SYN_REPLY: accepts a stream."""

    stream_id: int
    headers: Mapping[str, str]
    fin: bool = False


@dataclass(frozen=True, slots=True)
class Headers:
    """HEADERS: adds headers to a stream."""

    stream_id: int
    headers: Mapping[str, str]
    fin: bool = False


@dataclass(frozen=True, slots=True)
class RstStream:
    """RST_STREAM: ends a stream in both directions."""

    stream_id: int
    status: int


@dataclass(frozen=True, slots=True)
class SettingsFrame:
    """SETTINGS: values by id."""

    values: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Ping:
    """PING: the receiver sends it back if the peer has chosen its id."""

    ping_id: int


@dataclass(frozen=True, slots=True)
class GoAway:
    """GOAWAY: no more streams are accepted."""

    last_stream_id: int
    status: int = 0


@dataclass(frozen=True, slots=True)
class WindowUpdate:
    """WINDOW_UPDATE: how many more bytes may be sent."""

    stream_id: int
    delta: int


@dataclass(frozen=True, slots=True)
class Data:
    """Data of a stream. One frame may be decoded into several of these."""

    stream_id: int
    data: bytes
    fin: bool = False


Frame = SynStream | SynReply | Headers | RstStream | SettingsFrame | Ping | GoAway | WindowUpdate | Data

SYN_STREAM: Final = 1
SYN_REPLY: Final = 2
RST_STREAM: Final = 3
SETTINGS: Final = 4
PING: Final = 6
GOAWAY: Final = 7
HEADERS: Final = 8
WINDOW_UPDATE: Final = 9


class FrameEncoder:
    """Encoder for one direction.

    Frames must be encoded in their order, because header blocks share one compression state.
    """

    def __init__(self) -> None:
        self._zlib = zlib.compressobj(zdict=DICTIONARY)

    def encode(self, frame: Frame) -> bytes:
        """Return the bytes of a frame."""
        match frame:
            case Data():
                flags = FIN if frame.fin else 0
                return _HEAD.pack(frame.stream_id, flags << 24 | len(frame.data)) + frame.data
            case SynStream():
                flags = (FIN if frame.fin else 0) | (UNIDIRECTIONAL if frame.unidirectional else 0)
                ids = _PAIR.pack(frame.stream_id, 0) + b"\0\0"
                return _control(SYN_STREAM, ids + self._block(frame.headers), flags)
            case SynReply() | Headers():
                kind = SYN_REPLY if isinstance(frame, SynReply) else HEADERS
                payload = _WORD.pack(frame.stream_id) + self._block(frame.headers)
                return _control(kind, payload, FIN if frame.fin else 0)
            case RstStream():
                return _control(RST_STREAM, _PAIR.pack(frame.stream_id, frame.status))
            case SettingsFrame():
                entries = b"".join(_PAIR.pack(key, value) for key, value in frame.values.items())
                return _control(SETTINGS, _WORD.pack(len(frame.values)) + entries)
            case Ping():
                return _control(PING, _WORD.pack(frame.ping_id))
            case GoAway():
                return _control(GOAWAY, _PAIR.pack(frame.last_stream_id, frame.status))
            case WindowUpdate():
                return _control(WINDOW_UPDATE, _PAIR.pack(frame.stream_id, frame.delta))

    def _block(self, headers: Mapping[str, str]) -> bytes:
        parts = [_WORD.pack(len(headers))]
        for text in (text for pair in headers.items() for text in pair):
            encoded = text.encode("utf-8", "surrogateescape")
            parts += [_WORD.pack(len(encoded)), encoded]
        return self._zlib.compress(b"".join(parts)) + self._zlib.flush(zlib.Z_SYNC_FLUSH)


def _control(kind: int, payload: bytes, flags: int = 0) -> bytes:
    return _HEAD.pack((_CONTROL | VERSION) << 16 | kind, flags << 24 | len(payload)) + payload
