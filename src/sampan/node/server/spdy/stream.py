"""`SpdyStream`: one stream of a SPDY connection. Each direction ends separately."""

from collections.abc import Callable, Mapping
from typing import Protocol

from sampan.node.server.pipe import Pipe
from sampan.node.server.spdy.frames import CANCEL, DATA_BYTES_MAX, Data, Frame, RstStream


class Carrier(Protocol):
    """Connection of a stream."""

    def send(self, frame: Frame) -> None:
        """Send a frame. Does nothing if the client has disconnected."""
        ...

    async def drain(self) -> None:
        """Wait until the client has read most of the sent data. Raises `OSError` if it has disconnected."""
        ...

    def forget(self, stream: "SpdyStream") -> None:
        """Forget a stream that has ended in both directions."""
        ...


class SpdyStream:
    """Stream that the client has opened."""

    def __init__(self, carrier: Carrier, stream_id: int, headers: Mapping[str, str], *, writable: bool = True) -> None:
        self.stream_id = stream_id
        self.headers = headers
        """Headers by name, in lower case."""
        self.incoming = Pipe()
        self.is_lost = False
        """True if the client has reset the stream or disconnected."""
        self.on_lost: Callable[[], object] = lambda: None
        """Called when the client resets the stream or disconnects."""
        self._carrier = carrier
        self._writable = writable

    async def read(self) -> bytes:
        """Return data from the client, at least one byte; empty at the end, or after a disconnect."""
        return await self.incoming.read()

    async def write(self, data: bytes) -> None:
        """Send data, and wait until the client has read most of it. Raises `OSError` if it no longer reads."""
        for start in range(0, len(data), DATA_BYTES_MAX):
            if not self._writable:
                raise BrokenPipeError("the stream is closed")
            self._carrier.send(Data(self.stream_id, data[start : start + DATA_BYTES_MAX]))
            await self._carrier.drain()

    def send(self, data: bytes) -> None:
        """Send a few bytes without waiting. Does nothing if the stream is closed."""
        if self._writable:
            self._carrier.send(Data(self.stream_id, data))

    async def close(self) -> None:
        """End the outgoing direction. The client's data can still be read."""
        self.finish()

    def finish(self) -> None:
        """End the outgoing direction without waiting."""
        if self._writable:
            self._writable = False
            self._carrier.send(Data(self.stream_id, b"", True))
            if self.incoming.ended:
                self._carrier.forget(self)

    def reset(self, status: int = CANCEL) -> None:
        """End both directions."""
        if self._writable or not self.incoming.ended:
            self._carrier.send(RstStream(self.stream_id, status))
        self.lost()

    def lost(self, *, keep: bool = False) -> None:
        """Handle a reset by the client, or a disconnect. `keep`: received data can still be read."""
        self._writable = False
        self.is_lost = True
        self.incoming.end()
        if not keep:
            self.incoming.abandon()
        self._carrier.forget(self)
        self.on_lost()

    def finished(self) -> None:
        """Handle the client's last frame: it sends no more data on this stream."""
        self.incoming.end()
        if not self._writable:
            self._carrier.forget(self)
