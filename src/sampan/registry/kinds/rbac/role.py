"""Roles and cluster roles. Source: pkg/registry/rbac, pkg/apis/rbac/validation (1.36)."""

from __future__ import annotations

from typing import Any, Final

from sampan.core.field import Path, invalid, required
from sampan.core.object import Object
from sampan.core.validation.names import path_segment_errors
from sampan.kinds import meta_v1, rbac_v1
from sampan.registry.kind import Kind
from sampan.registry.rules.fields import Errors, check_label_selector
from sampan.registry.rules.selectors import has_invalid_selector, selector_or_none
from sampan.registry.strategy import Context, Strategy

_RULES = Path("rules")
_SELECTORS = Path("aggregationRule", "clusterRoleSelectors")


def check_rule(rule: rbac_v1.PolicyRule, path: Path, errors: Errors, *, namespaced: bool) -> None:
    """Check a rule, which has verbs and either resources or URLs."""
    if not rule.get("verbs"):
        errors.append(required(path.child("verbs"), "verbs must contain at least one value"))
    urls = rule.get("nonResourceURLs")
    if urls:
        at = path.child("nonResourceURLs")
        if namespaced:
            errors.append(invalid(at, urls, "namespaced rules cannot apply to non-resource URLs"))
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            errors.append(invalid(at, urls, "rules cannot apply to both regular resources and non-resource URLs"))
        return
    if not rule.get("apiGroups"):
        errors.append(required(path.child("apiGroups"), "resource rules must supply at least one api group"))
    if not rule.get("resources"):
        errors.append(required(path.child("resources"), "resource rules must supply at least one resource"))


class RoleStrategy(Strategy):
    """Rules of roles. Any path segment is a valid name."""

    has_generation = False
    allow_create_on_update = True
    namespaced = True

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        """Check that the name is a valid path segment."""
        return path_segment_errors(name)

    def default(self, obj: Object) -> None:
        """Set defaults: `rules` is always present, as null if there are none."""
        if not obj.get("rules"):
            obj["rules"] = None

    def check(self, ctx: Context, obj: rbac_v1.Role | rbac_v1.ClusterRole, errors: Errors) -> None:
        for index, rule in enumerate(obj.get("rules") or ()):
            check_rule(rule, _RULES.index(index), errors, namespaced=self.namespaced)


def _selectors(role: rbac_v1.ClusterRole) -> list[meta_v1.LabelSelector]:
    return (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or []


class ClusterRoleStrategy(RoleStrategy):
    """Rules of cluster roles: the rules of roles, and rules for aggregation."""

    namespaced = False

    def check(self, ctx: Context, obj: rbac_v1.Role | rbac_v1.ClusterRole, errors: Errors) -> None:
        self._check(ctx, obj, errors, lenient=False)

    def check_update(self, ctx: Context, obj: rbac_v1.ClusterRole, old: rbac_v1.ClusterRole, errors: Errors) -> None:
        """Check an update. Faults of stored selectors are tolerated."""
        self._check(ctx, obj, errors, lenient=any(map(has_invalid_selector, _selectors(old))))

    def _check(self, ctx: Context, obj: Any, errors: Errors, *, lenient: bool) -> None:
        super().check(ctx, obj, errors)
        if "aggregationRule" not in obj:
            return
        selectors = _selectors(obj)
        if not selectors:
            detail = "at least one clusterRoleSelector required if aggregationRule is non-nil"
            errors.append(required(_SELECTORS, detail))
        for index, selector in enumerate(selectors):
            path = _SELECTORS.index(index)
            check_label_selector(selector, path, errors, allow_invalid_values=lenient)
            if selector_or_none(selector) is None:
                errors.append(invalid(path, None, "invalid label selector."))


KINDS: Final = (
    Kind("rbac.authorization.k8s.io", "roles", RoleStrategy()),
    Kind("rbac.authorization.k8s.io", "clusterroles", ClusterRoleStrategy()),
)
