"""`Splice`: two transports, each of which sends what the other one receives.

Concurrency: no task. A transport is not read while the other one cannot send. When one ends, the other one sends its
last bytes and ends too.
"""

import asyncio
from typing import cast


class Splice(asyncio.Protocol):
    """Protocol of one of the two transports. It is not read until `join`."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport = cast(asyncio.Transport, None)
        self._other: asyncio.Transport | None = None
        self._has_ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.pause_reading()

    def join(self, other: "Splice") -> None:
        """Begin to copy bytes in both directions."""
        for one, two in ((self, other), (other, self)):
            one._other = two.transport
        for each in (self, other):
            if each._has_ended:
                each.connection_lost(None)
            elif not each.transport.is_closing():
                each.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        if self._other is not None:
            self._other.write(data)

    def eof_received(self) -> bool:
        return False  # the transport closes

    def connection_lost(self, exc: Exception | None) -> None:
        self._has_ended = True
        other = self._other
        if other is None:
            return
        if exc is not None:
            other.abort()
        else:
            other.close()

    def pause_writing(self) -> None:
        if self._other is not None and not self._other.is_closing():
            self._other.pause_reading()

    def resume_writing(self) -> None:
        if self._other is not None and not self._other.is_closing():
            self._other.resume_reading()
