"""`SpdyConnection`: the server's end of a SPDY/3.1 connection.

The clients' library (spdystream) knows no windows of single streams: it sends as fast as the connection goes, and so
does this end. A stream whose reader is slow therefore stops the whole connection, when its pipe is full.
Concurrency: one task is in `run`, and hands out what comes; any number write.
Source: moby/spdystream connection.go (0.5); streaming pkg/httpstream/spdy (1.36).
"""

from collections.abc import Callable
from typing import Final

from sampan.node.server.spdy.decoder import FrameDecoder
from sampan.node.server.spdy.frames import (
    CANCEL,
    PROTOCOL_ERROR,
    REFUSED_STREAM,
    Data,
    Frame,
    FrameEncoder,
    GoAway,
    Headers,
    Ping,
    RstStream,
    SynReply,
    SynStream,
)
from sampan.node.server.spdy.stream import SpdyStream
from sampan.wire.websocket import ByteStream

STREAMS_MAX: Final = 1000
"""Open ones of a connection; further ones are refused."""


class SpdyConnection:
    """`accept` is told of each stream that the client begins, and says whether it may; it must not wait."""

    def __init__(self, tunnel: ByteStream, accept: Callable[[SpdyStream], bool]) -> None:
        self._tunnel = tunnel
        self._accept = accept
        self._encoder = FrameEncoder()
        self._streams: dict[int, SpdyStream] = {}
        self._last_id = 0
        self._gone = False
        self._said_goodbye = False

    async def run(self) -> None:
        """Take in what the client sends, until it has gone or says that it goes. Raises `SpdyError`."""
        decoder = FrameDecoder()
        try:
            while not self._gone and (data := await self._tunnel.read()):
                for frame in decoder.feed(data):
                    await self._take(frame)
        finally:
            self._gone = True
            for stream in list(self._streams.values()):
                stream.lost()

    def close(self) -> None:
        """Say good-bye, once: no more streams are taken."""
        if not self._said_goodbye:
            self.send(GoAway(self._last_id))
            self._said_goodbye = True

    # --- for streams

    def send(self, frame: Frame) -> None:
        """Send a frame; nothing happens when the client has gone."""
        if not self._gone:
            self._tunnel.write(self._encoder.encode(frame))

    async def drain(self) -> None:
        """Wait until the client has read most of what was sent. Raises `OSError` when it has gone."""
        if self._gone:
            raise BrokenPipeError("the client has gone")
        await self._tunnel.drain()

    def forget(self, stream: SpdyStream) -> None:
        """The stream is over in both directions."""
        self._streams.pop(stream.stream_id, None)

    async def _take(self, frame: Frame) -> None:
        match frame:
            case Data():
                await self._data(frame)
            case SynStream():
                self._begin(frame)
                await self._tunnel.drain()
            case RstStream():
                stream = self._streams.get(frame.stream_id)
                if stream is not None:
                    stream.lost()
            case Headers():
                if frame.fin and (stream := self._streams.get(frame.stream_id)) is not None:
                    stream.finished()
            case Ping():
                if frame.ping_id % 2:
                    self.send(frame)
                    await self._tunnel.drain()
            case GoAway():
                self._gone = True

    def _begin(self, frame: SynStream) -> None:
        if self._said_goodbye:
            return
        if frame.stream_id <= self._last_id or frame.stream_id % 2 == 0:
            self.send(RstStream(frame.stream_id, PROTOCOL_ERROR))
            return
        self._last_id = frame.stream_id
        if len(self._streams) >= STREAMS_MAX:
            self.send(RstStream(frame.stream_id, REFUSED_STREAM))
            return
        stream = SpdyStream(self, frame.stream_id, frame.headers, writable=not frame.unidirectional)
        if frame.fin:
            stream.incoming.end()
        self._streams[frame.stream_id] = stream
        if self._accept(stream):
            self.send(SynReply(frame.stream_id, {}))
        else:
            stream.reset(CANCEL)

    async def _data(self, frame: Data) -> None:
        stream = self._streams.get(frame.stream_id)
        if stream is None:
            return
        if frame.data:
            stream.incoming.feed(frame.data)
            await stream.incoming.room()
        if frame.fin:
            stream.finished()
