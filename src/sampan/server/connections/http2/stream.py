"""`Stream`: one request on an HTTP/2 connection, and its response.

Concurrency: each stream has one task. Its writes wait for the client's windows and for the transport. When the client
resets the stream, the task of a read or a watch is cancelled at once. Any other task runs to its end, because it may be
writing.
"""

import asyncio
import logging
from typing import Protocol, cast

from h2.errors import ErrorCodes

from sampan.core.clock import monotonic
from sampan.core.tracebacks import forget_frames
from sampan.server.authentication.authenticator import ANONYMOUS
from sampan.server.compression import SIZE_MIN_BYTES, compress_response
from sampan.server.connections.http2.frames import Frames
from sampan.server.connections.owner import ConnectionOwner, Peer, clear_cancellation, read_request, release
from sampan.server.connections.unread import account_of
from sampan.server.incoming import BODY_PIECES_MAX, SAFE, Incoming
from sampan.server.request import Headers, Request, Response
from sampan.wire.http1 import BODILESS, joined

_log = logging.getLogger("sampan.http")

SEND_BYTES_MAX = 64 << 10
"""Bytes that a stream sends before it checks if the client reads."""
PROGRESS_BYTES = 16 << 10
"""Bytes that a client must read within the time limit."""


class Stalled(Exception):
    """The client has not read the response within the time limit."""


class StreamOwner(Protocol):
    """Connection, as its streams see it."""

    owner: ConnectionOwner
    peer: Peer
    frames: Frames
    ending: bool
    writable: asyncio.Event

    def retire(self) -> None: ...

    def finished(self, stream: "Stream") -> None: ...


