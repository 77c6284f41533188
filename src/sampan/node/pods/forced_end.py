"""`ForcedEnd`: end of a Pod that its node decides: an eviction, or the shutdown of the node.

Source: kubelet pkg/kubelet/eviction/eviction_manager.go `evictPod`, pkg/kubelet/nodeshutdown (1.36).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from sampan.core.time import format_time
from sampan.kinds import core_v1
from sampan.node.pods.status import Status
from sampan.node.views.pod import Pod


@dataclass(frozen=True, slots=True)
class ForcedEnd:
    """Reason of the end, for the Pod's status, and its grace period."""

    reason: str
    message: str
    grace_s_max: float
    """Longest time between the stop signal and the kill signal. The Pod's own grace period may be shorter."""
    is_disruption: bool = True
    """True if the Pod gets the condition DisruptionTarget, so that a Job does not count a failure."""

    def conditions(self, pod: Pod, now: dt.datetime) -> list[core_v1.PodCondition]:
        """Return the condition DisruptionTarget."""
        if not self.is_disruption:
            return []
        present = (each for each in (pod.reported.get("conditions") or ()) if each["type"] == "DisruptionTarget")
        before = next(present, None)
        kept = before is not None and before["status"] == "True"
        return [
            {
                "type": "DisruptionTarget",
                "status": "True",
                "observedGeneration": pod.metadata.generation or 1,
                "lastTransitionTime": before["lastTransitionTime"] if before and kept else format_time(now),
                "reason": "TerminationByKubelet",
                "message": self.message,
            }
        ]

    def failed(self, status: Status | None, pod: Pod, now: dt.datetime) -> Status:
        """Return the last status of a Pod.

        `status`: the status with its containers; None if the Pod never had containers.
        """
        found: Status = {"conditions": []} if status is None else status.copy()
        found |= {"phase": "Failed", "reason": self.reason, "message": self.message}
        found["conditions"] = [*found["conditions"], *self.conditions(pod, now)]
        return found
