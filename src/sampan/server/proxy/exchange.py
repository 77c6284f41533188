"""`Exchange`: one request to an upstream and its answer.

Concurrency: a request body is sent by a task of the exchange while the answer is read; the task ends in `aclose`, with
the connection if the answer was not read to its end. A client that goes before the head of the answer has come cuts
the connection. A request that is safe to repeat and has no body may go over a connection that was kept, and is sent
once more, over a new one, if that was dead and nothing was answered; any other request gets a new connection.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass

from sampan.server.proxy.answer import AnswerReader, BrokenAnswer
from sampan.server.proxy.headers import head_of
from sampan.server.proxy.pool import Pool
from sampan.server.proxy.target import Target
from sampan.server.proxy.wire import Wire, aborted_with, connect
from sampan.server.proxy.words import dial_text

CONNECT_TIMEOUT_S = 30.0
_REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request as it goes on; `headers` in lower case."""

    method: str
    headers: Mapping[str, str]
    body: AsyncIterator[bytes] | None = None
    chunked: bool = False
    """The body goes in chunks, else it is as long as its Content-Length says."""
    gone: Callable[[], Awaitable[None]] | None = None
    """Returns when the client has gone."""
    single: bool = False
    """The connection is not for others: neither before nor after."""


class Exchange:
    """An answer whose head has come. Iterate it for the body; `aclose` it in any case."""

    def __init__(self, wire: Wire, answer: AnswerReader, keep: Callable[[Wire], None]) -> None:
        self.answer = answer
        self.wire = wire
        self._keep = keep
        self._sender: asyncio.Task[None] | None = None
        self._over = False

    def __aiter__(self) -> "Exchange":
        return self

    async def __anext__(self) -> bytes:
        """Raises `ConnectionResetError` when the upstream breaks off."""
        answer = self.answer
        while True:
            data = answer.take()
            if data:
                return data
            if answer.complete:
                await self.aclose()
                raise StopAsyncIteration
            try:
                await receive(self.wire, answer)
            except (BrokenAnswer, OSError) as error:
                await self.aclose()
                raise ConnectionResetError(f"the upstream broke off: {error}") from error

    async def aclose(self) -> None:
        """Let go of the connection. It is kept for others if both sides have said all."""
        if self._over:
            return
        self._over = True
        sender = self._sender
        if self.answer.complete and self.answer.keep_alive and (sender is None or sender.done()):
            self._keep(self.wire)
        else:
            self.wire.abort()
        if sender is not None:
            sender.cancel()
            await asyncio.wait([sender])

    def abandon(self) -> None:
        """Cut the connection, if it is still ours: for callers that cannot wait."""
        if not self._over:
            self._over = True
            if self._sender is not None:
                self._sender.cancel()
            self.wire.abort()

    def send(self, outgoing: Outgoing) -> None:
        """Begin to send the body."""
        if outgoing.body is not None:
            self._sender = asyncio.create_task(_send_body(self.wire, outgoing.body, chunked=outgoing.chunked))


async def begin(target: Target, outgoing: Outgoing, pool: Pool, timeout_s: float = CONNECT_TIMEOUT_S) -> Exchange:
    """Send a request, and wait for the head of its answer. Raises `StatusError`, as the target's `failure` makes it."""
    if outgoing.method in _REPEATABLE and outgoing.body is None and not outgoing.single:
        kept = pool.take(target.key)
        if kept is not None:
            exchange = _exchange(target, outgoing, kept, pool)
            try:
                return await _begun(exchange, target, outgoing)
            except (OSError, BrokenAnswer) as error:
                if exchange.answer.begun:
                    raise target.failure(_broken_text(error)) from error
    try:
        wire = await connect(target, timeout_s)
    except OSError as error:
        raise target.failure(dial_text(target, error)) from error
    try:
        return await _begun(_exchange(target, outgoing, wire, pool), target, outgoing)
    except (OSError, BrokenAnswer) as error:
        raise target.failure(_broken_text(error)) from error


async def receive(wire: Wire, answer: AnswerReader) -> None:
    """Take in what comes next. Raises `BrokenAnswer`, `ConnectionError`."""
    data = await wire.read()
    if data:
        answer.feed(data)
    else:
        answer.end()


def _exchange(target: Target, outgoing: Outgoing, wire: Wire, pool: Pool) -> Exchange:
    key = target.key

    def keep(wire: Wire) -> None:
        if outgoing.single:
            wire.abort()
        else:
            pool.put(key, wire)

    return Exchange(wire, AnswerReader(outgoing.method), keep)


async def _begun(exchange: Exchange, target: Target, outgoing: Outgoing) -> Exchange:
    """Send the request and read the head of the answer; the connection is cut when that fails."""
    try:
        async with aborted_with(outgoing.gone, exchange.wire):
            await exchange.wire.write(head_of(outgoing.method, target, outgoing.headers))
            exchange.send(outgoing)
            while not exchange.answer.headed:
                await receive(exchange.wire, exchange.answer)
    except BaseException:
        exchange.wire.abort()
        await exchange.aclose()
        raise
    return exchange


async def _send_body(wire: Wire, body: AsyncIterator[bytes], *, chunked: bool) -> None:
    """Pass the client's body on. Without its client the upstream must not take half a body for a whole one."""
    pieces = aiter(body)
    while True:
        try:
            piece = await anext(pieces)
        except StopAsyncIteration:
            break
        except ConnectionError:
            wire.abort()
            return
        try:
            await wire.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
        except ConnectionError:
            return  # what the upstream has to say about that is in its answer
    if chunked:
        with contextlib.suppress(ConnectionError):
            await wire.write(b"0\r\n\r\n")


def _broken_text(error: Exception) -> str:
    return str(error) or "EOF"
