"""`ClusterForwarder`: passes a request of the page to the cluster, and the response back.

Requests have a body of at most `BODY_BYTES_MAX`. Responses are streams: at most the buffer of a connection waits
because a browser does not read. At most `REQUESTS_MAX` requests run at once. Errors of the cluster are passed on, with
these exceptions:

- 401 becomes 503: the credentials of the kubeconfig are refused, and the page's session is still valid.
- A redirect becomes 500, and is not followed: it could lead the credentials to another server.
- A cluster that cannot be reached is a 502, after which the page tries again.
"""

from collections.abc import AsyncIterator
from typing import Final

from sampan.client import CredentialError, TransportError
from sampan.client.transport import HttpRequest, HttpResponse
from sampan.core.errors import (
    Reason,
    StatusError,
    bad_request,
    forbidden,
    method_not_allowed,
    service_unavailable,
    too_many_requests,
)
from sampan.core.gvk import GroupResource
from sampan.dashboard_proxy.connection import ClusterConnection, Switched
from sampan.dashboard_proxy.headers import check_user, switched, to_browser, to_cluster
from sampan.http.tunnel import Tunnel
from sampan.server.proxy.pipe import pipe
from sampan.server.request import Request, Response
from sampan.server.websocket import wants_websocket
from sampan.wire.http1 import BODILESS

BODY_BYTES_MAX: Final = 4 << 20
"""Maximum size of a request. An API server accepts 3 MiB."""
ERROR_BYTES_MAX: Final = 256 << 10
"""Maximum size of an error of the cluster."""
REQUESTS_MAX: Final = 1000
HEAD_TIMEOUT_S: Final = 65.0
"""Time limit for the begin of a response. An API server ends requests after 60 seconds itself."""
_FOREIGN: Final = "cluster"
"""Value of `Request.component`: the lines of another server are verified before the stream passes them on."""
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_METHODS: Final = _WITH_BODY | {"GET", "HEAD"}
_REQUESTS: Final = GroupResource("", "requests")


class ClusterForwarder:
    """Passes requests on, with a bound of those that run."""

    def __init__(self, connection: ClusterConnection) -> None:
        self._connection = connection
        self._running = 0

    async def forward(self, request: Request) -> Response:
        """Return the response of the cluster. **Raises** `StatusError`."""
        websocket = _checked(request)
        if self._running >= REQUESTS_MAX:
            raise too_many_requests(f"{REQUESTS_MAX} requests to the cluster run already; close a tab", 1)
        self._running += 1
        try:
            reply = await self._sent(request, websocket=websocket)
            response = await self._response(request, reply)
        except BaseException:
            self._running -= 1
            raise
        response.at_end(self._ended)
        return response

    def _ended(self) -> None:
        self._running -= 1

    async def _sent(self, request: Request, *, websocket: bool) -> HttpResponse:
        wire = request.wire
        body = await wire.read_body(BODY_BYTES_MAX) if wire.method in _WITH_BODY else b""
        headers = to_cluster(request.headers, websocket=websocket)
        timeout_s = None if wire.long_running and not websocket else HEAD_TIMEOUT_S
        outgoing = HttpRequest(wire.method, wire.raw_target, headers, body, timeout_s=timeout_s, stream=True)
        return await send(self._connection, outgoing)

    async def _response(self, request: Request, reply: HttpResponse) -> Response:
        """Return the response to a reply, which is closed with it."""
        request.component = _FOREIGN
        if isinstance(reply, Switched):
            return _switched(reply)
        if reply.status >= 300 and reply.status != 304:
            return await self._error(reply)
        headers = to_browser(reply.headers)
        length = reply.headers.get("content-length", "")
        content_type = reply.headers.get("content-type", "")
        response = Response(reply.status, b"", content_type, headers)
        if request.wire.method == "HEAD" or reply.status in BODILESS:
            await reply.aclose()
            return response
        response.length = int(length) if length.isascii() and length.isdigit() else None
        response.stream = ReplyBody(reply)
        response.finite = not request.wire.long_running
        response.patient = request.info.subresource == "log"
        return response

    async def _error(self, reply: HttpResponse) -> Response:
        """Return an error of the cluster. **Raises** `StatusError` for those that a browser must not get."""
        body = await _bounded(reply)
        if reply.status < 400:
            text = f"the cluster redirects to {reply.headers.get('location', 'another address')[:200]!r}, which is not"
            raise StatusError(Reason.UNKNOWN, 500, f"{text} followed: correct the server in the kubeconfig")
        if reply.status == 401:
            raise _refused(self._connection, "the cluster refuses the credentials")
        return Response(reply.status, body, reply.headers.get("content-type", ""), to_browser(reply.headers))


async def send(connection: ClusterConnection, outgoing: HttpRequest) -> HttpResponse:
    """Send a request to the cluster. **Raises** `StatusError`: 400, 502, 503 without credentials."""
    try:
        return await connection.send(outgoing)
    except CredentialError as error:
        raise _refused(connection, str(error)) from error
    except TransportError as error:
        raise unreachable(connection, error) from error
    except ValueError as error:
        raise bad_request(str(error)) from error


def unreachable(connection: ClusterConnection, error: TransportError) -> StatusError:
    """Return the error of a request without a response."""
    return StatusError(Reason.UNKNOWN, 502, f"cannot reach the cluster of context {connection.name!r}: {error}")


def _refused(connection: ClusterConnection, cause: str) -> StatusError:
    remedy = f"renew those of context {connection.name!r}, for example by a login with your provider's tool"
    return service_unavailable(f"{cause}: {remedy}")


class ReplyBody:
    """Body of a reply, read as the browser reads it."""

    def __init__(self, reply: HttpResponse) -> None:
        self._reply = reply
        self._chunks = reply.chunks()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        """Return the next piece. **Raises** `ConnectionResetError` if the cluster disconnects."""
        try:
            return await anext(self._chunks)
        except TransportError as error:
            raise ConnectionResetError(f"the cluster disconnected: {error}") from error

    async def aclose(self) -> None:
        """Close the connection, unless the whole body was read."""
        await self._reply.aclose()


def _checked(request: Request) -> bool:
    """Return True for a WebSocket. **Raises** `StatusError` for a request that is not passed on."""
    check_user(request.headers)
    if request.wire.method not in _METHODS:
        raise method_not_allowed()
    if any(part in (".", "..") for part in request.wire.path.split("/")):
        raise bad_request("a path must not contain the segments . and ..")
    if "proxy" in (request.info.verb, request.info.subresource):
        text = "`sampan dashboard` passes nothing to Pods, Services and nodes: use kubectl port-forward"
        raise forbidden(_REQUESTS, "", text)
    if "upgrade" in request.headers and not wants_websocket(request):
        raise bad_request("the only protocol to upgrade to is WebSocket")
    return wants_websocket(request)


async def _bounded(reply: HttpResponse) -> bytes:
    body = bytearray()
    try:
        async for chunk in reply.chunks():
            body += chunk
            if len(body) > ERROR_BYTES_MAX:
                raise StatusError(Reason.UNKNOWN, reply.status, "the cluster sent an error that is too long")
    except TransportError as error:
        raise StatusError(Reason.UNKNOWN, 502, f"the cluster disconnected: {error}") from error
    finally:
        await reply.aclose()
    return bytes(body)


def _switched(reply: Switched) -> Response:
    async def takeover(tunnel: Tunnel) -> None:
        await pipe(tunnel, reply.switch())

    response = Response(101, content_type="", headers=switched(reply.headers), takeover=takeover)
    response.finished = reply.close
    response.patient = True
    return response
