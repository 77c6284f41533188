"""Router of resource requests: finds the endpoint of a path, and the verb of a method and subresource.

Source: apiserver pkg/endpoints/installer.go, apiextensions customresource_handler.go (1.36).
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from sampan.core import errors
from sampan.core.event_loop.offload import begin_work
from sampan.core.field import TooManyFaults, begin_budget
from sampan.registry.cluster import Cluster
from sampan.registry.definition import ResourceDefinition, builtin_groups
from sampan.registry.endpoint import Endpoint
from sampan.server.admission.chain import AdmissionChain
from sampan.server.media import media_of
from sampan.server.request import BY_REQUEST_INFO, BY_ROUTE, NOT_COUNTED, Handler, Request, Response
from sampan.server.status import not_found_page, not_produced
from sampan.server.trace.handle import PARAMETER as TRACE
from sampan.server.trace.handle import traced
from sampan.server.verbs.connect.subresources import CONNECTIONS
from sampan.server.verbs.create import create
from sampan.server.verbs.delete import delete, delete_collection
from sampan.server.verbs.get import get
from sampan.server.verbs.history.history import history
from sampan.server.verbs.history.options import PARAMETER as HISTORY
from sampan.server.verbs.list import list_objects
from sampan.server.verbs.patch import patch, patch_type_of
from sampan.server.verbs.scale import get_scale, patch_scale, update_scale
from sampan.server.verbs.scope import RequestScope, Shared, context_of
from sampan.server.verbs.subresources import SUBRESOURCES, VIRTUAL
from sampan.server.verbs.update import update
from sampan.server.verbs.watch.websocket import watch
from sampan.server.verbs.write.authorize_create import check_not_terminating
from sampan.storage.records import CacheReset
from sampan.storage.store import FutureRevision
from sampan.wire.negotiation import parse_accept

Verb = Callable[[RequestScope], Awaitable[Response]]


class Route(NamedTuple):
    """Verb that serves a request."""

    verb: Verb
    negotiates: bool
    """True if the response has the media type that the client accepts. A watch or a connection decides that itself."""


_VERBS: dict[str, Verb] = {
    "get": get,
    "list": list_objects,
    "watch": watch,
    "create": create,
    "update": update,
    "patch": patch,
    "delete": delete,
    "deletecollection": delete_collection,
}
_STATUS: dict[str, Verb] = {"get": get, "update": update, "patch": patch}
_SCALE: dict[str, Verb] = {"get": get_scale, "update": update_scale, "patch": patch_scale}
_SPANS = {name: name.capitalize() for name in _VERBS} | {"deletecollection": "Delete", "proxy": "Proxy"}
_STREAMED = ("application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")
_READS: dict[str, Verb] = {"get": get, "list": list_objects, "watch": watch}
"""Reads of stored objects, which may request their history instead."""
_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


def resource_handler(cluster: Cluster, chain: AdmissionChain, shared: Shared) -> Handler:
    """Return the innermost handler, which serves every resource of a cluster."""
    groups = builtin_groups(cluster.registry.definitions())

    async def handle(request: Request) -> Response:
        info = request.info
        if not request.wire.path.startswith("/apis/" if info.group else "/api/"):
            return not_found_page()  # the path has too many segments
        endpoint = cluster.endpoint(info.group, info.version, info.resource, info.subresource)
        route = None if endpoint is None else route_of(endpoint, request)
        if endpoint is None or route is None:
            if info.group in groups:
                raise errors.no_such_resource()
            return not_found_page()
        verb, negotiates = route
        if HISTORY in request.wire.query and info.verb in _READS and not info.subresource:
            if verb not in _READS.values():
                raise errors.bad_request(f"{info.resource} have no history: they are not stored")
            verb, negotiates = history, False
        if info.verb == "create":
            check_not_terminating(endpoint, info.name)
        request.counted = BY_REQUEST_INFO if endpoint.dialect.metrics_use_request_info else BY_ROUTE
        warning = endpoint.version.deprecation_warning
        if warning:
            request.warnings.append(warning)
            shared.deprecated.add((info.group, info.version, info.resource, info.subresource))
        if negotiates:
            _check_accepted(request, endpoint)
        scope = RequestScope(request, endpoint, chain, cluster, shared, context_of(request, endpoint))
        begin_work(shared.offload)
        begin_budget()
        try:
            if TRACE in request.wire.query:
                verb = traced
            exported = request.span is not None and request.span.exported is not None
            response = await (_response_in_span(verb, scope) if exported else verb(scope))
        except TooManyFaults as error:
            raise errors.invalid(endpoint.definition.stored_kind, info.name, error.faults) from None
        except (CacheReset, FutureRevision):
            if not endpoint.store.cache.newest.retired:
                raise
            return not_found_page()  # its CRD was deleted while the request was in progress
        if info.verb in _WRITES:
            await cluster.settle(info.group, info.resource)
        return response

    return handle


def _check_accepted(request: Request, endpoint: Endpoint) -> None:
    """Check before any write that the client accepts a representation of the response. **Raises** 406.

    The router accepts each served media type, even with parameters that are not supported. Unlike go-restful, it
    accepts any subtype of a served type.
    """
    info, dialect = request.info, endpoint.dialect
    try:
        media_of(request, dialect.media_types)
    except errors.StatusError:
        accept = request.headers["accept"]
        known = any(f"{clause.type}/{clause.subtype}" in dialect.media_types for clause in parse_accept(accept))
        if known or not dialect.router_checks_accept:
            raise
        request.counted = NOT_COUNTED
        raise not_produced(", ".join(dialect.media_types + (_STREAMED if info.verb == "list" else ()))) from None


async def _response_in_span(verb: Verb, scope: RequestScope) -> Response:
    """Return the response of the verb, in a part of the request's span."""
    span, info = scope.request.begin_span(), scope.request.info
    with span.part(_SPANS[info.verb], _span_attributes(scope.request)) as part:
        scope.request.span = part
        try:
            return await verb(scope)
        finally:
            scope.request.span = span


