"""Reviews of sampan.dev/v1alpha1: a POST of a `spec` returns a `status` about what the user may do and see.

Every authenticated user may create them, as a SelfSubjectAccessReview. Nothing is stored.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import orjson

from sampan.core.errors import bad_request, method_not_supported, unauthorized
from sampan.core.gvk import GroupResource
from sampan.server.authentication.authenticator import AUTHENTICATED
from sampan.server.authorization.authorizer import ALLOWED, NO_OPINION, Verdict
from sampan.server.request import BY_REQUEST_INFO, Handler, Request, RequestInfo, Response, UserInfo
from sampan.server.status import json_response

GROUP: Final = "sampan.dev"
VERSION: Final = "v1alpha1"
KINDS: Final = {"selfnamespacesreviews": "SelfNamespacesReview", "selfobjectsearches": "SelfObjectSearch"}
"""Kinds of the reviews by resource."""
_BODY_BYTES_MAX: Final = 64 << 10
Review = Callable[[UserInfo, Any], Awaitable[tuple[dict[str, Any], dict[str, Any]]]]
"""Returns the spec with all its fields, and the status. The given spec is any JSON. Raises `StatusError` 400."""


def is_review(info: RequestInfo) -> bool:
    """Return True for a request for one of the reviews."""
    return info.group == GROUP and info.version == VERSION and info.resource in KINDS


class ReviewAuthorizer:
    """Allows every authenticated user to create the reviews. Has no opinion on other requests."""

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        own = info.group == GROUP and info.verb == "create" and is_review(info)
        return ALLOWED if own and AUTHENTICATED in user.groups else NO_OPINION

    def namespaces_of(self, user: UserInfo) -> tuple[str, ...]:
        """Return no namespaces: reviews have none."""
        return ()


def serving_reviews(handler: Handler, reviews: Mapping[str, Review]) -> Handler:
    """Return a handler that serves the reviews, by resource, and passes other requests on."""

    async def review(request: Request) -> Response:
        request.counted = BY_REQUEST_INFO
        resource = request.info.resource
        if request.info.verb != "create" or len(request.info.parts) != 1 or request.info.namespace:
            raise method_not_supported(GroupResource(GROUP, resource), request.info.verb)
        if request.user is None:
            raise unauthorized()
        spec, status = await reviews[resource](request.user, _spec(await request.wire.read_body(_BODY_BYTES_MAX)))
        head: dict[str, Any] = {"kind": KINDS[resource], "apiVersion": f"{GROUP}/{VERSION}", "metadata": {}}
        return json_response({**head, "spec": spec, "status": status}, 201)

    def handle(request: Request) -> Awaitable[Response]:
        return (review if is_review(request.info) else handler)(request)

    return handle


def _spec(body: bytes) -> Any:
    try:
        found: Any = orjson.loads(body)
    except ValueError:
        raise bad_request("the body is not JSON") from None
    return found.get("spec") if isinstance(found, dict) else None
