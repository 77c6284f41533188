"""`Peers`: the other servers on one etcd, each asked over a connection of its own how far it is. `Listener` answers.

A server says in its row (`entry.py`) where it listens, and a secret. Whoever connects sends a nonce and gets one, and
the secret and both of these make the key of the connection. A question is a number and its MAC; the answer is the same
number, a revision, and the MAC of both under that key. So only who reads the rows may ask, no answer is another
server's, and none is older than its question. What is said is no secret: numbers of revisions.

Concurrency: a task for each peer keeps the connection, `close` ends them; the rest happens as bytes come.
"""

import asyncio
import hashlib
import hmac
import json
import logging
import os
import socket
import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Self, cast

_log = logging.getLogger(__name__)

PATIENCE_S: Final = 0.005
"""How long an answer may take before etcd is asked."""
SILENCE_MAX_S: Final = 3.0
"""A connection on which a question is open for so long is given up."""
CONNECT_S: Final = 2.0
PAUSES_S: Final = (0.05, 2.0)
"""The first and the longest pause between attempts to connect."""
CONNECTIONS_MAX: Final = 256
_MAC_BYTES = 16
_NONCE_BYTES = 16
_QUESTION = struct.Struct(f">Q{_MAC_BYTES}s")
_ANSWER = struct.Struct(f">QQ{_MAC_BYTES}s")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server is asked: what its row says."""

    host: str
    port: int
    secret: bytes

    @classmethod
    def of(cls, row: bytes) -> Self | None:
        """None: the server does not let itself be asked, or in a way that is not known here."""
        try:
            said = json.loads(row)
            return cls(said["host"], int(said["port"]), bytes.fromhex(said["secret"]))
        except (ValueError, TypeError, KeyError):
            return None

    def row(self) -> bytes:
        """The inverse of `of`."""
        return json.dumps({"host": self.host, "port": self.port, "secret": self.secret.hex()}).encode()


class Peers:
    """See the module. One question at a time, to all."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._links: dict[bytes, _Link] = {}
        self._number = 0
        self._missing = 0
        self._newest = 0
        self._answer: asyncio.Future[int | None] | None = None

    def keep(self, rows: Iterable[bytes]) -> None:
        """These are the rows of the others from now on."""
        rows = frozenset(rows)
        if rows == self._links.keys():
            return
        for row in self._links.keys() - rows:
            self._links.pop(row).close()
        for row in rows - self._links.keys():
            self._links[row] = _Link(Place.of(row), self._told)

    async def ask(self) -> int | None:
        """The newest revision of which one of the others had told anybody when it got the question, or a newer one;
        0: there are none. None: not all of them have answered soon.
        """
        links = self._links.values()
        if not all(link.ready for link in links):
            return None
        if not links:
            return 0
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[int | None] = loop.create_future()
        self._number += 1
        self._newest, self._missing, self._answer = 0, len(links), answer
        for link in links:
            link.ask(self._number)
        timer = loop.call_later(self._patience_s, _settle, answer, None)
        try:
            return await answer
        finally:
            timer.cancel()

    def close(self) -> None:
        """Let go of all connections. Idempotent."""
        self.keep(())

    def _told(self, number: int, revision: int) -> None:
        if number != self._number or self._answer is None:
            return
        self._newest = max(self._newest, revision)
        self._missing -= 1
        if not self._missing:
            _settle(self._answer, self._newest)


class _Link:
    """The connection to one peer; it is made anew when it breaks."""

    def __init__(self, place: Place | None, told: Callable[[int, int], None]) -> None:
        self._told = told
        self._line: _Line | None = None
        self._task: asyncio.Task[None] | None = None
        if place is not None:
            self._task = asyncio.create_task(self._run(place), name="etcd peer")

    @property
    def ready(self) -> bool:
        """Whether a question would probably be answered soon."""
        return self._line is not None and self._line.ready

    def ask(self, number: int) -> None:
        """Put the question, on a connection that is ready."""
        assert self._line is not None
        self._line.ask(number)

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _run(self, place: Place) -> None:
        loop = asyncio.get_running_loop()
        pause_s = PAUSES_S[0]
        while True:
            line = _Line(place.secret, self._told)
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(CONNECT_S):
                    await loop.create_connection(lambda line=line: line, place.host, place.port)  # type: ignore[misc]
                    await line.open.wait()
                pause_s = PAUSES_S[0]
                self._line = line
                _log.info("another server is asked how far it is: %s port %d", place.host, place.port)
            try:
                if self._line is line:
                    await line.lost.wait()
                    _log.info("another server is not asked any more: %s port %d", place.host, place.port)
            finally:
                self._line = None
                line.abort()
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, PAUSES_S[1])


