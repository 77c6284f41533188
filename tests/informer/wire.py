"""Real HTTP server on loopback in front of a `FakeServer`. It breaks connections by a script."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

from sampan.client.client import Client
from sampan.client.errors import ApiError
from sampan.client.options import ListOptions
from sampan.http.client.address import ServerAddress
from sampan.http.client.transport import HttpTransport
from sampan.wire import json
from tests.informer.server import FakeServer

Fault = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Answers a request for a watch in place of the server; the connection is closed behind it."""

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """A chunk of a body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def plain(code: int, body: bytes, content_type: str = "application/json") -> bytes:
    """A whole answer."""
    head = f"HTTP/1.1 {code} Oh\r\ncontent-type: {content_type}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def sends(*parts: bytes) -> Fault:
    """Sends this and closes the connection."""

    async def fault(writer: asyncio.StreamWriter) -> None:
        writer.write(b"".join(parts))
        await writer.drain()

    return fault


async def falls_silent(writer: asyncio.StreamWriter) -> None:
    """Sends the head and then nothing, until the other side gives up."""
    writer.write(HEAD)
    await writer.drain()
    await asyncio.sleep(3600)


class LoopbackServer:
    """Speaks HTTP for a `FakeServer`. `faults` are for the next watches, one each."""

    def __init__(self, server: FakeServer) -> None:
        self.server = server
        self.faults: deque[Fault] = deque()
        self.requests = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.requests += 1
                options, watches = options_of(head.split(b" ")[1].decode())
                if watches and self.faults:
                    await self.faults.popleft()(writer)
                    return
                await self._response(options, watches, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _response(self, options: ListOptions, watches: bool, writer: asyncio.StreamWriter) -> None:
        try:
            if watches:
                await self._watch(options, writer)
                return
            page = await self.server.list(options)
        except ApiError as error:
            writer.write(plain(error.code, status_body(error)))
            return
        metadata = json.encode({"resourceVersion": page.resource_version, "continue": page.continue_token})
        items = b",".join(page.items)
        writer.write(plain(200, b'{"kind":"WidgetList","metadata":%b,"items":[%b]}' % (metadata, items)))

    async def _watch(self, options: ListOptions, writer: asyncio.StreamWriter) -> None:
        batches = self.server.watch(options)
        try:
            batch = await anext(batches, None)
            writer.write(HEAD)
            while batch is not None:
                for event in batch:
                    writer.write(chunk(b'{"type":"%b","object":%b}\n' % (event.type.encode(), bytes(event.object))))
                await writer.drain()
                batch = await anext(batches, None)
            writer.write(b"0\r\n\r\n")
        finally:
            await batches.aclose()


def status_body(error: ApiError) -> bytes:
    """The `Status` of an error."""
    return json.encode({"kind": "Status", "code": error.code, "reason": str(error.reason), "message": error.message})


def options_of(target: str) -> tuple[ListOptions, bool]:
    """Return the options of a list or watch, and True if it is a watch."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}
    options = ListOptions(
        resource_version=query.get("resourceVersion"),
        limit=int(query.get("limit", "0")),
        continue_token=query.get("continue", ""),
        timeout_seconds=int(query["timeoutSeconds"]) if "timeoutSeconds" in query else None,
        send_initial_events=True if query.get("sendInitialEvents") == "true" else None,
    )
    return options, query.get("watch") == "true"


@asynccontextmanager
async def served(server: FakeServer) -> AsyncGenerator[tuple[LoopbackServer, Client], None]:
    """Serve on a free port, and return a client."""
    loopback = LoopbackServer(server)
    listener = await asyncio.start_server(loopback.serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    try:
        async with Client(HttpTransport(ServerAddress("http", "127.0.0.1", port)), namespace="") as client:
            yield loopback, client
    finally:
        listener.close()
        # Connections whose client has gone end by themselves.
        await asyncio.sleep(0)
