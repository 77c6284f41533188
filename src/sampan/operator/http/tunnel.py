"""`Tunnel`: a connection that has stopped to be HTTP, as bytes in both directions."""

import asyncio
from typing import Final

_READ_BYTES: Final = 65_536
_TOUCH_S: Final = 1.0


class Tunnel:
    """Bytes from and to a client. It is cut when nothing has passed for a while."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        ahead: bytes = b"",
        idle: asyncio.Timeout | None = None,
        idle_timeout_s: float = 0.0,
    ) -> None:
        """`ahead`: what the client has sent behind its request; `idle` is put off whenever something passes."""
        self._reader = reader
        self._writer = writer
        self._ahead = ahead
        self._idle = idle
        self._idle_timeout_s = idle_timeout_s
        self._touched = 0.0

    async def read(self) -> bytes:
        """What has come, at least a byte; nothing when the client has said its last, or has gone. One reader at a
        time. What is not read stops the client.
        """
        if self._ahead:
            data, self._ahead = self._ahead, b""
            return data
        try:
            data = await self._reader.read(_READ_BYTES)
        except OSError:
            return b""
        self._touch()
        return data

    def write(self, data: bytes) -> None:
        """Send; nothing happens when the client has gone."""
        self._writer.write(data)
        self._touch()

    async def drain(self) -> None:
        """Wait until the client has read most of what was written. Raises `OSError` when it has gone."""
        await self._writer.drain()

    def _touch(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._idle is not None and now - self._touched >= _TOUCH_S:
            self._touched = now
            self._idle.reschedule(now + self._idle_timeout_s)
