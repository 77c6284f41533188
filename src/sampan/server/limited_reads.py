"""`LimitedReads`: limit of the TLS records of a connection that are decrypted in one turn of the event loop.

A record of one byte costs the client 23 bytes and the server 2 µs, also before authentication. The event loop takes up
to 2 MB from each connection in a turn: 90,000 records, which kept all other clients waiting for 180 ms. With twenty
such clients, a turn took up to 1.3 s of processor time.
"""

import asyncio
import ssl
from typing import Final

READS_PER_TURN: Final = 32
"""Maximum number of records in a turn. They take about 0.1 ms if small. 32 records of full size are 512 KiB."""


class LimitedReads(ssl.SSLObject):
    """TLS part of a connection. `ssl.SSLContext` creates it if it is its `sslobject_class`.

    At the limit, `read` reports that there is no more data. The transport is made to read again in the next turn. The
    data waits in the transport's buffer, which stops the socket at its high-water mark.
    """

    _left = READS_PER_TURN
    _transport: asyncio.Transport | None = None

    def attach(self, transport: asyncio.Transport) -> None:
        """Limit the reads of this transport from now on."""
        self._transport = transport

    def detach(self) -> None:
        """Forget the transport after the connection is lost, so that both are freed at once."""
        self._transport = None

    def read(self, len: int = 1024, buffer: bytearray | None = None) -> bytes:  # type: ignore[override]
        # The class in the standard library has two overloads, one for each kind of result.
        if self._left <= 0 and self._transport is not None:
            self._continue_later()
            raise ssl.SSLWantReadError
        self._left -= 1
        return super().read(len) if buffer is None else super().read(len, buffer)

    def _continue_later(self) -> None:
        if self._left == 0:
            self._left = -1
            asyncio.get_running_loop().call_soon(self._continue)

    def _continue(self) -> None:
        self._left = READS_PER_TURN
        transport = self._transport
        # If the connection has paused the transport, the transport reads again when the connection resumes it.
        if transport is not None and not transport.is_closing() and transport.is_reading():
            transport.pause_reading()
            transport.resume_reading()
