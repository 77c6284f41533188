"""`Reading`: the receiving half of a connection. The reader calls its `on_…` methods."""

import asyncio
from collections import deque
from typing import cast

from sampan.core.clock import monotonic
from sampan.server.connections.owner import BODY_AHEAD_BYTES, BODY_DISCARD_BYTES_MAX, HEADER_BYTES_MAX, ConnectionOwner
from sampan.server.incoming import BODY_PIECES_MAX, Incoming
from sampan.wire.http1 import CONTINUE, Limits, RequestHead, RequestReader

PIPELINE_MAX = 16
SLICE_BYTES_MAX = 4 << 10
"""Maximum number of bytes that are parsed at once. TLS delivers up to 256 KiB, which can contain 7,000 requests or
43,000 chunks.
"""
_LIMITS = Limits(head_bytes_max=HEADER_BYTES_MAX)


class Reading:
    """Receives the requests of a connection, and queues them until they are handled. `Connection` lists the limits."""

    def __init__(self, owner: ConnectionOwner) -> None:
        self.owner = owner
        self.loop = owner.loop
        self.closed = False
        self.active = self.head_began = monotonic()
        self._reader = RequestReader(self, _LIMITS, owner.header_names)
        self._transport: asyncio.Transport = cast(asyncio.Transport, None)
        self._incoming: Incoming | None = None
        self._queue: deque[Incoming] = deque()
        self._ready: Incoming | None = None
        self._current: Incoming | None = None
        self._reading_paused = False
        self._unparsed = b""
        """Received bytes that are not parsed yet, because reading is paused."""
        self._waits_for_turn = False
        """True if reading is paused only because all connections together have parsed enough in this turn."""
        self._is_queued = self._has_turn = False
        self._left = False
        """True if further requests are no longer read."""
        self._gone: asyncio.Future[None] | None = None

    # --- called for the request in progress

    def send_continue(self) -> None:
        """Send 100 Continue, so that a client with `Expect: 100-continue` sends its body."""
        if not self.closed:
            self._transport.write(CONTINUE)

    def resume_reading(self) -> None:
        """Resume reading if it was paused. Data that is already received comes first."""
        if self._reading_paused and not self.closed:
            self._reading_paused = self._waits_for_turn = False
            self._parse(b"")
            if not self._reading_paused:
                self._transport.resume_reading()

    async def wait_closed(self) -> None:
        """Wait until the client disconnects."""
        if not self.closed:
            if self._gone is None:
                self._gone = self.loop.create_future()
            await asyncio.shield(self._gone)

    # --- callbacks of the reader

    def on_head(self, head: RequestHead) -> None:
        self.head_began = 0.0
        incoming = self._incoming = Incoming(
            self,
            head.method,
            head.target,
            head.headers,
            head.keep_alive,
            head.http_1_0,
            head.expects_continue,
        )
        if self._ready is None and self._current is None:
            self._ready = incoming
        else:
            self._queue.append(incoming)
            if len(self._queue) >= PIPELINE_MAX:
                self._pause_reading()

    def on_data(self, data: bytes) -> None:
        incoming = self._incoming
        assert incoming is not None
        incoming.size += len(data)
        if incoming.limit >= 0 and incoming.size > incoming.limit:
            incoming.wake()
            if incoming.size > incoming.limit + BODY_DISCARD_BYTES_MAX:
                self._leave()
            return
        incoming.body.append(data)
        if len(incoming.body) >= BODY_PIECES_MAX:
            incoming.join()
        if incoming.limit < 0:
            incoming.wake()
            if incoming.size > BODY_AHEAD_BYTES:
                self._pause_reading()

    def on_end(self) -> None:
        incoming = self._incoming
        assert incoming is not None
        incoming.complete = True
        if incoming.waiter is not None:
            incoming.wake()

    # --- internal

    def _parse(self, data: bytes) -> None:
        """Parse received bytes piece by piece, until a limit pauses reading. The remaining bytes are kept in
        `_unparsed`.
        """
        data = self._unparsed + data if self._unparsed else data
        size, at = len(data), 0
        if size <= SLICE_BYTES_MAX and not self._reading_paused and not self._left:
            self._parse_piece(data)
            at = size
        while at < size and not self._reading_paused and not self._left:
            turns = self.owner.parse_turns
            if turns.spent if self._has_turn else not turns.open:
                self._wait_for_turn()
                break
            began = monotonic()
            self._parse_piece(data[at : at + SLICE_BYTES_MAX])
            at += SLICE_BYTES_MAX
            turns.spend(int((monotonic() - began) * 1_000_000))
        self._unparsed = data[at:] if at < size and not self._left else b""

    def _wait_for_turn(self) -> None:
        self._pause_reading()
        self._waits_for_turn = True
        if not self._is_queued:
            self._is_queued = True
            self.owner.parse_turns.wait(self._take_turn)

    def _take_turn(self) -> None:
        self._is_queued = False
        if self._waits_for_turn:
            self._has_turn = True
            try:
                self.resume_reading()
            finally:
                self._has_turn = False

    def _parse_piece(self, data: bytes) -> None:
        raise NotImplementedError

    def _leave(self, *, heeding: bool = True) -> None:
        """Close the connection. Without `heeding`, wait for the client to disconnect, and discard the data that it
        still sends.
        """
        raise NotImplementedError

    def _pause_reading(self) -> None:
        if not self._reading_paused and not self.closed:
            self._reading_paused = True
            self._transport.pause_reading()
