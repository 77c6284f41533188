"""`FrameBudget`: limit of the frames that cause work for the server and are no use to the client.

A frame of 9 bytes (SETTINGS, PING, RST_STREAM, WINDOW_UPDATE, PRIORITY, empty DATA or CONTINUATION) costs the server
about 20 µs: 1 MB of them would stop other clients for seconds. Each such frame takes one token from the bucket of its
connection. The client gets tokens back with time, with responses, and with the data sent to it, which it has to
respond with WINDOW_UPDATE frames. A client without tokens is disconnected with ENHANCE_YOUR_CALM.
Source: nghttp2 lib/nghttp2_option.c (1,000 frames at once, 33 a second; at most 32 settings in a frame).
"""

from collections.abc import Callable

from sampan.core.clock import monotonic

TOKENS_MAX = 1000
TOKENS_AT_START = 300
"""Tokens of a new connection. Less than `TOKENS_MAX`, because a client without a response needs few frames."""
TOKENS_PER_S = 33.0
TOKENS_PER_RESPONSE = 4
TOKENS_PER_DATA_FRAME = 2
"""Tokens for each sent DATA frame: one for the WINDOW_UPDATE of the stream, one for that of the connection."""
DATA_BYTES_PER_TOKEN = 1 << 10
"""Bytes of sent data for one token. Go's clients send at most two WINDOW_UPDATE frames for each 4 KiB."""


class FrameFlood(Exception):
    """The client has sent more control frames than its budget allows."""


class FrameBudget:
    """Token bucket of one connection. `clock` returns monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._tokens = float(TOKENS_AT_START)
        self._refilled = clock()

    def charge(self, frames: int = 1) -> None:
        """Take a token for each frame. Raises `FrameFlood` if there are not enough."""
        self._tokens -= frames
        if self._tokens < 0:
            # The bucket is refilled only when it is empty: reading the clock for each frame would cost more.
            now = self._clock()
            self._add((now - self._refilled) * TOKENS_PER_S)
            self._refilled = now
            if self._tokens < 0:
                raise FrameFlood

    def earn_response(self) -> None:
        """Credit the client for a request that has its response."""
        self._add(TOKENS_PER_RESPONSE)

    def earn_data(self, size_bytes: int) -> None:
        """Credit the client for a DATA frame that was sent to it."""
        self._add(TOKENS_PER_DATA_FRAME + size_bytes // DATA_BYTES_PER_TOKEN)

    def _add(self, tokens: float) -> None:
        self._tokens = min(self._tokens + tokens, TOKENS_MAX)
