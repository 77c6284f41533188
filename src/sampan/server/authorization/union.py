"""Ask authorizers in turn: the first that allows or denies decides."""

from collections.abc import Iterable, Sequence

from sampan.server.authorization.authorizer import Authorizer, Decision, RuleResolver, RulesFound, Verdict
from sampan.server.request import RequestInfo, UserInfo


class UnionAuthorizer:
    """Source: apiserver pkg/authorization/union/union.go (1.36)."""

    def __init__(self, authorizers: Sequence[Authorizer]) -> None:
        self._authorizers = tuple(authorizers)

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        reasons, errors = [], []
        for authorizer in self._authorizers:
            verdict = await authorizer.authorize(user, info)
            if verdict.decision is not Decision.NO_OPINION:
                return verdict
            if verdict.reason:
                reasons.append(verdict.reason)
            if verdict.error:
                errors.append(verdict.error)
        return Verdict(Decision.NO_OPINION, "\n".join(reasons), aggregated(errors))

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """What all of them list together."""
        found = [
            authorizer.rules_for(user, namespace)
            for authorizer in self._authorizers
            if isinstance(authorizer, RuleResolver)
        ]
        return RulesFound(
            tuple(rule for each in found for rule in each.rules),
            any(each.incomplete for each in found),
            tuple(error for each in found for error in each.errors),
        )


def aggregated(errors: Iterable[str]) -> str:
    """Several error texts in one, each once, as Go's aggregates show them."""
    texts = list(dict.fromkeys(errors))
    return f"[{', '.join(texts)}]" if len(texts) > 1 else "".join(texts)
