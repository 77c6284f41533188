"""pods/log: output of a container, from its kubelet, as plain text or as messages of a WebSocket.

Source: kubernetes pkg/registry/core/pod/rest/log.go, pkg/registry/core/pod/strategy.go LogLocation,
pkg/apis/core/validation ValidatePodLogOptions, apiserver pkg/registry/generic/rest/{streamer,response_checker}.go,
pkg/endpoints/handlers/responsewriters/writers.go StreamObject, streaming pkg/httpstream/wsstream/stream.go (1.36).
"""

import base64
from dataclasses import replace
from urllib.parse import quote, urlencode

from sampan.core import errors
from sampan.core.errors import Reason, StatusError
from sampan.core.field import FieldError, Path, forbidden, invalid
from sampan.core.field import quote as go_quote
from sampan.core.gvk import GroupKind
from sampan.core.object import Object
from sampan.core.time import canonical_time
from sampan.server.proxy.exchange import Exchange, Outgoing
from sampan.server.proxy.target import ProxyTarget
from sampan.server.request import Request, Response
from sampan.server.verbs.connect.options import boolean, integer
from sampan.server.verbs.connect.pod_containers import container_of, node_of, pod_of
from sampan.server.verbs.scope import RequestScope
from sampan.server.websocket import accept, send_stream, wants_websocket
from sampan.wire.websocket import WebSocket

ERROR_BYTES_MAX = 50_000
"""Maximum number of bytes that are read from an error body of a kubelet."""
_BASE64 = "base64.binary.k8s.io"
_PROTOCOLS = ("", "binary.k8s.io", _BASE64)
_MESSAGE_BYTES = 2048
_FORWARDED = ("follow", "previous", "timestamps")
_OK = range(200, 207)
_MESSAGES = {
    401: (Reason.UNAUTHORIZED, "the server has asked for the client to provide credentials"),
    404: (Reason.NOT_FOUND, "the server could not find the requested resource"),
    405: (Reason.METHOD_NOT_ALLOWED, "the server does not allow this method on the requested resource"),
    409: (Reason.CONFLICT, "the server reported a conflict"),
    422: (Reason.INVALID, "the server rejected our request due to an error in our request"),
    429: (Reason.TOO_MANY_REQUESTS, "the server has received too many requests and has asked us to try again later"),
    503: (Reason.SERVICE_UNAVAILABLE, "the server is currently unable to handle the request"),
    504: (
        Reason.TIMEOUT,
        "the server was unable to return a response in the time allotted, but may still be processing the request",
    ),
}


async def get_log(scope: RequestScope) -> Response:
    """Handle GET pods/NAME/log. A Pod without a node has an empty log (204)."""
    request = scope.request
    params = _params(request)
    pod = await pod_of(scope, request.info.name)
    container = container_of(pod, request.wire.param("container"))
    if not node_of(pod):
        return Response(204, content_type="")
    target = _target(scope, pod, container, params)
    outgoing = Outgoing("GET", {"host": target.netloc, "accept-encoding": "identity"}, gone=request.wire.disconnected)
    exchange = await scope.shared.upstreams.kubelet_proxy.send(target, outgoing)
    status = exchange.response.status
    if status not in _OK:
        raise await _refusal(exchange, target, request.info.name)
    if wants_websocket(request):
        return _websocket(request, exchange)
    response = Response(200, content_type="text/plain", stream=exchange, patient=True)
    response.length = exchange.response.length
    response.finished = exchange.abandon
    return response


def _websocket(request: Request, exchange: Exchange) -> Response:
    async def serve(websocket: WebSocket) -> None:
        split = _base64_messages if websocket.protocol == _BASE64 else _binary_messages
        await websocket.send(*split(b""))  # shows the client that the connection is open
        try:
            await send_stream(websocket, exchange, split)
        except* ConnectionError:
            pass  # the kubelet disconnected: the log ends here

    try:
        response = accept(request, serve, _PROTOCOLS)
    except StatusError:
        exchange.abandon()
        raise
    response.finished = exchange.abandon
    response.patient = True
    return response


def _binary_messages(data: bytes) -> list[str | bytes]:
    return [data[at : at + _MESSAGE_BYTES] for at in range(0, len(data) or 1, _MESSAGE_BYTES)]


