"""`Pipe`: bytes on their way from a connection that many streams share to the one who reads this stream."""

import asyncio
from typing import Final

PIPE_BYTES_MAX: Final = 1 << 18
"""What may wait in a pipe before the whole connection waits: its streams come one behind the other."""


class Pipe:
    """One writer, one reader. The writer must wait for `room` before it takes more in from its connection."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._ended = False
        self._abandoned = False
        self._readable = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    @property
    def ended(self) -> bool:
        """Whether nothing more comes in."""
        return self._ended

    def feed(self, data: bytes) -> None:
        """Put bytes in; nothing happens behind the end, nor when nobody reads any more."""
        if self._ended or self._abandoned or not data:
            return
        self._data += data
        self._readable.set()
        if len(self._data) > PIPE_BYTES_MAX:
            self._room.clear()

    def end(self) -> None:
        """Nothing more comes."""
        self._ended = True
        self._readable.set()

    async def read(self) -> bytes:
        """What has come, at least a byte; nothing at the end."""
        while not self._data and not self._ended:
            self._readable.clear()
            await self._readable.wait()
        data = bytes(self._data)
        self._data.clear()
        self._room.set()
        return data

    def abandon(self) -> None:
        """Nobody reads any more: what is here and what comes is dropped."""
        self._abandoned = True
        self._data.clear()
        self._room.set()

    async def room(self) -> None:
        """Wait until there is some."""
        await self._room.wait()
