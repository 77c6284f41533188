"""`Peers`: the other servers on one etcd, each asked over a connection of its own how far it is. `Listener` answers.

A server says in its row (`entry.py`) where it listens, and a secret. Whoever connects sends a nonce and gets one, and
the secret and both of these make the key of the connection. What is said then are pieces of one size: what it is, two
numbers, and the MAC of all that under the key. So only who reads the rows may ask, no answer is another server's, and
none is older than its question. What is said is no secret: numbers of revisions.

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
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Self, cast

from sampan.core.seconds import seconds
from sampan.storage.etcd.told import TRUST_S, Told

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
_SAID = struct.Struct(">cQQ")
_PIECE_BYTES = _SAID.size + _MAC_BYTES

# What a piece says. The numbers in it are that of the question, and a revision where there is one, else 0.
_QUESTION = b"q"
_ANSWER = b"a"
_PROMISE = b"p"
"""An answer, and the promise that nobody is told of what is newer (`told.py`)."""
_TAKEN_BACK = b"t"
"""The promises of answers up to this number hold no more."""
_KNOWN = b"k"
"""That is known."""


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
    """See the module. `clock` gives seconds."""

    def __init__(self, patience_s: float = PATIENCE_S, clock: Callable[[], float] = seconds) -> None:
        self._patience_s = patience_s
        self._clock = clock
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
            self._links[row] = _Link(Place.of(row), self._told, self._clock)

    def promised(self) -> int | None:
        """The newest revision of which one of the others has told anybody, or a newer one, as all of them have promised
        not to tell more; 0: there are none. None: not all of them have. Renews the promises.
        """
        now, newest, renew = self._clock(), 0, False
        for link in self._links.values():
            line = link.line
            if line is None or now >= line.trusted_until:
                return None
            newest = max(newest, line.promised)
            renew = renew or now > line.trusted_until - TRUST_S / 2
        if renew and self._answer is None and self._ready():
            self._put()
        return newest

    async def ask(self) -> int | None:
        """The newest revision of which one of the others had told anybody when it got the question, or a newer one;
        0: there are none. None: not all of them have answered soon. One question at a time.
        """
        if not self._ready():
            return None
        if not self._links:
            return 0
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[int | None] = loop.create_future()
        self._answer = answer
        self._newest, self._missing = 0, len(self._links)
        self._put()
        timer = loop.call_later(self._patience_s, _settle, answer, None)
        try:
            return await answer
        finally:
            timer.cancel()
            self._answer = None

    def close(self) -> None:
        """Let go of all connections. Idempotent."""
        self.keep(())

    def _ready(self) -> bool:
        return all(link.line is not None and link.line.ready for link in self._links.values())

    def _put(self) -> None:
        """Put a question to all, who are ready."""
        self._number += 1
        for link in self._links.values():
            assert link.line is not None
            link.line.ask(self._number)

    def _told(self, number: int, revision: int) -> None:
        if number != self._number or self._answer is None:
            return
        self._newest = max(self._newest, revision)
        self._missing -= 1
        if not self._missing:
            _settle(self._answer, self._newest)


class _Link:
    """The connection to one peer; it is made anew when it breaks."""

    def __init__(self, place: Place | None, told: Callable[[int, int], None], clock: Callable[[], float]) -> None:
        self._told = told
        self._clock = clock
        self.line: _Line | None = None
        """None while there is none."""
        self._task: asyncio.Task[None] | None = None
        if place is not None:
            self._task = asyncio.create_task(self._run(place), name="etcd peer")

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _run(self, place: Place) -> None:
        loop = asyncio.get_running_loop()
        pause_s = PAUSES_S[0]
        while True:
            line = _Line(place.secret, self._told, self._clock)
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(CONNECT_S):
                    await loop.create_connection(lambda line=line: line, place.host, place.port)  # type: ignore[misc]
                    await line.open.wait()
                pause_s = PAUSES_S[0]
                self.line = line
                _log.info("another server is asked how far it is: %s port %d", place.host, place.port)
            try:
                if self.line is line:
                    await line.lost.wait()
                    _log.info("another server is not asked any more: %s port %d", place.host, place.port)
            finally:
                self.line = None
                line.abort()
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, PAUSES_S[1])


class _Ends(asyncio.Protocol, ABC):
    """What both ends of a connection do."""

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

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._key:
            if len(self._buffer) < _NONCE_BYTES:
                return
            nonce, self._buffer = self._buffer[:_NONCE_BYTES], self._buffer[_NONCE_BYTES:]
            self._key = hashlib.blake2b(self._nonces(nonce), key=self._secret, digest_size=32).digest()
            self._begin()
        while len(self._buffer) >= _PIECE_BYTES:
            said, mac = self._buffer[: _SAID.size], self._buffer[_SAID.size : _PIECE_BYTES]
            self._buffer = self._buffer[_PIECE_BYTES:]
            if not hmac.compare_digest(mac, self._mac(said)):
                self._transport.abort()  # it is not who it is taken for
                return
            self._hear(*_SAID.unpack(said))

    def _say(self, what: bytes, number: int, revision: int = 0) -> None:
        said = _SAID.pack(what, number, revision)
        self._transport.write(said + self._mac(said))

    def _mac(self, said: bytes) -> bytes:
        return hashlib.blake2b(said, key=self._key, digest_size=_MAC_BYTES).digest()

    @abstractmethod
    def _nonces(self, others: bytes) -> bytes:
        """The asker's, and then the other one."""

    @abstractmethod
    def _begin(self) -> None:
        """The key is there."""

    @abstractmethod
    def _hear(self, what: bytes, number: int, revision: int) -> None:
        """The other end has said this."""


