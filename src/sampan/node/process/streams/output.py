"""`Output`: a container's output for one attached client.

`AttachedClients`: all clients that are attached to a container.

Bound: `BUFFER_BYTES_MAX` for each client. A slower client gets a notice and is detached; the container is not delayed.
"""

import asyncio
from collections.abc import Callable
from typing import Final

BUFFER_BYTES_MAX: Final = 1 << 20
_NOTICE: Final = b"\n[the client was too slow: output after this is not shown]\n"


class Output:
    """One stream for one client. Only one task may read it at a time."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._has_ended = False
        self._arrived = asyncio.Event()

    def put(self, data: bytes) -> None:
        """Add output."""
        if self._has_ended:
            return
        if len(self._buffer) + len(data) > BUFFER_BYTES_MAX:
            data = _NOTICE
            self._has_ended = True
        self._buffer += data
        self._arrived.set()

    def end(self) -> None:
        """End the stream. Buffered output can still be read."""
        self._has_ended = True
        self._arrived.set()

    async def read(self) -> bytes:
        """Return at least one byte; empty at the end."""
        while not self._buffer and not self._has_ended:
            self._arrived.clear()
            await self._arrived.wait()
        data = bytes(self._buffer)
        self._buffer.clear()
        return data


class AttachedClients:
    """Clients that are attached to a container."""

    def __init__(self) -> None:
        self._outputs: list[tuple[str, Output]] = []
        self._ended: set[str] = set()

    def join(self, stream: str) -> tuple[Output, Callable[[], None]]:
        """Return the future output on `stdout` or `stderr`, and a function that detaches the client.

        The function may be called twice.
        """
        output = Output()
        if stream in self._ended:
            output.end()
        entry = (stream, output)
        self._outputs.append(entry)

        def leave() -> None:
            output.end()
            if entry in self._outputs:
                self._outputs.remove(entry)

        return output, leave

    def write(self, stream: str, data: bytes) -> None:
        """Pass output of the container to all clients."""
        for name, output in self._outputs:
            if name == stream:
                output.put(data)

    def end(self, stream: str) -> None:
        """End a stream: current clients get its end, and so do later ones."""
        self._ended.add(stream)
        for name, output in self._outputs:
            if name == stream:
                output.end()
