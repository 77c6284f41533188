"""Status updates by the scheduler: the reason why a Pod has no Node, and its nominated Node.

Source: pkg/scheduler/schedule_one.go `updatePod`, util/utils.go `PatchPodStatus` (1.36).
"""

from __future__ import annotations

from typing import Any

from sampan.client.client import Client
from sampan.client.patch import StrategicMergePatch
from sampan.component_base.resources import PODS
from sampan.core.time import Clock, timestamp
from sampan.kinds import core_v1
from sampan.scheduler.pod_info import PodInfo


async def write_not_scheduled(
    client: Client, clock: Clock, pod: PodInfo, *, reason: str, message: str, nominated: str | None
) -> None:
    """Patch the condition PodScheduled and the nomination, if they have changed.

    `nominated` None leaves the nomination unchanged. Raises `NotFound`, `ApiError`, `TransportError`.
    """
    status: dict[str, Any] = {}
    present = pod.scheduled
    if present is None or (present.status, present.reason, present.message) != ("False", reason, message):
        condition: core_v1.PodCondition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": reason,
            "message": message,
        }
        if present is None or present.status != "False":
            condition["lastTransitionTime"] = timestamp(clock)
        status["conditions"] = [condition]
    if nominated is not None and nominated != pod.nominated_node_name:
        status["nominatedNodeName"] = nominated or None
    if status:
        patch = StrategicMergePatch({"metadata": {"uid": pod.uid}, "status": status})
        await client.resource(PODS, namespace=pod.namespace).status.patch(pod.name, patch)
