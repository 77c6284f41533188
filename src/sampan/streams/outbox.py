"""`Outbox`: sends the bytes of streams, one frame of each at a time.

Concurrency: a stream that writes sends at once, if no other one waits and the connection has room. `run` sends the
rest when the peer has read.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from h2.connection import H2Connection
from h2.exceptions import NoSuchStreamError, StreamClosedError

from sampan.streams.http2.frame_budget import FrameBudget
from sampan.streams.transport import StreamTransport

BUFFER_BYTES: Final = 256 << 10
"""Bytes that wait in the connection's transport, above which no stream sends."""
_PIECES_PER_TURN: Final = 8
_RECHECK_S: Final = 0.01


class Outbox:
    """Queue of streams that have something to send. `drain` waits until the peer has read, `flush` writes frames."""

    def __init__(
        self,
        h2: H2Connection,
        budget: FrameBudget,
        transport: asyncio.Transport,
        *,
        drain: Callable[[], Awaitable[None]],
        flush: Callable[[], None],
    ) -> None:
        self._h2 = h2
        self._budget = budget
        self._transport = transport
        self._drain = drain
        self._flush = flush
        self._ready: deque[StreamTransport] = deque()
        self._has_more = asyncio.Event()

    def push(self, stream: StreamTransport) -> None:
        """Send what the stream has to send, now or later."""
        if not stream.is_queued:
            stream.is_queued = True
            self._ready.append(stream)
        if len(self._ready) == 1:
            self._send()
        else:
            self._has_more.set()

    async def run(self) -> None:
        """Send what had to wait, until cancelled. Raises `ConnectionError`."""
        while True:
            await self._has_more.wait()
            self._has_more.clear()
            await self._drain()
            full = self._transport.get_write_buffer_size() >= BUFFER_BYTES
            await asyncio.sleep(_RECHECK_S if full else 0)
            self._send()

    def _send(self) -> None:
        """Send a few frames, one of each stream in order."""
        transport, pieces = self._transport, _PIECES_PER_TURN
        while self._ready and pieces and transport.get_write_buffer_size() < BUFFER_BYTES:
            if transport.is_closing():
                return
            pieces -= 1
            stream = self._ready.popleft()
            if self._send_frame(stream):
                self._ready.append(stream)
            else:
                stream.is_queued = False
            self._flush()
            stream.sent()
        if self._ready:
            self._has_more.set()

    def _send_frame(self, stream: StreamTransport) -> bool:
        """Send one frame of a stream. Return True if it can send another one."""
        if stream.is_lost:
            return False
        h2, pending = self._h2, stream.pending
        try:
            if pending:
                size = min(h2.local_flow_control_window(stream.stream_id), h2.max_outbound_frame_size, len(pending))
                if size <= 0:
                    return False  # the peer's WINDOW_UPDATE queues it again
                h2.send_data(stream.stream_id, bytes(pending[:size]))
                self._budget.earn_data(size)
                del pending[:size]
            if pending:
                return True
            if stream.ends:
                stream.ends = False
                h2.end_stream(stream.stream_id)
                stream.end_sent()
        except (NoSuchStreamError, StreamClosedError):
            stream.lost(None)
        return False
