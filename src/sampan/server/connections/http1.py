"""HTTP/1.1: one `Http1Connection` per client. A `Handler` returns the responses.

Concurrency: a connection runs one task at a time, for its oldest request. At most `PIPELINE_MAX` pipelined requests
wait in a queue, and those of one more slice (`receiver.py`). Then reading and parsing stop. The next one waits until
the client has read responses down to the transport's high-water mark. A request body is buffered up to the limit of its
reader, and up to `BODY_AHEAD_BYTES` before a handler reads it. If the client disconnects, the task of a read or a
stream is cancelled. Any other task runs to its end, because it may be writing.

Before a connection is closed, a request that is received in part is completed and gets its response. The last response
has `Connection: close`. Data that arrives later is discarded until the client disconnects.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import cast

from sampan.core.clock import monotonic
from sampan.core.tracebacks import forget_frames
from sampan.http.tunnel import Tunnel
from sampan.server.compression import SIZE_MIN_BYTES, compress_response
from sampan.server.connections.graceful_close import GracefulClose, has_ended, has_unread
from sampan.server.connections.owner import (
    ConnectionOwner,
    Peer,
    clear_cancellation,
    peer_of,
    read_request,
    release,
)
from sampan.server.connections.receiver import Receiver
from sampan.server.connections.unread import account_of
from sampan.server.incoming import SAFE, Incoming
from sampan.server.request import Request, Response
from sampan.wire.http1 import BODILESS, BodyWriter, Malformed

_log = logging.getLogger("sampan.http")

WRITE_CHUNK_BYTES = 256 << 10
"""Maximum number of bytes in one write. TLS encrypts them on the event loop, and other connections wait meanwhile."""


class Http1Connection(asyncio.Protocol):
    """Connection of one client. The module docstring lists its limits."""

    def __init__(self, owner: ConnectionOwner) -> None:
        self.owner = owner
        self.streaming = False
        self.write_paused_at = 0.0
        self._receiver = Receiver(self, owner)
        self._transport: asyncio.Transport = cast(asyncio.Transport, None)
        self._task: asyncio.Task[None] | None = None
        self._ending = False
        self._can_write: asyncio.Future[None] | None = None
        self._peer = Peer()
        self._closing: GracefulClose | None = None
        self._patient = False
        self._request: Request | None = None
        self._started = 0.0
        """Monotonic time at which the current request left the queue."""

    # --- the transport's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._receiver.attach(self._transport)
        self._peer = peer_of(transport)
        self.owner.connected(self)

    def connection_lost(self, exc: Exception | None) -> None:
        receiver = self._receiver
        receiver.closed = True
        if self._closing is not None:
            self._closing.end()
        self.owner.disconnected(self)
        if self._can_write is not None and not self._can_write.done():
            self._can_write.set_result(None)
        current = receiver.current
        receiver.close()
        if current is not None and self._task is not None and (self.streaming or current.method in SAFE):
            self._task.cancel()

    def pause_writing(self) -> None:
        self.write_paused_at = 0.0 if self._patient else monotonic()
        self._can_write = self.owner.loop.create_future()

    def resume_writing(self) -> None:
        self.write_paused_at = 0.0
        waiter, self._can_write = self._can_write, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def data_received(self, data: bytes) -> None:
        receiver = self._receiver
        receiver.active = monotonic()
        receiver.parse(data)

    # --- for the server

    @property
    def active(self) -> float:
        """Monotonic time of the last received data."""
        return self._receiver.active

    @property
    def head_began(self) -> float:
        """Monotonic time since which the server has waited for a complete request head; 0 if it does not wait."""
        return self._receiver.head_began

    @property
    def idle(self) -> bool:
        """True if no request is in progress."""
        return self._receiver.current is None

    @property
    def quiet_s(self) -> float:
        """Idle time in seconds after which no request is expected."""
        return self.owner.settings.quiet_s

    @property
    def is_abandoned(self) -> bool:
        """True if the client of a stream has disconnected, and reading is paused for the requests after it."""
        return self.streaming and self._receiver.is_paused and has_ended(self._transport)

    def end(self) -> None:
        """Accept no further request: close at once if idle, else after the response. A stream is ended properly."""
        self._ending = True
        receiver = self._receiver
        if receiver.current is not None:
            self.end_streams()
        elif not (receiver.is_within_request or has_unread(self._transport)):
            self.leave(heeding=not receiver.is_within_body)

    def end_streams(self) -> None:
        """End the stream properly if the current response is one, and then close the connection."""
        if self.streaming and self._task is not None:
            self._ending = True
            self._task.cancel()

    def abort(self) -> None:
        """Close the connection at once. Bytes that wait are lost."""
        self._transport.abort()

    # --- for the receiver

    def start(self, incoming: Incoming) -> None:
        """Serve a request in a task."""
        self._started = monotonic()
        self._task = self.owner.tasks.begin(self._serve(incoming))

    def refuse(self, fault: Malformed) -> None:
        """Respond with an error to data that is not valid HTTP, and close the connection."""
        if self._receiver.current is None and not self._receiver.closed:
            self._transport.write(self.owner.heads.refusal(fault))
        self.leave(heeding=False)

    def leave(self, *, heeding: bool = True) -> None:
        """Close the connection. Without `heeding`, wait for the client to disconnect, and discard the data that it
        still sends.
        """
        if self._receiver.closed:
            return
        self._receiver.stopped = True
        if self._closing is None:
            self._closing = GracefulClose(self._transport, self.owner.loop, self.owner.settings)
        if heeding:
            self._closing.begin()
            return
        self._transport.set_protocol(Deaf(self))
        self._receiver.resume_reading()
        self._closing.begin(linger_s=self.owner.settings.linger_s)

    # --- one request

    async def _serve(self, incoming: Incoming) -> None:
        """Serve one request. Then start the next one, or close the connection."""
        request: Request | None = None
        response: Response | None = None
        close = True
        try:
            request, response = read_request(self.owner, incoming, self._peer, received=self._started)
            if request is not None:
                self._request = request
                response = await self.owner.handler(request)
            assert response is not None
            self._patient = response.patient
            close = not incoming.keep_alive or response.close or self._is_last()
            if incoming.expect_continue and not incoming.complete:
                close = True
            if response.lost:
                self.abort()
            elif not self._receiver.closed:
                if response.stream is not None:
                    close = await self._send_stream(incoming, response, response.stream) or close
                elif response.takeover is not None:
                    await self._hand_over(response, response.takeover)
                else:
                    await self._send(incoming, response, close=close)
        except ConnectionError as error:
            _log.info("connection cut", extra={"path": incoming.logged_target, "error": str(error)})
            self._transport.abort()
            forget_frames(error)
        except Exception as error:
            _log.exception("connection cut", extra={"path": incoming.logged_target})
            self._transport.abort()
            forget_frames(error)
        except asyncio.CancelledError as error:
            self._transport.abort()
            forget_frames(error)
            raise
        finally:
            self._receiver.current = self._request = None
            if response is None:
                if request is not None and request.seat is not None:
                    request.seat.release()
            elif response.stream is not None or response.finished is not None:
                await release(response)
            was_tunnel = response is not None and response.takeover is not None
            no_response = response is None
            # The task is listed for some time after its end, and its error refers to this frame.
            request = response = None
        if close or self._ending or self._receiver.closed:
            self.leave(heeding=incoming.complete or no_response or was_tunnel)
        else:
            self._receiver.finish(incoming)

    def _is_last(self) -> bool:
        """Return True if the connection ends with this response. At shutdown, requests that are already received get
        their responses first.
        """
        return self._ending or (self.owner.shutting_down and not self._receiver.has_more)

    async def _send(self, incoming: Incoming, response: Response, *, close: bool) -> None:
        body = response.body
        if len(body) > SIZE_MIN_BYTES or response.rest or response.gzip_body is not None:
            await compress_response(incoming.headers, response)
            body = response.body
        rest = response.rest
        length = len(body) if response.length is None else response.length
        if rest:
            length = response.size_bytes
        head = self.owner.heads.build(response, length, close=close, http_1_0=incoming.http_1_0)
        if incoming.method == "HEAD" or response.status in BODILESS:
            self._transport.write(head)
        elif len(body) < WRITE_CHUNK_BYTES:
            self._transport.write(head + body)
            if self._can_write is not None:
                await self.drain()
        else:
            self._transport.write(head)
            await self._write_in_turns(body, rest)
            return
        if rest:
            await self._write_in_turns(b"", rest)

    async def _write_in_turns(self, data: bytes, rest: tuple[bytes, ...] = ()) -> None:
        """Write data in pieces, and let the event loop serve other connections after each piece.

        Waiting for the client alone would not suffice, because a fast one keeps the buffer empty. If a stream is ended
        meanwhile, write the rest of its frame at once.
        """
        for index, part in enumerate((data, *rest)):
            view, at = memoryview(part), 0
            try:
                while at < len(view) and not self._receiver.closed:
                    self._transport.write(view[at : at + WRITE_CHUNK_BYTES])
                    at += WRITE_CHUNK_BYTES
                    await asyncio.sleep(0)
                    if self._can_write is not None:
                        await self._wait_for_client((part, *rest[index:]))
            except asyncio.CancelledError:
                if self.streaming and not self._receiver.closed:
                    self._transport.write(view[at:])
                raise

    async def _send_stream(self, incoming: Incoming, response: Response, stream: AsyncIterator[bytes]) -> bool:
        """Send chunks until the stream ends, the client disconnects or the server stops. Return True if the connection
        must be closed.
        """
        transport = self._transport
        try:
            until_closed = incoming.http_1_0 and response.length is None
            close = until_closed or not incoming.keep_alive or self._is_last()
            transport.write(self.owner.heads.build(response, response.length, close=close, http_1_0=incoming.http_1_0))
            if incoming.method == "HEAD":
                return True
            writer = BodyWriter(chunked=response.length is None and not until_closed)
            if self._ending and not response.finite:
                transport.write(writer.end())
                return True
            self.streaming = not response.finite
            async for chunk in stream:
                if chunk:
                    response.sent_bytes += len(chunk)
                    data = writer.data(chunk)
                    del chunk
                    if len(data) <= WRITE_CHUNK_BYTES:
                        transport.write(data)
                        del data
                        if self._can_write is not None:
                            await self.drain()
                    else:
                        await self._write_in_turns(data)
        except asyncio.CancelledError as error:
            if not self._receiver.closed and not self._ending:
                raise
            clear_cancellation()
            forget_frames(error)
        finally:
            self.streaming = False
        if not self._receiver.closed:
            transport.write(writer.end())
        return until_closed

    async def _hand_over(self, response: Response, takeover: Callable[[Tunnel], Awaitable[None]]) -> None:
        """Pass the connection to `takeover` until it returns, the client disconnects or the server stops."""
        self._transport.write(self.owner.heads.build(response, 0, close=False))
        tunnel = Tunnel.take_over(self._transport, carrier=self, ahead=self._receiver.take_ahead())
        self.streaming = True
        try:
            await takeover(tunnel)
        except asyncio.CancelledError as error:
            if not self._receiver.closed and not self._ending:
                raise
            clear_cancellation()
            forget_frames(error)
        finally:
            self.streaming = False

    async def drain(self) -> None:
        """Wait until the client has read most of the written data, or has disconnected."""
        if self._can_write is not None and not self._receiver.closed:
            await asyncio.sleep(0)  # the transport sends at the end of the turn
            await self._wait_for_client(())

    async def _wait_for_client(self, unwritten: tuple[bytes, ...]) -> None:
        """Wait as `drain` does. `unwritten` is counted as unread meanwhile, and so are the buffers of the transport."""
        waiter = self._can_write
        if waiter is None or self._receiver.closed:
            return
        request = self._request
        user, seat = ("", None) if request is None else (account_of(request), request.seat)
        if seat is not None:
            seat.stall()
        with self.owner.unread.waiting(self, self, user, unwritten, self._transport.get_write_buffer_size()):
            await asyncio.shield(waiter)  # others may wait too
        if seat is not None:
            seat.resume()

    def cut(self) -> None:
        """Abort the connection, because too many bytes wait."""
        _log.info("connection cut: the client does not read", extra={"source": self._peer.address})
        self._transport.abort()


class Deaf(asyncio.Protocol):
    """Protocol that discards the data that the client still sends."""

    def __init__(self, connection: Http1Connection) -> None:
        self._connection = connection

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection.connection_lost(exc)

    def pause_writing(self) -> None:
        self._connection.pause_writing()

    def resume_writing(self) -> None:
        self._connection.resume_writing()
