"""`LimitedReads`: limits of the TLS records that are decrypted in one turn of the event loop.

A record of one byte costs the client 23 bytes and the server 2 µs, also before authentication. The event loop takes up
to 2 MB from each connection in a turn: 90,000 records, which kept all other clients waiting for 180 ms. With twenty
such clients, a turn took up to 1.3 s of processor time. So there is a limit for each connection. When 300
connections reached it with heads in records of one byte, a turn took up to 0.5 s. So there is a limit for all of them.
"""

import asyncio
import ssl
from typing import Final

from sampan.server.loop_turns import LoopTurns

READS_PER_TURN: Final = 32
"""Maximum number for one connection. Small ones take about 0.1 ms. 32 records of full size are 512 KiB."""
ALL_READS_PER_TURN: Final = 1024
"""Maximum number for all connections of a server. A record with one byte of a head takes 30 µs to decrypt and parse."""
RECORD_BYTES: Final = 16 * 1024
"""Maximum size of the data of a TLS record, and so of one read. Source: RFC 8446, section 5.1.

uvloop reads up to 256 KiB, and CPython allocates that before each read. With 16 KiB, the server answers a quarter more
gets: 13,700 instead of 11,000 a second.
"""
OWN_READS_PER_TURN: Final = 4
"""Minimum number for a connection, also at the limit of all. So clients with few records do not wait for the others."""
_SHARED_READS: Final = READS_PER_TURN - OWN_READS_PER_TURN


class LimitedReads(ssl.SSLObject):
    """TLS part of a connection. `ssl.SSLContext` creates it if it is its `sslobject_class`.

    At a limit, `read` reports that there is no more data. The transport is made to read again in a later turn. The
    data waits in the transport's buffer, which stops the socket at its high-water mark.
    """

    _left = READS_PER_TURN
    _turn = -1
    """Number of the turn that `_left` is of."""
    _waits = False
    _transport: asyncio.Transport | None = None
    _shared: LoopTurns

    def attach(self, transport: asyncio.Transport, shared: LoopTurns) -> None:
        """Limit the reads of this transport from now on. `shared`: limit of all connections of the server."""
        self._transport, self._shared = transport, shared

    def detach(self) -> None:
        """Forget the transport after the connection is lost, so that both are freed at once."""
        self._transport = None

    def read(self, len: int = 1024, buffer: bytearray | None = None) -> bytes:  # type: ignore[override]
        # The class in the standard library has two overloads, one for each kind of result.
        if self._transport is not None:
            shared = self._shared
            if self._turn != shared.number:
                self._turn, self._left = shared.number, READS_PER_TURN
            if self._left <= _SHARED_READS and (self._left <= 0 or shared.spent):
                self._continue_later()
                raise ssl.SSLWantReadError
            self._left -= 1
            shared.spend(1)
        if buffer is not None:
            return super().read(len, buffer)
        return super().read(len if len < RECORD_BYTES else RECORD_BYTES)

    def _continue_later(self) -> None:
        if not self._waits:
            self._waits = True
            self._shared.wait(self._continue)

    def _continue(self) -> None:
        self._waits = False
        transport = self._transport
        # If the connection has paused it, it reads again when the connection resumes it.
        if transport is not None and not transport.is_closing() and transport.is_reading():
            transport.pause_reading()
            transport.resume_reading()
