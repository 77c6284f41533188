"""Modes of impersonation: four constrained modes, and the legacy mode.

A constrained mode requires the verb `impersonate-on:MODE:VERB` on the requested resource, and `impersonate:MODE` on the
impersonated user. The legacy mode requires `impersonate` on each part of the user, and then allows all requests.
Source: apiserver pkg/endpoints/filters/impersonation/mode.go (1.36).
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from sampan.core.errors import StatusError
from sampan.core.field import Path, aggregate, quote
from sampan.core.validation.domains import domain_prefixed_path_errors
from sampan.core.validation.names import dns1123_subdomain_errors
from sampan.server.authentication.service_account.user import NODE_NAME, group_names, split_username
from sampan.server.authorization.forbidden import forbidden_error
from sampan.server.authorization.masters import MASTERS
from sampan.server.request import RequestInfo, UserInfo

Check = Callable[[UserInfo, RequestInfo], Awaitable[None]]
"""Raises 403 unless the user may send the request."""

_ANONYMOUS: Final = "system:anonymous"
_AUTHENTICATED, _UNAUTHENTICATED = "system:authenticated", "system:unauthenticated"
_NODE_PREFIX: Final = "system:node:"
_NODES_GROUP: Final = "system:nodes"
_AUTHENTICATION: Final = "authentication.k8s.io"
_NODE_KEYS: Final = "authentication.kubernetes.io/associated-node-keys"
_MANY: Final = 4
"""Minimum number of groups or extra values for which the right to all of them is checked first."""


class ImpersonatedUser(NamedTuple):
    """User of the impersonated request, and the verb that allowed it ("" in the legacy mode)."""

    user: UserInfo
    constraint: str


@dataclass(frozen=True, slots=True)
class Mode:
    """Constrained mode. `suits` returns True if the mode applies to this impersonated user and this requester."""

    name: str
    suits: Callable[[UserInfo, UserInfo], bool]
    any_node: bool = False
    """Require the right to all nodes, because the requester does not choose the node."""

    async def impersonate(
        self, check: Check, requester: UserInfo, desired: UserInfo, info: RequestInfo
    ) -> ImpersonatedUser | None:
        """Return the impersonated user, or None if the mode does not apply. Raises 403."""
        if not self.suits(desired, requester):
            return None
        if self.any_node:
            requester = replace(requester, extra={_NODE_KEYS: tuple(sorted(requester.extra))})
        await check(requester, replace(info, verb=f"impersonate-on:{self.name}:{info.verb}"))
        verb = f"impersonate:{self.name}"
        for part in self._parts(desired):
            await check(requester, _request_for(verb, part))
        await self._check_groups(check, requester, verb, desired.groups)
        await self._check_extra(check, requester, verb, desired.extra)
        return ImpersonatedUser(_completed(desired, node=True), verb)

    def _parts(self, desired: UserInfo) -> Iterable["_Part"]:
        node = node_name(desired.name)
        if node:
            yield _Part("nodes", "*" if self.any_node else node)
        else:
            yield _name_part(desired.name, _AUTHENTICATION)
        if desired.uid:
            yield _Part("uids", desired.uid)

    async def _check_groups(self, check: Check, requester: UserInfo, verb: str, groups: tuple[str, ...]) -> None:
        if "" in groups:
            text = "impersonating the empty string group is not allowed"
            raise forbidden_error(requester, _request_for(verb, _Part("groups")), text)
        if MASTERS in groups:
            text = f"impersonating the {MASTERS} group is not allowed"
            raise forbidden_error(requester, _request_for(verb, _Part("groups", MASTERS)), text)
        await _check_all(check, requester, verb, _Part("groups", "*"), [_Part("groups", group) for group in groups])

    async def _check_extra(
        self, check: Check, requester: UserInfo, verb: str, extra: dict[str, tuple[str, ...]]
    ) -> None:
        fault = _extra_fault(extra)
        if fault:
            raise forbidden_error(requester, _request_for(verb, _Part("userextras")), fault)
        await _check_all(check, requester, verb, _Part("userextras", "*", "*"), _extra_parts(extra))


class _Part(NamedTuple):
    """Part of a user, as a resource of authorization."""

    resource: str
    name: str = ""
    subresource: str = ""
    namespace: str = ""
    group: str = _AUTHENTICATION


async def impersonate_legacy(check: Check, requester: UserInfo, desired: UserInfo) -> ImpersonatedUser:
    """Impersonate in the legacy mode, which permits all rights of the impersonated user. Raises 403."""
    parts = [_name_part(desired.name, "")]
    if desired.uid:
        parts.append(_Part("uids", desired.uid))
    parts += [_Part("groups", group, group="") for group in desired.groups]
    for part in (*parts, *_extra_parts(desired.extra)):
        await check(requester, _request_for("impersonate", part))
    return ImpersonatedUser(_completed(desired, node=False), "")


def node_name(username: str) -> str:
    """Return the node of a kubelet's user name, or ""."""
    name = username.removeprefix(_NODE_PREFIX)
    return "" if not username.startswith(_NODE_PREFIX) or dns1123_subdomain_errors(name) else name


