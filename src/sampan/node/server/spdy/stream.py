"""`SpdyStream`: bytes in both directions within a SPDY connection; a direction ends on its own."""

from collections.abc import Callable, Mapping
from typing import Protocol

from sampan.node.server.pipe import Pipe
from sampan.node.server.spdy.frames import CANCEL, DATA_BYTES_MAX, Data, Frame, RstStream


class Carrier(Protocol):
    """The connection of a stream."""

    def send(self, frame: Frame) -> None:
        """Send a frame; nothing happens when the client has gone."""
        ...

    async def drain(self) -> None:
        """Wait until the client has read most of what was sent. Raises `OSError` when it has gone."""
        ...

    def forget(self, stream: "SpdyStream") -> None:
        """The stream is over in both directions."""
        ...


class SpdyStream:
    """A stream that the client has begun."""

    def __init__(self, carrier: Carrier, stream_id: int, headers: Mapping[str, str], *, writable: bool = True) -> None:
        self.stream_id = stream_id
        self.headers = headers
        """Names in lower case."""
        self.incoming = Pipe()
        self.is_lost = False
        """Whether the client has ended both directions at once, or has gone."""
        self.on_lost: Callable[[], object] = lambda: None
        """Called when that happens."""
        self._carrier = carrier
        self._writable = writable

    async def read(self) -> bytes:
        """What the client has sent, at least a byte; nothing at its end, or when it has gone."""
        return await self.incoming.read()

    async def write(self, data: bytes) -> None:
        """Send, and wait until the client has read most of it. Raises `OSError` when it reads no more."""
        for start in range(0, len(data), DATA_BYTES_MAX):
            if not self._writable:
                raise BrokenPipeError("the stream is closed")
            self._carrier.send(Data(self.stream_id, data[start : start + DATA_BYTES_MAX]))
            await self._carrier.drain()

    async def close(self) -> None:
        """Nothing more is sent. What the client sends can be read on."""
        self.finish()

    def finish(self) -> None:
        """The same at once."""
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

    def lost(self) -> None:
        """The client has ended both directions, or has gone."""
        self._writable = False
        self.is_lost = True
        self.incoming.end()
        self.incoming.abandon()
        self._carrier.forget(self)
        self.on_lost()

    def finished(self) -> None:
        """The client has said its last on this stream."""
        self.incoming.end()
        if not self._writable:
            self._carrier.forget(self)
