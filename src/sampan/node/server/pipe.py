"""`Pipe`: buffer between a connection with many streams and the reader of one stream."""

import asyncio
from typing import Final

PIPE_BYTES_MAX: Final = 1 << 18
"""Number of bytes at which a pipe stops reading from its connection. This stops all streams, because they share the
connection.
"""


class Pipe:
    """Pipe with one writer and one reader. The writer must wait for `room` before it reads more from its connection."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._ended = False
        self._abandoned = False
        self._readable = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    @property
    def ended(self) -> bool:
        """True if the writer has ended the pipe."""
        return self._ended

    def feed(self, data: bytes) -> None:
        """Add bytes. Does nothing after the end, or after the reader has closed the pipe."""
        if self._ended or self._abandoned or not data:
            return
        self._data += data
        self._readable.set()
        if len(self._data) > PIPE_BYTES_MAX:
            self._room.clear()

    def end(self) -> None:
        """Close the writing end: the reader gets the rest, and then the end."""
        self._ended = True
        self._readable.set()

    async def read(self) -> bytes:
        """Return at least one byte; empty at the end."""
        while not self._data and not self._ended:
            self._readable.clear()
            await self._readable.wait()
        data = bytes(self._data)
        self._data.clear()
        self._room.set()
        return data

    def abandon(self) -> None:
        """Stop reading. All data is dropped."""
        self._abandoned = True
        self._data.clear()
        self._room.set()

    async def room(self) -> None:
        """Wait until the pipe has room for more data."""
        await self._room.wait()
