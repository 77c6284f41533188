"""`FrameCutter`: bytes of WebSocket frames, cut where a frame ends.

The official Python client polls the raw socket before it reads a frame over TLS. If one TLS record held two frames, the
second one would lie in the TLS library's buffer, and the poll would wait for bytes that have arrived already. So each
frame is written by itself, which makes a record of it, as Go's servers do.
Source: RFC 6455, 5.2.
"""

from collections.abc import Iterator

_LENGTH_16, _LENGTH_64 = 126, 127
_MASK_BYTES = 4


class FrameCutter:
    """Cut one direction of a connection. Frames may arrive in pieces of any size."""

    def __init__(self) -> None:
        self._head = b""
        """Beginning of a frame whose length is not known yet."""
        self._rest = 0
        """Bytes that the present frame still needs."""

    def cut(self, data: bytes) -> Iterator[bytes]:
        """Yield `data` in pieces, none of which holds bytes of two frames."""
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
    """Return the size of the frame that begins with `head`; 0 if more than these bytes are needed to know."""
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