class Stream:
    """Request while it is received, and the task that serves it."""

    def __init__(self, connection: StreamOwner, stream_id: int, headers: Headers) -> None:
        self._connection = connection
        self._frames = connection.frames
        self.stream_id = stream_id
        self.loop = connection.owner.loop
        self.closed = False
        """True if nothing more is sent: the response is complete, or the stream was reset."""
        self.streaming = False
        self._ended = False
        """True if the server has ended the response although its stream continues, as that of a watch."""
        self.incoming = Incoming(self)
        self._unacknowledged = 0
        self._window: asyncio.Future[None] | None = None
        self._gone: asyncio.Future[None] | None = None
        self._patient = False
        self._too_late = False
        self._request: Request | None = None
        self._progress = 0
        self._waited_s = 0.0
        """Time that the client has not read, since the last `PROGRESS_BYTES`."""
        self._received = monotonic()
        self._read_head(headers)
        self.task = connection.owner.tasks.begin(self._serve())
        self.task.add_done_callback(self._over)  # a task that is cancelled before its start runs no code

    # --- frames from the client

    def receive(self, data: bytes, flow_size: int) -> None:
        """Receive a piece of the body; `flow_size` is its share of the windows."""
        incoming = self.incoming
        incoming.size += len(data)
        if incoming.limit < 0:
            self._unacknowledged += flow_size
        else:
            self._frames.acknowledge(self.stream_id, flow_size)
            if incoming.size > incoming.limit:
                incoming.wake()
                return
        if data:
            incoming.body.append(data)
            if len(incoming.body) >= BODY_PIECES_MAX:
                incoming.join()
            if incoming.limit < 0:
                incoming.wake()

    def complete(self) -> None:
        """Record the end of the body."""
        self.incoming.complete = True
        self.incoming.wake()

    def reset(self) -> None:
        """Handle a reset by the client, or its disconnect."""
        self.closed = True
        self.incoming.wake()
        self.open_window()
        if self._gone is not None and not self._gone.done():
            self._gone.set_result(None)
        if self.streaming or self.incoming.method in SAFE:
            self.task.cancel()

    def open_window(self) -> None:
        """Continue sending: the client has enlarged a window."""
        if self._window is not None and not self._window.done():
            self._window.set_result(None)

    def end(self) -> None:
        """End a response that has no end."""
        if self.streaming:
            self._ended = True
            self.task.cancel()

    # --- called for the request in progress (`incoming.Source`)

    def send_continue(self) -> None:
        if not self.closed:
            self._frames.send_head(self.stream_id, [(b":status", b"100")], end=False)
            self._frames.flush()

    def resume_reading(self) -> None:
        size, self._unacknowledged = self._unacknowledged, 0
        if size and not self.closed:
            self._frames.acknowledge(self.stream_id, size)
            self._frames.flush()

    async def wait_closed(self) -> None:
        if not self.closed:
            if self._gone is None:
                self._gone = self.loop.create_future()
            await asyncio.shield(self._gone)

    # --- the response

    def _read_head(self, headers: Headers) -> None:
        incoming, owner = self.incoming, self._connection.owner
        found = incoming.headers
        several: dict[str, list[str]] = {}
        for name, value in headers:
            if name[0] == 0x3A:
                if name == b":method":
                    incoming.method = value.decode("latin-1")
                elif name == b":path":
                    incoming.raw_target = value
                elif name == b":authority":
                    found["host"] = value.decode("latin-1")
                continue
            key = owner.header_names[name]
            text = value.decode("latin-1")
            if key in found and key != "host":
                several.setdefault(key, [found[key]]).append(text)
            else:
                found[key] = text
        for key, values in several.items():
            found[key] = joined(key, values)
        incoming.expect_continue = found.get("expect", "").lower() == "100-continue"

    async def _serve(self) -> None:
        request: Request | None = None
        response: Response | None = None
        try:
            owner = self._connection.owner
            request, response = read_request(owner, self.incoming, self._connection.peer, received=self._received)
            if request is not None:
                self._request = request
                response = await owner.handler(request)
            assert response is not None
            self._patient = response.patient
            if not self.closed:
                last = response.close or request is None or request.user is None or request.user.name == ANONYMOUS
                self._too_late = self._connection.ending
                if last and response.stream is not None:
                    self._connection.retire()
                await self._send(response)
                if last:  # send the GOAWAY after the response: some clients ignore everything after a GOAWAY
                    self._frames.flush()
                    self._connection.retire()
        except asyncio.CancelledError as error:
            forget_frames(error)
            if not self.closed:
                self._give_up()
                raise
            clear_cancellation()
        except Stalled:
            self._give_up(ErrorCodes.CANCEL)
        except Exception as error:
            if not self.closed:
                _log.exception("stream aborted", extra={"path": self.incoming.logged_target})
            self._give_up()
            forget_frames(error)
        finally:
            self._request = None
            if response is not None:
                await release(response)
            elif request is not None and request.seat is not None:
                request.seat.release()
            # The task is listed for some time after its end, and its error refers to this frame.
            request = response = None

    async def _send(self, response: Response) -> None:
        if response.lost:
            self._give_up(ErrorCodes.INTERNAL_ERROR)
        elif response.takeover is not None:
            self._frames.reset(self.stream_id, ErrorCodes.HTTP_1_1_REQUIRED)
            self.closed = True
        elif response.stream is not None:
            await self._send_stream(response)
        else:
            await self._send_body(response)
        if not self.closed and not self.incoming.complete:
            self._frames.reset(self.stream_id, ErrorCodes.NO_ERROR)

    async def _send_body(self, response: Response) -> None:
        if len(response.body) > SIZE_MIN_BYTES or response.rest or response.gzip_body is not None:
            await compress_response(self.incoming.headers, response)
            if self.closed:
                return
        body, rest = response.body, response.rest
        no_body = not (body or rest) or self.incoming.method == "HEAD" or response.status in BODILESS
        length = response.size_bytes if response.length is None else response.length
        head = self._connection.owner.heads.fields(response, length)
        self._frames.send_head(self.stream_id, head, end=no_body)
        if not no_body:
            parts = tuple(filter(None, (body, *rest)))
            for index, part in enumerate(parts, 1):
                await self._send_data(part, end=index == len(parts), rest=parts[index:])

    async def _send_stream(self, response: Response) -> None:
        head = self._connection.owner.heads.fields(response, response.length)
        no_body = self.incoming.method == "HEAD" or response.stream is None
        self._frames.send_head(self.stream_id, head, end=no_body)
        self._frames.flush()
        if no_body or response.stream is None:
            return
        self.streaming = not response.finite
        try:
            if not self._too_late or response.finite:
                async for chunk in response.stream:
                    if chunk:
                        response.sent_bytes += len(chunk)
                        await self._send_data(chunk, end=False)
                    del chunk
        except asyncio.CancelledError as error:
            if self.closed or not self._ended:
                raise
            clear_cancellation()
            forget_frames(error)
        finally:
            self.streaming = False
        if not self.closed:
            self._frames.end_stream(self.stream_id)

    async def _send_data(self, data: bytes, *, end: bool, rest: tuple[bytes, ...] = ()) -> None:
        """Send data. `rest` follows later. **Raises** `Stalled` if the client does not read for too long."""
        view, at, writable = memoryview(data), 0, self._connection.writable
        while at < len(view) and not self.closed:
            room = min(self._frames.window(self.stream_id), SEND_BYTES_MAX) if writable.is_set() else 0
            if room <= 0:
                await self._wait_for_client((data, *rest))
                continue
            piece = view[at : at + room]
            at += len(piece)
            self._note_sent(len(piece))
            self._frames.send_data(self.stream_id, piece, end=end and at == len(view))
            self._frames.flush()
            if at < len(view):
                await asyncio.sleep(0)  # the client's windows may be large: serve other connections meanwhile

    def _note_sent(self, size: int) -> None:
        """Count sent bytes. After `PROGRESS_BYTES` the time limit begins again: a few bytes now and then are no
        progress.
        """
        self._progress += size
        if self._progress >= PROGRESS_BYTES:
            self._progress, self._waited_s = 0, 0.0

    async def _wait_for_client(self, unsent: tuple[bytes, ...]) -> None:
        """Wait until the client may read more. `unsent` is counted as unread meanwhile."""
        connection, request = self._connection, self._request
        user, seat = ("", None) if request is None else (account_of(request), request.seat)
        if seat is not None:
            seat.stall()
        limit_s = None if self._patient else connection.owner.settings.write_timeout_s - self._waited_s
        began = monotonic()
        try:
            with connection.owner.unread.waiting(self, connection, user, unsent, 0):
                async with asyncio.timeout(limit_s):
                    if connection.writable.is_set():
                        self._window = self.loop.create_future()
                        await self._window
                    else:
                        await connection.writable.wait()
        except TimeoutError as error:
            forget_frames(error)
            raise Stalled from None
        finally:
            self._window = None
            self._waited_s += monotonic() - began
        if seat is not None:
            seat.resume()

    def cut(self) -> None:
        """Reset the stream, because too many bytes wait."""
        self._give_up(ErrorCodes.ENHANCE_YOUR_CALM)
        self._frames.flush()
        self.task.cancel()

    def _give_up(self, code: ErrorCodes = ErrorCodes.INTERNAL_ERROR) -> None:
        """Reset the stream, because there will be no response."""
        if not self.closed:
            self.closed = True
            self._frames.reset(self.stream_id, code)

    def _over(self, _: object) -> None:
        self._frames.acknowledge(self.stream_id, self._unacknowledged)
        self._unacknowledged = 0
        self.closed = True
        self._frames.flush()
        self._connection.finished(self)
        self.incoming = cast(Incoming, None)  # break the reference cycle
