"""`SpdyConnection`: one end of a SPDY/3.1 connection.

The clients' library (spdystream) has no flow control for single streams: it sends as fast as the connection allows, and
so does this end. A stream with a slow reader therefore stops the whole connection when its pipe is full.
Concurrency: one task runs `run` and passes the received data to the streams; any number of tasks write.
Source: moby/spdystream connection.go (0.5); streaming pkg/httpstream/spdy (1.36).
"""

from collections.abc import Callable, Mapping
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
"""Maximum number of open streams in a connection. Further streams are refused."""


class SpdyConnection:
    """`accept` is called for each stream that the client opens, and returns whether to accept it. It must not block."""

    def __init__(self, tunnel: ByteStream, accept: Callable[[SpdyStream], bool], *, is_client: bool = False) -> None:
        """`is_client`: True if this end opens the streams (`open`)."""
        self._is_client = is_client
        self._next_id = 1
        self._tunnel = tunnel
        self._accept = accept
        self._encoder = FrameEncoder()
        self._streams: dict[int, SpdyStream] = {}
        self._last_id = 0
        self._gone = False
        self._sent_goaway = False

    async def run(self) -> None:
        """Read frames until the client disconnects or sends GOAWAY. Raises `SpdyError`."""
        decoder = FrameDecoder()
        try:
            while not self._gone and (data := await self._tunnel.read()):
                for frame in decoder.feed(data):
                    await self._take(frame)
        finally:
            self._gone = True
            for stream in list(self._streams.values()):
                stream.lost(keep=self._is_client)

    def close(self) -> None:
        """Send GOAWAY once. No more streams are accepted."""
        if not self._sent_goaway:
            self.send(GoAway(self._last_id))
            self._sent_goaway = True

    def open(self, headers: Mapping[str, str]) -> SpdyStream:
        """Open a stream to the server. Names of headers are in lower case."""
        stream = SpdyStream(self, self._next_id, headers)
        self._streams[stream.stream_id] = stream
        self._next_id += 2
        self.send(SynStream(stream.stream_id, headers))
        return stream

    # --- for streams

    def send(self, frame: Frame) -> None:
        """Send a frame. Does nothing if the client has disconnected."""
        if not self._gone:
            self._tunnel.write(self._encoder.encode(frame))

    async def drain(self) -> None:
        """Wait until the client has read most of the sent data. Raises `OSError` if it has disconnected."""
        if self._gone:
            raise BrokenPipeError("the client has disconnected")
        await self._tunnel.drain()

    def forget(self, stream: SpdyStream) -> None:
        """Forget a stream that has ended in both directions."""
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
                    stream.lost(keep=self._is_client)
            case Headers():
                if frame.fin and (stream := self._streams.get(frame.stream_id)) is not None:
                    stream.finished()
            case Ping():
                if frame.ping_id % 2 != self._is_client:
                    self.send(frame)
                    await self._tunnel.drain()
            case GoAway():
                self._gone = True

    def _begin(self, frame: SynStream) -> None:
        if self._sent_goaway:
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
