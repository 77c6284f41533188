"""Node server with a fake runtime, and its clients."""

import asyncio
import datetime as dt
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import websockets
from websockets.asyncio.client import ClientConnection

from sampan.client import Client
from sampan.core.tls.certificates import KeyPair, make_authority, make_client_certificate
from sampan.http.client.tls import ClientCertificate, load_certificate
from sampan.node.runtime import Runtime
from sampan.node.server.options import NodeServerOptions
from sampan.node.server.server import NodeServer
from sampan.node.server.usage import ReadVolumeStats, no_volume_stats
from sampan.node.views.pod import Pod
from tests.node.server.fakes import POD, FakeRuntime, hosted

_DAY = dt.timedelta(days=1)


@cache
def authority() -> KeyPair:
    """Authority for client certificates."""
    return make_authority("tests", dt.datetime.now(dt.UTC), _DAY)


def client_files(groups: Sequence[str] = ("system:masters",)) -> KeyPair:
    """Return a client's certificate."""
    return make_client_certificate(authority(), "tests", groups, dt.datetime.now(dt.UTC), _DAY)


def client_tls(groups: Sequence[str] | None = ("system:masters",)) -> ssl.SSLContext:
    """Return a TLS context that accepts every server. None: without a client certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if groups is not None:
        shown = client_files(groups)
        load_certificate(context, ClientCertificate(shown.certificate_pem(), shown.key_pem()))
    return context


@dataclass(slots=True)
class Node:
    """Server and its address."""

    server: NodeServer
    runtime: FakeRuntime
    tls: ssl.SSLContext = field(default_factory=client_tls)

    async def open(
        self, request: bytes, tls: ssl.SSLContext | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection and send data."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port, ssl=tls or self.tls)
        writer.write(request)
        return reader, writer

    async def get(
        self, target: str, *, method: str = "GET", tls: ssl.SSLContext | None = None, headers: str = ""
    ) -> tuple[int, bytes]:
        """Return code and body of a response."""
        head = f"{method} {target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n"
        reader, writer = await self.open(head.encode(), tls)
        try:
            top = await reader.readuntil(b"\r\n\r\n")
            body = await reader.read()
        finally:
            writer.transport.abort()
        code = int(top.split(b" ", 2)[1])
        return code, _unchunked(body) if b"transfer-encoding: chunked" in top else body

    def websocket(self, target: str, *protocols: str, **options: Any) -> "websockets.connect":
        """Open a WebSocket with the `websockets` library."""
        url = f"wss://127.0.0.1:{self.server.port}{target}"
        desired: Any = list(protocols) or None
        return websockets.connect(
            url, ssl=self.tls, subprotocols=desired, compression=None, proxy=None, max_size=None, **options
        )


def _unchunked(body: bytes) -> bytes:
    found = b""
    while True:
        length, body = body.split(b"\r\n", 1)
        if not int(length, 16):
            return found
        found, body = found + body[: int(length, 16)], body[int(length, 16) + 2 :]


@asynccontextmanager
async def node(
    *,
    client: Client | None = None,
    log_directory: Path | None = None,
    volume_stats: ReadVolumeStats = no_volume_stats,
) -> AsyncIterator[Node]:
    """Run a server until it is ready."""
    runtime = FakeRuntime()

    def find(namespace: str, name: str) -> tuple[Pod, Runtime] | None:
        return (POD, runtime) if (namespace, name) == ("default", "web") else None

    options = NodeServerOptions(
        "127.0.0.1",
        0,
        "node-1",
        client_ca=authority().certificate_pem().decode(),
        log_directory=log_directory,
        configuration={"port": 10250},
    )
    server = NodeServer(find, options, listing=lambda: hosted(runtime), client=client, volume_stats=volume_stats)
    running = asyncio.create_task(server.run())
    await server.ready()
    try:
        yield Node(server, runtime)
    finally:
        running.cancel()
        await asyncio.wait({running})


async def received(websocket: ClientConnection) -> dict[int, bytes]:
    """Return all data until the end, by channel."""
    found: dict[int, bytes] = {}
    async for message in websocket:
        assert isinstance(message, bytes)
        found[message[0]] = found.get(message[0], b"") + message[1:]
    return found
