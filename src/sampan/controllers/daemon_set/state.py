"""`DaemonSetState`: the DaemonSet, its Nodes and its Pods, as one reconciliation reads them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from sampan.component_base.views import Node, Pod
from sampan.controllers.daemon_set.placement import (
    Placement,
    is_updated,
    placement_of,
    target_node,
    template_generation,
)
from sampan.controllers.workloads.availability import is_available
from sampan.core.numbers.int_or_string import scaled_value
from sampan.kinds import apps_v1

ROLLING_UPDATE: Final = "RollingUpdate"


@dataclass(frozen=True, slots=True)
class DaemonSetState:
    """A DaemonSet, the Nodes, and its Pods by Node. Create it with `observe`."""

    daemon_set: apps_v1.DaemonSet
    hashed: str
    """Hash of the current template's revision."""
    nodes: Sequence[Node]
    now: dt.datetime
    placement: Placement
    pods: Mapping[str, Sequence[Pod]]
    """Pods by the name of their Node, which may not exist. Ended Pods that are being deleted are left out."""
    desired: frozenset[str]
    """Names of the Nodes that should have a Pod."""

    @property
    def min_ready_s(self) -> int:
        """Seconds a Pod must be ready before it counts as available."""
        return int(self.daemon_set["spec"].get("minReadySeconds") or 0)

    @property
    def max_surge(self) -> int:
        """Highest number of Nodes with a new Pod next to an available old one."""
        return self._share("maxSurge", len(self.desired))

    @property
    def max_unavailable(self) -> int:
        """Highest number of Nodes without an available Pod. It is 1 if the strategy would allow no change at all."""
        count = self._share("maxUnavailable", len(self.desired))
        return 1 if self.desired and not count and not self.max_surge else count

    @property
    def allows_surge(self) -> bool:
        """True if a Node may have two Pods during an update."""
        return self._share("maxSurge", 1) > 0

    def is_available(self, pod: Pod) -> bool:
        """Return True if a Pod has been ready for long enough."""
        return is_available(pod, self.min_ready_s, self.now)

    def is_updated(self, pod: Pod) -> bool:
        """Return True if a Pod has the current template."""
        return is_updated(pod, self.hashed, template_generation(self.daemon_set))

    def _share(self, field: Literal["maxSurge", "maxUnavailable"], total: int) -> int:
        strategy = self.daemon_set["spec"].get("updateStrategy") or {}
        if strategy.get("type") != ROLLING_UPDATE:
            return 0
        return scaled_value((strategy.get("rollingUpdate") or {}).get(field), total, round_up=True)


def observe(
    daemon_set: apps_v1.DaemonSet, hashed: str, nodes: Sequence[Node], pods: Sequence[Pod], now: dt.datetime
) -> DaemonSetState:
    """Group the Pods of a DaemonSet by Node. Pods that name no Node are ignored."""
    placement = placement_of(daemon_set)
    by_node: dict[str, list[Pod]] = {}
    for pod in pods:
        if pod.is_terminated and pod.metadata.deletion_timestamp is not None:
            continue
        node = target_node(pod)
        if node is not None:
            by_node.setdefault(node, []).append(pod)
    desired = frozenset(node.metadata.name for node in nodes if placement.should_run(node))
    return DaemonSetState(daemon_set, hashed, nodes, now, placement, by_node, desired)


def oldest_first(pods: Sequence[Pod]) -> list[Pod]:
    """Sort Pods in the order of preference to keep them: those bound to a Node first, then by age and name."""
    return sorted(
        pods,
        key=lambda pod: (not pod.spec.node_name, pod.metadata.creation_timestamp or "", pod.metadata.name),
    )
