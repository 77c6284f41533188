"""The agent's ends of a process's streams: `ReadEnd`, `WriteEnd`. The master of a terminal has both.

Back-pressure: data is read only on request, so a process whose output is not read blocks.
"""

import asyncio
import os
from typing import Final

CHUNK_BYTES: Final = 1 << 16


class ReadEnd:
    """Output of a process. Only one task may use it at a time. It owns the descriptor."""

    def __init__(self, fd: int) -> None:
        """`fd`: descriptor of a pipe, or of the master of a terminal."""
        os.set_blocking(fd, False)
        self._fd = fd
        self._waiter: asyncio.Future[None] | None = None
        self._is_last = False
        self._closed = False

    async def read(self) -> bytes:
        """Return at least one byte; empty at the end, or after `close`."""
        while not self._closed:
            try:
                data = os.read(self._fd, CHUNK_BYTES)
            except BlockingIOError:
                if not self._is_last:
                    await self._readable()
                    continue
                data = b""
            except OSError:
                data = b""  # EIO: no process has the terminal open any more.
            if not data:
                self.close()
            return data
        return b""

    def finish(self) -> None:
        """End the stream after the data that is available now, even if other processes still have it open."""
        self._is_last = True
        _wake(self._waiter)

    def close(self) -> None:
        """Stop reading. A pending read returns empty data."""
        if not self._closed:
            self._closed = True
            _wake(self._waiter)
            asyncio.get_running_loop().remove_reader(self._fd)
            os.close(self._fd)

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        loop.add_reader(self._fd, _wake, self._waiter)
        try:
            await self._waiter
        finally:
            if not self._closed:
                loop.remove_reader(self._fd)


class WriteEnd:
    """Input of a process. It owns the descriptor."""

    def __init__(self, fd: int, end_of_file: bytes = b"") -> None:
        """`end_of_file` is written before the end is closed, because a terminal has no other way to end its input."""
        os.set_blocking(fd, False)
        self._fd = fd
        self._end_of_file = end_of_file
        self._lock = asyncio.Lock()
        self._waiter: asyncio.Future[None] | None = None
        self._closed = False

    async def write(self, data: bytes) -> None:
        """Write data. Waits while the process does not read. Data after the end is dropped."""
        async with self._lock:
            while data and not self._closed:
                try:
                    data = data[os.write(self._fd, data) :]
                except BlockingIOError:
                    await self._writable()
                except OSError:
                    self._close()  # EPIPE: no process reads it any more.

    async def finish(self) -> None:
        """Close the input after all written data was sent."""
        await self.write(self._end_of_file)
        self.close()

    def close(self) -> None:
        """Close at once. A pending write returns."""
        if not self._closed:
            self._close()

    def _close(self) -> None:
        self._closed = True
        _wake(self._waiter)
        asyncio.get_running_loop().remove_writer(self._fd)
        os.close(self._fd)

    async def _writable(self) -> None:
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        loop.add_writer(self._fd, _wake, self._waiter)
        try:
            await self._waiter
        finally:
            if not self._closed:
                loop.remove_writer(self._fd)


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
