"""SchedulingGates: Pods wait until their gates are gone. Source: plugins/schedulinggates/scheduling_gates.go (1.36)."""

from collections.abc import Mapping
from typing import ClassVar

from sampan.scheduler.framework.plugin import ClusterEvent, Hint, always
from sampan.scheduler.pod_info import PodInfo


class SchedulingGates:
    """Holds Pods back."""

    name: ClassVar[str] = "SchedulingGates"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {ClusterEvent.SELF_UPDATED: always}

    def pre_enqueue(self, pod: PodInfo) -> str:
        """The gates that are left."""
        gates = pod.constraints.gates
        return f"waiting for scheduling gates: [{' '.join(gates)}]" if gates else ""
