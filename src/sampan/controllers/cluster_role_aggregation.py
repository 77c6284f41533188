"""The aggregation of ClusterRoles: one with an aggregation rule has the rules of all that its selectors take.

Source: kube-controller-manager pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go (1.36).
"""

from collections.abc import Iterable
from typing import Any, Final

from sampan.core.label_selectors import selector_from_label_selector
from sampan.informer.ref import Ref
from sampan.loops.context import ControllerContext
from sampan.loops.resources import CLUSTER_ROLES
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import Object, meta

NAME: Final = "clusterrole-aggregation-controller"


def set_up(context: ControllerContext) -> None:
    """Have the manager run it."""
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
    """Writes the rules of aggregated roles."""

    def __init__(self, context: ControllerContext) -> None:
        self._roles = context.manager.client.resource(CLUSTER_ROLES)

    async def reconcile(self, request: Request) -> Result | None:
        """One look at one role. Raises `ApiError`, `TransportError`."""
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


def aggregated_rules(role: Object, roles: Iterable[Object]) -> list[Object]:
    """The rules of the others that a role's selectors take: by selector, then by name, each rule once."""
    by_name = sorted(roles, key=lambda each: meta(each).name)
    rules: list[Object] = []
    for said in role["aggregationRule"].get("clusterRoleSelectors") or ():
        selector = selector_from_label_selector(said)
        for other in by_name:
            if meta(other).name != meta(role).name and selector.matches(meta(other).labels):
                rules += [rule for rule in other.get("rules") or () if rule not in rules]
    return rules
