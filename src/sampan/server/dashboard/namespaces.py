"""SelfNamespacesReview (sampan.dev/v1alpha1): POST returns the namespaces in which the user may do something.

A user with rights in a few namespaces usually may not list namespaces. This review shows them those that they can use:

    {"spec": {"resourceAttributes": {"verb": "list", "group": "", "resource": "pods"}}}
    {"status": {"allNamespaces": false, "namespaces": ["shop", "shop-test"], "incomplete": false}}

Every authenticated user may create it, as a SelfSubjectAccessReview.
"""

from collections.abc import Awaitable
from typing import Any, Final

import orjson

from sampan.core.errors import bad_request, method_not_supported, unauthorized
from sampan.core.gvk import GroupResource
from sampan.registry.reader import CacheReader
from sampan.server.authentication.authenticator import AUTHENTICATED
from sampan.server.authorization.authorizer import ALLOWED, NO_OPINION, Authorizer, Verdict
from sampan.server.authorization.namespaces import allowed_namespaces
from sampan.server.request import BY_REQUEST_INFO, Handler, Request, RequestInfo, Response, UserInfo
from sampan.server.status import json_response

GROUP: Final = "sampan.dev"
VERSION: Final = "v1alpha1"
RESOURCE: Final = "selfnamespacesreviews"
KIND: Final = "SelfNamespacesReview"
_BODY_BYTES_MAX: Final = 64 << 10
_ATTRIBUTES: Final = ("group", "resource", "verb", "subresource")


def is_review(info: RequestInfo) -> bool:
    """Return True for a request for the reviews."""
    return (info.group, info.version, info.resource) == (GROUP, VERSION, RESOURCE)


class ReviewAuthorizer:
    """Allows every authenticated user to create the review. Has no opinion on other requests."""

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        own = info.group == GROUP and info.verb == "create" and is_review(info)
        return ALLOWED if own and AUTHENTICATED in user.groups else NO_OPINION

    def namespaces_of(self, user: UserInfo) -> tuple[str, ...]:
        """Return no namespaces: reviews have none."""
        return ()


def serving_namespaces(handler: Handler, reader: CacheReader, authorizer: Authorizer) -> Handler:
    """Return a handler that serves the reviews and passes other requests on."""

    async def review(request: Request) -> Response:
        request.counted = BY_REQUEST_INFO
        if request.info.verb != "create" or len(request.info.parts) != 1 or request.info.namespace:
            raise method_not_supported(GroupResource(GROUP, RESOURCE), request.info.verb)
        if request.user is None:
            raise unauthorized()
        attributes = _attributes(await request.wire.read_body(_BODY_BYTES_MAX))
        info = RequestInfo("", attributes["verb"], is_resource=True, version="*")
        info.group, info.resource, info.subresource = (
            attributes["group"],
            attributes["resource"],
            attributes["subresource"],
        )
        names = [record.name for record in reader.records("", "namespaces")]
        found = await allowed_namespaces(authorizer, request.user, info, names)
        head: dict[str, Any] = {"kind": KIND, "apiVersion": f"{GROUP}/{VERSION}", "metadata": {}}
        status = {"allNamespaces": found.everywhere, "namespaces": found.names, "incomplete": found.incomplete}
        return json_response({**head, "spec": {"resourceAttributes": attributes}, "status": status}, 201)

    def handle(request: Request) -> Awaitable[Response]:
        return (review if is_review(request.info) else handler)(request)

    return handle


def _attributes(body: bytes) -> dict[str, str]:
    """Return the attributes of a review, all of them. Raises `StatusError` 400."""
    try:
        found: Any = orjson.loads(body)
    except ValueError:
        raise bad_request("the body is not JSON") from None
    spec = found.get("spec") if isinstance(found, dict) else None
    given = spec.get("resourceAttributes") if isinstance(spec, dict) else None
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise bad_request("spec.resourceAttributes: must be an object of strings")
    unknown = sorted(set(given) - set(_ATTRIBUTES))
    if unknown:
        raise bad_request(f"spec.resourceAttributes.{unknown[0]}: unknown field; known are {', '.join(_ATTRIBUTES)}")
    for name in ("resource", "verb"):
        if not given.get(name):
            raise bad_request(f"spec.resourceAttributes.{name}: required")
    return {name: given.get(name, "") for name in _ATTRIBUTES}
