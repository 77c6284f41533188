"""`StockFront`: a server that behaves as kube-apiserver where Sampan differs, in front of a server of Sampan.

Concurrency: a thread runs its event loop. Other threads use the address, `disconnect` and `connect`.
"""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl, urlencode

import msgspec
import orjson

from sampan.client import Config
from sampan.core.errors import StatusError
from sampan.dashboard_proxy import ClusterConnection
from sampan.dashboard_proxy.forward import ClusterForwarder
from sampan.server.connections.listener import HttpServer
from sampan.server.request import Request, Response
from sampan.server.status import not_found_page, status_response

_OWN_PARAMETERS = "sampan.dev/"
_OWN_PATHS = ("/apis/sampan.dev", "/debug/controllers", "/dashboard")
_PRETTY = ("Mozilla/", "curl/", "Wget/")
"""Beginnings of user agents that get indented JSON. Source: apiserver responsewriters/writers.go (1.36)."""


class StockFront:
    """Server with the shapes of kube-apiserver. It has no history, no traces and no reviews of namespaces."""

    def __init__(self, server: Config) -> None:
        """`server` is the one behind it."""
        self._server = server
        self.address = ""
        self._lost = False
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="stock front")
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._end: asyncio.Event
        self._http: HttpServer
        self._forwarder: ClusterForwarder

    def start(self) -> None:
        """Start, and wait until it serves."""
        self._thread.start()
        assert self._ready.wait(60)

    def stop(self) -> None:
        """End it, and wait for the end."""
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    def disconnect(self) -> None:
        """Close all connections, and those of new requests, until `connect`."""
        self._lost = True
        asyncio.run_coroutine_threadsafe(self._http.close_streams(), self._loop).result(30)

    def connect(self) -> None:
        """Respond to requests again."""
        self._lost = False

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        connection = ClusterConnection.of(self._server)
        self._forwarder = ClusterForwarder(connection)
        self._http = HttpServer(self._handle)
        sock = socket.socket()
        sock.bind(("127.0.0.1", 0))
        running = asyncio.ensure_future(self._http.run())
        await self._http.start(sock, None)
        self.address = f"http://127.0.0.1:{sock.getsockname()[1]}"
        self._ready.set()
        await self._end.wait()
        running.cancel()
        self._http.stop_listening()
        await self._http.close_streams()
        await self._http.drain(5)
        await connection.aclose()

    async def _handle(self, request: Request) -> Response:
        wire = request.wire
        if self._lost:
            return Response(lost=True)
        if wire.path.startswith(_OWN_PATHS):
            return not_found_page()
        pairs = parse_qsl(wire.query_string, keep_blank_values=True)
        query = urlencode([pair for pair in pairs if not pair[0].startswith(_OWN_PARAMETERS)])
        request.wire = msgspec.structs.replace(wire, query_string=query)
        try:
            response = await self._forwarder.forward(request)
        except StatusError as error:
            return status_response(error, request)
        return await _pretty(request, response)


async def _pretty(request: Request, response: Response) -> Response:
    """Indent the JSON for browsers, as kube-apiserver does: such a watch has no line for each event."""
    agent, stream = request.headers.get("user-agent", ""), response.stream
    if stream is None or not agent.startswith(_PRETTY) or "json" not in response.content_type:
        return response
    text = b"".join([chunk async for chunk in stream])
    response.stream, response.length = None, None
    response.body = orjson.dumps(orjson.loads(text), option=orjson.OPT_INDENT_2)
    return response


@contextmanager
def stock_front(server: Config) -> Iterator[StockFront]:
    """Run a front in the block."""
    front = StockFront(server)
    front.start()
    try:
        yield front
    finally:
        front.stop()
