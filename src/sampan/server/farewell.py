"""`Farewell`: the end of a connection, so that its client gets all that was written to it."""

import asyncio
import fcntl
import struct
import termios
from time import monotonic

from sampan.server.settings import HttpSettings


class Farewell:
    """Closes a transport. TLS has an end of its own, which many clients do not hear of before they ask again: after
    `close_timeout_s` the connection is cut, unless there is still something on its way to the client.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, settings: HttpSettings) -> None:
        self._transport = transport
        self._loop = loop
        self._settings = settings
        self._closing = False
        self._until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, *, linger_s: float = 0.0) -> None:
        """Close, after so many seconds in which what the client sends is still taken in: what nobody takes in makes the
        system reset the connection, and the client may lose its answer. Once is enough.
        """
        if self._closing or (linger_s and self._timer is not None):
            return
        self.over()
        if linger_s:
            self._timer = self._loop.call_later(linger_s, self._close)
        else:
            self._close()

    def over(self) -> None:
        """The connection is lost."""
        if self._timer is not None:
            self._timer.cancel()

    def _close(self) -> None:
        self._closing = True
        self._until = monotonic() + self._settings.write_timeout_s
        self._transport.close()
        self._timer = self._loop.call_later(self._settings.close_timeout_s, self._look)

    def _look(self) -> None:
        if monotonic() < self._until and _bytes(self._transport, termios.TIOCOUTQ):
            self._timer = self._loop.call_later(self._settings.close_timeout_s, self._look)
        else:
            self._transport.abort()


def has_unread(transport: asyncio.Transport) -> bool:
    """Whether something of the client's has come that the server has not looked at yet."""
    return bool(_bytes(transport, termios.FIONREAD))


def _bytes(transport: asyncio.Transport, which: int) -> int:
    """How much waits in a connection's queue in the system: what came, or what the other side does not have yet."""
    try:
        sock = transport.get_extra_info("socket")
        if sock is None:  # an aborted transport of TLS
            return 0
        told = fcntl.ioctl(sock.fileno(), which, struct.pack("i", 0))
    except (OSError, ValueError):
        return 0
    return int(struct.unpack("i", told)[0])
