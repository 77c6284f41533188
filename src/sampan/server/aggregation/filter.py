"""Filter that proxies the requests for group versions of backends.

It runs after authentication, authorization and all other filters. Admission is the backend's task. The path is encoded
again from its authorized form, so that a backend cannot interpret it differently.

Source: kube-aggregator pkg/apiserver/handler_proxy.go, apimachinery pkg/util/proxy/upgradeaware.go (1.36).
"""

import logging
import ssl
from collections.abc import Awaitable
from dataclasses import replace
from urllib.parse import quote, urlencode

from sampan.core.errors import StatusError, unauthorized
from sampan.registry.webhook.services import ServiceError
from sampan.server.aggregation.api_service import ApiService
from sampan.server.aggregation.api_services import ApiServices, GroupVersion
from sampan.server.aggregation.backend import Backends, BadIdentity
from sampan.server.proxy.forward import Proxy
from sampan.server.proxy.headers import first
from sampan.server.proxy.target import ProxyTarget
from sampan.server.request import Filter, Handler, Request, Response
from sampan.server.status import not_found_page, text_response

_log = logging.getLogger("sampan.aggregation")

_SAFE = "/:@!$&'()*+,;=~-._"
_OPENAPI = "/openapi/v3/"
_REDIRECTED = "the backend attempted to redirect this request, which is not permitted"


def with_aggregation(
    api_services: ApiServices, backends: Backends, proxy: Proxy, *, reject_redirects: bool = True
) -> Filter:
    """Return the filter."""

    def wrap(handler: Handler) -> Handler:
        def filter_(request: Request) -> Awaitable[Response]:
            remote = api_services.remote()
            found = remote.get(_group_version(request)) if remote else None
            return handler(request) if found is None else aggregated(request, found)

        return filter_

    async def aggregated(request: Request, found: ApiService) -> Response:
        request.component = "aggregator"
        response = await _proxied(request, found, backends, proxy)
        if reject_redirects and 300 <= response.status <= 399 and first(response.headers, b"location"):
            if response.finished is not None:
                response.finished()
            return text_response(502, _REDIRECTED)
        return response

    return wrap


async def _proxied(request: Request, found: ApiService, backends: Backends, proxy: Proxy) -> Response:
    if not found.available:
        return _failed(request, 503, "service unavailable\n")
    path = _path(request.wire.path)
    if path is None:
        return not_found_page()
    try:
        target = _target(request, found, path, backends)
    except ServiceError as error:
        _log.warning("cannot resolve the Service of an APIService", extra={"name": found.name, "error": str(error)})
        return _failed(request, 503, "service unavailable\n")
    except (BadIdentity, OSError, ssl.SSLError) as error:
        return _failed(request, 500, f"{error}\n")
    try:
        return await proxy.forward(request, target)
    except StatusError as error:
        if error.code != 503:
            raise
        return _failed(request, 503, f"{error.message}\n")


def _failed(request: Request, status: int, text: str) -> Response:
    """Return the response to a request that cannot be sent to the backend."""
    request.terminated = True
    return text_response(status, text)


def _target(request: Request, found: ApiService, path: str, backends: Backends) -> ProxyTarget:
    if request.user is None:
        raise unauthorized()
    query = urlencode(sorted(request.wire.query.items()), doseq=True)
    target = backends.target(found, request.user, path, query)
    headers = {"x-forwarded-uri": path, "x-forwarded-proto": "https"}
    if request.headers.get("host"):
        headers["x-forwarded-host"] = request.headers["host"]
    if request.audit_id:
        headers["audit-id"] = request.audit_id
    return replace(target, headers=headers)


def _group_version(request: Request) -> GroupVersion:
    """Return the group version of a resource, discovery or OpenAPI path. For other paths, return one that does not
    exist.
    """
    info = request.info
    if info.is_resource:
        return (info.group, info.version)
    path = request.wire.path
    if path.startswith(_OPENAPI):
        path = path.removeprefix(_OPENAPI)
    parts = path.strip("/").split("/")
    if len(parts) == 3 and parts[0] == "apis":
        return (parts[1], parts[2])
    return ("", parts[1]) if len(parts) == 2 and parts[0] == "api" else ("", "")


def _path(path: str) -> str | None:
    """Return the path for the backend, or None if the backend could interpret it differently."""
    segments = path.strip("/").split("/")
    if not all(segment.strip(".") or len(segment) > 2 for segment in segments):
        return None
    return "/" + quote("/".join(segments), safe=_SAFE) + ("/" if path.endswith("/") else "")
