"""`Receiver`: receives the requests of a connection, and queues them until they are handled.

Concurrency: all in the event loop. The transport's data and the end of a request call it; it calls `Handling`.
"""

import asyncio
from collections import deque
from typing import Protocol, cast

from sampan.core.clock import monotonic
from sampan.server.connections.owner import BODY_AHEAD_BYTES, BODY_DISCARD_BYTES_MAX, HEADER_BYTES_MAX, ConnectionOwner
from sampan.server.incoming import BODY_PIECES_MAX, Incoming
from sampan.wire.http1 import CONTINUE, Half, Limits, Malformed, RequestHead, RequestReader

PIPELINE_MAX = 16
SLICE_BYTES_MAX = 4 << 10
"""Maximum number of bytes that are parsed at once. TLS delivers up to 256 KiB, which can contain 7,000 requests or
43,000 chunks.
"""
_LIMITS = Limits(head_bytes_max=HEADER_BYTES_MAX)


class Handling(Protocol):
    """Connection, as its receiver sees it."""

    def start(self, incoming: Incoming) -> None:
        """Handle a request whose head is complete. `Receiver.finish` ends it."""

    def refuse(self, fault: Malformed) -> None:
        """Respond to data that is not valid HTTP."""

    def leave(self) -> None:
        """Close the connection, because too many bytes of an unread body have arrived."""


class Receiver:
    """Received data of one connection: a request in progress, and those after it. `http.py` lists the limits."""

    __slots__ = (
        "_gone",
        "_handling",
        "_has_turn",
        "_incoming",
        "_is_queued",
        "_owner",
        "_queue",
        "_reader",
        "_ready",
        "_transport",
        "_unparsed",
        "_waits_for_turn",
        "active",
        "closed",
        "current",
        "head_began",
        "is_paused",
        "loop",
        "stopped",
    )

    def __init__(self, handling: Handling, owner: ConnectionOwner) -> None:
        self.loop = owner.loop
        self.closed = False
        """True if the connection is lost."""
        self.stopped = False
        """True if further requests are no longer read."""
        self.is_paused = False
        """True while reading is paused, because enough has been received."""
        self.active = self.head_began = monotonic()
        self.current: Incoming | None = None
        """Request in progress."""
        self._handling = handling
        self._owner = owner
        self._reader = RequestReader(self, _LIMITS, owner.header_names)
        self._transport: asyncio.Transport = cast(asyncio.Transport, None)
        self._incoming: Incoming | None = None
        self._ready: Incoming | None = None
        self._queue: deque[Incoming] = deque()
        self._unparsed = b""
        """Received bytes that are not parsed yet, because reading is paused."""
        self._waits_for_turn = False
        """True if reading is paused only because all connections together have parsed enough in this turn."""
        self._is_queued = self._has_turn = False
        self._gone: asyncio.Future[None] | None = None

    # --- called by the connection

    def attach(self, transport: asyncio.Transport) -> None:
        """Set the transport, before any data arrives."""
        self._transport = transport

    @property
    def has_more(self) -> bool:
        """True if a request after the current one has arrived, or a part of it."""
        return self._ready is not None or bool(self._queue or self._unparsed)

    @property
    def is_within_request(self) -> bool:
        """True if the head of a request has arrived in part, or bytes that are not parsed yet."""
        return bool(self._reader.in_head or self._unparsed)

    @property
    def is_within_body(self) -> bool:
        """True if the rest of a body is still to arrive."""
        return self._reader.half is Half.BODY

    def take_ahead(self) -> bytes:
        """Return the bytes after the last request, for another protocol."""
        return self._reader.take_ahead()

    def finish(self, done: Incoming) -> None:
        """Discard the rest of the request in progress, and start the next received one."""
        if not done.complete:
            done.limit = 0
            done.body.clear()
        ready, self._ready = self._ready, None
        if ready is None and self._queue:
            ready = self._queue.popleft()
        if ready is not None:
            self.current = ready
            self._handling.start(ready)
        else:
            self.active = monotonic()
        if len(self._queue) < PIPELINE_MAX:
            self.resume_reading()

    def close(self) -> None:
        """Drop all received data, after the connection is lost. The reader of a body raises `ClientGone`."""
        self.closed = True
        if self._gone is not None and not self._gone.done():
            self._gone.set_result(None)
        if self.current is not None:
            self.current.wake()
        self._queue.clear()
        self.stopped, self._unparsed = True, b""
        # Break the reference cycles, so that the memory is freed at once and not by the garbage collector.
        self._incoming = None
        self._reader.close()
        del self._handling

    def parse(self, data: bytes) -> None:
        """Parse received bytes piece by piece, until a limit pauses reading. The remaining bytes are kept in
        `_unparsed`.
        """
        data = self._unparsed + data if self._unparsed else data
        size, at = len(data), 0
        if size <= SLICE_BYTES_MAX and not self.is_paused and not self.stopped:
            self._parse_piece(data)
            at = size
        while at < size and not self.is_paused and not self.stopped:
            turns = self._owner.parse_turns
            if turns.spent if self._has_turn else not turns.open:
                self._wait_for_turn()
                break
            began = monotonic()
            self._parse_piece(data[at : at + SLICE_BYTES_MAX])
            at += SLICE_BYTES_MAX
            turns.spend(int((monotonic() - began) * 1_000_000))
        self._unparsed = data[at:] if at < size and not self.stopped else b""

    # --- called for the request in progress (`Source`)

    def send_continue(self) -> None:
        """Send 100 Continue, so that a client with `Expect: 100-continue` sends its body."""
        if not self.closed:
            self._transport.write(CONTINUE)

    def resume_reading(self) -> None:
        """Resume reading if it was paused. Data that is already received comes first."""
        if self.is_paused and not self.closed:
            self.is_paused = self._waits_for_turn = False
            self.parse(b"")
            if not self.is_paused:
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
        if self._ready is None and self.current is None:
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
                self._handling.leave()
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

    def _parse_piece(self, data: bytes) -> None:
        reader = self._reader
        try:
            reader.feed(data)
        except Malformed as fault:
            self._handling.refuse(fault)
            return
        if reader.in_head:
            self.head_began = self.head_began or self.active
        ready = self._ready
        if ready is not None and self.current is None:
            self._ready = None
            self.current = ready
            self._handling.start(ready)

    def _wait_for_turn(self) -> None:
        self._pause_reading()
        self._waits_for_turn = True
        if not self._is_queued:
            self._is_queued = True
            self._owner.parse_turns.wait(self._take_turn)

    def _take_turn(self) -> None:
        self._is_queued = False
        if self._waits_for_turn:
            self._has_turn = True
            try:
                self.resume_reading()
            finally:
                self._has_turn = False

    def _pause_reading(self) -> None:
        if not self.is_paused and not self.closed:
            self.is_paused = True
            self._transport.pause_reading()
