"""Counts of Nodes with Pods of a DaemonSet: desired, current, ready, updated.

Source: kube-controller-manager pkg/controller/daemon/daemon_controller.go `updateDaemonSetStatus` (1.36).
"""

from __future__ import annotations

from typing import Final

from sampan.controllers.daemon_set.state import DaemonSetState, oldest_first
from sampan.controllers.status import set_counts, status_of
from sampan.kinds import apps_v1
from sampan.resource import meta

_ALWAYS_SET: Final = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")


def status(state: DaemonSetState, collisions: int) -> apps_v1.DaemonSetStatus:
    """Compute the status from the observed Pods. On a Node with several Pods the oldest one counts."""
    counted = [oldest_first(pods)[0] for name, pods in state.pods.items() if name in state.desired]
    ready = [pod for pod in counted if pod.is_ready]
    available = sum(state.is_available(pod) for pod in ready)
    counts: apps_v1.DaemonSetStatus = {
        "desiredNumberScheduled": len(state.desired),
        "currentNumberScheduled": len(counted),
        "numberMisscheduled": sum(
            node.metadata.name in state.pods and node.metadata.name not in state.desired for node in state.nodes
        ),
        "numberReady": len(ready),
        "updatedNumberScheduled": sum(state.is_updated(pod) for pod in counted),
        "numberAvailable": available,
        "numberUnavailable": len(state.desired) - available,
    }
    new: apps_v1.DaemonSetStatus = status_of(state.daemon_set)
    set_counts(new, counts, always=_ALWAYS_SET)
    if collisions:
        new["collisionCount"] = collisions
    new["observedGeneration"] = meta(state.daemon_set).generation
    return new
