"""ClusterRole aggregation: a role with an aggregation rule gets the rules of all roles that its selectors match.

Source: kube-controller-manager pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CLUSTER_ROLES
from sampan.core.label_selectors import selector_from_label_selector
from sampan.informer.ref import Ref
from sampan.kinds import rbac_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import meta

NAME: Final = "clusterrole-aggregation-controller"


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    roles = context.informer(CLUSTER_ROLES).indexer

    def aggregated(_: Ref[Any]) -> Iterable[Request]:
        return [Request.of_key(ref.key) for ref in roles.refs() if b'"aggregationRule"' in ref.raw]

    (
        Builder(context.manager)
        .named(NAME)
        .watches(CLUSTER_ROLES, aggregated)
        .complete(ClusterRoleAggregationController(context))
    )


class ClusterRoleAggregationController:
    """Writes the aggregated rules into roles with an aggregation rule."""

    def __init__(self, context: ControllerContext) -> None:
        self._roles = context.manager.client.resource(CLUSTER_ROLES)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one role. Raises `ApiError`, `TransportError`."""
        role = await self._roles.find(request)
        if role is None or role.get("aggregationRule") is None:
            return None
        rules = aggregated_rules(role, await self._roles.list())
        if rules != (role.get("rules") or []):
            applied = {
                "apiVersion": CLUSTER_ROLES.api_version,
                "kind": CLUSTER_ROLES.kind,
                "metadata": {"name": request.name},
                "rules": rules,
            }
            await self._roles.apply(applied, field_manager=NAME, force=True)
        return None


def aggregated_rules(role: rbac_v1.ClusterRole, roles: Iterable[rbac_v1.ClusterRole]) -> list[rbac_v1.PolicyRule]:
    """Return the rules of all other roles that the role's selectors match, each rule once.

    Rules are ordered by selector, then by the name of the role.
    """
    by_name = sorted(roles, key=lambda each: meta(each).name)
    rules: list[rbac_v1.PolicyRule] = []
    for label_selector in role["aggregationRule"].get("clusterRoleSelectors") or ():
        selector = selector_from_label_selector(label_selector)
        for other in by_name:
            if meta(other).name != meta(role).name and selector.matches(meta(other).labels):
                rules += [rule for rule in other.get("rules") or () if rule not in rules]
    return rules
