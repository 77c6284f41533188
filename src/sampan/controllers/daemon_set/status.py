"""What a DaemonSet tells of itself.

Source: kube-controller-manager pkg/controller/daemon/daemon_controller.go `updateDaemonSetStatus` (1.36).
"""

from typing import Final

from sampan.controllers.daemon_set.seen import Seen, oldest_first
from sampan.controllers.status import status_of
from sampan.resource import Object, meta

_ALWAYS_SAID: Final = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")


def status(seen: Seen, collisions: int) -> Object:
    """The status that tells of the Pods as they were found. On a Node with several Pods the oldest one counts."""
    counted = [oldest_first(pods)[0] for name, pods in seen.pods.items() if name in seen.wanted]
    ready = [pod for pod in counted if pod.is_ready]
    available = sum(seen.is_available(pod) for pod in ready)
    counts = {
        "desiredNumberScheduled": len(seen.wanted),
        "currentNumberScheduled": len(counted),
        "numberMisscheduled": sum(
            node.metadata.name in seen.pods and node.metadata.name not in seen.wanted for node in seen.nodes
        ),
        "numberReady": len(ready),
        "updatedNumberScheduled": sum(seen.is_updated(pod) for pod in counted),
        "numberAvailable": available,
        "numberUnavailable": len(seen.wanted) - available,
    }
    told = status_of(seen.daemon_set)
    for name, count in counts.items():
        if count or name in _ALWAYS_SAID:
            told[name] = count
        else:
            told.pop(name, None)
    if collisions:
        told["collisionCount"] = collisions
    told["observedGeneration"] = meta(seen.daemon_set).generation
    return told
