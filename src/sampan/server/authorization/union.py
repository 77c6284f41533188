"""`UnionAuthorizer`: tries authorizers in order. The first one that allows or denies decides."""

from collections.abc import Collection, Iterable, Sequence

from sampan.server.authorization.authorizer import Authorizer, Decision, RuleResolver, RulesFound, Verdict
from sampan.server.authorization.namespaces import NamespaceResolver
from sampan.server.request import RequestInfo, UserInfo

_Key = tuple[str, str, str]


class UnionAuthorizer:
    """Combines authorizers. Source: apiserver pkg/authorization/union/union.go (1.36)."""

    def __init__(self, authorizers: Sequence[Authorizer], decisions: dict[_Key, int] | None = None) -> None:
        """`decisions` has earlier counts, which this authorizer continues; see `DecisionCounting`."""
        self._authorizers = tuple(authorizers)
        self._counted = [(authorizer, *_keys(getattr(authorizer, "title", None))) for authorizer in self._authorizers]
        self.decisions: dict[_Key, int] = {} if decisions is None else decisions

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        reasons, errors = [], []
        for authorizer, allowed, denied in self._counted:
            verdict = await authorizer.authorize(user, info)
            if verdict.decision is not Decision.NO_OPINION:
                key = allowed if verdict.decision is Decision.ALLOW else denied
                if key is not None:
                    self.decisions[key] = self.decisions.get(key, 0) + 1
                return verdict
            if verdict.reason:
                reasons.append(verdict.reason)
            if verdict.error:
                errors.append(verdict.error)
        return Verdict(Decision.NO_OPINION, "\n".join(reasons), aggregated(errors))

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """Return the rules of all authorizers that can list them."""
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

    def namespaces_of(self, user: UserInfo) -> Collection[str] | None:
        """Return the only namespaces in which an authorizer may allow something; None if they can be any."""
        found: set[str] = set()
        for authorizer in self._authorizers:
            namespaces = authorizer.namespaces_of(user) if isinstance(authorizer, NamespaceResolver) else None
            if namespaces is None:
                return None
            found.update(namespaces)
        return found


def _keys(title: tuple[str, str] | None) -> tuple[_Key | None, _Key | None]:
    """Return the keys that count the allowed and the denied requests of an authorizer."""
    return (None, None) if title is None else ((*title, "allowed"), (*title, "denied"))


def aggregated(errors: Iterable[str]) -> str:
    """Return several error texts as one, without duplicates, in the format of Go's aggregates."""
    texts = list(dict.fromkeys(errors))
    return f"[{', '.join(texts)}]" if len(texts) > 1 else "".join(texts)
