"""Act as somebody else: the Impersonate-* headers, for those who may.

Source: apiserver pkg/endpoints/filters/impersonation.go (1.36).
"""

from urllib.parse import unquote

from sampan.core.errors import bad_request, unauthorized
from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.authorization.forbidden import forbidden_error
from sampan.server.authorization.masters import MASTERS
from sampan.server.incoming import VALUE_END
from sampan.server.request import Filter, Handler, Request, RequestInfo, Response, UserInfo

_PREFIX = "impersonate-"
_USER, _GROUP, _UID, _EXTRA = "impersonate-user", "impersonate-group", "impersonate-uid", "impersonate-extra-"
_ANONYMOUS = "system:anonymous"
_AUTHENTICATED, _UNAUTHENTICATED = "system:authenticated", "system:unauthenticated"
_SERVICE_ACCOUNT = "system:serviceaccount:"
_AUTHENTICATION = "authentication.k8s.io"


def with_impersonation(authorizer: Authorizer) -> Filter:
    """Put the impersonated user in the place of the requester, who must have the verb `impersonate` on each part."""

    def wrap(handler: Handler) -> Handler:
        async def filter_(request: Request) -> Response:
            for name in request.headers:
                if name[:12] == _PREFIX:
                    await _impersonate(request, authorizer)
                    break
            return await handler(request)

        return filter_

    return wrap


async def _impersonate(request: Request, authorizer: Authorizer) -> None:
    requester = request.user
    if requester is None:
        raise unauthorized()
    wanted = _wanted(request)
    if not wanted.name:
        return
    if MASTERS not in requester.groups:
        for info in _asked_for(request.path, wanted):
            verdict = await authorizer.authorize(requester, info)
            if verdict.decision is not Decision.ALLOW:
                raise forbidden_error(requester, info, verdict.reason)
    request.impersonator = requester
    request.user = UserInfo(wanted.name, wanted.uid, _groups(wanted), wanted.extra)
    for name in [name for name in request.headers if name.startswith(_PREFIX)]:
        del request.headers[name]


def _wanted(request: Request) -> UserInfo:
    """What the headers ask for. Raises 400: groups, uid or extra without a user."""
    headers = request.headers
    name, uid = headers.get(_USER, ""), headers.get(_UID, "")
    groups = _values(headers.get(_GROUP, ""))
    extra = {
        unquote(header[len(_EXTRA) :]): _values(value) for header, value in headers.items() if header.startswith(_EXTRA)
    }
    if not name and (groups or uid or extra):
        parts = [f"{list(groups)}" if groups else "", f"uid {uid!r}" if uid else "", f"extra {extra}" if extra else ""]
        text = ", ".join(part for part in parts if part)
        raise bad_request(f"requested {text} without impersonating a user")
    return UserInfo(name, uid, groups, extra)


def _values(header: str) -> tuple[str, ...]:
    return tuple(value.strip() for value in header.split(VALUE_END) if value.strip())


def _asked_for(path: str, wanted: UserInfo) -> list[RequestInfo]:
    """Each part of the impersonated identity as the request that the authorizer decides about."""
    parts: list[tuple[str, str, str, str, str]] = []
    if wanted.name.startswith(_SERVICE_ACCOUNT):
        namespace, _, name = wanted.name.removeprefix(_SERVICE_ACCOUNT).partition(":")
        parts.append(("", "serviceaccounts", "", namespace, name))
    else:
        parts.append(("", "users", "", "", wanted.name))
    parts += [("", "groups", "", "", group) for group in wanted.groups]
    parts += [
        (_AUTHENTICATION, "userextras", key, "", value) for key, values in wanted.extra.items() for value in values
    ]
    if wanted.uid:
        parts.append((_AUTHENTICATION, "uids", "", "", wanted.uid))
    return [
        RequestInfo(
            path=path,
            verb="impersonate",
            is_resource=True,
            group=group,
            version="v1",
            namespace=namespace,
            resource=resource,
            subresource=subresource,
            name=name,
        )
        for group, resource, subresource, namespace, name in parts
    ]


def _groups(wanted: UserInfo) -> tuple[str, ...]:
    """The groups asked for, and those that follow from who it is."""
    groups = wanted.groups
    if not groups and wanted.name.startswith(_SERVICE_ACCOUNT):
        namespace = wanted.name.split(":")[2]
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    if wanted.name == _ANONYMOUS:
        return groups if _UNAUTHENTICATED in groups else (*groups, _UNAUTHENTICATED)
    if _AUTHENTICATED in groups or _UNAUTHENTICATED in groups:
        return groups
    return (*groups, _AUTHENTICATED)
