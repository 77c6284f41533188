"""`Inbound`: bytes from an HTTP/2 peer, cut into slices of a few frames.

TLS hands over up to 256 KiB at once, which can hold 29,000 frames. The connection takes one slice in each turn of the
event loop, so that other clients do not wait for all of them.

The h2 library checks the length of a frame after it has received all of it: 16 MB for each connection, before any
request. So the length is checked here, as soon as the frame's header has arrived.
"""

from h2.exceptions import FrameTooLargeError

from sampan.streams.http2.frame_budget import FrameBudget, FrameFlood

FRAMES_PER_SLICE = 64
SLICE_BYTES_MAX = 256 << 10
FRAME_BYTES_MAX = 16 << 10
"""Maximum size of a frame's payload without the setting MAX_FRAME_SIZE. Source: RFC 9113, 6.5.2."""
SETTINGS_PER_FRAME_MAX = 32
"""Maximum number of settings in one SETTINGS frame. nghttp2 has the same limit."""
_PREFACE_BYTES = 24
_HEADER_BYTES = 9
_SETTING_BYTES = 6
_DATA, _SETTINGS = 0, 4


class Inbound:
    """Queue of received bytes. An incomplete frame header stays in the queue until the rest has arrived."""

    def __init__(self, budget: FrameBudget, *, preface: bool = True, frame_bytes_max: int = FRAME_BYTES_MAX) -> None:
        """`preface`: the peer begins with the connection preface, as clients do."""
        self._budget = budget
        self._frame_bytes_max = frame_bytes_max
        self._data = bytearray()
        self._rest = _PREFACE_BYTES if preface else 0
        """Bytes that the current frame (or the connection preface) still needs."""
        self._more = False
        self.frames = 0
        """Frames in the last slice."""
        self.data_frames = 0
        """DATA frames in the last slice. They cost no tokens if they contain data for an open stream, which only h2 can
        determine.
        """

    @property
    def more(self) -> bool:
        """True if another slice can be taken now."""
        return self._more

    def feed(self, data: bytes) -> None:
        """Append received bytes."""
        self._data += data

    def take(self) -> bytes:
        """Return the next slice.

        Raises `FrameFlood` if one of its frames exceeds the peer's budget, `h2.exceptions.FrameTooLargeError` if one
        announces more than `frame_bytes_max` bytes.
        """
        data, rest, at = self._data, self._rest, 0
        size = len(data)
        frames = self.data_frames = 0
        while True:
            step = min(rest, size - at)
            at += step
            rest -= step
            self._more = size - at >= _HEADER_BYTES
            if rest or not self._more or frames == FRAMES_PER_SLICE or at >= SLICE_BYTES_MAX:
                break
            rest = int.from_bytes(data[at : at + 3], "big")
            self._charge(data[at + 3], rest)
            at += _HEADER_BYTES
            frames += 1
        taken = bytes(data[:at])
        del data[:at]
        self._rest, self.frames = rest, frames
        return taken

    def _charge(self, kind: int, length: int) -> None:
        if length > self._frame_bytes_max:
            raise FrameTooLargeError(f"frame of {length} bytes, at most {self._frame_bytes_max} are allowed")
        if kind == _DATA:
            self.data_frames += 1
            return
        if kind == _SETTINGS and length > SETTINGS_PER_FRAME_MAX * _SETTING_BYTES:
            raise FrameFlood
        self._budget.charge()
