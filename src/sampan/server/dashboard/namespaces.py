"""SelfNamespacesReview (sampan.dev/v1alpha1): POST returns the namespaces in which the user may do something.

A user with rights in a few namespaces usually may not list namespaces. This review shows them those that they can use:

    {"spec": {"resourceAttributes": {"verb": "list", "group": "", "resource": "pods"}}}
    {"status": {"allNamespaces": false, "namespaces": ["shop", "shop-test"], "incomplete": false}}
"""

from typing import Any, Final

from sampan.core.errors import bad_request
from sampan.registry.reader import CacheReader
from sampan.server.authorization.authorizer import Authorizer
from sampan.server.authorization.namespaces import allowed_namespaces
from sampan.server.dashboard.self_reviews import Review
from sampan.server.request import RequestInfo, UserInfo

_ATTRIBUTES: Final = ("group", "resource", "verb", "subresource")


def namespaces_review(reader: CacheReader, authorizer: Authorizer) -> Review:
    """Return the function for `serving_reviews`."""

    async def review(user: UserInfo, spec: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        attributes = _attributes(spec)
        info = RequestInfo("", attributes["verb"], is_resource=True, version="*")
        info.group, info.resource, info.subresource = (
            attributes["group"],
            attributes["resource"],
            attributes["subresource"],
        )
        names = [record.name for record in reader.records("", "namespaces")]
        found = await allowed_namespaces(authorizer, user, info, names)
        status = {"allNamespaces": found.everywhere, "namespaces": found.names, "incomplete": found.incomplete}
        return {"resourceAttributes": attributes}, status

    return review


def _attributes(spec: Any) -> dict[str, str]:
    """Return the attributes of a review, all of them. Raises `StatusError` 400."""
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
