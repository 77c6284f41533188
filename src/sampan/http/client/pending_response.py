"""`PendingResponse`: a response in progress. A connection fills it and the caller reads it.

Concurrency: callbacks of the connection fill it, one task reads it. An unread body is buffered up to
`buffer_bytes_max`; then the connection stops reading. `read` returns the whole body, up to `body_bytes_max`. Timers
fail a late response or a silent stream, without a task.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol

from sampan.http.client.errors import BodyTooLarge, TransportError, TransportTimeout
from sampan.http.client.inflate import Inflater
from sampan.http.client.request import HttpRequest
from sampan.http.client.settings import HttpClientSettings
from sampan.wire.http1 import Fields, ResponseHead

_INFLATE_ASIDE_BYTES = 256 << 10
"""Size above which a thread decompresses the body, so that the event loop is not blocked."""


class ReadControl(Protocol):
    """Control of the connection that carries a response."""

    def pause(self) -> None:
        """Stop reading."""
        ...

    def resume(self) -> None:
        """Continue reading."""
        ...

    def cut(self) -> None:
        """Close the connection immediately."""
        ...


class PendingResponse:
    """Implementation of `HttpResponse`. The module docstring lists its bounds."""

    def __init__(
        self, flow: ReadControl, request: HttpRequest, settings: HttpClientSettings, loop: asyncio.AbstractEventLoop
    ) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.fields: Fields = []
        """Header fields in the order received."""
        self.length: int | None = None
        """Value of Content-Length, also in a response to HEAD."""
        self.stream = request.stream
        self.method = request.method
        self.complete = False
        self.has_head = False
        self._flow: ReadControl | None = flow
        self._loop = loop
        self._settings = settings
        self._idle_timeout_s = request.idle_timeout_s
        self._chunks: list[bytes] = []
        self._buffered = 0
        self._collecting = False
        self._paused = False
        self._error: TransportError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    # --- filled by the connection

    def expire_at(self, deadline: float, timeout_s: float) -> None:
        """Fail at this loop time if the response is incomplete; for a stream or an idle timeout, if its head is."""
        self._timer = self._loop.call_at(deadline, self._expire, timeout_s)

    def take_head(self, head: ResponseHead) -> None:
        """Copy status and header fields from a reader."""
        self.headers, self.fields, self.length = head.headers, head.fields, head.length
        self.head_complete(head.status)

    def head_complete(self, status: int) -> None:
        """Set the status, and mark the head as complete."""
        self.status = status
        self.has_head = True
        if self.stream or self._idle_timeout_s is not None:
            self._stop_timer()
        self._wake()

    def feed(self, chunk: bytes) -> None:
        """Append a piece of the body."""
        self._chunks.append(chunk)
        self._buffered += len(chunk)
        if self._collecting:
            if self._buffered > self._settings.body_bytes_max:
                self.fail(BodyTooLarge(self._settings.body_bytes_max))
            elif self._idle_timeout_s is not None:
                self._wake()  # The limit of silence starts again.
            return
        if self._buffered > self._settings.buffer_bytes_max and not self._paused and self._flow is not None:
            self._paused = True
            self._flow.pause()
        self._wake()

    def finish(self) -> None:
        """Mark the body as complete. The connection is then free for other requests."""
        self.complete = True
        self._go_on()
        self._flow = None
        self._stop_timer()
        self._wake()

    def detach(self) -> None:
        """Detach from the connection, which continues with another protocol."""
        self._flow = None
        self.finish()

    def fail(self, error: TransportError) -> None:
        """Fail the response and cut the connection."""
        if self.complete or self._error is not None:
            return
        self._error = error
        self._stop_timer()
        self._cut()
        self._wake()

    # --- read by the caller

    async def head(self) -> None:
        """Wait for status and header fields. Raises `TransportError`."""
        while not self.has_head:
            if self._error is not None:
                raise self._error
            await self._wait()

    async def read(self) -> bytes:
        """Return the whole body, decompressed. Raises `TransportError`."""
        self._collecting = True
        self._go_on()
        try:
            while not self.complete and self._error is None:
                await self._wait(self._idle_timeout_s)
        finally:
            self._cut()
        if self._error is not None:
            self._chunks.clear()
            raise self._error
        body = self._taken()
        limit = self._settings.body_bytes_max
        if len(body) > limit:
            raise BodyTooLarge(limit)
        if not self._is_gzip:
            return body
        if len(body) < _INFLATE_ASIDE_BYTES:
            return _inflated(body, limit)
        return await self._loop.run_in_executor(None, _inflated, body, limit)

    async def receive(self) -> bytes:
        """Return bytes of the body as received, not decompressed; b"" at the end. Raises `TransportError`."""
        while not self._chunks:
            if self._error is not None:
                raise self._error
            if self.complete:
                return b""
            await self._wait(self._idle_timeout_s)
        data = self._taken()
        self._go_on()
        return data

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives. Raises `TransportError` if it breaks off or exceeds the idle timeout."""
        inflater = Inflater() if self._is_gzip else None
        try:
            while data := await self.receive():
                if inflater is None:
                    yield data
                else:
                    for piece in inflater.pieces(data):
                        yield piece
            if inflater is not None and not inflater.finished:
                raise TransportError("body ends in the middle of its gzip data", sent=True)
        except ValueError as error:
            raise TransportError(str(error), sent=True) from error
        finally:
            self._cut()

    async def aclose(self) -> None:
        """Close the connection, unless the whole body has been read."""
        self.close()

    def close(self) -> None:
        """Close the connection, like `aclose`."""
        self.fail(TransportError("the answer has been closed", sent=True))
        self._chunks.clear()

    # --- inside

    @property
    def _is_gzip(self) -> bool:
        return self._settings.decompression and self.headers.get("content-encoding", "").lower() == "gzip"

    def _taken(self) -> bytes:
        data = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        self._buffered = 0
        return data

    def _go_on(self) -> None:
        if self._paused and self._flow is not None:
            self._paused = False
            self._flow.resume()

    def _cut(self) -> None:
        flow, self._flow = self._flow, None
        if flow is not None:
            flow.cut()

    async def _wait(self, silence_s: float | None = None) -> None:
        self._waiter = self._loop.create_future()
        silence = None if silence_s is None else self._loop.call_later(silence_s, self._silent, silence_s)
        try:
            await self._waiter
        finally:
            self._waiter = None
            if silence is not None:
                silence.cancel()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self, timeout_s: float) -> None:
        what = "no answer" if not self.has_head else "no whole answer"
        self.fail(TransportTimeout(f"{what} within {timeout_s:g} s", sent=True))

    def _silent(self, silence_s: float) -> None:
        self.fail(TransportTimeout(f"the server sent nothing for {silence_s:g} s", sent=True))


def _inflated(body: bytes, limit: int) -> bytes:
    inflater = Inflater()
    pieces: list[bytes] = []
    size = 0
    try:
        for piece in inflater.pieces(body):
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise BodyTooLarge(limit)
    except ValueError as error:
        raise TransportError(str(error), sent=True) from error
    if not inflater.finished:
        raise TransportError("body ends in the middle of its gzip data", sent=True)
    return b"".join(pieces)