class _Line(_Ends):
    """The end that asks."""

    def __init__(self, secret: bytes, told: Callable[[int, int], None], clock: Callable[[], float]) -> None:
        super().__init__(secret)
        self._told = told
        self._clock = clock
        self._asked: deque[float] = deque()
        """When the questions were put that are not answered yet."""
        self.promised = 0
        self.trusted_until = float("-inf")
        """Until when the other one tells nobody of what is newer than `promised`."""
        self.open = asyncio.Event()
        """Set when a first question, of number 0, was answered."""
        self.lost = asyncio.Event()

    @property
    def ready(self) -> bool:
        """Whether it is open and no answer is late. One that is silent for too long is given up."""
        if not self._asked:
            return not self.lost.is_set()
        if self._clock() - self._asked[0] > SILENCE_MAX_S:
            self.abort()
        return False

    def ask(self, number: int) -> None:
        """Put a question."""
        self._asked.append(self._clock())
        self._say(_QUESTION, number)

    def abort(self) -> None:
        """Idempotent; also before it is connected."""
        transport = getattr(self, "_transport", None)
        if transport is not None:
            transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._transport.write(self._nonce)

    def connection_lost(self, error: Exception | None) -> None:
        self.lost.set()

    def _nonces(self, others: bytes) -> bytes:
        return self._nonce + others

    def _begin(self) -> None:
        self.ask(0)

    def _hear(self, what: bytes, number: int, revision: int) -> None:
        self.trusted_until = float("-inf")
        if what == _TAKEN_BACK:
            self._say(_KNOWN, number)
            return
        asked = self._asked.popleft()
        if what == _PROMISE:
            self.promised, self.trusted_until = revision, asked + TRUST_S
        self.open.set()
        self._told(number, revision)


class Listener:
    """Answers other servers how far this one is: `newest()` is the newest revision of which it has told anybody, and
    `told` makes promises. `place` is where they find `sock`.
    """

    def __init__(self, sock: socket.socket, place: Place, newest: Callable[[], int], told: Told) -> None:
        self.place = place
        self.newest = newest
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

    def take_back(self, number: int) -> None:
        """See `Promised`."""
        if not self._transport.is_closing():
            self._say(_TAKEN_BACK, number)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if len(self._listener.connections) >= CONNECTIONS_MAX:
            self._transport.abort()
            return
        self._listener.connections.add(self._transport)
        # Who connects and does not ask has no business here.
        self._timer = asyncio.get_running_loop().call_later(CONNECT_S, self._transport.abort)

    def connection_lost(self, error: Exception | None) -> None:
        self._listener.connections.discard(self._transport)
        if self._timer is not None:
            self._timer.cancel()

    def _nonces(self, others: bytes) -> bytes:
        return others + self._nonce

    def _begin(self) -> None:
        self._transport.write(self._nonce)

    def _hear(self, what: bytes, number: int, revision: int) -> None:
        told = self._listener.told
        if what == _KNOWN:
            told.knows(self, number)
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        newest = self._listener.newest()
        self._say(_PROMISE if told.promise(self, number, newest) else _ANSWER, number, newest)


def _settle(future: "asyncio.Future[int | None]", result: int | None) -> None:
    if not future.done():
        future.set_result(result)
