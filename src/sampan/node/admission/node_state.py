"""`NodeState`: pressure, shutdown and network of a node: the resulting conditions, and the refusal of new Pods.

Source: kubelet pkg/kubelet/eviction/eviction_manager.go `Admit`, pkg/kubelet/nodeshutdown (1.36).
"""

import asyncio
from collections.abc import Set
from typing import Final

from sampan.core.pods.tolerations import NO_SCHEDULE, Taint, untolerated
from sampan.node.admission.checks import PodRejection
from sampan.node.admission.demand import demand_of
from sampan.node.views.pod import Pod

SHUTTING_DOWN: Final = "node is shutting down"
CRITICAL: Final = 2_000_000_000
"""Lowest priority of a critical Pod: the priority of the class system-cluster-critical."""
_MEMORY: Final = "MemoryPressure"
_MEMORY_TAINT: Final = Taint("node.kubernetes.io/memory-pressure", "", NO_SCHEDULE)
_SHUTDOWN: Final = PodRejection("NodeShutdown", "Pod was rejected as the node is shutting down.")


class NodeState:
    """State of one node. The eviction manager, the shutdown and the network of Pods write it; heartbeats and
    admission read it.
    """

    def __init__(self, *, machine_problem: str = "") -> None:
        """`machine_problem`: what the machine lacks to run Pods; empty if it lacks nothing."""
        self._machine_problem = machine_problem
        self._pressures: frozenset[str] = frozenset()
        self._is_shutting_down = False
        self._network_problem: str | None = None
        self._policy_problem: str | None = None
        self._changed = asyncio.Event()

    @property
    def pressures(self) -> Set[str]:
        """Conditions of pressure that are True."""
        return self._pressures

    @property
    def network_problem(self) -> str | None:
        """Reason why the network of Pods is unavailable; empty if it is available, None if this is not known here."""
        return self._network_problem

    def set_network_problem(self, problem: str) -> None:
        """Set the reason why the network of Pods is unavailable; empty if it is available."""
        if problem != self._network_problem:
            self._network_problem = problem
            self._changed.set()

    @property
    def policy_problem(self) -> str | None:
        """Reason why NetworkPolicies are not enforced; empty if they are, None if another program may enforce them."""
        return self._policy_problem

    def set_policy_problem(self, problem: str | None) -> None:
        """Set the reason why NetworkPolicies are not enforced."""
        if problem != self._policy_problem:
            self._policy_problem = problem
            self._changed.set()

    @property
    def problem(self) -> str:
        """Reason why the node is not ready; empty unless it is shutting down, or the machine cannot run Pods."""
        return SHUTTING_DOWN if self._is_shutting_down else self._machine_problem

    async def changed(self) -> None:
        """Wait for a change."""
        await self._changed.wait()
        self._changed.clear()

    def set_pressures(self, names: frozenset[str]) -> None:
        """Set the conditions of pressure."""
        if names != self._pressures:
            self._pressures = names
            self._changed.set()

    def set_shutting_down(self, value: bool) -> None:
        """Set whether the node is shutting down."""
        if value != self._is_shutting_down:
            self._is_shutting_down = value
            self._changed.set()

    def refusal(self, pod: Pod, raw: bytes) -> PodRejection | None:
        """Return the reason why a new Pod cannot start now. `raw`: the Pod as JSON."""
        if self._is_shutting_down:
            return _SHUTDOWN
        if not self._pressures or is_critical(pod):
            return None
        if self._pressures == {_MEMORY}:
            if pod.reported.get("qosClass", "BestEffort") != "BestEffort":
                return None
            if untolerated(demand_of(raw).tolerations, (_MEMORY_TAINT,)) is None:
                return None
        return PodRejection("Evicted", f"The node had condition: [{' '.join(sorted(self._pressures))}]. ")


def is_critical(pod: Pod) -> bool:
    """Return True for a Pod that is never evicted: a static Pod, its mirror, or a Pod with a system priority."""
    annotations = pod.metadata.annotations
    source = annotations.get("kubernetes.io/config.source", "api")
    return source != "api" or "kubernetes.io/config.mirror" in annotations or (pod.spec.priority or 0) >= CRITICAL
