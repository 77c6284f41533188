"""Text of 403 responses. Source: apiserver pkg/endpoints/handlers/responsewriters/errors.go (1.36)."""

from sampan.core.errors import StatusError, forbidden, without_html
from sampan.core.field import quote
from sampan.core.gvk import GroupResource
from sampan.server.request import RequestInfo, UserInfo


def forbidden_error(user: UserInfo, info: RequestInfo, reason: str = "") -> StatusError:
    """Return the 403 error for a request of `user`."""
    text = without_html(_message(user, info))
    if reason:
        text = f"{text}: {reason}"
    return forbidden(GroupResource(info.group, info.resource), info.name, text)


def _message(user: UserInfo, info: RequestInfo) -> str:
    action = f"User {quote(user.name)} cannot {info.verb}"
    if not info.is_resource:
        return f"{action} path {quote(info.path)}"
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    what = f"{action} resource {quote(resource)} in API group {quote(info.group)}"
    if info.namespace:
        return f"{what} in the namespace {quote(info.namespace)}"
    return f"{what} at the cluster scope"