class _Ends(asyncio.Protocol):
    """What both ends of a connection do: take pieces of fixed sizes."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._nonce = os.urandom(_NONCE_BYTES)
        self._key = b""
        """Of the connection; empty before both nonces are there."""
        self._buffer = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are none by name
        sock = transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _mac(self, *numbers: int) -> bytes:
        """Of a question (one number) or an answer (two)."""
        said = b"".join(number.to_bytes(8, "big") for number in numbers)
        return hashlib.blake2b(said, key=self._key, digest_size=_MAC_BYTES).digest()

    def _agree(self, asker: bytes, answerer: bytes) -> None:
        self._key = hashlib.blake2b(asker + answerer, key=self._secret, digest_size=32).digest()


class _Line(_Ends):
    """The end that asks."""

    def __init__(self, secret: bytes, told: Callable[[int, int], None]) -> None:
        super().__init__(secret)
        self._told = told
        self._unanswered = 0
        self._asked_at = 0.0
        self.open = asyncio.Event()
        """Set when a first question, of number 0, was answered."""
        self.lost = asyncio.Event()

    @property
    def ready(self) -> bool:
        """Whether it is open and no answer is late. One that is silent for too long is given up."""
        if self._unanswered and asyncio.get_running_loop().time() - self._asked_at > SILENCE_MAX_S:
            self.abort()
        return not self._unanswered and not self.lost.is_set()

    def ask(self, number: int) -> None:
        self._unanswered += 1
        self._asked_at = asyncio.get_running_loop().time()
        self._transport.write(_QUESTION.pack(number, self._mac(number)))

    def abort(self) -> None:
        """Idempotent; also before it is connected."""
        transport = getattr(self, "_transport", None)
        if transport is not None:
            transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._transport.write(self._nonce)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._key:
            if len(self._buffer) < _NONCE_BYTES:
                return
            self._agree(self._nonce, self._buffer[:_NONCE_BYTES])
            self._buffer = self._buffer[_NONCE_BYTES:]
            self.ask(0)
        while len(self._buffer) >= _ANSWER.size:
            number, revision, mac = _ANSWER.unpack_from(self._buffer)
            self._buffer = self._buffer[_ANSWER.size :]
            if not hmac.compare_digest(mac, self._mac(number, revision)):
                self._transport.abort()  # it is not who it is taken for
                return
            self._unanswered -= 1
            self.open.set()
            self._told(number, revision)

    def connection_lost(self, error: Exception | None) -> None:
        self.lost.set()


class Listener:
    """Answers other servers how far this one is: `told()` is the newest revision of which it has told anybody. `place`
    is where they find `sock`.
    """

    def __init__(self, sock: socket.socket, place: Place, told: Callable[[], int]) -> None:
        self.place = place
        self.told = told
        self.connections: set[asyncio.Transport] = set()
        self._sock = sock
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.get_running_loop().create_server(lambda: _Answers(self), sock=self._sock)

    def close(self) -> None:
        """Listen no more, and end the connections. Idempotent."""
        if self._server is not None:
            self._server.close()
        self._sock.close()
        for transport in list(self.connections):
            transport.abort()


class _Answers(_Ends):
    """The end that answers."""

    def __init__(self, listener: Listener) -> None:
        super().__init__(listener.place.secret)
        self._listener = listener
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if len(self._listener.connections) >= CONNECTIONS_MAX:
            self._transport.abort()
            return
        self._listener.connections.add(self._transport)
        # Who connects and does not ask has no business here.
        self._timer = asyncio.get_running_loop().call_later(CONNECT_S, self._transport.abort)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._key:
            if len(self._buffer) < _NONCE_BYTES:
                return
            self._agree(self._buffer[:_NONCE_BYTES], self._nonce)
            self._buffer = self._buffer[_NONCE_BYTES:]
            self._transport.write(self._nonce)
        while len(self._buffer) >= _QUESTION.size:
            number, mac = _QUESTION.unpack_from(self._buffer)
            self._buffer = self._buffer[_QUESTION.size :]
            if not hmac.compare_digest(mac, self._mac(number)):
                self._transport.abort()
                return
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            revision = self._listener.told()
            self._transport.write(_ANSWER.pack(number, revision, self._mac(number, revision)))

    def connection_lost(self, error: Exception | None) -> None:
        self._listener.connections.discard(self._transport)
        if self._timer is not None:
            self._timer.cancel()


def _settle(future: "asyncio.Future[int | None]", result: int | None) -> None:
    if not future.done():
        future.set_result(result)
