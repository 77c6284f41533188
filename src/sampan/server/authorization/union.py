"""Ask authorizers in turn: the first that allows or denies decides."""

from collections.abc import Sequence

from sampan.server.authorization.authorizer import Authorizer, Decision, Verdict
from sampan.server.request import RequestInfo, UserInfo


class UnionAuthorizer:
    """Source: apiserver pkg/authorization/union/union.go (1.36)."""

    def __init__(self, authorizers: Sequence[Authorizer]) -> None:
        self._authorizers = tuple(authorizers)

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        reasons = []
        for authorizer in self._authorizers:
            verdict = await authorizer.authorize(user, info)
            if verdict.decision is not Decision.NO_OPINION:
                return verdict
            if verdict.reason:
                reasons.append(verdict.reason)
        return Verdict(Decision.NO_OPINION, "\n".join(reasons))
