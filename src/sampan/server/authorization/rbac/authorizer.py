"""`RbacAuthorizer`: allows what a role of the user's allows, has no opinion on the rest.

What was found out is kept until a role or a binding changes: for a user in a namespace all rules, for a kind of request
(names apart) the answer.
Source: kubernetes plugin/pkg/auth/authorizer/rbac/rbac.go (1.36).
"""

from typing import Final, NamedTuple

from sampan.core.policy_rules import Rule
from sampan.server.authorization.authorizer import NO_OPINION, Decision, RulesFound, Verdict
from sampan.server.authorization.rbac.binding import CompiledBinding, RoleRef
from sampan.server.authorization.rbac.index import Grant, RbacIndex, subjects_of
from sampan.server.authorization.rbac.rule_table import Names, RuleTable
from sampan.server.authorization.union import aggregated
from sampan.server.request import RequestInfo, UserInfo

KEPT_MAX: Final = 20_000
"""How many answers are kept. At the bound all are forgotten: they cost little to find again."""

RIGHTS_MAX: Final = 1000
"""How many users' rights are kept, counted once for each namespace."""

_KEY_LENGTH_MAX: Final = 1000


class _Answer(NamedTuple):
    """What RBAC says to one kind of request: allowed for these names, else `otherwise`."""

    allowed: tuple[tuple[Names, Verdict], ...]
    otherwise: Verdict


class _Rights:
    """All that is bound to one user in one namespace."""

    __slots__ = ("errors", "otherwise", "rules", "table")

    def __init__(self, grants: list[Grant]) -> None:
        sourced = [(rule, grant.binding) for grant in grants for rule in grant.rules or ()]
        self.rules: tuple[Rule, ...] = tuple(rule for rule, _ in sourced)
        self.table: RuleTable[CompiledBinding] = RuleTable(sourced)
        self.errors = tuple(grant.binding.role.missing_text() for grant in grants if grant.rules is None)
        missing = aggregated(self.errors)
        self.otherwise = Verdict(Decision.NO_OPINION, f"RBAC: {missing}") if missing else NO_OPINION


class RbacAuthorizer:
    """See the module."""

    def __init__(self, index: RbacIndex) -> None:
        self._index = index
        self._answers: dict[tuple[object, ...], _Answer] = {}
        self._rights: dict[tuple[str, tuple[str, ...], str], _Rights] = {}

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        self._refresh()
        key: tuple[object, ...]
        if info.is_resource:
            key = (user.name, user.groups, info.namespace, info.verb, info.group, info.resource, info.subresource)
        else:
            key = (user.name, user.groups, "", info.verb, info.path)
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answer(user, info)
            self._keep(key, answer)
        for names, verdict in answer.allowed:
            if names is None or info.name in names:
                return verdict
        return answer.otherwise

    def rules_of(self, ref: RoleRef) -> tuple[Rule, ...] | None:
        """The rules of the role that a binding means."""
        self._refresh()
        return self._index.rules(ref)

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """All rules that are bound to a user, and an error for each role that is missing."""
        self._refresh()
        rights = self._rights_of(user, namespace)
        return RulesFound(rights.rules, False, rights.errors)

    def _refresh(self) -> None:
        if self._index.refresh():
            self._forget()

    def _keep(self, key: tuple[object, ...], answer: _Answer) -> None:
        if sum(len(part) for part in key if isinstance(part, str)) <= _KEY_LENGTH_MAX:
            if len(self._answers) >= KEPT_MAX:
                self._answers.clear()
            self._answers[key] = answer

    def _forget(self) -> None:
        self._answers.clear()
        self._rights.clear()

    def _rights_of(self, user: UserInfo, namespace: str) -> _Rights:
        key = (user.name, user.groups, namespace)
        rights = self._rights.get(key)
        if rights is None:
            if len(self._rights) >= RIGHTS_MAX:
                self._rights.clear()
            rights = self._rights[key] = _Rights(self._index.grants(user, namespace))
        return rights

    def _answer(self, user: UserInfo, info: RequestInfo) -> _Answer:
        rights = self._rights_of(user, info.namespace if info.is_resource else "")
        found: list[tuple[Names, CompiledBinding]]
        if info.is_resource:
            found = rights.table.allowing(info.verb, info.group, info.resource, info.subresource)
        else:
            binding = rights.table.allowing_path(info.verb, info.path)
            found = [] if binding is None else [(None, binding)]
        allowed: list[tuple[Names, Verdict]] = []
        for names, binding in found:
            allowed.append((names, Verdict(Decision.ALLOW, binding.reason(subjects_of(user)))))
            if names is None:
                break
        return _Answer(tuple(allowed), rights.otherwise)
