"""The node of the benchmark: a web server, and a tunnel with TLS that leads to it. Runs in its own process."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Final, cast

import uvloop

from sampan.http.tunnel import Tunnel
from sampan.streams.session import StreamSession
from sampan.streams.splice import Splice

LARGE_BYTES: Final = 64 << 20
_PIECE: Final = bytes(256 << 10)
_SMALL: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Web(asyncio.Protocol):
    """Responds to `GET /large` with `LARGE_BYTES`, and to all other requests with two bytes."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        self._transport = cast(asyncio.Transport, transport)
        self._left = 0
        self._may_write = True

    def data_received(self, data: bytes) -> None:
        """Respond to a request, which arrives as a whole."""
        if data.startswith(b"GET /large"):
            self._transport.write(f"HTTP/1.1 200 OK\r\nContent-Length: {LARGE_BYTES}\r\n\r\n".encode())
            self._left = LARGE_BYTES
            self._send()
        else:
            self._transport.write(_SMALL)

    def pause_writing(self) -> None:
        """Wait for the client."""
        self._may_write = False

    def resume_writing(self) -> None:
        """Continue."""
        self._may_write = True
        self._send()

    def _send(self) -> None:
        while self._left and self._may_write:
            self._left -= len(_PIECE)
            self._transport.write(_PIECE)


def run(port: int, ca_pem: str, started: Callable[[int], None]) -> None:
    """Serve, and connect to the server at this port. `started` gets the port of the web server."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(port, ca_pem, started))


async def _run(port: int, ca_pem: str, started: Callable[[int], None]) -> None:
    loop = asyncio.get_running_loop()
    web = await loop.create_server(Web, "127.0.0.1", 0)
    target = web.sockets[0].getsockname()[1]

    async def connect(name: str, make: Callable[[], Splice]) -> None:
        await loop.create_connection(make, "127.0.0.1", target)

    context = ssl.create_default_context(cadata=ca_pem)
    _, tunnel = await loop.create_connection(Tunnel, "127.0.0.1", port, ssl=context)
    started(target)
    await StreamSession(tunnel, name="server", connect=connect).run()
