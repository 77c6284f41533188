"""Strategies of rbac.authorization.k8s.io."""

from sampan.registry.strategies.rbac.binding import BindingStrategy
from sampan.registry.strategies.rbac.role import ClusterRoleStrategy, RoleStrategy
from sampan.registry.strategy import Strategy

_GROUP = "rbac.authorization.k8s.io"

STRATEGIES: dict[tuple[str, str], Strategy] = {
    (_GROUP, "roles"): RoleStrategy(),
    (_GROUP, "clusterroles"): ClusterRoleStrategy(),
    (_GROUP, "rolebindings"): BindingStrategy(namespaced=True),
    (_GROUP, "clusterrolebindings"): BindingStrategy(namespaced=False),
}
