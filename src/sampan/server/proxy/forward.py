"""`Proxy.forward`: send a request to a `ProxyTarget` and return its response.

The contract for targets:

- Any method, body and response, of any size, is streamed in both directions. Nothing is compressed or decompressed.
  HEAD, 204 and 304 have no body. Trailers and interim responses are dropped.
- Hop-by-hop headers, those that `Connection` lists, and credentials for this server are not forwarded. The client's
  address is appended to `X-Forwarded-For`.
- Cookies of this server's sessions are not forwarded, and an upstream cannot set them. With `sandboxed`, browsers run
  its pages in a sandbox (`browsers.py`).
- With `ProxyTarget.prefix`, `X-Forwarded-Uri`, `-Host` and `-Proto` are set too, and `Location` and links in HTML are
  rewritten (`rewrite.py`).
- An upgrade (any protocol, HTTP/1.1 only) uses a separate connection. After a 101, bytes are copied in both directions
  until either side ends. Any other response is returned to the client unchanged.
- If the upstream cannot be reached, or disconnects before the head of the response, `ProxyTarget.failure` is
  raised. If it disconnects later, the connection of the client is cut. If the client disconnects, that of the upstream
  is cut.

Concurrency: see `exchange.py` and `pipe.py`. While `run()` is not running, no idle connections are kept.

Source: apimachinery pkg/util/proxy/{upgradeaware,transport}.go (1.36).
"""

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import quote

from sampan.core.errors import Reason, StatusError, bad_request
from sampan.http.client import ConnectionPool, HttpClient, HttpClientSettings, Tunnel
from sampan.http.client.client import DialledOrigin
from sampan.server.proxy.browsers import SANDBOX, harmless, is_browser
from sampan.server.proxy.exchange import CONNECT_TIMEOUT_S, Exchange, Outgoing, begin
from sampan.server.proxy.headers import first, forwarded, forwarded_response, switched, upgrade_of
from sampan.server.proxy.pipe import pipe
from sampan.server.proxy.rewrite import Rewriting, rewritten
from sampan.server.proxy.target import ProxyTarget
from sampan.server.request import Request, Response
from sampan.wire.http1 import BODILESS
from sampan.wire.websocket_frames import FrameCutter

_SETTINGS = HttpClientSettings(
    connections_max=None,
    idle_max=256,
    idle_per_server_max=8,
    idle_timeout_s=90.0,
    buffer_bytes_max=256 << 10,
    compression=False,
    decompression=False,
)
_BODILESS_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "DELETE"})


class Proxy:
    """Reverse proxy with a pool of idle connections. `run` must be running."""

    def __init__(self, *, connect_timeout_s: float = CONNECT_TIMEOUT_S, sandboxed: bool = True) -> None:
        """`sandboxed`: browsers run proxied pages in a sandbox, also on the port of the API."""
        self._client = HttpClient(_SETTINGS)
        self._connect_timeout_s = connect_timeout_s
        self._sandboxed = sandboxed

    async def run(self) -> None:
        """Keep idle connections until cancelled."""
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self.pool.stop_keeping()

    @property
    def pool(self) -> ConnectionPool[DialledOrigin]:
        """Return the pool of connections."""
        return self._client.pool

    async def send(self, target: ProxyTarget, outgoing: Outgoing) -> Exchange:
        """Send a request of this server. Raises the error that `ProxyTarget.failure` returns."""
        return await begin(target, outgoing, self._client, self._connect_timeout_s)

    async def forward(self, request: Request, target: ProxyTarget) -> Response:
        """Return the response of the upstream, as the module describes. Raises `StatusError`."""
        desired = upgrade_of(request.headers)
        if target.upgrade_only and not desired:
            raise bad_request("Upgrade request required")
        if not target.path and not desired and request.wire.method in ("GET", "HEAD"):
            return _with_slash(request)
        headers = forwarded(request, target)
        if desired:
            headers |= {"connection": "Upgrade", "upgrade": desired}
        body, framing = await _body(request)
        outgoing = Outgoing(
            request.wire.method,
            headers | framing,
            body,
            chunked="transfer-encoding" in framing,
            gone=request.wire.disconnected,
            single=bool(desired),
        )
        exchange = await self.send(target, outgoing)
        linked = bool(request.shown_below)  # all responses of a link have the sandbox already
        sandboxed = (self._sandboxed or request.on_page_port) and not linked
        to_browser = linked or (sandboxed and is_browser(request.headers))
        exchange.response.fields = harmless(exchange.response.fields, to_browser=to_browser, linked=linked)
        if exchange.response.status == 101:
            return _switched(exchange, desired)
        if desired and target.upgrade_only and exchange.response.status < 400:
            exchange.abandon()
            text = f"invalid upgrade response: status code {exchange.response.status}"
            raise StatusError(Reason.UNKNOWN, 500, text)
        response = await _passed_on(request, target, exchange)
        if sandboxed:
            response.headers.append(SANDBOX)
        return response


