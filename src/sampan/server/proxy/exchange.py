"""`Exchange`: one request to an upstream and its response.

Concurrency: a task of the exchange sends the request body while the caller reads the response. It ends in `aclose`. If
the client disconnects before the head of the response has arrived, the connection is cut.

A request that is safe to repeat and has no body may use an idle connection. If the upstream has closed it, the request
is sent again on a new connection. Other requests get a new connection.
"""

import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sampan.core.event_loop.task_scope import TaskScope
from sampan.http.client import Connection, HttpClient, HttpRequest, PendingResponse, TransportError, Tunnel, Upstream
from sampan.server.proxy.headers import head_of
from sampan.server.proxy.target import ProxyTarget
from sampan.server.proxy.words import dial_text
from sampan.wire.http1 import BodyWriter

CONNECT_TIMEOUT_S = 30.0
_REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Request to the upstream. Names of `headers` are in lower case."""

    method: str
    headers: Mapping[str, str]
    body: AsyncIterator[bytes] | None = None
    chunked: bool = False
    """True to send the body in chunks. Otherwise its length is that of Content-Length."""
    gone: Callable[[], Awaitable[None]] | None = None
    """Function that returns when the client has disconnected."""
    single: bool = False
    """True for a connection that is used by this request only."""


class Exchange:
    """Response whose head has arrived. Iterate over it to read the body, and always call `aclose`."""

    response: PendingResponse

    def __init__(self, outgoing: Outgoing) -> None:
        self._outgoing = outgoing
        self._connection: Connection | None = None
        self._tasks = TaskScope()
        self._over = False

    def __aiter__(self) -> "Exchange":
        return self

    async def __anext__(self) -> bytes:
        """Return the next part of the body. Raises `ConnectionResetError` if the upstream disconnects."""
        try:
            data = await self.response.receive()
        except TransportError as error:
            await self.aclose()
            raise ConnectionResetError(f"the upstream broke off: {failure_text(error)}") from error
        if not data:
            await self.aclose()
            raise StopAsyncIteration
        return data

    async def aclose(self) -> None:
        """Release the connection. It becomes idle if request and response are complete, and is closed otherwise."""
        self.abandon()
        await self._tasks.aclose()

    def abandon(self) -> None:
        """Release the connection like `aclose`, for callers that cannot wait."""
        if not self._over:
            self._over = True
            self._tasks.cancel()
            if self._connection is not None:
                self.response.close()

    def switch(self) -> Tunnel:
        """Return the connection as a byte stream, after a 101 response."""
        assert self._connection is not None
        return self._connection.switch()

    def begin(self, connection: Connection, response: PendingResponse) -> None:
        """Start to send the body, after the head was written."""
        self._connection, self.response = connection, response
        outgoing = self._outgoing
        connection.retired = connection.retired or outgoing.single
        if self._over:
            response.close()
        elif outgoing.body is not None:
            writer = BodyWriter(chunked=outgoing.chunked)
            self._tasks.begin(_send_body(connection, outgoing.body, writer))


async def begin(
    target: ProxyTarget, outgoing: Outgoing, client: HttpClient, timeout_s: float = CONNECT_TIMEOUT_S
) -> Exchange:
    """Send a request, and wait for the head of the response. Raises the error that `ProxyTarget.failure` returns."""
    exchange = Exchange(outgoing)
    replay = outgoing.method in _REPEATABLE and outgoing.body is None and not outgoing.single
    try:
        async with _abandoned_with(outgoing.gone, exchange):
            send = partial(
                client.send,
                request=HttpRequest(outgoing.method, target.path or "/", outgoing.headers, stream=True),
                head=head_of(outgoing.method, target, outgoing.headers),
                replay=replay,
                fresh=not replay,
                begun=exchange.begin,
                more=outgoing.body is not None,
            )
            await _first(target.endpoints(timeout_s), send)
    except TransportError as error:
        await exchange.aclose()
        cause = error.__cause__
        if not error.sent and isinstance(cause, Exception):
            raise target.failure(dial_text(target, cause)) from error
        raise target.failure(failure_text(error)) from error
    except BaseException:
        await exchange.aclose()
        raise
    return exchange


async def _first(endpoints: Sequence[Upstream], send: Callable[[Upstream], Awaitable[object]]) -> None:
    """Send to the first endpoint that accepts a connection. Nothing is sent twice. Raises `TransportError`."""
    for endpoint in endpoints[:-1]:
        try:
            await send(endpoint)
            return
        except TransportError as error:
            if error.sent or isinstance(error.__cause__, ssl.SSLError):
                raise
    await send(endpoints[-1])


def failure_text(error: TransportError) -> str:
    """Return the reason why the response is missing or incomplete."""
    return str(error.__cause__ or error) or "EOF"


@contextlib.asynccontextmanager
async def _abandoned_with(gone: Callable[[], Awaitable[None]] | None, exchange: Exchange) -> AsyncIterator[None]:
    """Cut the connection if the client disconnects while the block runs."""
    if gone is None:
        yield
        return

    async def watch() -> None:
        await gone()
        exchange.abandon()

    async with TaskScope() as tasks:
        tasks.begin(watch())
        yield


async def _send_body(connection: Connection, body: AsyncIterator[bytes], writer: BodyWriter) -> None:
    """Send the client's body to the upstream.

    If the client disconnects, cut the connection: the upstream must not take a part of the body for all of it.
    """
    pieces = aiter(body)
    while True:
        try:
            piece = await anext(pieces)
        except StopAsyncIteration:
            break
        except ConnectionError:
            connection.cut()
            return
        try:
            await connection.write(writer.data(piece))
        except ConnectionError:
            return  # the response of the upstream contains the reason
    with contextlib.suppress(ConnectionError):
        await connection.write(writer.end())
    connection.end_request()