def _base64_messages(data: bytes) -> list[str | bytes]:
    return [
        base64.b64encode(data[at : at + _MESSAGE_BYTES]).decode() for at in range(0, len(data) or 1, _MESSAGE_BYTES)
    ]


def _target(scope: RequestScope, pod: Object, container: str, params: dict[str, str]) -> ProxyTarget:
    kubelet = scope.shared.upstreams.kubelets.of(node_of(pod))
    insecure = boolean(scope.request, "insecureSkipTLSVerifyBackend")
    metadata = pod["metadata"]
    segments = ("containerLogs", metadata["namespace"], metadata["name"], container)
    path = "".join(f"/{quote(segment, safe='')}" for segment in segments)
    tls = kubelet.insecure_tls if insecure else kubelet.tls
    query = urlencode(sorted(params.items()))
    where = ProxyTarget(kubelet.host, kubelet.port, path, query, tls, way=kubelet.way)

    def failure(text: str) -> StatusError:
        return StatusError(Reason.UNKNOWN, 500, f'Get "{where.url}": {text}')

    return replace(where, failure=failure)


def _params(request: Request) -> dict[str, str]:
    """Return the parameters for the kubelet. Raises `StatusError`: 400 for bad syntax, 422 for invalid values."""
    numbers = {name: integer(request, name) for name in ("limitBytes", "sinceSeconds", "tailLines")}
    since_time = _time(request.wire.param("sinceTime")) if "sinceTime" in request.wire.query else None
    faults = _faults(numbers, since_time, "stream" in request.wire.query)
    if faults:
        raise errors.invalid(GroupKind("", "PodLogOptions"), request.info.name, faults)
    params = {name: "true" for name in _FORWARDED if boolean(request, name)}
    params |= {name: str(number) for name, number in numbers.items() if number is not None}
    if since_time is not None:
        params["sinceTime"] = since_time
    return params


def _time(text: str) -> str:
    if text in ("", "null"):
        return "0001-01-01T00:00:00Z"
    try:
        return canonical_time(text)
    except ValueError as error:
        raise errors.bad_request(str(error)) from None


def _faults(numbers: dict[str, int | None], since_time: str | None, stream: bool) -> list[FieldError]:
    faults = []
    tail, limit, since = numbers["tailLines"], numbers["limitBytes"], numbers["sinceSeconds"]
    if tail is not None and tail < 0:
        faults.append(invalid(Path("tailLines"), tail, "must be greater than or equal to 0"))
    if limit is not None and limit < 1:
        faults.append(invalid(Path("limitBytes"), limit, "must be greater than 0"))
    if since is not None and since_time is not None:
        faults.append(forbidden(Path("[]"), "at most one of `sinceTime` or `sinceSeconds` may be specified"))
    elif since is not None and since < 1:
        faults.append(invalid(Path("sinceSeconds"), since, "must be greater than 0"))
    if stream:
        faults.append(forbidden(Path("stream"), "may not be specified"))
    return faults


async def _refusal(exchange: Exchange, target: ProxyTarget, name: str) -> StatusError:
    """Return the error for the client after an error of the kubelet."""
    status = exchange.response.status
    if 300 <= status < 400:
        exchange.abandon()
        return target.failure("redirects forbidden")
    held = bytearray()
    try:
        async for piece in exchange:
            held += piece
            if len(held) >= ERROR_BYTES_MAX:
                break
    except ConnectionError as error:
        return errors.internal_error(str(error))
    finally:
        exchange.abandon()
    text = bytes(held[:ERROR_BYTES_MAX]).decode("utf-8", "replace")
    if status == 500:
        return errors.internal_error(text)
    if status == 400:
        return errors.bad_request(text)
    return _generic(status, text, name)


def _generic(status: int, text: str, name: str) -> StatusError:
    """Return the error of a status code. Source: apimachinery pkg/api/errors NewGenericServerResponse (1.36)."""
    reason, message = _MESSAGES.get(status, (Reason.UNKNOWN, ""))
    if status == 403:
        reason, message = Reason.FORBIDDEN, text
    elif status >= 500 and not message:
        reason = Reason.INTERNAL_ERROR
        message = f"an error on the server ({go_quote(text)}) has prevented the request from succeeding"
    elif not message:
        message = f"the server responded with the status code {status} but did not return more information"
    details = {"name": name, "kind": "pods/log"}
    return StatusError(reason, status, f"{message} ( pods/log {name})", details=details)
