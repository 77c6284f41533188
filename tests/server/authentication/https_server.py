"""HTTPS server on loopback for tests. A function returns its responses, and a new CA issues its certificate."""

import asyncio
import contextlib
import datetime
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sampan.server.pki.certificates import make_ca, make_serving

Respond = Callable[[str, bytes], Awaitable[tuple[int, bytes]]]
"""Gives status and body for a path (with its query) and a body; the body of a redirect is where it leads."""


@dataclass
class HttpsServer:
    """Address of the server, and the requests that it received."""

    url: str
    ca_pem: str
    requested: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    heads: list[bytes] = field(default_factory=list)


@asynccontextmanager
async def https_server(folder: Path, response: Respond) -> AsyncIterator[HttpsServer]:
    """Ends with the block."""
    now = datetime.datetime.now(datetime.UTC)
    ca = make_ca("issuer-ca", now)
    pair = make_serving(ca, ["127.0.0.1", "localhost"], now)
    (folder / "tls.crt").write_bytes(pair.certificate_pem())
    (folder / "tls.key").write_bytes(pair.key_pem())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    made = HttpsServer("", ca.certificate_pem().decode())

    tasks: set[asyncio.Task[None]] = set()

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.create_task(converse(reader, writer)))

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer.transport), contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                made.heads.append(head)
                path = head.split(b" ", 2)[1].decode()
                length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
                body = await reader.readexactly(int(length[0].split(b":")[1])) if length else b""
                made.requested.append(path)
                made.bodies.append(body)
                status, content = await response(path, body)
                location = b"Location: %b\r\n" % content if 300 <= status < 400 else b""
                size = b"Content-Length: %d\r\n" % len(content)
                writer.write(b"HTTP/1.1 %d X\r\n%b%b\r\n" % (status, location, size) + content)
                await writer.drain()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    made.url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)