def _name_part(username: str, group: str) -> _Part:
    account = split_username(username)
    if account is None:
        return _Part("users", username, group=group)
    return _Part("serviceaccounts", account[1], namespace=account[0], group=group)


def _extra_parts(extra: dict[str, tuple[str, ...]]) -> list[_Part]:
    return [_Part("userextras", value, key) for key, values in extra.items() for value in values]


def _request_for(verb: str, part: _Part) -> RequestInfo:
    return RequestInfo(
        "",
        verb,
        is_resource=True,
        group=part.group,
        version="v1",
        namespace=part.namespace,
        resource=part.resource,
        subresource=part.subresource,
        name=part.name,
    )


async def _check_all(check: Check, requester: UserInfo, verb: str, every: _Part, parts: list[_Part]) -> None:
    """Check the right to each part. If there are many parts, check the right to all of them first."""
    if len(parts) >= _MANY:
        try:
            await check(requester, _request_for(verb, every))
        except StatusError:
            pass
        else:
            return
    for part in parts:
        await check(requester, _request_for(verb, part))


def _extra_fault(extra: dict[str, tuple[str, ...]]) -> str:
    for key, values in extra.items():
        if not key:
            return "impersonating the empty string key in extra is not allowed"
        faults = domain_prefixed_path_errors(Path("extra", "key"), key)
        if faults:
            return f"impersonating an invalid key in extra is not allowed: {aggregate(faults)}"
        if key != key.lower():
            return f"impersonating a non-lowercase key in extra is not allowed: {quote(key)}"
        if "" in values:
            return "impersonating the empty string value in extra is not allowed"
    return ""


def _completed(desired: UserInfo, *, node: bool) -> UserInfo:
    """Return the user with the groups that its name implies. With `node`, a kubelet also gets the group of nodes."""
    groups = desired.groups
    if not groups:
        account = split_username(desired.name)
        if account is not None:
            groups = group_names(account[0])
        elif node and node_name(desired.name):
            groups = (_NODES_GROUP,)
    if desired.name == _ANONYMOUS:
        more = _UNAUTHENTICATED
    elif _UNAUTHENTICATED in groups:
        return replace(desired, groups=groups)
    else:
        more = _AUTHENTICATED
    return replace(desired, groups=groups if more in groups else (*groups, more))


def _only_named(desired: UserInfo) -> bool:
    return not (desired.uid or desired.groups or desired.extra)


def _is_own_node(desired: UserInfo, requester: UserInfo) -> bool:
    node = node_name(desired.name)
    return (
        bool(node)
        and _only_named(desired)
        and split_username(requester.name) is not None
        and requester.extra.get(NODE_NAME) == (node,)
    )


def _is_node(desired: UserInfo, _: UserInfo) -> bool:
    return _only_named(desired) and bool(node_name(desired.name))


def _is_service_account(desired: UserInfo, _: UserInfo) -> bool:
    return _only_named(desired) and split_username(desired.name) is not None


def _is_other(desired: UserInfo, _: UserInfo) -> bool:
    return not node_name(desired.name) and split_username(desired.name) is None


MODES: Final = (
    Mode("associated-node", _is_own_node, any_node=True),
    Mode("arbitrary-node", _is_node),
    Mode("serviceaccount", _is_service_account),
    Mode("user-info", _is_other),
)
"""Constrained modes in the order in which they are tried."""
