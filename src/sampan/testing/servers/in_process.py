"""`InProcessTransport`: sends requests to a handler in the same process, without sockets and TLS.

Concurrency: each request is handled by one task. The transport owns the tasks and cancels them in `aclose`. When a
client disconnects, the task of a stream ends; other tasks finish, because they may be writing. A stream whose client
does not read is paused when `buffer_bytes_max` bytes of the response are buffered.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from sampan.client.errors import TransportError
from sampan.client.transport import HttpRequest
from sampan.core.errors import StatusError, request_entity_too_large
from sampan.core.event_loop.task_scope import TaskScope
from sampan.http.client.pending_response import PendingResponse
from sampan.http.client.settings import HttpClientSettings
from sampan.server.request import Handler, Request, Response, WireRequest
from sampan.server.request_info import TargetCache
from sampan.server.status import status_response
from sampan.wire.http1 import NameCache, headers_of

_log = logging.getLogger("sampan.testing")

_BODILESS = frozenset({204, 304})


class InProcessTransport:
    """A `Transport` to a server in this process. `headers` are added to every request, for example a token."""

    def __init__(
        self, handler: Handler, *, headers: Mapping[str, str] | None = None, settings: HttpClientSettings | None = None
    ) -> None:
        self._handler = handler
        self._headers = dict(headers or {})
        self._settings = settings or HttpClientSettings()
        self._targets = TargetCache()
        self._names = NameCache()
        self._tasks = TaskScope()
        self._closed = False

    async def send(self, request: HttpRequest) -> PendingResponse:
        """Send a request and return its response. Raises `TransportError`."""
        if self._closed:
            raise TransportError("the transport is closed", sent=False)
        exchange = _Exchange(request, self._settings, self._names)
        reply = exchange.response
        if request.timeout_s is not None:
            reply.expire_at(asyncio.get_running_loop().time() + request.timeout_s, request.timeout_s)
        exchange.task = self._tasks.begin(exchange.run(self._handle(request, exchange)))
        try:
            await reply.head()
        except BaseException:
            reply.close()
            raise
        return reply

    async def aclose(self) -> None:
        """Cancel all requests. Their readers get a `TransportError`."""
        self._closed = True
        await self._tasks.aclose()

    async def _handle(self, request: HttpRequest, exchange: "_Exchange") -> Response:
        raw = request.target.encode("latin-1")
        try:
            target = self._targets.get(request.method, raw)
        except StatusError as error:
            return status_response(error)
        wire = WireRequest(
            request.method,
            target.path,
            target.query_string,
            _reader(request.body),
            target.query,
            target.raw_path,
            target.long_running,
            disconnected=exchange.disconnected,
            client_address="127.0.0.1",
            received=asyncio.get_running_loop().time(),
        )
        headers = {**self._headers, **request.headers}
        # Bodies are never compressed here, whatever the request accepts.
        headers.pop("accept-encoding", None)
        return await self._handler(Request(wire, headers, target.info))


class _Exchange:
    """One request and the `Flow` of its response."""

    def __init__(self, request: HttpRequest, settings: HttpClientSettings, names: NameCache) -> None:
        self.response = PendingResponse(self, request, settings, asyncio.get_running_loop())
        self.gone = asyncio.Event()
        self._names = names
        self.task: asyncio.Task[None] | None = None
        self._desired = asyncio.Event()
        self._desired.set()
        self._streaming = False

    def pause(self) -> None:
        self._desired.clear()

    def resume(self) -> None:
        self._desired.set()

    def cut(self) -> None:
        self.gone.set()
        if self._streaming and self.task is not None:
            self.task.cancel()

    async def disconnected(self) -> None:
        """Return when the client has disconnected."""
        await self.gone.wait()

    async def run(self, handling: Awaitable[Response]) -> None:
        """Send the response, and its stream until the stream ends or the client disconnects."""
        response: Response | None = None
        try:
            response = await handling
            if response.lost:
                self.response.fail(TransportError("the connection was closed without a response", sent=True))
                return
            await self._send(response)
            self.response.finish()
        except Exception:
            _log.exception("the handler failed")
            self.response.fail(TransportError("the connection broke: the handler failed", sent=True))
        finally:
            self.response.fail(TransportError("the server ended the request", sent=True))
            await _release(response)

    async def _send(self, response: Response) -> None:
        reply = self.response
        if response.content_type:
            reply.headers["content-type"] = response.content_type
        reply.headers |= headers_of(response.headers, self._names, "utf-8")
        bodiless = reply.method == "HEAD" or response.status in _BODILESS
        if response.stream is None and response.status not in _BODILESS:
            reply.headers["content-length"] = str(response.size_bytes)
        reply.head_complete(response.status)
        if bodiless:
            return
        if response.stream is None:
            for part in (response.body, *response.rest):
                if part:
                    reply.feed(part)
            return
        self._streaming = True
        if self.gone.is_set():
            return
        async for chunk in response.stream:
            if chunk:
                response.sent_bytes += len(chunk)
                reply.feed(bytes(chunk))
            await self._desired.wait()


def _reader(body: bytes) -> Callable[[int], Awaitable[bytes]]:
    async def read(limit: int) -> bytes:
        if len(body) > limit:
            raise request_entity_too_large(f"limit is {limit}")
        return body

    return read


async def _release(response: Response | None) -> None:
    if response is None:
        return
    aclose: Callable[[], Awaitable[None]] | None = getattr(response.stream, "aclose", None)
    if aclose is not None:
        await aclose()
    if response.finished is not None:
        response.finished()
