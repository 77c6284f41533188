"""SchedulingGates: keeps Pods out of the queue until their gates are removed.

Source: plugins/schedulinggates/scheduling_gates.go (1.36).
"""

from collections.abc import Mapping
from typing import ClassVar

from sampan.scheduler.framework.plugin import ClusterEvent, Hint, always
from sampan.scheduler.pod_info import PodInfo


class SchedulingGates:
    """Keeps gated Pods out of the queue."""

    name: ClassVar[str] = "SchedulingGates"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {ClusterEvent.SELF_UPDATED: always}

    def pre_enqueue(self, pod: PodInfo) -> str:
        """Return a message with the remaining gates."""
        gates = pod.constraints.gates
        return f"waiting for scheduling gates: [{' '.join(gates)}]" if gates else ""
