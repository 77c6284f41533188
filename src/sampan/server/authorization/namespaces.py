"""`allowed_namespaces`: the namespaces in which a user may do something, without the right to list namespaces."""

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Final, Protocol, runtime_checkable

from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.request import RequestInfo, UserInfo

DECISIONS_MAX: Final = 10_000
"""Maximum number of namespaces that are decided one by one."""
_SLICE: Final = 200
"""Number of decisions after which other requests get their turn."""


@runtime_checkable
class NamespaceResolver(Protocol):
    """Authorizer that can name the only namespaces in which it may allow something."""

    def namespaces_of(self, user: UserInfo) -> Collection[str] | None:
        """Return them, without rights for the whole cluster; None if they can be any."""


@dataclass(frozen=True, slots=True)
class AllowedNamespaces:
    """Result for one user and one kind of request."""

    everywhere: bool = False
    """True if the user may do it in all namespaces at once. `names` is empty then."""
    names: tuple[str, ...] = ()
    incomplete: bool = False
    """True if there may be more namespaces."""


async def allowed_namespaces(
    authorizer: Authorizer, user: UserInfo, info: RequestInfo, namespaces: Iterable[str]
) -> AllowedNamespaces:
    """Return those of `namespaces` in which `user` may do `info`. The namespace of `info` is not used.

    Raises `StatusError` as `authorizer` does.
    """
    everywhere = await authorizer.authorize(user, replace(info, namespace=""))
    if everywhere.decision is Decision.ALLOW:
        return AllowedNamespaces(everywhere=True)
    incomplete = bool(everywhere.error)
    possible = authorizer.namespaces_of(user) if isinstance(authorizer, NamespaceResolver) else None
    names: list[str] = []
    decided = 0
    for namespace in namespaces:
        if possible is not None and namespace not in possible:
            continue
        if decided == DECISIONS_MAX:
            return AllowedNamespaces(names=tuple(names), incomplete=True)
        decided += 1
        if decided % _SLICE == 0:
            await asyncio.sleep(0)
        verdict = await authorizer.authorize(user, replace(info, namespace=namespace))
        incomplete = incomplete or bool(verdict.error)
        if verdict.decision is Decision.ALLOW:
            names.append(namespace)
    return AllowedNamespaces(names=tuple(names), incomplete=incomplete)
