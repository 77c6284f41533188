"""`LimitedReads`: limits of the TLS records that are decrypted in one turn of the event loop.

A record of one byte costs the client 23 bytes and the server 2 µs, also before authentication. The event loop takes up
to 2 MB from each connection in a turn: 90,000 records, which kept all other clients waiting for 180 ms. With twenty
such clients, a turn took up to 1.3 s of processor time. So there is a limit for each connection. When 300
connections reached it with heads in records of one byte, a turn took up to 0.5 s. So there is a limit for all of them.
"""

import ssl
from io import BytesIO
from typing import Any, Final, Self, cast

from sampan.server.held_transport import HeldTransport
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
_HEADER_BYTES: Final = 5
_RECORD_BYTES_MAX: Final = RECORD_BYTES + 2048
"""Maximum size of an encrypted record in TLS 1.2. OpenSSL refuses a larger one."""
OWN_READS_PER_TURN: Final = 4
"""Minimum number for a connection, also at the limit of all. So clients with few records do not wait for the others."""


class LimitedReads(ssl.SSLObject):
    """TLS part of a connection. `ssl.SSLContext` creates it if it is its `sslobject_class`.

    At a limit, `read` reports that there is no more data. The transport is made to read again in a later turn. The
    data waits in the transport's buffer, and the socket is not read meanwhile.

    OpenSSL gets one record at a time, because it processes all records without data that it has: with a client that
    requests new keys, 10 µs for 27 bytes.
    """

    _left = READS_PER_TURN
    _turn = -1
    """Number of the turn that `_left` is of."""
    _waits = False
    _transport: HeldTransport | None = None
    _shared: LoopTurns
    _incoming: ssl.MemoryBIO
    """Bytes that the transport has received."""
    _records: ssl.MemoryBIO
    """Bytes for OpenSSL."""
    _early: BytesIO | None = None
    """Bytes that OpenSSL got during the handshake and did not need."""
    _is_at_end = False
    """True if the client has sent `close_notify`. The transport receives that in a later turn than the last data, and
    only while the protocol reads.
    """
    _header = b""
    """Header of a record that is not complete yet."""

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
        self._records.write(self._incoming.read())
        super().do_handshake()
        if self._records.pending:
            self._early = BytesIO(self._records.read())

    def pending(self) -> int:
        return super().pending() + self._early_bytes + self._is_at_end

    def read(self, len: int = 1024, buffer: bytearray | None = None) -> bytes:  # type: ignore[override]
        # The class in the standard library has two overloads, one for each kind of result.
        while not self._is_at_end:
            self._count_read()
            is_fed = self._feed()
            try:
                data = super().read(min(len, RECORD_BYTES)) if buffer is None else super().read(len, buffer)
            except ssl.SSLWantReadError:
                if not is_fed:
                    raise
                continue
            if data or self._transport is None:
                return data
            self._is_at_end = True
            self._continue_later(self._transport)
            raise ssl.SSLWantReadError
        return b""

    def unwrap(self) -> None:
        for _ in range(READS_PER_TURN):
            try:
                super().unwrap()
                return
            except ssl.SSLWantReadError:
                if not self._feed():
                    raise
        raise ssl.SSLWantReadError

    def _count_read(self) -> None:
        """Raise `SSLWantReadError` at a limit."""
        transport = self._transport
        if transport is None:
            return
        shared = self._shared
        if self._turn != shared.number:
            self._turn, self._left = shared.number, READS_PER_TURN
        if self._left <= 0 or (shared.spent and self._left <= READS_PER_TURN - OWN_READS_PER_TURN):
            self._continue_later(transport)
            raise ssl.SSLWantReadError
        self._left -= 1
        shared.spend(1)

    def _feed(self) -> bool:
        """Give OpenSSL the next complete record. Return False if there is none."""
        header = self._header or self._take(_HEADER_BYTES)
        if not header:
            return False
        size = int.from_bytes(header[3:], "big")
        record = self._take(min(size, _RECORD_BYTES_MAX))
        if record or not size:
            self._header = b""
            self._records.write(header + record)
            return True
        self._header = header
        return False

    def _take(self, size: int) -> bytes:
        """Return received bytes, or nothing if there are fewer."""
        if self._early is not None:
            return self._take_early(size)
        return self._incoming.read(size) if 0 < size <= self._incoming.pending else b""

    def _take_early(self, size: int) -> bytes:
        early = cast(BytesIO, self._early)
        if self._early_bytes < size:
            self._early = BytesIO(early.read() + self._incoming.read())
            if self._early_bytes < size:
                return b""
            return self._early.read(size)
        taken = early.read(size)
        if not self._early_bytes:
            self._early = None
        return taken

    @property
    def _early_bytes(self) -> int:
        early = self._early
        return 0 if early is None else early.getbuffer().nbytes - early.tell()

    def _continue_later(self, transport: HeldTransport) -> None:
        if not self._waits:
            self._waits = True
            transport.wait()
            self._shared.wait(self._continue)

    def _continue(self) -> None:
        self._waits = False
        if self._transport is not None:
            self._transport.decrypt()
