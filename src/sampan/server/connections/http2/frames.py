"""`Frames`: frames from and to one HTTP/2 client, on the h2 library.

Limits of a client: open streams, the size of a header list, the windows of request bodies, and control frames a second
(`frame_budget.py`). Control frames that wait because the client does not read are limited too.
Source: apiserver pkg/server/secure_serving.go (1.36), RFC 9113.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import Event
from h2.exceptions import FrameTooLargeError, NoSuchStreamError, ProtocolError
from h2.settings import SettingCodes, Settings

from sampan.server.connections.owner import BODY_AHEAD_BYTES, HEADER_BYTES_MAX
from sampan.streams.http2.frame_budget import FrameBudget
from sampan.streams.http2.header_compression import BoundedDecoder, BoundedEncoder
from sampan.streams.http2.inbound import Inbound

STREAM_WINDOW_BYTES = BODY_AHEAD_BYTES
"""Bytes of a body that a client may send before a handler reads it."""
CONNECTION_WINDOW_BYTES = 4 << 20
"""Bytes of all bodies of a connection that a client may send before a handler reads them."""
UNREAD_BYTES_MAX = 2 << 20
"""Bytes of unread control frames after which the connection is aborted."""
_DEFAULT_WINDOW_BYTES = 65535
_CLOSED_STREAMS_KEPT = 1024
_GOAWAY = 7


class _Connection(H2Connection):
    MAX_CLOSED_STREAMS = _CLOSED_STREAMS_KEPT

    def forget_handlers(self) -> None:
        """Break the reference cycle of the table of handlers, which are methods."""
        self._frame_dispatch_table.clear()


class Frames:
    """Frames to and from one client. `flush` writes outgoing frames to the transport."""

    def __init__(self, transport: asyncio.Transport, streams_max: int) -> None:
        self._transport = transport
        self.budget = FrameBudget()
        self.inbound = Inbound(self.budget)
        config = H2Configuration(
            client_side=False,
            header_encoding=None,
            validate_outbound_headers=False,
            normalize_outbound_headers=False,
        )
        self._h2 = _Connection(config)
        self._h2.local_settings = Settings(
            client=False,
            initial_values={
                SettingCodes.MAX_CONCURRENT_STREAMS: streams_max,
                SettingCodes.INITIAL_WINDOW_SIZE: STREAM_WINDOW_BYTES,
                SettingCodes.MAX_HEADER_LIST_SIZE: HEADER_BYTES_MAX,
            },
        )
        self._h2.decoder, self._h2.encoder = BoundedDecoder(HEADER_BYTES_MAX), BoundedEncoder()
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(CONNECTION_WINDOW_BYTES - _DEFAULT_WINDOW_BYTES)
        self.flush()

    def close(self) -> None:
        """Handle the end of the connection: memory is freed at once, and not by the collector."""
        self._h2.forget_handlers()

    def receive(self) -> list[Event]:
        """Return the events of the next slice of `inbound`.

        Raises `ProtocolError` if the client violates the protocol (a GOAWAY has been sent then) and `FrameFlood`.
        """
        try:
            slice_ = self.inbound.take()
        except FrameTooLargeError as error:
            self._h2.close_connection(error.error_code)
            self.flush()
            raise
        try:
            return self._h2.receive_data(slice_)
        except ProtocolError:
            self.flush()
            raise

    def flush(self) -> None:
        """Write pending frames."""
        data = self._h2.data_to_send()
        if data and not self._transport.is_closing():
            self._transport.write(data)
            if self._transport.get_write_buffer_size() > UNREAD_BYTES_MAX:
                self._transport.abort()

    def send_head(self, stream_id: int, headers: Iterable[tuple[bytes, bytes]], *, end: bool) -> None:
        """Send the head of a response; `end` if it has no body."""
        self._h2.send_headers(stream_id, headers, end_stream=end)

    def send_data(self, stream_id: int, data: memoryview, *, end: bool) -> None:
        """Send a piece of a body, at most `window` bytes."""
        size_max = self._h2.max_outbound_frame_size
        self.budget.earn_data(len(data))
        if len(data) <= size_max:
            self._h2.send_data(stream_id, bytes(data), end_stream=end)
            return
        last = (len(data) - 1) // size_max * size_max
        for start in range(0, len(data), size_max):
            self._h2.send_data(stream_id, bytes(data[start : start + size_max]), end_stream=end and start == last)

    def end_stream(self, stream_id: int) -> None:
        """End a response whose end was not known before."""
        self._h2.end_stream(stream_id)

    def window(self, stream_id: int) -> int:
        """Return the number of bytes that the client accepts on this stream now."""
        return self._h2.local_flow_control_window(stream_id)

    def acknowledge(self, stream_id: int, size: int) -> None:
        """Let the client send this number of bytes more."""
        if size and not self._transport.is_closing():
            self._h2.acknowledge_received_data(size, stream_id)

    def reset(self, stream_id: int, code: ErrorCodes) -> None:
        """Reset a stream. Does nothing if the stream has ended, even by a frame that was just received."""
        if not self._transport.is_closing():
            with suppress(NoSuchStreamError):
                self._h2.reset_stream(stream_id, code)

    def go_away(self, code: ErrorCodes = ErrorCodes.NO_ERROR) -> None:
        """Send a GOAWAY: the client must not open further streams, and open ones continue.

        h2 is bypassed, because it would consider the connection closed.
        """
        self.flush()
        last = self._h2.highest_inbound_stream_id
        payload = last.to_bytes(4, "big") + int(code).to_bytes(4, "big")
        if not self._transport.is_closing():
            self._transport.write(len(payload).to_bytes(3, "big") + bytes((_GOAWAY, 0, 0, 0, 0, 0)) + payload)
