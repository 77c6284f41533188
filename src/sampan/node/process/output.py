"""`Output`: what a container writes, for one client that looks on; `Audience`: all of them.

Bound: `BUFFER_BYTES_MAX` wait for a client. One that is slower is told so and gets no more: the container goes on.
"""

import asyncio
from collections.abc import Callable
from typing import Final

BUFFER_BYTES_MAX: Final = 1 << 20
_NOTICE: Final = b"\n[the client was too slow: output after this is not shown]\n"


class Output:
    """One stream for one client. Read by one task at a time."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._has_ended = False
        self._arrived = asyncio.Event()

    def put(self, data: bytes) -> None:
        """More of it."""
        if self._has_ended:
            return
        if len(self._buffer) + len(data) > BUFFER_BYTES_MAX:
            data = _NOTICE
            self._has_ended = True
        self._buffer += data
        self._arrived.set()

    def end(self) -> None:
        """There is no more; what waits can still be read."""
        self._has_ended = True
        self._arrived.set()

    async def read(self) -> bytes:
        """At least a byte; nothing at the end."""
        while not self._buffer and not self._has_ended:
            self._arrived.clear()
            await self._arrived.wait()
        data = bytes(self._buffer)
        self._buffer.clear()
        return data


class Audience:
    """Who is told what a container writes."""

    def __init__(self) -> None:
        self._outputs: list[tuple[str, Output]] = []
        self._ended: set[str] = set()

    def join(self, stream: str) -> tuple[Output, Callable[[], None]]:
        """What comes on `stdout` or `stderr` from now on, and how to leave; leaving twice does nothing."""
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

    def tell(self, stream: str, data: bytes) -> None:
        """The container has written something."""
        for name, output in self._outputs:
            if name == stream:
                output.put(data)

    def end(self, stream: str) -> None:
        """The container writes no more there."""
        self._ended.add(stream)
        for name, output in self._outputs:
            if name == stream:
                output.end()
