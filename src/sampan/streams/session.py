"""`StreamSession`: many streams on one connection, in the frames of HTTP/2.

One end opens the streams with extended CONNECT requests; the other one connects each of them to its target, or
refuses it.

Concurrency: `run` owns a task that reads, one that sends what had to wait, and one that sends pings. Each target that
is being connected has a task. Streams have no tasks. `StreamLimits` has the bounds. Each turn of the event loop takes
a few frames, and a peer that sends too many control frames is disconnected (`http2/`).
Source: RFC 9113, RFC 8441.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, Protocol, TypeVar

from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    RemoteSettingsChanged,
    RequestReceived,
    ResponseReceived,
    StreamEnded,
    StreamReset,
    WindowUpdated,
)
from h2.exceptions import H2Error, NoAvailableStreamIDError, NoSuchStreamError, StreamClosedError

from sampan.core.event_loop.task_scope import TaskScope
from sampan.streams.errors import reason_of, refusal
from sampan.streams.framing import framed
from sampan.streams.http2.frame_budget import FrameBudget, FrameFlood
from sampan.streams.http2.inbound import Inbound
from sampan.streams.limits import DEFAULT_LIMITS, StreamLimits
from sampan.streams.outbox import BUFFER_BYTES, Outbox
from sampan.streams.splice import Splice
from sampan.streams.tls import start_tls
from sampan.streams.transport import StreamTransport

P = TypeVar("P", bound=asyncio.BaseProtocol)

Connect = Callable[[str, Callable[[], Splice]], Awaitable[object]]
"""Connects the protocol that the function makes to a target. Raises `OSError`, `StreamRefused` to forbid the target."""

_PROTOCOL: Final = b"connect-tcp"


class ByteStream(Protocol):
    """Connection below a session, such as `http.Tunnel`."""

    @property
    def transport(self) -> asyncio.Transport: ...

    async def read(self) -> bytes: ...

    async def drain(self) -> None: ...

    def abort(self) -> None: ...


class StreamSession:
    """One end of a connection. `run` must be running.

    `name` is that of the peer, for messages. With `connect` this end accepts streams, without it opens them.
    """

    def __init__(
        self, tunnel: ByteStream, *, name: str, connect: Connect | None = None, limits: StreamLimits = DEFAULT_LIMITS
    ) -> None:
        self.name = name
        self.limits = limits
        # The accepting end waits: the peer may be the proxy of a client that reads slowly.
        self.linger_s = limits.linger_s if connect is None else None
        self.reason = ""
        """Reason of the end; empty before it."""
        self.waiting_bytes = 0
        """Bytes of all streams that wait to be read, with their padding."""
        self._tunnel = tunnel
        self._connect = connect
        self._loop = asyncio.get_running_loop()
        self._streams: dict[int, StreamTransport] = {}
        self._established: dict[int, asyncio.Future[None]] = {}
        self._dials: dict[int, asyncio.Task[None]] = {}
        self._tasks = TaskScope()
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._pings_lost = 0
        self._budget = FrameBudget()
        self._inbound = Inbound(self._budget, preface=connect is not None, frame_bytes_max=limits.frame_bytes_max)
        self._h2 = framed(limits, opens=connect is None)
        self._outbox = Outbox(self._h2, self._budget, tunnel.transport, drain=tunnel.drain, flush=self._flush)
        self._on: dict[type[Event], Callable[[Any], None]] = {
            RequestReceived: self._on_request,
            ResponseReceived: self._on_response,
            DataReceived: self._on_data,
            StreamEnded: self._on_end,
            StreamReset: self._on_reset,
            WindowUpdated: self._on_window,
            RemoteSettingsChanged: self._on_settings,
            ConnectionTerminated: self._on_go_away,
        }

    @property
    def stream_count(self) -> int:
        """Number of open streams."""
        return len(self._streams)

    async def run(self) -> None:
        """Serve until the connection ends; then `reason` is set. All streams end with it."""
        self._tunnel.transport.set_write_buffer_limits(BUFFER_BYTES // 4)
        self._flush()
        try:
            async with self._tasks as tasks:
                for work in (self._receive(), self._send(), self._check()):
                    tasks.begin(work).add_done_callback(self._task_ended)
                await asyncio.shield(self._over)
        finally:
            self._close()

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        """End the connection with the error of a task, which is a bug."""
        error = None if task.cancelled() else task.exception()
        if error is not None and not self._over.done():
            self.reason = f"internal error: {error!r}"
            self._over.set_exception(error)

    def end(self, reason: str) -> None:
        """End the connection."""
        if not self._over.done():
            self.reason = reason
            self._over.set_result(None)

    async def open(
        self, make: Callable[[], P], target: str, *, tls: ssl.SSLContext | None = None, server_name: str = ""
    ) -> P:
        """Connect a new protocol to a target. Raises `OSError`: the one of the peer, or `ssl.SSLError`."""
        stream = self._new_stream(target)
        established: asyncio.Future[None] = self._loop.create_future()
        self._established[stream.stream_id] = established
        try:
            self._h2.send_headers(
                stream.stream_id,
                [
                    (b":method", b"CONNECT"),
                    (b":protocol", _PROTOCOL),
                    (b":scheme", b"https"),
                    (b":path", b"/"),
                    (b":authority", target.encode()),
                ],
            )
            self._flush()
            await established
            protocol: P = make()
            if tls is None:
                stream.begin(protocol)
            else:
                await start_tls(stream, protocol, tls, server_name)
        except H2Error as error:
            stream.abort()
            raise OSError(f"{self.name}: {error}") from error
        except BaseException:
            stream.abort()
            raise
        finally:
            self._established.pop(stream.stream_id, None)
        return protocol

    # --- called by streams

    def push(self, stream: StreamTransport) -> None:
        """Send what the stream has to send, now or later."""
        self._outbox.push(stream)

    def acknowledge(self, stream: StreamTransport, size: int) -> None:
        """Let the peer send this number of bytes more."""
        self.waiting_bytes -= size
        if size and not self._over.done():
            self._h2.acknowledge_received_data(size, stream.stream_id)
            self._flush()

    def reset(self, stream: StreamTransport, code: ErrorCodes = ErrorCodes.CANCEL) -> None:
        """Send RST_STREAM, unless the session or the stream has ended."""
        if not self._over.done():
            with suppress(NoSuchStreamError, StreamClosedError):
                self._h2.reset_stream(stream.stream_id, code)
                self._flush()

    def forget(self, stream: StreamTransport) -> None:
        """Drop the stream."""
        self._streams.pop(stream.stream_id, None)
        dial = self._dials.pop(stream.stream_id, None)
        if dial is not None:
            dial.cancel()

    # --- tasks

    async def _receive(self) -> None:
        inbound = self._inbound
        try:
            while data := await self._tunnel.read():
                self._pings_lost = 0
                inbound.feed(data)
                self._take_slice()
                while inbound.more:
                    await asyncio.sleep(0)
                    self._take_slice()
        except FrameFlood:
            self.end("it sends too many control frames")
        except (H2Error, ConnectionError) as error:
            self.end(str(error) or type(error).__name__)
        else:
            self.end("it has closed the connection")

    async def _send(self) -> None:
        try:
            await self._outbox.run()
        except ConnectionError:
            self.end("the connection broke")

    async def _check(self) -> None:
        """Send pings, and end the connection if the peer does not respond. Close idle streams."""
        limits = self.limits
        while True:
            await asyncio.sleep(limits.ping_s)
            if self._pings_lost >= limits.pings_lost_max:
                self.end("it does not answer")
                return
            self._pings_lost += 1
            self._h2.ping(bytes(8))
            self._flush()
            before = self._loop.time() - limits.idle_s
            for stream in list(self._streams.values()) if self._connect is not None else ():
                if stream.touched < before and stream.stream_id not in self._dials:
                    stream.abort()

    async def _accept(self, stream: StreamTransport, target: str) -> None:
        """Connect a stream to its target, or refuse it."""
        assert self._connect is not None
        outer = Splice()
        try:
            async with asyncio.timeout(self.limits.dial_s):
                await self._connect(target, lambda: outer)
        except (OSError, ValueError) as error:
            reason, text = reason_of(error)
            self._respond(stream, 502, [(b"reason", reason.encode()), (b"text", _header(text))], end=True)
            self._dials.pop(stream.stream_id, None)
            stream.lost(None)
            return
        except asyncio.CancelledError:
            if outer.transport is not None:
                outer.transport.abort()
            raise
        self._dials.pop(stream.stream_id, None)
        inner = Splice()
        self._respond(stream, 200, [], end=False)
        stream.begin(inner, reading=False)
        inner.join(outer)

    # --- frames from the peer

    def _take_slice(self) -> None:
        slice_ = self._inbound.take()
        useful = 0
        for event in self._h2.receive_data(slice_):
            if isinstance(event, DataReceived) and event.data and event.stream_id in self._streams:
                useful += 1
            handle = self._on.get(type(event))
            if handle is not None:
                handle(event)
        self._budget.charge(self._inbound.data_frames - useful)
        self._flush()

    def _on_request(self, event: RequestReceived) -> None:
        headers = dict(event.headers or ())
        stream = StreamTransport(self, event.stream_id, "")
        self._budget.earn_response()
        if headers.get(b":protocol") != _PROTOCOL or self._connect is None:
            self.reset(stream, ErrorCodes.REFUSED_STREAM)
            return
        self._streams[event.stream_id] = stream
        target = headers.get(b":authority", b"").decode("latin-1")
        self._dials[event.stream_id] = self._tasks.begin(self._accept(stream, target))

    def _on_response(self, event: ResponseReceived) -> None:
        established = self._established.get(event.stream_id)
        if established is None or established.done():
            return
        self._budget.earn_response()
        headers = dict(event.headers or ())
        if headers.get(b":status") == b"200":
            established.set_result(None)
            return
        reason, text = (headers.get(name, b"").decode("utf-8", "replace") for name in (b"reason", b"text"))
        established.set_exception(refusal(self.name, reason, text))

    def _on_data(self, event: DataReceived) -> None:
        stream, size = self._streams.get(event.stream_id), event.flow_controlled_length or 0
        if stream is None:
            self._h2.acknowledge_received_data(size, event.stream_id)
            return
        before = stream.waiting_bytes
        self.waiting_bytes += size
        stream.receive(event.data or b"", size)
        if stream.waiting_bytes > before and self.waiting_bytes > self.limits.waiting_bytes_max:
            self.reset(stream, ErrorCodes.ENHANCE_YOUR_CALM)
            stream.lost(ConnectionResetError("too many bytes wait to be read"))

    def _on_end(self, event: StreamEnded) -> None:
        stream = self._streams.get(event.stream_id)
        if stream is not None:
            stream.receive_end()

    def _on_reset(self, event: StreamReset) -> None:
        self._end_stream(event.stream_id, ConnectionResetError(f"{self.name} has reset the stream"))

    def _on_window(self, event: WindowUpdated) -> None:
        for stream in (self._streams.get(event.stream_id),) if event.stream_id else tuple(self._streams.values()):
            if stream is not None and (stream.pending or stream.ends):
                self.push(stream)

    def _on_settings(self, event: RemoteSettingsChanged) -> None:
        for stream in tuple(self._streams.values()):
            if stream.pending or stream.ends:
                self.push(stream)

    def _on_go_away(self, event: ConnectionTerminated) -> None:
        self.end("it has closed the connection")

    # --- inside

    def _new_stream(self, target: str) -> StreamTransport:
        """Return a new stream of this end. Raises `OSError`."""
        if self._over.done():
            raise ConnectionResetError(self._end_text())
        if len(self._streams) >= self.limits.streams_max:
            raise OSError(f"{self.name} has {len(self._streams)} streams, the maximum")
        try:
            stream_id = self._h2.get_next_available_stream_id()
        except NoAvailableStreamIDError:
            self.end("it has had the maximum number of streams")
            raise ConnectionResetError(self._end_text()) from None
        stream = self._streams[stream_id] = StreamTransport(self, stream_id, target)
        return stream

    def _respond(self, stream: StreamTransport, status: int, more: list[tuple[bytes, bytes]], *, end: bool) -> None:
        if not self._over.done():
            with suppress(NoSuchStreamError, StreamClosedError):
                self._h2.send_headers(stream.stream_id, [(b":status", str(status).encode()), *more], end_stream=end)
                self._flush()

    def _flush(self) -> None:
        """Write pending frames."""
        transport = self._tunnel.transport
        data = self._h2.data_to_send()
        if data and not transport.is_closing():
            transport.write(data)
            if transport.get_write_buffer_size() > self.limits.unsent_bytes_max:
                self.end("it does not read")

    def _end_stream(self, stream_id: int, error: Exception) -> None:
        established = self._established.get(stream_id)
        if established is not None and not established.done():
            established.set_exception(error)
        stream = self._streams.get(stream_id)
        if stream is not None:
            stream.lost(error)

    def _end_text(self) -> str:
        return f"the tunnel of {self.name} ended: {self.reason}"

    def _close(self) -> None:
        self.end("the connection was closed")
        for stream_id in list(self._streams):
            self._end_stream(stream_id, ConnectionResetError(self._end_text()))
        self._on.clear()
        self._tunnel.abort()


def _header(text: str) -> bytes:
    return text[:256].encode("ascii", "replace").replace(b"\n", b" ").replace(b"\r", b" ").strip() or b"-"