def _span_attributes(request: Request) -> dict[str, str]:
    """Return the attributes of the span. Source: apiserver pkg/endpoints/handlers/trace_util.go (1.36)."""
    info = request.info
    whole = "resource" if info.name or info.verb == "create" else "namespace" if info.namespace else "cluster"
    return {
        "accept": request.headers.get("accept", ""),
        "audit-id": request.audit_id,
        "client": request.wire.client_address,
        "api-group": info.group,
        "api-version": info.version,
        "name": info.name,
        "subresource": info.subresource,
        "namespace": info.namespace,
        "resource": info.resource,
        "scope": whole,
        "url": request.wire.path,
        "user-agent": request.headers.get("user-agent", ""),
        "verb": _metric_verb(request),
    }


def _metric_verb(request: Request) -> str:
    """Return the verb in the form of metric labels."""
    return request.info.verb.upper() if request.info.verb in ("list", "watch") else request.wire.method


def route_of(endpoint: Endpoint, request: Request) -> Route | None:
    """Return the route of a request, or None if the path does not fit the scope of the resource. Raises like `verb_of`.

    Requests that differ only in names have the same route, which is cached.
    """
    info = request.info
    parts = min(len(info.parts), 4)  # the path of a proxied request can have any number
    key = (info.verb, request.wire.method, info.subresource, info.name != "", info.namespace != "", parts)
    route: Route | None = endpoint.routes.get(key)
    if route is None and _right_scope(endpoint, request):
        streams = info.verb == "watch" or (endpoint.definition.resource, info.subresource) in CONNECTIONS
        route = Route(verb_of(endpoint, request), not streams)
        if endpoint.definition.namespaced or endpoint.definition.resource != "namespaces":
            endpoint.routes[key] = route  # whether the scope is right for a Namespace depends on its name
    return route


