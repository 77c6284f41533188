"""`Link`: the server's end of the connection to its client.

Concurrency: a daemon thread reads. So the server also ends with its client when its event loop is blocked.
"""

import asyncio
import os
import signal
import socket
import threading
import time
from contextlib import suppress
from typing import Final

ABANDONED_S: Final = 1.0
"""Time in seconds for a graceful end after the client has died."""


class Link:
    """Sends messages to the client, and ends this process when the client requests it or dies."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._loop: asyncio.AbstractEventLoop | None = None
        self._killed: asyncio.Event | None = None

    def start(self) -> None:
        """Start to read. Call it on the event loop that awaits `crash`."""
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="link", daemon=True).start()

    def send(self, line: str) -> None:
        """Send a message. Do nothing if the client has died."""
        with suppress(OSError):
            self._connection.sendall(" ".join(line.split()).encode() + b"\n")

    async def crash(self) -> None:
        """Request that the client kills the operator, and wait until the operator is dead."""
        self._killed = asyncio.Event()
        self.send("crash")
        await self._killed.wait()

    def _read(self) -> None:
        received = b""
        with suppress(OSError):
            while data := self._connection.recv(4096):
                *lines, received = (received + data).split(b"\n")
                for line in lines:
                    self._on_message(line)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(ABANDONED_S)
        os._exit(1)

    def _on_message(self, line: bytes) -> None:
        if line == b"stop":
            os.kill(os.getpid(), signal.SIGTERM)
        elif line == b"killed" and self._loop is not None and self._killed is not None:
            self._loop.call_soon_threadsafe(self._killed.set)
