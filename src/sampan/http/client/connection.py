"""`Connection`: one HTTP/1.1 connection to a server, which carries one request after another.

Concurrency: it runs no task; callbacks of the event loop feed the current response. A connection belongs to one
request, from `begin` until the call of `released`. Then the response is complete and the request is sent.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Final, cast

from sampan.core.event_loop.turns import LoopTurns
from sampan.http.client.errors import TransportError
from sampan.http.client.intake import PIECES_PER_TURN, Intake
from sampan.http.client.pending_response import PendingResponse
from sampan.http.client.request import HttpRequest
from sampan.http.client.settings import HttpClientSettings
from sampan.http.tunnel import Tunnel
from sampan.wire.http1 import ExchangeState, Limits, Malformed, NameCache, ResponseHead, ResponseReader, Transition

_HEAD: Final = Transition.HEAD
_WHOLE: Final = Transition.WHOLE
_END: Final = Transition.END
_SWITCH: Final = Transition.SWITCH
_SWITCHING_PROTOCOLS = 101


class Connection(asyncio.Protocol):
    """One connection. It calls `released` when it is free again and `lost` when it is closed, each at most once a
    request.
    """

    def __init__(
        self,
        settings: HttpClientSettings,
        names: NameCache,
        turn_limit: LoopTurns | None = None,
        *,
        released: Callable[["Connection"], None],
        lost: Callable[["Connection"], None],
    ) -> None:
        """`turn_limit`: limit of the pieces of bodies in a turn, which the connections of a client share."""
        self.settings = settings
        self.loop = asyncio.get_running_loop()
        self.reused = False
        self.closed = False
        self.retired = False
        self.idle_since = 0.0
        self._released = released
        self._lost = lost
        self._reader = ResponseReader(self, Limits(head_bytes_max=settings.head_bytes_max), names)
        self._state = ExchangeState()
        self._transport: asyncio.Transport = cast(asyncio.Transport, None)
        self._response: PendingResponse | None = None
        self._may_switch = False
        self._can_write: asyncio.Future[None] | None = None
        self._intake = Intake(
            turn_limit or LoopTurns(self.loop, PIECES_PER_TURN), self._parse, hold=self._hold, release=self._release
        )
        self._pieces = 0
        """Number of pieces of bodies so far."""
        self._is_paused = self._is_held = False
        """True while the response, or the limit of a turn, stops the reading."""
        self._end: tuple[Exception | None] | None = None
        """Error of the end of the connection, which is handled after the bytes before it."""

    # --- for clients

    @property
    def response_begun(self) -> bool:
        """True if any byte of the response has arrived."""
        return self._reader.begun

    @property
    def socket(self) -> socket.socket:
        """Socket of the connection, for its options."""
        sock: socket.socket = self._transport.get_extra_info("socket")
        return sock

    def begin(self, request: HttpRequest, head: bytes, *, more: bool = False) -> PendingResponse:
        """Send a request and return its response, which is still empty.

        `more`: the caller sends the body by `write` and ends it with `end_request`.
        """
        response = self._response = PendingResponse(self, request, self.settings, self.loop)
        self._state.step_request(_HEAD if more else _WHOLE)
        self._may_switch = "upgrade" in request.headers
        self._reader.expect(request.method)
        self._transport.write(head + request.body if request.body else head)
        return response

    async def write(self, data: bytes) -> None:
        """Send a piece of the request's body, and wait until the server has read most of it.

        Raises `ConnectionResetError` if the connection is closed.
        """
        if self.closed or self._transport.is_closing():
            raise ConnectionResetError("connection is closed")
        self._transport.write(data)
        # Shielded, because the future belongs to the connection: cancelling one caller must not cancel it for all.
        if self._can_write is not None:
            await asyncio.shield(self._can_write)

    def end_request(self) -> None:
        """End the body of the request."""
        if not self.closed:
            self._state.step_request(_END)

    def switch(self) -> Tunnel:
        """Return the connection as a tunnel of bytes, after a 101. It never returns to the pool."""
        response, self._response = self._response, None
        assert response is not None
        self.closed = True
        self._lost(self)
        response.detach()
        tunnel = Tunnel.take_over(
            self._transport,
            ahead=self._reader.take_ahead() + self._intake.take(),
            read_ahead_bytes=self.settings.buffer_bytes_max,
        )
        self._transport.resume_reading()
        return tunnel

    def close(self) -> None:
        """Close an idle connection in an orderly way."""
        if not self.closed:
            self.closed = True
            self._transport.close()

    # --- for the response

    def pause(self) -> None:
        self._is_paused = True
        if not self._is_held:
            self._transport.pause_reading()

    def resume(self) -> None:
        self._is_paused = False
        if not self.closed and not self._is_held:
            self._transport.resume_reading()

    def cut(self) -> None:
        self.closed = True
        self._intake.take()
        if self._transport is not None:
            self._transport.abort()

    # --- the loop's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._response is None:
            # There is no request: the server announces a close (for example by a 408), or it is out of sync.
            self.cut()
            return
        self._intake.received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        # A writer that waits must notice the end, or it would wait forever.
        self.resume_writing()
        if self._intake:
            self._end = (exc,)
        else:
            self._finish(exc)

    def pause_writing(self) -> None:
        self._can_write = self.loop.create_future()

    def resume_writing(self) -> None:
        waiter, self._can_write = self._can_write, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    # --- the reader's events

    def on_head(self, head: ResponseHead) -> None:
        response = self._response
        if response is None:
            return
        if head.status == _SWITCHING_PROTOCOLS:
            if not self._may_switch:
                raise Malformed("malformed HTTP response: 101 without a request for an upgrade")
            self._state.step_response(_SWITCH)
            # The bytes that follow are of another protocol. They stay in the socket until the tunnel reads them.
            self.pause()
        else:
            self._state.step_response(_HEAD)
        response.take_head(head)

    def on_data(self, data: bytes) -> None:
        self._pieces += 1
        if self._response is not None:
            self._response.feed(data)

    def on_end(self, *, reusable: bool) -> None:
        response, self._response = self._response, None
        if response is None:
            return
        state = self._state
        state.keep_alive = reusable
        state.step_response(_END)
        response.finish()
        # Bytes after the end are no response to a request. The next request must not get them.
        if not state.reusable or self._intake:
            self.close()
        elif not self.closed:
            self.reused = True
            state.restart()
            self._released(self)

    # --- inside

    def _parse(self, data: bytes) -> int:
        """Read bytes, and return the number of their pieces."""
        before = self._pieces
        if self._response is None:
            self.cut()
            return 0
        try:
            self._reader.feed(data)
        except Malformed as error:
            self._fail(error)
        return self._pieces - before

    def _hold(self) -> None:
        self._is_held = True
        if not self.closed and not self._is_paused:
            self._transport.pause_reading()

    def _release(self) -> None:
        self._is_held = False
        if self._end is not None:
            self._finish(*self._end)
        elif not self.closed and not self._is_paused:
            self._transport.resume_reading()

    def _finish(self, exc: Exception | None) -> None:
        """Handle the end of the connection, after all bytes."""
        response = self._response
        if response is not None:
            try:
                if exc is None:
                    self._reader.end()
                cause: Exception | None = exc
            except EOFError as error:
                cause = error
            if not response.complete:
                failure = TransportError(self._why(exc, response), sent=True)
                failure.__cause__ = cause
                response.fail(failure)
            self._response = None
        self._reader.close()
        self._lost(self)

    def _fail(self, cause: Malformed) -> None:
        response, self._response = self._response, None
        if response is not None:
            if cause.too_large:
                message = f"the head of the answer is larger than {self.settings.head_bytes_max} bytes"
            elif response.has_head or "101" not in cause.reason:
                message = f"the answer is not HTTP: {cause.reason}"
            else:
                message = "the server switches to another protocol, which was not requested"
            error = TransportError(message, sent=True)
            error.__cause__ = cause
            response.fail(error)
        self.cut()

    def _why(self, exc: Exception | None, response: PendingResponse) -> str:
        if isinstance(exc, ssl.SSLError):
            return f"TLS failed: {exc.reason or exc}"
        happened = f"the connection broke ({exc})" if exc is not None else "the server closed the connection"
        if not self.response_begun:
            return f"{happened} before it answered"
        return f"{happened} in the middle of the {'body' if response.has_head else 'head'}"