async def _body(request: Request) -> tuple[AsyncIterator[bytes] | None, dict[str, str]]:
    """Return the body to send (None if there is none) and the headers that frame it.

    Clients of HTTP/2 may omit the length, so the first piece decides whether there is a body.

    Raises `StatusError` 400 if the length is not a number, because the upstream might parse it differently.
    """
    declared = request.headers.get("content-length", "")
    if request.wire.stream_body is None or declared == "0":
        return None, _no_body(request.wire.method)
    if declared and not (declared.isascii() and declared.isdigit()):
        raise bad_request("the Content-Length is no number")
    pieces = request.wire.stream_body()
    if declared:
        return pieces, {"content-length": declared}
    if "transfer-encoding" in request.headers:
        return pieces, {"transfer-encoding": "chunked"}
    beginning = await anext(pieces, b"")
    if not beginning:
        return None, _no_body(request.wire.method)
    return _chained(beginning, pieces), {"transfer-encoding": "chunked"}


def _no_body(method: str) -> dict[str, str]:
    return {} if method in _BODILESS_METHODS else {"content-length": "0"}


async def _chained(beginning: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield beginning
    async for piece in pieces:
        yield piece


def _with_slash(request: Request) -> Response:
    """Return a redirect to the path with a slash. Without it, relative links of the upstream would be wrong."""
    query = f"?{request.wire.query_string}" if request.wire.query_string else ""
    location = (request.wire.raw_path or quote(request.wire.path)) + "/" + query
    return Response(301, content_type="", headers=[(b"Location", location.encode("latin-1", "replace"))])


def _switched(exchange: Exchange, desired: str) -> Response:
    """Return the 101 response of the upstream. Its `takeover` copies bytes in both directions."""

    async def takeover(tunnel: Tunnel) -> None:
        cut = FrameCutter().cut if desired.lower() == "websocket" else None
        await pipe(tunnel, exchange.switch(), cut)

    response = Response(101, content_type="", headers=switched(exchange.response.fields), takeover=takeover)
    response.finished = exchange.abandon
    response.patient = True
    return response


async def _passed_on(request: Request, target: ProxyTarget, exchange: Exchange) -> Response:
    reply = exchange.response
    content_type, headers = forwarded_response(reply.fields)
    response = Response(reply.status, content_type=content_type, headers=headers, length=reply.length)
    response.patient = True
    if request.wire.method == "HEAD" or reply.status in BODILESS:
        await exchange.aclose()
    else:
        response.stream = exchange
        response.finished = exchange.abandon
    if target.prefix is None:
        return response
    rewriting = Rewriting(target, request.headers.get("host", ""), request.shown_below or target.prefix)
    location = first(reply.fields, b"location")
    if location:
        response.headers = [header for header in headers if header[0].lower() != b"location"]
        response.headers.append((b"Location", rewriting.url(location).encode("latin-1", "replace")))
        return response
    if response.stream is not None and content_type.split(";")[0].strip() == "text/html":
        return await rewritten(response, rewriting)
    return response
