"""`Frames`: frames from and to one HTTP/2 client, on the h2 library.

Limits of a client: open streams, the size of a header list, the windows of request bodies, control frames a second
(`frame_budget.py`), and control frames that wait to be written because the client does not read.
Source: apiserver pkg/server/secure_serving.go (1.36), RFC 9113.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import Event
from h2.exceptions import NoSuchStreamError, ProtocolError
from h2.settings import SettingCodes, Settings

from sampan.server.connection_owner import BODY_AHEAD_BYTES, HEADER_BYTES_MAX
from sampan.server.http2.frame_budget import FrameBudget
from sampan.server.http2.header_compression import BoundedDecoder, BoundedEncoder
from sampan.server.http2.inbound import Inbound

STREAM_WINDOW_BYTES = BODY_AHEAD_BYTES
"""How much of a body a client may send before it is read."""
CONNECTION_WINDOW_BYTES = 4 << 20
"""The same for all bodies of a connection."""
UNREAD_BYTES_MAX = 2 << 20
"""A client that makes us say more than this without reading it is cut."""
_DEFAULT_WINDOW_BYTES = 65535
_CLOSED_STREAMS_KEPT = 1024
_GOAWAY = 7


class _Connection(H2Connection):
    MAX_CLOSED_STREAMS = _CLOSED_STREAMS_KEPT


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

    def receive(self) -> list[Event]:
        """Return the events of the next slice of `inbound`.

        Raises `ProtocolError` if the client violates the protocol (a GOAWAY has been sent then) and `FrameFlood`.
        """
        try:
            return self._h2.receive_data(self.inbound.take())
        except ProtocolError:
            self.flush()
            raise

    def flush(self) -> None:
        """Write what there is to say."""
        data = self._h2.data_to_send()
        if data and not self._transport.is_closing():
            self._transport.write(data)
            if self._transport.get_write_buffer_size() > UNREAD_BYTES_MAX:
                self._transport.abort()

    def send_head(self, stream_id: int, headers: Iterable[tuple[bytes, bytes]], *, end: bool) -> None:
        """The head of an answer; `end`: it has no body."""
        self._h2.send_headers(stream_id, headers, end_stream=end)

    def send_data(self, stream_id: int, data: memoryview, *, end: bool) -> None:
        """A piece of a body, not longer than `window`."""
        size_max = self._h2.max_outbound_frame_size
        self.budget.earn_data(len(data))
        if len(data) <= size_max:
            self._h2.send_data(stream_id, bytes(data), end_stream=end)
            return
        last = (len(data) - 1) // size_max * size_max
        for start in range(0, len(data), size_max):
            self._h2.send_data(stream_id, bytes(data[start : start + size_max]), end_stream=end and start == last)

    def end_stream(self, stream_id: int) -> None:
        """The end of an answer whose end was not known before."""
        self._h2.end_stream(stream_id)

    def window(self, stream_id: int) -> int:
        """How many bytes the client takes now on this stream."""
        return self._h2.local_flow_control_window(stream_id)

    def acknowledge(self, stream_id: int, size: int) -> None:
        """Let the client send as many bytes more."""
        if size and not self._transport.is_closing():
            self._h2.acknowledge_received_data(size, stream_id)

    def reset(self, stream_id: int, code: ErrorCodes) -> None:
        """End a stream before its time; nothing happens when it is over already, by what has just come in too."""
        if not self._transport.is_closing():
            with suppress(NoSuchStreamError):
                self._h2.reset_stream(stream_id, code)

    def go_away(self, code: ErrorCodes = ErrorCodes.NO_ERROR) -> None:
        """Tell the client to open no further streams here; those that it has opened go on.

        Written past h2, which would consider the connection closed.
        """
        self.flush()
        last = self._h2.highest_inbound_stream_id
        payload = last.to_bytes(4, "big") + int(code).to_bytes(4, "big")
        if not self._transport.is_closing():
            self._transport.write(len(payload).to_bytes(3, "big") + bytes((_GOAWAY, 0, 0, 0, 0, 0)) + payload)
