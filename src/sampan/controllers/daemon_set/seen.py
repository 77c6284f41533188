"""`Seen`: what one look at a DaemonSet finds."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sampan.controllers.availability import is_available
from sampan.controllers.daemon_set.placement import (
    Placement,
    is_updated,
    placement_of,
    target_node,
    template_generation,
)
from sampan.core.int_or_string import scaled_value
from sampan.loops.views import Node, Pod
from sampan.resource import Object

ROLLING_UPDATE: Final = "RollingUpdate"


@dataclass(frozen=True, slots=True)
class Seen:
    """A DaemonSet, the Nodes, and which of its Pods are for which Node. Made by `look`."""

    daemon_set: Object
    hashed: str
    """The hash of the present template's revision."""
    nodes: Sequence[Node]
    now: dt.datetime
    placement: Placement
    pods: Mapping[str, Sequence[Pod]]
    """By Node, also by Nodes that are not there; without those that have ended and are being deleted."""
    wanted: frozenset[str]
    """The Nodes that are to have a Pod."""

    @property
    def min_ready_s(self) -> int:
        """How long a Pod is ready before it counts as available."""
        return int(self.daemon_set["spec"].get("minReadySeconds") or 0)

    @property
    def max_surge(self) -> int:
        """On how many Nodes there may be a new Pod beside an old one that is available."""
        return self._share("maxSurge", len(self.wanted))

    @property
    def max_unavailable(self) -> int:
        """On how many Nodes there may be no available Pod; 1 where the strategy would allow of nothing at all."""
        count = self._share("maxUnavailable", len(self.wanted))
        return 1 if self.wanted and not count and not self.max_surge else count

    @property
    def allows_surge(self) -> bool:
        """Whether there may be two Pods on a Node."""
        return self._share("maxSurge", 1) > 0

    def is_available(self, pod: Pod) -> bool:
        """Whether a Pod has been ready for long enough."""
        return is_available(pod, self.min_ready_s, self.now)

    def is_updated(self, pod: Pod) -> bool:
        """Whether a Pod is of the present template."""
        return is_updated(pod, self.hashed, template_generation(self.daemon_set))

    def _share(self, field: str, total: int) -> int:
        strategy = self.daemon_set["spec"].get("updateStrategy") or {}
        if strategy.get("type") != ROLLING_UPDATE:
            return 0
        return scaled_value((strategy.get("rollingUpdate") or {}).get(field), total, round_up=True)


def look(daemon_set: Object, hashed: str, nodes: Sequence[Node], pods: Sequence[Pod], now: dt.datetime) -> Seen:
    """Put the Pods of a DaemonSet beside its Nodes. A Pod that is for no Node is left alone."""
    placement = placement_of(daemon_set)
    by_node: dict[str, list[Pod]] = {}
    for pod in pods:
        if pod.is_terminated and pod.metadata.deletion_timestamp is not None:
            continue
        node = target_node(pod)
        if node is not None:
            by_node.setdefault(node, []).append(pod)
    wanted = frozenset(node.metadata.name for node in nodes if placement.should_run(node))
    return Seen(daemon_set, hashed, nodes, now, placement, by_node, wanted)


def oldest_first(pods: Sequence[Pod]) -> list[Pod]:
    """Pods in the order in which they may stay: those that are on a Node first, then by age and name."""
    return sorted(
        pods,
        key=lambda pod: (not pod.spec.node_name, pod.metadata.creation_timestamp or "", pod.metadata.name),
    )
