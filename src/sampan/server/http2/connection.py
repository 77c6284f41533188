"""`Http2Connection`: one client that speaks HTTP/2, answered by the same `Handler` as one that speaks HTTP/1.1.

Concurrency: each request is a `Stream` with a task of its own; the connection owns them and ends them. Streams are
bounded by the server's setting, tasks of streams that were reset while a write was under way by four times as many. A
client that nobody knows gets one answer and a GOAWAY, as HTTP/2 is dear. At the end the client is told to go
(GOAWAY), open streams finish, and the connection is closed when the client has gone or has lingered long enough.
Source: apiserver pkg/endpoints/filters/authentication.go, golang.org/x/net http2/server.go (1.36).
"""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import cast

from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    RemoteSettingsChanged,
    RequestReceived,
    StreamEnded,
    StreamReset,
    WindowUpdated,
)
from h2.exceptions import ProtocolError

from sampan.server.farewell import Farewell
from sampan.server.http2.frames import Frames
from sampan.server.http2.stream import Stream
from sampan.server.owner import ConnectionOwner, Peer, peer_of

REST_S = 0.02
TASKS_PER_STREAM_MAX = 4
"""Of streams that were reset, the tasks that run on are bounded by so many times the streams that may be open."""


class Http2Connection(asyncio.Protocol):
    """See the module for what bounds what."""

    def __init__(self, owner: ConnectionOwner) -> None:
        self.owner = owner
        self.peer = Peer()
        self.frames: Frames = cast(Frames, None)
        self.ending = False
        self.writable = asyncio.Event()
        self.writable.set()
        self.active = self.head_began = monotonic()
        self.write_paused_at = 0.0
        self._transport: asyncio.Transport = cast(asyncio.Transport, None)
        self._streams: dict[int, Stream] = {}
        self._tasks: set[Stream] = set()
        self._farewell: Farewell = cast(Farewell, None)
        self._on: dict[type[Event], Callable[..., None]] = {
            RequestReceived: self._on_request,
            DataReceived: self._on_data,
            StreamEnded: self._on_end,
            StreamReset: self._on_reset,
            WindowUpdated: self._on_window,
            RemoteSettingsChanged: self._on_settings,
            ConnectionTerminated: self._on_go_away,
        }

    # --- the transport's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._farewell = Farewell(self._transport, self.owner.loop, self.owner.settings)
        self.peer = peer_of(transport)
        self.frames = Frames(self._transport, self.owner.settings.http2_streams_max)
        self.owner.connected(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.ending = True
        self._farewell.over()
        self.writable.set()
        self._drop_streams()
        self._on.clear()  # they know us; and what a client has used is to be free when it has gone
        self.owner.disconnected(self)

    def pause_writing(self) -> None:
        self.write_paused_at = monotonic()
        self.writable.clear()

    def resume_writing(self) -> None:
        self.write_paused_at = 0.0
        self.writable.set()

    def data_received(self, data: bytes) -> None:
        try:
            events = self.frames.receive(data)
        except ProtocolError:
            self._close()
            return
        on = self._on
        for event in events:
            handle = on.get(type(event))
            if handle is not None:
                handle(event)
        self.frames.flush()

    # --- what the client says

    def _on_request(self, event: RequestReceived) -> None:
        stream_id = event.stream_id
        self.active = monotonic()
        if self.ending:
            self.frames.reset(stream_id, ErrorCodes.REFUSED_STREAM)
            return
        if len(self._tasks) >= TASKS_PER_STREAM_MAX * self.owner.settings.http2_streams_max:
            self.frames.go_away(ErrorCodes.ENHANCE_YOUR_CALM)
            self._close()
            return
        stream = Stream(self, stream_id, event.headers)
        self._streams[stream_id] = stream
        self._tasks.add(stream)

    def _on_data(self, event: DataReceived) -> None:
        stream = self._streams.get(event.stream_id)
        if stream is None:
            self.frames.acknowledge(event.stream_id, event.flow_controlled_length)
        else:
            stream.receive(event.data, event.flow_controlled_length)

    def _on_end(self, event: StreamEnded) -> None:
        stream = self._streams.get(event.stream_id)
        if stream is not None:
            stream.complete()

    def _on_reset(self, event: StreamReset) -> None:
        stream = self._streams.pop(event.stream_id, None)
        if stream is not None:
            stream.reset()

    def _on_window(self, event: WindowUpdated) -> None:
        if event.stream_id:
            stream = self._streams.get(event.stream_id)
            if stream is not None:
                stream.open_window()
        else:
            self._open_windows()

    def _on_settings(self, event: RemoteSettingsChanged) -> None:
        self.head_began = 0.0
        self._open_windows()

    def _on_go_away(self, event: ConnectionTerminated) -> None:
        """To h2 nothing can be said any more, so open streams end here."""
        self._close()

    def _open_windows(self) -> None:
        for stream in self._streams.values():
            stream.open_window()

    # --- for streams

    def retire(self) -> None:
        """Take no further request; those that are here are answered."""
        if not self.ending:
            self.ending = True
            self.frames.go_away()

    def finished(self, stream: Stream) -> None:
        """The task of a stream is over."""
        self._tasks.discard(stream)
        self._streams.pop(stream.stream_id, None)
        self.active = monotonic()
        if self.ending and not self._streams:
            self._leave()

    def _close(self) -> None:
        """Close, with what was not answered yet."""
        self.ending = True
        self._farewell.begin()
        self._drop_streams()

    def _drop_streams(self) -> None:
        streams = list(self._streams.values())
        self._streams.clear()
        for stream in streams:
            stream.reset()

    def _leave(self) -> None:
        """Close when the client does, or soon: what it has not read yet would be lost if it still sends something."""
        self._farewell.begin(linger_s=self.owner.settings.linger_s)

    # --- for the server

    @property
    def idle(self) -> bool:
        """Whether nothing is being answered."""
        return not self._streams

    @property
    def rest_s(self) -> float:
        """How long it has to be idle until its end costs no request: what comes too late is refused, and can be sent
        again. But some clients give up what they have not read yet when they are told to go.
        """
        return min(REST_S, self.owner.settings.rest_s)

    @property
    def streaming(self) -> bool:
        """Whether an answer is being sent that has no end of its own."""
        return any(stream.streaming for stream in self._streams.values())

    def end(self) -> None:
        """Take no further request, end streams properly, and go when the last answer has been sent."""
        self.retire()
        self.end_streams()
        if not self._streams:
            self._leave()

    def end_streams(self) -> None:
        """End the answers that have no end of their own. Others go on, and their clients hear of the end later."""
        for stream in list(self._streams.values()):
            stream.end()

    def abort(self) -> None:
        """Cut the connection."""
        self._transport.abort()
