"""`TlsAcceptor`: accepts connections, and begins a limited number of TLS handshakes in each turn of the event loop.

The server's part of a handshake takes 0.1 to 5 ms, depending on the key. A transport handshakes as soon as the client's
first message has arrived. A thousand clients at once would block the loop for that many handshakes. So each connection
waits until it has data to read, and then for its turn, before it gets a transport.

Concurrency: callbacks of the loop. Each handshake is a task, which ends after the time limit of handshakes.
"""

import asyncio
import errno
import logging
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from sampan.core.event_loop.task_scope import TaskScope
from sampan.core.event_loop.turns import LoopTurns
from sampan.server.connections.held_transport import handshake
from sampan.server.connections.limited_reads import LimitedReads
from sampan.server.connections.settings import HttpSettings

_log = logging.getLogger("sampan.http")

HANDSHAKES_PER_TURN: Final = 16
"""Maximum number of handshakes that begin in one turn. They take 3 ms with an ECDSA key, 20 ms with RSA of
2048 bits.
"""
_ACCEPTED_PER_TURN: Final = 128
_FIRST_BYTES: Final = 5
_FIRST_OF_HTTP: Final = frozenset({b"GET /", b"HEAD ", b"POST ", b"PUT /", b"OPTIO"})
_REQUEST_BYTES_MAX: Final = 1 << 16
_PLAIN_HTTP: Final = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
"""Response to a client that speaks plain HTTP. Source: Go net/http server.go, conn.serve (1.26)."""
_PAUSE_S: Final = 1.0
_EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class TlsAcceptor:
    """Accepts on a listening socket from `__init__` to `close`. `make_protocol` makes the protocol of a connection."""

    def __init__(
        self,
        sock: socket.socket,
        context: ssl.SSLContext,
        settings: HttpSettings,
        make_protocol: Callable[[], asyncio.Protocol],
    ) -> None:
        self._sock, self._context, self._settings, self._make_protocol = sock, context, settings, make_protocol
        self._loop = asyncio.get_running_loop()
        self._turns = LoopTurns(self._loop, HANDSHAKES_PER_TURN)
        self._silent: dict[socket.socket, asyncio.TimerHandle] = {}
        """Connections without data, with their time limits."""
        self._waiting = 0
        """Number of connections that wait for their turn."""
        self._tasks = TaskScope()
        self._pause: asyncio.TimerHandle | None = None
        self._ended = False
        context.sslobject_class = LimitedReads
        sock.setblocking(False)
        sock.listen(settings.backlog)
        self._loop.add_reader(sock, self._accept)

    @property
    def pending(self) -> int:
        """Number of accepted connections whose handshake has not begun."""
        return len(self._silent) + self._waiting

    def close(self) -> None:
        """Close the listening socket. Accepted connections stay open."""
        if self._sock.fileno() >= 0:
            if self._pause is not None:
                self._pause.cancel()
            self._loop.remove_reader(self._sock)
            self._sock.close()

    async def end(self) -> None:
        """Close the connections without data, and those whose handshake is not complete: none is made afterwards."""
        self._ended = True
        for sock in list(self._silent):
            self._drop(sock)
        await asyncio.sleep(0)  # a task that is cancelled before its first step would not close its connection
        await self._tasks.aclose()

    def _accept(self) -> None:
        for _ in range(_ACCEPTED_PER_TURN):
            try:
                sock, _address = self._sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _EXHAUSTED:
                    raise
                _log.warning("cannot accept connections: %s; trying again in %d s", error, _PAUSE_S)
                self._loop.remove_reader(self._sock)
                self._pause = self._loop.call_later(_PAUSE_S, self._loop.add_reader, self._sock, self._accept)
                return
            sock.setblocking(False)
            self._silent[sock] = self._loop.call_later(self._settings.handshake_timeout_s, self._drop, sock)
            self._loop.add_reader(sock, self._arrived, sock)

    def _forget(self, sock: socket.socket) -> None:
        self._loop.remove_reader(sock)
        self._silent.pop(sock).cancel()

    def _drop(self, sock: socket.socket) -> None:
        self._forget(sock)
        sock.close()

    def _arrived(self, sock: socket.socket) -> None:
        """Begin the handshake of a connection that has data, or that its client has closed."""
        self._forget(sock)
        self._waiting += 1
        if self._turns.open:
            self._begin(sock)
        else:
            self._turns.wait(lambda: self._begin(sock))

    def _begin(self, sock: socket.socket) -> None:
        self._turns.spend(1)
        self._waiting -= 1
        if self._ended:
            sock.close()
            return
        if _has_plain_http(sock):
            self._make_protocol()  # counts the failed handshake when it is released
            _refuse_http(sock)
            return
        self._tasks.begin(self._handshake(sock), "TLS handshake")

    async def _handshake(self, sock: socket.socket) -> None:
        settings = self._settings
        with suppress(OSError):  # the client has disconnected; the protocol counts the failure
            await handshake(
                sock,
                self._context,
                self._make_protocol(),
                handshake_timeout_s=settings.handshake_timeout_s,
                shutdown_timeout_s=settings.write_timeout_s,  # see GracefulClose
            )


def _has_plain_http(sock: socket.socket) -> bool:
    """Return True if the client has begun with a plain HTTP request instead of a handshake."""
    with suppress(OSError):
        return sock.recv(_FIRST_BYTES, socket.MSG_PEEK) in _FIRST_OF_HTTP
    return False


def _refuse_http(sock: socket.socket) -> None:
    """Send Go's response and close the connection. Never waits: an empty socket buffer has room for the response."""
    with sock, suppress(OSError):
        sock.recv(_REQUEST_BYTES_MAX)  # unread data would make the kernel discard the response
        sock.send(_PLAIN_HTTP)
        sock.shutdown(socket.SHUT_WR)
