"""`Proxy`: a TCP connection's way through the test, which can be cut, blocked, or made slow.

Concurrency: each connection has two tasks, owned by the proxy, one for each direction.
"""

import asyncio
from contextlib import suppress

_CHUNK = 1 << 16


class Proxy:
    """Listens on a port of `here`, and passes on to another one, of `address`."""

    def __init__(self, address: str, target: int, here: str = "127.0.0.1") -> None:
        self.address = address
        self.target = target
        self.here = here
        self.port = 0
        self.delay_s = 0.0
        """Before each piece, in both directions."""
        self._open = asyncio.Event()
        self._open.set()
        self._refusing = False
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._connected, self.here, self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def block(self) -> None:
        """Pass nothing on. The connections stay open, so neither side notices."""
        self._open.clear()

    def cut(self) -> None:
        """All connections end, and new ones as soon as they are made."""
        self._refusing = True
        self._abort()

    def repair(self) -> None:
        """All is well again. What was held up goes on, as after a short fault of a real network."""
        self._refusing = False
        self.delay_s = 0.0
        self._open.set()

    async def close(self) -> None:
        """End everything."""
        if self._server is not None:
            self._server.close()
        self._abort()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _abort(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refusing:
            writer.transport.abort()
            return
        self._writers.add(writer)
        try:
            there, back = await asyncio.open_connection(self.address, self.target)
        except OSError:
            self._writers.discard(writer)
            writer.transport.abort()
            return
        self._writers.add(back)
        tasks = [asyncio.create_task(self._pass_on(reader, back)), asyncio.create_task(self._pass_on(there, writer))]
        self._tasks.update(tasks)
        for task in tasks:
            task.add_done_callback(self._tasks.discard)
        await asyncio.wait(tasks)
        for each in (writer, back):
            self._writers.discard(each)
            each.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                await self._open.wait()
                writer.write(data)
                await writer.drain()
        writer.transport.abort()
