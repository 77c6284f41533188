"""`FrameCutter`: split a byte stream at the ends of WebSocket frames.

The official Python client polls the raw socket before it reads a frame over TLS. If one TLS record contained two
frames, the second would be in the TLS library's buffer. The poll would then wait for bytes that have already arrived.
So each frame is written as one TLS record, as Go's servers do.
Source: RFC 6455, 5.2.
"""

from collections.abc import Iterator

_LENGTH_16, _LENGTH_64 = 126, 127
_MASK_BYTES = 4


class FrameCutter:
    """Split one direction of a connection. Frames may arrive in pieces of any size."""

    def __init__(self) -> None:
        self._head = b""
        """First bytes of a frame whose length is not yet known."""
        self._rest = 0
        """Bytes of the current frame that are still missing."""

    def cut(self, data: bytes) -> Iterator[bytes]:
        """Yield `data` in pieces, none of which contains bytes of two frames."""
        at = start = 0
        while at < len(data):
            if not self._rest:
                head = self._head + data[at : at + 14 - len(self._head)]
                total = frame_bytes(head)
                if not total:
                    self._head = head
                    break
                self._rest = total - len(self._head)
                self._head = b""
            step = min(self._rest, len(data) - at)
            at += step
            self._rest -= step
            if not self._rest:
                yield data[start:at]
                start = at
        if start < len(data):
            yield data[start:]


def frame_bytes(head: bytes) -> int:
    """Return the size of the frame that starts with `head`; 0 if `head` is too short to determine it."""
    if len(head) < 2:
        return 0
    length, size = head[1] & 0x7F, 2
    extended = {_LENGTH_16: 2, _LENGTH_64: 8}.get(length, 0)
    size += extended
    if len(head) < size:
        return 0
    if extended:
        length = int.from_bytes(head[2:size], "big")
    return size + length + (_MASK_BYTES if head[1] & 0x80 else 0)
