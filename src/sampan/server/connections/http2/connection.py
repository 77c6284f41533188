"""`Http2Connection`: HTTP/2 connection of one client. The `Handler` is the same as for HTTP/1.1.

Concurrency: each request is a `Stream` with its own task; the connection owns and ends them. `http2_streams_max` limits
the open streams. Tasks of streams that were reset during a write are limited to four times that number. Each turn of
the event loop takes a few frames of a connection (`inbound.py`) and some hundred of all (`core/event_loop/turns.py`).
A client that sends too many control frames is disconnected (`frame_budget.py`). An unauthenticated client gets one
response and a GOAWAY, because HTTP/2 is expensive. At shutdown the connection sends GOAWAY, completes its open streams,
and closes when the client disconnects or after `linger_s` seconds.
Source: apiserver pkg/endpoints/filters/authentication.go, golang.org/x/net http2/server.go (1.36).
"""

import asyncio
import logging
from collections.abc import Callable
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

from sampan.core.clock import monotonic
from sampan.server.connections.graceful_close import GracefulClose
from sampan.server.connections.http2.frames import Frames
from sampan.server.connections.http2.stream import Stream
from sampan.server.connections.owner import ConnectionOwner, Peer, peer_of
from sampan.streams.http2.frame_budget import FrameFlood

_log = logging.getLogger("sampan.http")

REST_S = 0.02
FRAMES_PER_REQUEST = 20
"""Number of frames that a request counts for in a turn, because its task begins in the next turn, and takes 0.3 ms or
more.
"""
TASKS_PER_STREAM_MAX = 4
"""Maximum number of tasks of reset streams that continue, as a multiple of the maximum number of open streams."""


