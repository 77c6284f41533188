"""Labels (verb, resource, scope, …) with which metrics count a request.

Source: apiserver pkg/endpoints/metrics/metrics.go, pkg/endpoints/installer.go, apiextensions-apiserver
pkg/apiserver/customresource_handler.go (1.36).
"""

from typing import Final

from sampan.patch.media_types import APPLY_PATCH
from sampan.server.request import OWN, Request

Labels = tuple[str, ...]

_CONNECTED: Final = frozenset({"log", "exec", "portforward", "attach", "proxy"})
_METHODS: Final = frozenset({"DELETE", "GET", "LIST", "PATCH", "POST", "PUT"})
_READS: Final = frozenset({"GET", "HEAD"})
_NOT_WATCHED: Final = frozenset({"0", "false"})


def request_labels(request: Request) -> Labels:
    """Return verb, dry_run, group, version, resource, subresource, scope and component of a served request."""
    info, counted = request.info, request.counted
    if not info.is_resource:
        known = (counted.group, counted.version, counted.resource, counted.subresource, "", counted.component)
        return (_verb(request, ""), _dry_run(request), *known)
    named = info.name if counted.by_request_info else len(info.parts) > 1
    scope = "resource" if named or info.verb == "create" else "namespace" if info.namespace else "cluster"
    verb = "WATCH" if info.verb == "watch" else _verb(request, scope)
    return (verb, _dry_run(request), info.group, info.version, info.resource, info.subresource, scope, OWN)


def labels_by_target(request: Request) -> Labels:
    """Return the labels of a request of which only the target is known, such as an open or terminated stream.

    For paths outside resources, `subresource` is the path.
    """
    info = request.info
    scope = _scope_of_target(request)
    known = (info.group, info.version, info.resource, info.subresource) if info.is_resource else ("", "", "", info.path)
    return (_verb(request, scope), _dry_run(request), *known, scope, OWN)


def labels_of_refused(request: Request) -> Labels:
    """Return the labels of a request that was refused because of overload."""
    labels = labels_by_target(request)
    return labels if request.info.is_resource else (*labels[:5], "", *labels[6:])


def is_sized(request: Request) -> bool:
    """Return True if the size of the response is measured: for reads, for lists with `watch`, and outside resources."""
    info = request.info
    if not info.is_resource:
        return True
    if info.verb in ("get", "list"):
        return info.subresource not in _CONNECTED
    return info.verb == "watch" and not request.counted.by_request_info and "watch" in request.wire.query


def _scope_of_target(request: Request) -> str:
    info = request.info
    if info.name or info.verb == "create":
        return "resource"
    return "namespace" if info.namespace else "cluster" if info.is_resource else ""


def _verb(request: Request, scope: str) -> str:
    method = request.wire.method
    if request.info.is_resource and request.info.subresource in _CONNECTED:
        return "CONNECT"
    if method in _READS:
        watched = request.wire.query.get("watch") if method == "GET" else None
        if watched and watched[0].lower() not in _NOT_WATCHED:
            return "WATCH"
        return "GET" if scope in ("resource", "") else "LIST"
    if method == "PATCH" and request.headers.get("content-type") == APPLY_PATCH:
        return "APPLY"
    return method if method in _METHODS else "other"


def _dry_run(request: Request) -> str:
    values = request.wire.query.get("dryRun")
    if not values:
        return ""
    return "All" if all(value == "All" for value in values) else "invalid"
