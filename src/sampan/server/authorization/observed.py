"""`ObservedAuthorizer`: reports the decisions of verbs and admission plug-ins, for tests of the rights of operators."""

from collections.abc import Callable, Sequence
from typing import Final

from sampan.server.authorization.authorizer import NO_OPINION, Authorizer, Verdict
from sampan.server.authorization.union import UnionAuthorizer
from sampan.server.request import RequestInfo, UserInfo

AuthorizationObserver = Callable[[UserInfo, RequestInfo, Verdict], None]
_ALL_FINALIZERS: Final = ("*", "*", "finalizers")


class ObservedAuthorizer(UnionAuthorizer):
    """Union that calls `observe` with each user, request and verdict.

    It has no opinion on the right to the finalizers of all kinds: OwnerReferencesPermissionEnforcement then checks that
    of one kind, which is the right that an operator needs.
    """

    def __init__(self, authorizers: Sequence[Authorizer], observe: AuthorizationObserver) -> None:
        super().__init__(authorizers)
        self._observe = observe

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        if (info.group, info.resource, info.subresource) == _ALL_FINALIZERS:
            return NO_OPINION
        verdict = await super().authorize(user, info)
        self._observe(user, info, verdict)
        return verdict


def observed(authorizers: Sequence[Authorizer], observe: AuthorizationObserver | None) -> UnionAuthorizer:
    """Return a union of authorizers, with an observer if there is one."""
    return UnionAuthorizer(authorizers) if observe is None else ObservedAuthorizer(authorizers, observe)