class Http2Connection(asyncio.Protocol):
    """Connection of a client. The module docstring lists its limits."""

    def __init__(self, owner: ConnectionOwner) -> None:
        self.owner = owner
        self.peer = Peer()
        self.frames: Frames = cast(Frames, None)
        self.ending = False
        self.writable = asyncio.Event()
        self.writable.set()
        self.active = self.head_began = monotonic()
        self.write_paused_at = 0.0
        self._waits_for_turn = False
        self._useful_data_frames = 0
        """DATA frames of the current slice that brought data to an open stream."""
        self._requests_begun = 0
        """Requests that the current slice began."""
        self._deaf = False
        """True if frames from the client are no longer processed."""
        self._transport: asyncio.Transport = cast(asyncio.Transport, None)
        self._streams: dict[int, Stream] = {}
        self._tasks: set[Stream] = set()
        self._closing: GracefulClose = cast(GracefulClose, None)
        self._on: dict[type[Event], Callable[..., None]] = {
            RequestReceived: self._on_request,
            DataReceived: self._on_data,
            StreamEnded: self._on_end,
            StreamReset: self._on_reset,
            WindowUpdated: self._on_window,
            RemoteSettingsChanged: self._on_settings,
            ConnectionTerminated: self._on_go_away,
        }

    # --- callbacks of the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._closing = GracefulClose(self._transport, self.owner.loop, self.owner.settings)
        self.peer = peer_of(transport)
        self.frames = Frames(self._transport, self.owner.settings.http2_streams_max)
        self.owner.connected(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.ending = True
        self._deaf = True
        self._closing.end()
        self.writable.set()
        self._drop_streams()
        # Break the reference cycles, so that the memory is freed at once and not by the garbage collector.
        self._on.clear()
        self.frames.close()
        self.owner.disconnected(self)

    def pause_writing(self) -> None:
        self.write_paused_at = monotonic()
        self.writable.clear()

    def resume_writing(self) -> None:
        self.write_paused_at = 0.0
        self.writable.set()

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        self.frames.inbound.feed(data)
        if self._waits_for_turn:
            return
        if self.owner.frame_turns.open:
            self._receive_slice()
        else:
            self._wait_for_turn()

    def _wait_for_turn(self) -> None:
        self._waits_for_turn = True
        self._transport.pause_reading()
        self.owner.frame_turns.wait(self._take_turn)

    def _take_turn(self) -> None:
        self._waits_for_turn = False
        if self._deaf:
            return
        self._receive_slice()
        if not self._waits_for_turn and not self._deaf:
            self._transport.resume_reading()

    def _receive_slice(self) -> None:
        """Handle the next frames. While more frames are received than handled, the transport does not read."""
        self._useful_data_frames = self._requests_begun = 0
        try:
            events = self.frames.receive()
            for event in events:
                handle = self._on.get(type(event))
                if handle is not None:
                    handle(event)
            self.frames.budget.charge(self.frames.inbound.data_frames - self._useful_data_frames)
            self.owner.frame_turns.spend(self.frames.inbound.frames + FRAMES_PER_REQUEST * self._requests_begun)
        except FrameFlood:
            self._refuse_flood()
            return
        except ProtocolError:
            self._close()
            return
        self.frames.flush()
        if not self._deaf and self.frames.inbound.more:
            self._wait_for_turn()

    def _refuse_flood(self) -> None:
        """Disconnect the client. It can still read the GOAWAY for `linger_s` seconds."""
        _log.info("connection closed: too many HTTP/2 control frames", extra={"source": self.peer.address})
        self._deaf = self.ending = True
        self.frames.go_away(ErrorCodes.ENHANCE_YOUR_CALM)
        self._transport.pause_reading()
        self._drop_streams()
        self._leave()

    # --- frames from the client

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
        self._requests_begun += 1
        stream = Stream(self, stream_id, event.headers)
        self._streams[stream_id] = stream
        self._tasks.add(stream)

    def _on_data(self, event: DataReceived) -> None:
        stream = self._streams.get(event.stream_id)
        if stream is not None and event.data:
            self._useful_data_frames += 1
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
        """End the open streams: h2 sends nothing after the client's GOAWAY."""
        self._close()

    def _open_windows(self) -> None:
        for stream in self._streams.values():
            stream.open_window()

    # --- called by streams

    def retire(self) -> None:
        """Accept no further requests; those in progress get their responses."""
        if not self.ending:
            self.ending = True
            self.frames.go_away()

    def finished(self, stream: Stream) -> None:
        """Remove a stream whose task has ended."""
        self._tasks.discard(stream)
        if self._streams.pop(stream.stream_id, None) is not None:  # otherwise the client has reset the stream
            self.frames.budget.earn_response()
        self.active = monotonic()
        if self.ending and not self._streams:
            self._leave()

    def _close(self) -> None:
        """Close without completing the open responses."""
        self._deaf = self.ending = True
        self._closing.begin()
        self._drop_streams()

    def _drop_streams(self) -> None:
        streams = list(self._streams.values())
        self._streams.clear()
        for stream in streams:
            stream.reset()

    def _leave(self) -> None:
        """Close when the client disconnects, or after `linger_s` seconds. An earlier close would reset the connection,
        and the client would lose unread responses.
        """
        self._closing.begin(linger_s=self.owner.settings.linger_s)

    # --- called by the server

    @property
    def idle(self) -> bool:
        """True if no request is in progress."""
        return not self._streams

    @property
    def quiet_s(self) -> float:
        """Idle time in seconds after which closing the connection loses no request.

        A late request is refused, and the client can send it again. But some clients drop unread responses when they
        receive the GOAWAY.
        """
        return min(REST_S, self.owner.settings.quiet_s)

    @property
    def streaming(self) -> bool:
        """True while a response without an end is sent, such as a watch."""
        return any(stream.streaming for stream in self._streams.values())

    @property
    def is_abandoned(self) -> bool:
        """False: reading is never paused for long."""
        return False

    def end(self) -> None:
        """Accept no further request, end streams properly, and close after the last response."""
        self.retire()
        self.end_streams()
        if not self._streams:
            self._leave()

    def end_streams(self) -> None:
        """End the responses that have no end, such as watches. Others continue, and close later."""
        for stream in list(self._streams.values()):
            stream.end()

    def abort(self) -> None:
        """Close the connection at once, with all its streams. Bytes that wait are lost."""
        self._transport.abort()
