"""The router of resource requests: from path to endpoint, from method and subresource to verb.

Source: apiserver pkg/endpoints/installer.go, apiextensions customresource_handler.go (1.36).
"""

from collections.abc import Awaitable, Callable

from sampan.core import errors
from sampan.core.gvk import GroupResource
from sampan.registry.cluster import Cluster
from sampan.registry.endpoint import Endpoint
from sampan.server.admission.chain import AdmissionChain
from sampan.server.admission.namespace_lifecycle import NamespaceLifecycle
from sampan.server.request import Handler, Request, Response
from sampan.server.verbs.create import create
from sampan.server.verbs.delete import delete, delete_collection
from sampan.server.verbs.get import get
from sampan.server.verbs.list import list_objects
from sampan.server.verbs.patch import patch
from sampan.server.verbs.scale import get_scale, patch_scale, update_scale
from sampan.server.verbs.scope import Scope, Shared
from sampan.server.verbs.subresources import SUBRESOURCES, VIRTUAL
from sampan.server.verbs.update import update
from sampan.server.verbs.watch import watch

Verb = Callable[[Scope], Awaitable[Response]]

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
_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_NOT_FOUND = Response(404, b"404 page not found\n", content_type="text/plain; charset=utf-8")


def resource_handler(cluster: Cluster) -> Handler:
    """The innermost handler: serves every resource of a cluster."""
    shared = Shared()
    chain = AdmissionChain(mutating=[NamespaceLifecycle(cluster.reader)])

    async def handle(request: Request) -> Response:
        info = request.info
        endpoint = cluster.endpoint(info.group, info.version, info.resource, info.subresource)
        if endpoint is None or not _right_scope(endpoint, request):
            return not_found()
        verb = verb_of(endpoint, request)
        if endpoint.definition.terminating and info.verb == "create":
            text = "create not allowed while custom resource definition is terminating"
            raise errors.forbidden(endpoint.definition.group_resource, info.name, text)
        warning = endpoint.version.deprecation_warning
        if warning:
            request.warnings.append(warning)
        scope = Scope(request, endpoint, chain, cluster, shared)
        answer = await verb(scope)
        settled = endpoint.definition.settled
        if settled is not None and info.verb in _WRITES:
            await settled()
        return answer

    return handle


def not_found() -> Response:
    """The plain 404 of a path that leads nowhere."""
    return Response(_NOT_FOUND.status, _NOT_FOUND.body, content_type=_NOT_FOUND.content_type)


def _right_scope(endpoint: Endpoint, request: Request) -> bool:
    """Cluster-scoped resources have no namespace in their path; namespaced ones have one, but for lists and watches
    over all.
    """
    info = request.info
    if not endpoint.definition.namespaced:
        return not info.namespace or (endpoint.definition.resource == "namespaces" and endpoint.definition.group == "")
    return bool(info.namespace) or (info.verb in ("list", "watch", "create") and len(info.parts) < 2)


def verb_of(endpoint: Endpoint, request: Request) -> Verb:
    """What serves this request. Raises 404 for an unknown subresource, 405 for a verb that is not offered."""
    info = request.info
    definition = endpoint.definition
    table = _table(endpoint, info.subresource)
    if table is None:
        if not definition.builtin:
            raise errors.not_found(definition.group_resource, info.name)
        raise errors.StatusError(errors.Reason.NOT_FOUND, 404, "the server could not find the requested resource")
    verb = table.get(info.verb)
    if verb is None or (not info.subresource and info.verb not in definition.verbs):
        raise errors.method_not_supported(GroupResource(definition.group, definition.resource), info.verb)
    return verb


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
    return SUBRESOURCES.get((definition.resource, subresource), {})
