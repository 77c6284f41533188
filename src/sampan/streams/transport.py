"""`StreamTransport`: one stream of a connection, as a transport for any protocol of asyncio.

Received bytes go to the protocol at once. While it has paused reading, they wait here, at most the window of the
stream: the peer may send more only after they were read. Written bytes wait here until the peer has room for them;
above `WRITE_HIGH_BYTES` the protocol is paused.

As with TLS, no side can write after the other one has closed the stream.
"""

import asyncio
from typing import Any, Final, Protocol, cast

WRITE_HIGH_BYTES: Final = 64 << 10
WRITE_LOW_BYTES: Final = 16 << 10


class Carrier(Protocol):
    """Connection, as its streams see it."""

    linger_s: float | None
    """Time for the last bytes of a closed stream; None: no limit."""

    def push(self, stream: "StreamTransport") -> None:
        """Send what the stream has to send, now or later."""
        ...

    def acknowledge(self, stream: "StreamTransport", size: int) -> None:
        """Let the peer send this number of bytes more."""
        ...

    def reset(self, stream: "StreamTransport") -> None:
        """Cancel the stream. The other streams of the connection continue."""
        ...

    def forget(self, stream: "StreamTransport") -> None:
        """Drop the stream. Later frames for it are ignored."""
        ...


class StreamTransport(asyncio.Transport):
    """One stream. `carrier` and `receive`, `receive_end`, `lost` are for the connection that carries it."""

    def __init__(self, carrier: Carrier, stream_id: int, target: str) -> None:
        """`target` is shown as the name of the peer."""
        super().__init__({"peername": target})
        self.stream_id = stream_id
        self.pending = bytearray()
        """Bytes to send."""
        self.is_queued = False
        """True while the carrier has the stream in its queue of streams that may send."""
        self.ends = False
        """True if the stream ends after the pending bytes."""
        self.touched = asyncio.get_running_loop().time()
        self.waiting_bytes = 0
        """Share of the windows that waits to be read: received bytes, and their padding."""
        self._loop = asyncio.get_running_loop()
        self._carrier = carrier
        self._protocol: asyncio.BaseProtocol = cast(asyncio.BaseProtocol, None)
        self._received = bytearray()
        """Received bytes that wait. Not pieces: the peer chooses their size, and each would take its own memory."""
        self._has_ended = False
        """True if the peer sends no more bytes."""
        self._is_paused = True
        self._is_writing_paused = False
        self._is_closed = False
        self._error: Exception | None = None
        self.is_lost = False
        """True after the end."""
        self._linger: asyncio.TimerHandle | None = None

    # --- for the carrier

    def begin(self, protocol: asyncio.BaseProtocol, *, reading: bool = True) -> None:
        """Connect the protocol."""
        self._protocol = protocol
        self.touched = self._loop.time()
        protocol.connection_made(self)
        if self.is_lost:  # the peer has reset the stream right after it opened it
            self._loop.call_soon(protocol.connection_lost, self._error)
        elif reading:
            self.resume_reading()

    def receive(self, data: bytes, flow_size: int) -> None:
        """Take a piece from the peer; `flow_size` is its share of the windows."""
        self.touched = self._loop.time()
        if self._is_closed:
            self._carrier.acknowledge(self, flow_size)
        elif self._is_paused or self.waiting_bytes:
            self._received += data
            self.waiting_bytes += flow_size
        else:
            self._deliver(data)
            self._carrier.acknowledge(self, flow_size)

    def receive_end(self) -> None:
        """Note that the peer sends no more bytes."""
        self._has_ended = True
        if self._is_closed:
            self._drop()
        elif not self._is_paused and not self.waiting_bytes:
            self._deliver_end()

    def sent(self) -> None:
        """Note that pending bytes were sent."""
        self.touched = self._loop.time()
        if self._is_writing_paused and len(self.pending) <= WRITE_LOW_BYTES and not self.is_lost:
            self._is_writing_paused = False
            cast(asyncio.Protocol, self._protocol).resume_writing()

    def end_sent(self) -> None:
        """Note that the end was sent."""
        self._finish(None)
        if self._has_ended:
            self._drop()

    def lost(self, error: Exception | None) -> None:
        """End the stream: the peer has reset it, or the connection has ended."""
        self._is_closed = self._has_ended = True
        self._finish(error)
        self._drop()

    # --- as in `asyncio.Transport`

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_closed or not data:
            return
        self.pending += data
        self._carrier.push(self)
        if len(self.pending) > WRITE_HIGH_BYTES and not self._is_writing_paused:
            self._is_writing_paused = True
            cast(asyncio.Protocol, self._protocol).pause_writing()

    def close(self) -> None:
        """Send the pending bytes, within the carrier's `linger_s` seconds, and end the stream."""
        if self._is_closed:
            return
        self._is_closed = self.ends = True
        self._discard()
        if self.pending and self._carrier.linger_s is not None:
            self._linger = self._loop.call_later(self._carrier.linger_s, self.abort)
        self._carrier.push(self)

    def abort(self) -> None:
        """Reset the stream."""
        self._force_close(None)

    def is_closing(self) -> bool:
        return self._is_closed

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        if self._is_paused and not self._is_closed:
            self._is_paused = False
            if self.waiting_bytes or self._has_ended:
                self._loop.call_soon(self._deliver_waiting)

    def is_reading(self) -> bool:
        return not self._is_paused and not self._is_closed

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol

    def get_write_buffer_size(self) -> int:
        return len(self.pending)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing: the limits are those of all streams."""

    def can_write_eof(self) -> bool:
        return False

    # --- inside

    def _force_close(self, error: Exception | None) -> None:
        """Reset the stream because of an error. The TLS of asyncio calls this."""
        if not self.is_lost:
            self._carrier.reset(self)
            self.lost(error)

    def _deliver_waiting(self) -> None:
        if self.waiting_bytes and not self._is_paused and not self._is_closed:
            data, flow_size = bytes(self._received), self.waiting_bytes
            self._received.clear()
            self.waiting_bytes = 0
            self._deliver(data)
            self._carrier.acknowledge(self, flow_size)
        if self._has_ended and not self.waiting_bytes and not self._is_paused and not self._is_closed:
            self._deliver_end()

    def _deliver(self, data: bytes) -> None:
        protocol: Any = self._protocol
        if not data:
            return
        if isinstance(protocol, asyncio.BufferedProtocol):
            view = memoryview(data)
            while view and not self.is_lost:
                buffer = memoryview(protocol.get_buffer(len(view)))
                size = min(len(buffer), len(view))
                buffer[:size] = view[:size]
                protocol.buffer_updated(size)
                view = view[size:]
        else:
            protocol.data_received(data)

    def _deliver_end(self) -> None:
        cast(asyncio.Protocol, self._protocol).eof_received()
        self.close()

    def _discard(self) -> None:
        """Drop the bytes that the protocol has not read. The peer may send more, which is dropped too."""
        size, self.waiting_bytes = self.waiting_bytes, 0
        self._received.clear()
        if size:
            self._carrier.acknowledge(self, size)

    def _finish(self, error: Exception | None) -> None:
        """Notify the protocol of the end, once."""
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None
        if self.is_lost:
            return
        self.is_lost = True
        self.pending.clear()
        self._discard()
        self._error = error
        if self._protocol is not None:
            self._loop.call_soon(self._protocol.connection_lost, error)

    def _drop(self) -> None:
        if self.is_lost:
            self._carrier.forget(self)
