"""`LimitedReads`: limits of the TLS records that are decrypted in one turn of the event loop.

A record of one byte costs the client 23 bytes and the server 2 µs, also before authentication. The event loop takes up
to 2 MB from each connection in a turn: 90,000 records, which kept all other clients waiting for 180 ms. With twenty
such clients, a turn took up to 1.3 s of processor time. So there is a limit for each connection. When 300
connections reached it with heads in records of one byte, a turn took up to 0.5 s. So there is a limit for all of them.

OpenSSL processes all records without data that it has in one call: 10 µs for the 27 bytes of a request for new keys. So
it gets the received bytes in pieces, and the bytes of a turn are limited too.
"""

import ssl
from typing import Any, Final, Self

from sampan.core.event_loop.turns import LoopTurns
from sampan.server.connections.held_transport import HeldTransport

READS_PER_TURN: Final = 32
"""Maximum number for one connection. Small ones take about 0.1 ms. 32 records of full size are 512 KiB."""
ALL_READS_PER_TURN: Final = 1024
"""Maximum number for all connections of a server. A record with one byte of a head takes 30 µs to decrypt and parse."""
RECORD_BYTES: Final = 16 * 1024
"""Maximum size of the data of a TLS record, and so of one read. Source: RFC 8446, section 5.1.

uvloop reads up to 256 KiB, and CPython allocates that before each read. With 16 KiB, the server completes a quarter
more gets: 13,700 instead of 11,000 a second.
"""
OWN_READS_PER_TURN: Final = 4
"""Minimum number for a connection, also at the limit of all. So clients with few records do not wait for busy ones."""
_SHARED_READS: Final = READS_PER_TURN - OWN_READS_PER_TURN
PIECE_BYTES: Final = 20 * 1024
"""Maximum number of bytes that OpenSSL has. They contain at least one record, and 750 requests for new keys: 8 ms."""
BYTES_PER_TURN: Final = 4 * PIECE_BYTES
"""Maximum number for one connection."""
OWN_BYTES_PER_TURN: Final = 2048
"""Maximum number for a connection at the limit of all."""
BYTES_PER_READ: Final = 128
"""Number of bytes that counts as a read in the limit of all: 1,024 reads are 128 KiB, and so 50 ms."""


class LimitedReads(ssl.SSLObject):
    """TLS part of a connection. `ssl.SSLContext` creates it if it is its `sslobject_class`.

    At a limit, `read` reports that there is no more data. The transport is made to read again in a later turn. The
    data waits in the transport's buffer, and the socket is not read meanwhile.
    """

    _incoming: ssl.MemoryBIO
    """The transport's buffer: received bytes."""
    _records: ssl.MemoryBIO
    """Bytes for OpenSSL."""
    _sslobj: Any
    """Object of OpenSSL. Source: `ssl.SSLObject` of the standard library."""
    _fed_bytes = 0
    """Bytes that OpenSSL got in this turn."""

    _left = READS_PER_TURN
    _turn = -1
    """Number of the turn that `_left` is of."""
    _waits = False
    _continues = False
    """True if the last read returned data, so the client has not ended the connection."""
    _transport: HeldTransport | None = None
    _shared: LoopTurns

    @classmethod
    def _create(cls, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, **options: Any) -> Self:
        records = ssl.MemoryBIO()
        made: Self = super()._create(records, outgoing, **options)  # type: ignore[misc]  # typeshed lacks it
        made._incoming, made._records = incoming, records
        return made

    def attach(self, transport: HeldTransport, shared: LoopTurns) -> None:
        """Limit the reads of this transport from now on. `shared`: limit of all connections of the server."""
        self._transport, self._shared = transport, shared

    def detach(self) -> None:
        """Forget the transport after the connection is lost, so that both are freed at once."""
        self._transport = None

    def do_handshake(self) -> None:
        while True:
            try:
                super().do_handshake()
                return
            except ssl.SSLWantReadError:
                if not self._feed():
                    raise

    def unwrap(self) -> None:
        self._records.write(self._incoming.read())
        super().unwrap()

    def pending(self) -> int:
        decrypted: int = self._sslobj.pending()
        return decrypted + self._records.pending

    def read(self, len: int = 1024, buffer: bytearray | None = None) -> bytes:  # type: ignore[override]
        # The class in the standard library has two overloads, one for each kind of result.
        if self._continues and not self._incoming.pending and not self._records.pending and not self._sslobj.pending():
            raise ssl.SSLWantReadError  # faster than the same error from OpenSSL, which ends every request's reads
        transport = self._transport
        if transport is not None:
            shared = self._shared
            if self._turn != shared.number:
                self._turn, self._left, self._fed_bytes = shared.number, READS_PER_TURN, 0
            if self._left <= _SHARED_READS and (self._left <= 0 or shared.spent):
                self._continue_later(transport)
                raise ssl.SSLWantReadError
            self._left -= 1
            shared.spend(1)
        if not self._records.pending and not self._feed() and self._continues and not self._sslobj.pending():
            raise ssl.SSLWantReadError
        while True:
            try:
                if buffer is not None:
                    return super().read(len, buffer)
                data = super().read(len if len < RECORD_BYTES else RECORD_BYTES)
                self._continues = data != b""
                return data
            except ssl.SSLWantReadError:
                if not self._feed():
                    raise

    def _feed(self) -> bool:
        """Give OpenSSL the next bytes. Return False if it has all of them, or must wait for a later turn."""
        size = self._incoming.pending
        if not size:
            return False
        size = min(size, PIECE_BYTES - self._records.pending)
        transport = self._transport
        if transport is not None:
            shared = self._shared
            size = min(size, (OWN_BYTES_PER_TURN if shared.spent else BYTES_PER_TURN) - self._fed_bytes)
            if size <= 0:
                self._continue_later(transport)
                return False
            self._fed_bytes += size
            shared.spend(size // BYTES_PER_READ)
        self._records.write(self._incoming.read(size))
        return True

    def _continue_later(self, transport: HeldTransport) -> None:
        if not self._waits:
            self._waits = True
            transport.wait()
            self._shared.wait(self._continue)

    def _continue(self) -> None:
        self._waits = False
        if self._transport is not None:
            self._transport.decrypt()
