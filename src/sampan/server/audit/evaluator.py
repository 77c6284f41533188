"""`PolicyEvaluator`: applies the audit policy to requests.

Source: apiserver pkg/audit/policy/checker.go (1.36).
"""

from dataclasses import dataclass

from sampan.server.audit.policy import LEVELS, AuditPolicy, GroupResources, PolicyRule
from sampan.server.request import RequestInfo, UserInfo

_DECISIONS_MAX = 4096

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class AuditDecision:
    """Level and stages of a request's events."""

    level: str
    rank: int
    """Index of `level` in `LEVELS`; 0 for no events."""
    omit_stages: frozenset[str]
    omit_managed_fields: bool


class PolicyEvaluator:
    """Finds the first rule that matches. Caches decisions, up to a maximum number."""

    def __init__(self, policy: AuditPolicy) -> None:
        self._policy = policy
        self._rules = tuple((rule, _decision(rule, policy)) for rule in policy.rules)
        self._default = _decision(PolicyRule("None"), policy)
        self._by_name = any(each.resource_names for rule in policy.rules for each in rule.resources)
        self._known: dict[Key, AuditDecision] = {}

    def evaluate(self, user: UserInfo | None, info: RequestInfo) -> AuditDecision:
        """Return the decision for a request. `user` is None if authentication failed."""
        subject = (user.name, user.groups) if user is not None else None
        if info.is_resource:
            name = info.name if self._by_name else ""
            what: Key = (info.verb, info.group, info.resource, info.subresource, info.namespace, name)
        else:
            what = (info.verb, info.path)
        known = self._known.get((subject, what))
        if known is None:
            known = self._evaluate(user, info)
            if len(self._known) >= _DECISIONS_MAX:
                self._known.clear()
            self._known[(subject, what)] = known
        return known

    def _evaluate(self, user: UserInfo | None, info: RequestInfo) -> AuditDecision:
        for rule, decision in self._rules:
            if _matches(rule, user, info):
                return decision
        return self._default


def _decision(rule: PolicyRule, policy: AuditPolicy) -> AuditDecision:
    own = rule.omit_managed_fields
    omit_stages = frozenset((*policy.omit_stages, *rule.omit_stages))
    return AuditDecision(
        rule.level, LEVELS.index(rule.level), omit_stages, policy.omit_managed_fields if own is None else own
    )


def _matches(rule: PolicyRule, user: UserInfo | None, info: RequestInfo) -> bool:
    if rule.users and (user is None or user.name not in rule.users):
        return False
    if rule.user_groups and (user is None or not any(group in rule.user_groups for group in user.groups)):
        return False
    if rule.verbs and info.verb not in rule.verbs:
        return False
    if rule.namespaces or rule.resources:
        return info.is_resource and _resource_matches(rule, info)
    if rule.non_resource_urls:
        return not info.is_resource and any(_path_matches(info.path, url) for url in rule.non_resource_urls)
    return True


def _path_matches(path: str, url: str) -> bool:
    return url in ("*", path) or (url.endswith("*") and path.startswith(url.rstrip("*")))


def _resource_matches(rule: PolicyRule, info: RequestInfo) -> bool:
    if rule.namespaces and info.namespace not in rule.namespaces:
        return False
    return not rule.resources or any(_group_matches(each, info) for each in rule.resources)


def _group_matches(each: GroupResources, info: RequestInfo) -> bool:
    if each.group not in ("*", info.group):
        return False
    if not each.resources:
        return True
    if each.resource_names and info.name not in each.resource_names:
        return False
    desired = {"*", f"{info.resource}/*"}
    if info.subresource:
        desired |= {f"{info.resource}/{info.subresource}", f"*/{info.subresource}"}
    else:
        desired.add(info.resource)
    return any(name in desired for name in each.resources)
