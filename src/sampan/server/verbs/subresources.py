"""Subresources and virtual resources with special rules.

Source: kubernetes pkg/registry/core/{pod,namespace}/storage, pkg/registry/certificates, pkg/registry/authentication
(1.36).
"""

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from sampan.core import errors
from sampan.core.event_loop.offload import offloaded
from sampan.core.gvk import GroupVersionKind
from sampan.core.object import Object
from sampan.core.time import timestamp
from sampan.registry.kinds.core.binding import apply_binding, check_binding_name, validate_binding
from sampan.registry.write.own import UpdateOptions
from sampan.registry.write.own import update as update_directly
from sampan.registry.write.write import Part
from sampan.server.authorization.union import aggregated
from sampan.server.request import Response
from sampan.server.verbs.component_statuses import get_component_status, list_component_statuses
from sampan.server.verbs.eviction import create_eviction
from sampan.server.verbs.get import get
from sampan.server.verbs.options import write_options
from sampan.server.verbs.patch import patch
from sampan.server.verbs.representations.respond import dict_response
from sampan.server.verbs.reviews.access_reviews import (
    local_subject_access_review,
    self_subject_access_review,
    self_subject_rules_review,
    subject_access_review,
)
from sampan.server.verbs.reviews.token_request import create_token
from sampan.server.verbs.reviews.token_review import create_token_review, user_info
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.update import update
from sampan.server.verbs.write.admit import admit, binding_attributes, validate
from sampan.server.verbs.write.body import decoded_kind

Verb = Callable[[RequestScope], Awaitable[Response]]

_BINDING: Final = GroupVersionKind("", "v1", "Binding")
_SELF_REVIEW: Final = GroupVersionKind("authentication.k8s.io", "v1", "SelfSubjectReview")


async def create_binding(scope: RequestScope) -> Response:
    """Handle POST pods/NAME/binding and POST bindings: 201, or 409 if the pod is bound or is being deleted."""
    request = scope.request
    options = write_options(request, "CreateOptions")
    binding = await decoded_kind(scope, _BINDING, options)
    name = request.info.name or binding["metadata"].get("name", "")
    attributes = binding_attributes(scope, name, binding, options.dry_run)
    await scope.admission.admit(attributes)
    binding = attributes.obj or {}
    check_binding_name(name, binding)
    faults = validate_binding(binding)
    if faults:
        raise errors.StatusError(errors.Reason.UNKNOWN, 500, aggregated(map(str, faults)))
    await scope.admission.validate(attributes)
    pods = scope.cluster.endpoint("", "v1", "pods")
    assert pods is not None
    now = timestamp(scope.clock)

    def bind(pod: Object, old: Object) -> None:
        apply_binding(pod, binding, now)

    ctx = msgspec.structs.replace(scope.ctx, name=name)
    how = UpdateOptions(part=Part.ALL, dry_run=options.dry_run, faults=lambda new, old: [])
    await update_directly(pods.store, ctx, bind, scope.clock, how)
    response = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
    return await offloaded(dict_response, request, response, 201)


async def self_subject_review(scope: RequestScope) -> Response:
    """Handle POST selfsubjectreviews: return the authenticated user (`kubectl auth whoami`)."""
    options = write_options(scope.request, "CreateOptions")
    review = await decoded_kind(scope, _SELF_REVIEW, options)
    review = await admit(scope, "CREATE", review, None, options.dry_run)
    await validate(scope, "CREATE", review, None, options.dry_run)
    user = scope.request.user
    assert user is not None
    review = {
        "kind": "SelfSubjectReview",
        "apiVersion": scope.endpoint.api_version,
        "metadata": {"creationTimestamp": timestamp(scope.clock)},
        "status": {"userInfo": user_info(user)},
    }
    return await offloaded(dict_response, scope.request, review, 201)


_PART: dict[str, Verb] = {"get": get, "update": update, "patch": patch}
"""Verbs of subresources that are written like the object; their strategies are in `Kind.subresources`."""

SUBRESOURCES: dict[tuple[str, str], dict[str, Verb]] = {
    ("pods", "binding"): {"create": create_binding},
    ("pods", "ephemeralcontainers"): _PART,
    ("pods", "eviction"): {"create": create_eviction},
    ("pods", "resize"): _PART,
    ("namespaces", "finalize"): {"update": update},
    ("serviceaccounts", "token"): {"create": create_token},
    ("certificatesigningrequests", "approval"): _PART,
}
"""Handlers by (resource, subresource) and verb. Discovery also lists other subresources; requests for them
return 405.
"""

VIRTUAL: dict[tuple[str, str], dict[str, Verb]] = {
    ("", "bindings"): {"create": create_binding},
    ("authentication.k8s.io", "selfsubjectreviews"): {"create": self_subject_review},
    ("authentication.k8s.io", "tokenreviews"): {"create": create_token_review},
    ("authorization.k8s.io", "localsubjectaccessreviews"): {"create": local_subject_access_review},
    ("authorization.k8s.io", "selfsubjectaccessreviews"): {"create": self_subject_access_review},
    ("authorization.k8s.io", "selfsubjectrulesreviews"): {"create": self_subject_rules_review},
    ("authorization.k8s.io", "subjectaccessreviews"): {"create": subject_access_review},
    ("", "componentstatuses"): {"get": get_component_status, "list": list_component_statuses},
}
"""Handlers of resources that store nothing."""