def _right_scope(endpoint: Endpoint, request: Request) -> bool:
    """Return True if the path fits the scope of the resource.

    Cluster-scoped resources have no namespace in the path. Namespaced ones have one, except in lists and watches of all
    namespaces. **Raises** 405 for other verbs on all objects of a built-in resource.
    """
    info, definition = request.info, endpoint.definition
    proxied = info.subresource == "proxy" and "proxy" in definition.subresources
    if info.verb == "proxy" or (len(info.parts) > 3 and not proxied):
        return False  # Kubernetes no longer serves paths like /api/v1/proxy/...
    if not definition.namespaced:
        is_namespace = definition.resource == "namespaces" and definition.group == ""
        return not info.namespace or (is_namespace and not _is_behind_namespace(request))
    if info.namespace or (info.verb in ("list", "watch") and len(info.parts) < 2):
        return True
    if endpoint.dialect.routes_all_namespaces and len(info.parts) < 2 and "list" in definition.verbs:
        raise errors.method_not_allowed()
    return False


def _is_behind_namespace(request: Request) -> bool:
    """Return True if a Namespace's path is below another Namespace: `/api/v1/namespaces/a/namespaces/b`.

    Such a request was authorized in namespace `a`. In a Namespace's proper path, name and namespace are equal.
    """
    segments = request.wire.path.strip("/").split("/")
    prefix = 3 if segments[2] in ("watch", "proxy") else 2
    return len(segments) - prefix != len(request.info.parts)


def verb_of(endpoint: Endpoint, request: Request) -> Verb:
    """Return the verb that serves a request.

    **Raises** 404 for an unknown subresource, 405 for an unsupported verb, and 400 for a verb without its required
    name, if the handler checks that.
    """
    info, definition, dialect = request.info, endpoint.definition, endpoint.dialect
    table = _table(endpoint, info.subresource)
    if table is None:
        raise dialect.unknown_subresource(definition.group_resource, info.name)
    verb = table.get(info.verb)
    if verb is not None and _offered(endpoint, request):
        return verb
    if _is_beside(definition, request):
        raise errors.no_such_resource()
    if dialect.checks_name_in_handler and verb is not None and info.verb in ("update", "patch") and not info.name:
        request.counted = BY_REQUEST_INFO
        if info.verb == "patch":
            patch_type_of(request, endpoint)
        raise errors.bad_request("name must be provided")
    raise dialect.refused_method(definition.group_resource, info.verb)


def _is_beside(definition: ResourceDefinition, request: Request) -> bool:
    """Return True if the resource supports only create, and create is not possible on this path."""
    info = request.info
    if info.subresource or definition.verbs != ("create",):
        return False
    return len(info.parts) > 1 or (definition.namespaced and not info.namespace)


def _offered(endpoint: Endpoint, request: Request) -> bool:
    """Return True if the resource supports the verb, and the path has the name that the verb needs."""
    info, accepts_head = request.info, endpoint.dialect.accepts_head
    if info.subresource:
        return bool(info.name) and (request.wire.method != "HEAD" or info.subresource == "proxy" or accepts_head)
    if info.verb == "watch" and request.wire.method != "GET":
        return False
    if info.verb not in endpoint.definition.verbs or (request.wire.method == "HEAD" and not accepts_head):
        return False
    if info.verb in ("list", "watch"):
        return True
    return (len(info.parts) > 1) is (info.verb not in ("create", "deletecollection"))


def _table(endpoint: Endpoint, subresource: str) -> dict[str, Verb] | None:
    definition = endpoint.definition
    if not subresource:
        return VIRTUAL.get((definition.group, definition.resource), _VERBS)
    if subresource == "status":
        return _STATUS if endpoint.version.status else None
    if subresource == "scale":
        return _SCALE if endpoint.version.scale is not None else None
    if subresource not in definition.subresources:
        return None
    key = (definition.resource, subresource)
    connection = CONNECTIONS.get(key)
    return SUBRESOURCES.get(key, {}) if connection is None else connection.handlers
