"""`RbacAuthorizer`: allows requests that a bound role of the user allows, and has no opinion on other requests.

Decisions are cached until a role or a binding changes. The cache key contains the request without the object's name. A
cache miss costs a few lookups for each binding of the user.
Source: kubernetes plugin/pkg/auth/authorizer/rbac/rbac.go (1.36).
"""

from collections.abc import Collection
from typing import Final, NamedTuple

from sampan.core.policy_rules import Rule, path_rule_allows
from sampan.server.authorization.authorizer import NO_OPINION, Decision, RulesFound, Verdict
from sampan.server.authorization.rbac.binding import CompiledBinding, RoleRef, Subject
from sampan.server.authorization.rbac.index import RbacIndex, subjects_of
from sampan.server.authorization.rbac.rule_table import resource_keys
from sampan.server.authorization.union import aggregated
from sampan.server.request import RequestInfo, UserInfo

CACHE_ENTRIES_MAX: Final = 20_000
"""Size of the cache. When it is full it is cleared, because decisions are cheap to compute again."""

_KEY_LENGTH_MAX: Final = 1000


_Key = tuple[str | tuple[str, ...], ...]
"""Cache key: user, groups and request, without the object's name."""


class _CachedDecision(NamedTuple):
    """Cached decision of one generation: a verdict for all names, except the names that bindings list."""

    generation: int
    named: tuple[tuple[frozenset[str], CompiledBinding], ...]
    verdict: Verdict


class RbacAuthorizer:
    """Authorizes by roles and bindings."""

    def __init__(self, index: RbacIndex, name: str = "rbac") -> None:
        """`name` is the authorizer's name in the configuration and in metrics."""
        self.title = ("RBAC", name)
        self._index = index
        self._decisions: dict[_Key, _CachedDecision] = {}

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        self._index.refresh()
        key: _Key
        if info.is_resource:
            key = (user.name, user.groups, info.namespace, info.verb, info.group, info.resource, info.subresource)
        else:
            key = (user.name, user.groups, "", info.verb, info.path)
        decision = self._decisions.get(key)
        if decision is None or decision.generation != self._index.generation:
            decision = self._of_resource(user, info) if info.is_resource else self._of_path(user, info)
            self._remember(key, decision)
        for names, binding in decision.named:
            if info.name in names:
                return _allowed(binding, subjects_of(user))
        return decision.verdict

    def rules_of(self, ref: RoleRef) -> tuple[Rule, ...] | None:
        """Return the rules of a role, or None if the role does not exist."""
        self._index.refresh()
        return self._index.rules(ref)

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """Return all rules bound to a user, with an error for each missing role."""
        self._index.refresh()
        bindings = self._index.bindings(user, namespace)
        rules = tuple(rule for binding in bindings for rule in binding.role.rules or ())
        return RulesFound(rules, False, tuple(ref.missing_text() for ref in _missing(bindings)))

    def namespaces_of(self, user: UserInfo) -> Collection[str] | None:
        """Return the namespaces with a RoleBinding of the user."""
        self._index.refresh()
        return self._index.namespaces_of(user)

    def missing_roles(self, user: UserInfo, namespace: str) -> list[RoleRef]:
        """Return the roles that are bound to a user but do not exist."""
        self._index.refresh()
        return _missing(self._index.bindings(user, namespace))

    def _remember(self, key: _Key, decision: _CachedDecision) -> None:
        if sum(map(len, key)) <= _KEY_LENGTH_MAX:
            if len(self._decisions) >= CACHE_ENTRIES_MAX:
                self._decisions.clear()
            self._decisions[key] = decision

    def _of_resource(self, user: UserInfo, info: RequestInfo) -> _CachedDecision:
        subjects, named = subjects_of(user), []
        keys, verb, group = resource_keys(info.resource, info.subresource), info.verb, info.group
        for bound in self._index.scopes(info.namespace):
            for subject in subjects:
                grants = bound.get(subject)
                if grants is None:
                    continue
                by_resource = grants.by_resource()
                for key in keys:
                    for verbs, groups, names, binding in by_resource.get(key, ()):
                        if (verbs is None or verb in verbs) and (groups is None or group in groups):
                            if names is None:
                                return _CachedDecision(self._index.generation, (), _allowed(binding, subjects))
                            named.append((names, binding))
        return _CachedDecision(self._index.generation, tuple(named), self._refused(user, info.namespace))

    def _of_path(self, user: UserInfo, info: RequestInfo) -> _CachedDecision:
        subjects = subjects_of(user)
        for bound in self._index.scopes(""):
            for subject in subjects:
                grants = bound.get(subject)
                for rule, binding in grants.path_rules() if grants is not None else ():
                    if path_rule_allows(rule, info.verb, info.path):
                        return _CachedDecision(self._index.generation, (), _allowed(binding, subjects))
        return _CachedDecision(self._index.generation, (), self._refused(user, ""))

    def _refused(self, user: UserInfo, namespace: str) -> Verdict:
        """Return no opinion, with the missing roles as the reason."""
        missing = _missing(self._index.bindings(user, namespace)) if self._index.lacks_roles else ()
        if not missing:
            return NO_OPINION
        return Verdict(Decision.NO_OPINION, f"RBAC: {aggregated(ref.missing_text() for ref in missing)}")


def _allowed(binding: CompiledBinding, subjects: tuple[Subject, ...]) -> Verdict:
    return Verdict(Decision.ALLOW, binding.reason(subjects))


def _missing(bindings: list[CompiledBinding]) -> list[RoleRef]:
    return [binding.ref for binding in bindings if not binding.role.exists]
