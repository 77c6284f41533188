"""A TLS server for tests of webhooks."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from sampan.server.pki.certificates import KeyPair, make_ca, make_serving

NOW = datetime.now(UTC)
CA = make_ca("webhook", NOW)
SERVING = make_serving(CA, ("127.0.0.1", "hook.default.svc"), NOW)

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def bundle(ca: KeyPair = CA) -> str:
    """A CA as a caBundle."""
    return base64.b64encode(ca.certificate_pem()).decode()


def ok(body: bytes) -> bytes:
    """A good answer."""
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


async def requests(reader: asyncio.StreamReader) -> AsyncIterator[tuple[str, bytes]]:
    """The requests on a connection until it ends: the head's first line and the body."""
    with suppress(asyncio.IncompleteReadError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            yield head.decode().split("\r\n")[0], await reader.readexactly(length)


@asynccontextmanager
async def listening(
    tmp_path: Path, handler: Handler, pair: KeyPair = SERVING, *, secure: bool = True
) -> AsyncIterator[int]:
    """A server with TLS, or without; gives its port."""
    files = tmp_path / "cert.pem", tmp_path / "key.pem"
    files[0].write_bytes(pair.certificate_pem())
    files[1].write_bytes(pair.key_pem())
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*files)

    open_writers: set[asyncio.StreamWriter] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_writers.add(writer)
        try:
            await handler(reader, writer)
            await reader.read()
        except OSError:
            pass
        finally:
            open_writers.discard(writer)
            writer.transport.abort()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context if secure else None)
    try:
        port: int = server.sockets[0].getsockname()[1]
        yield port
    finally:
        server.close()
        for writer in open_writers:
            writer.transport.abort()
