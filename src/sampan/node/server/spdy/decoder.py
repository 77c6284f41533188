"""`FrameDecoder`: decodes the bytes of a SPDY/3.1 connection into frames. No I/O.

The data of a data frame is passed on as it arrives, so the buffer never holds more than one control frame.
Source: SPDY protocol draft 3.1, section 2; moby/spdystream spdy/read.go (0.5).
"""

import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Final

from sampan.node.server.spdy import frames
from sampan.node.server.spdy.dictionary import DICTIONARY
from sampan.node.server.spdy.frames import FIN, UNIDIRECTIONAL, Data, Frame, SpdyError

CONTROL_BYTES_MAX: Final = 1 << 16
"""Maximum size of a control frame's payload, and of its decompressed headers."""
_HEAD_BYTES: Final = 8
_CONTROL_BIT: Final = 0x80000000
_ID_MASK: Final = 0x7FFFFFFF


class FrameDecoder:
    """Decoder for one direction of a connection."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._zlib = zlib.decompressobj(zdict=DICTIONARY)
        self._data_left = 0
        self._data_id = 0
        self._data_fin = False

    def feed(self, data: bytes) -> list[Frame]:
        """Add received bytes, and return the frames that are complete. Raises `SpdyError`."""
        self._buffer += data
        found: list[Frame] = []
        while self._step(found):
            pass
        return found

    def _step(self, found: list[Frame]) -> bool:
        """Remove one item from the buffer and return it; None if it is incomplete."""
        buffer = self._buffer
        if self._data_left:
            if not buffer:
                return False
            part = bytes(buffer[: self._data_left])
            del buffer[: len(part)]
            self._data_left -= len(part)
            found.append(Data(self._data_id, part, self._data_fin and not self._data_left))
            return True
        if len(buffer) < _HEAD_BYTES:
            return False
        first, second = struct.unpack_from(">II", buffer)
        flags, length = second >> 24, second & 0xFFFFFF
        if not first & _CONTROL_BIT:
            del buffer[:_HEAD_BYTES]
            self._begin_data(first, flags, length, found)
            return True
        if length > CONTROL_BYTES_MAX:
            raise SpdyError(f"control frame too large: {length} bytes")
        if len(buffer) < _HEAD_BYTES + length:
            return False
        payload = bytes(buffer[_HEAD_BYTES : _HEAD_BYTES + length])
        del buffer[: _HEAD_BYTES + length]
        if (version := first >> 16 & 0x7FFF) != frames.VERSION:
            raise SpdyError(f"unsupported SPDY version: {version}")
        try:
            frame = self._control(first & 0xFFFF, flags, payload)
        except (struct.error, zlib.error, UnicodeDecodeError) as error:
            raise SpdyError(f"malformed frame: {error}") from None
        if frame is not None:
            found.append(frame)
        return True

    def _begin_data(self, stream_id: int, flags: int, length: int, found: list[Frame]) -> None:
        if stream_id == 0:
            raise SpdyError("data frame for stream 0")
        self._data_id, self._data_left, self._data_fin = stream_id, length, bool(flags & FIN)
        if not length:
            found.append(Data(stream_id, b"", self._data_fin))

    def _control(self, kind: int, flags: int, payload: bytes) -> Frame | None:
        """Return a control frame; None for one of an unknown type, which is ignored."""
        if kind == frames.SYN_STREAM:
            stream_id = struct.unpack_from(">IIBB", payload)[0] & _ID_MASK
            headers = self._headers(payload[10:])
            return frames.SynStream(stream_id, headers, bool(flags & FIN), bool(flags & UNIDIRECTIONAL))
        if kind in (frames.SYN_REPLY, frames.HEADERS):
            stream_id = struct.unpack_from(">I", payload)[0] & _ID_MASK
            named = frames.SynReply if kind == frames.SYN_REPLY else frames.Headers
            return named(stream_id, self._headers(payload[4:]), bool(flags & FIN))
        if kind == frames.PING:
            return frames.Ping(*struct.unpack(">I", payload))
        if kind == frames.SETTINGS:
            (count,) = struct.unpack_from(">I", payload)
            if count * 8 != len(payload) - 4:
                raise SpdyError("SETTINGS frame has the wrong length")
            words = struct.unpack_from(f">{2 * count}I", payload, 4)
            return frames.SettingsFrame(dict(zip(words[::2], words[1::2], strict=True)))
        if kind in _PAIRS:
            first, second = struct.unpack(">II", payload)
            return _PAIRS[kind](first & _ID_MASK, second)
        return None

    def _headers(self, block: bytes) -> Mapping[str, str]:
        plain = self._zlib.decompress(block, CONTROL_BYTES_MAX)
        if self._zlib.unconsumed_tail:
            raise SpdyError(f"headers exceed {CONTROL_BYTES_MAX} bytes")
        (count,) = struct.unpack_from(">I", plain)
        found: dict[str, str] = {}
        position = 4
        for _ in range(count):
            name, position = _text(plain, position)
            value, position = _text(plain, position)
            if name in found or name != name.lower():
                raise SpdyError(f"header {name!r} is duplicated or not in lower case")
            found[name] = value
        return found


_PAIRS: Final[Mapping[int, Callable[[int, int], Frame]]] = {
    frames.RST_STREAM: frames.RstStream,
    frames.GOAWAY: frames.GoAway,
    frames.WINDOW_UPDATE: frames.WindowUpdate,
}
"""Decoders of the frames that contain a stream id and a number, by type."""


def _text(plain: bytes, position: int) -> tuple[str, int]:
    (length,) = struct.unpack_from(">I", plain, position)
    end = position + 4 + length
    if end > len(plain):
        raise SpdyError("truncated header")
    return plain[position + 4 : end].decode("utf-8", "surrogateescape"), end
