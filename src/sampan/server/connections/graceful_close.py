"""Graceful close of a connection: the client receives everything that was written to it."""

import asyncio
import fcntl
import select
import struct
import termios

from sampan.core.clock import monotonic
from sampan.server.connections.settings import HttpSettings


class GracefulClose:
    """Closes a transport gracefully.

    A TLS client should return `close_notify`, but many clients do not read it before their next request. After
    `close_timeout_s` the connection is aborted, unless the kernel still has data to send.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, settings: HttpSettings) -> None:
        self._transport = transport
        self._loop = loop
        self._settings = settings
        self._closing = False
        self._until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, *, linger_s: float = 0.0) -> None:
        """Close the connection after `linger_s` seconds; later calls have no effect.

        The connection still receives data while it lingers. Unread data would make the kernel reset the connection, and
        the client could lose its response.
        """
        if self._closing or (linger_s and self._timer is not None):
            return
        self._cancel()
        if linger_s:
            self._timer = self._loop.call_later(linger_s, self._close)
        else:
            self._close()

    def end(self) -> None:
        """Stop the timers, because the connection is lost. Later calls of `begin` have no effect."""
        self._cancel()
        self._closing = True

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _close(self) -> None:
        self._closing = True
        self._until = monotonic() + self._settings.write_timeout_s
        self._transport.close()
        self._timer = self._loop.call_later(self._settings.close_timeout_s, self._check)

    def _check(self) -> None:
        if monotonic() < self._until and _bytes(self._transport, termios.TIOCOUTQ):
            self._timer = self._loop.call_later(self._settings.close_timeout_s, self._check)
        else:
            self._transport.abort()


def has_unread(transport: asyncio.Transport) -> bool:
    """Return True if the kernel has received data that the server has not read."""
    return bool(_bytes(transport, termios.FIONREAD))


def has_ended(transport: asyncio.Transport) -> bool:
    """Return True if the client has closed the connection or its sending side. Works while reading is paused."""
    try:
        if (sock := transport.get_extra_info("socket")) is None:
            return False
        poll = select.poll()
        poll.register(sock.fileno(), getattr(select, "POLLRDHUP", 0))  # only Linux has it
        return bool(poll.poll(0))
    except (OSError, ValueError):
        return False


def _bytes(transport: asyncio.Transport, which: int) -> int:
    """Return the number of bytes in a queue of the socket: received and unread (FIONREAD), or unacknowledged
    (TIOCOUTQ).
    """
    try:
        # The transport of a lost TLS connection has no socket.
        if (sock := transport.get_extra_info("socket")) is None:
            return 0
        size = fcntl.ioctl(sock.fileno(), which, struct.pack("i", 0))
    except (OSError, ValueError):
        return 0
    return int(struct.unpack("i", size)[0])
