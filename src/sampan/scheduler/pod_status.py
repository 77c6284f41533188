"""What the scheduler writes into a Pod's status: why it has no Node, and where room is made for it.

Source: pkg/scheduler/schedule_one.go `updatePod`, util/utils.go `PatchPodStatus` (1.36).
"""

from typing import Any

from sampan.client.client import Client
from sampan.client.patch import StrategicMergePatch
from sampan.core.time import Clock, timestamp
from sampan.loops.resources import PODS
from sampan.scheduler.pod_info import PodInfo


async def write_not_scheduled(
    client: Client, clock: Clock, pod: PodInfo, *, reason: str, message: str, nominated: str | None
) -> None:
    """Patch the condition PodScheduled and the nomination, if they say something else.

    `nominated`: None leaves it. Raises `NotFound`, `ApiError`, `TransportError`.
    """
    status: dict[str, Any] = {}
    known = pod.scheduled
    if known is None or (known.status, known.reason, known.message) != ("False", reason, message):
        condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
        if known is None or known.status != "False":
            condition["lastTransitionTime"] = timestamp(clock)
        status["conditions"] = [condition]
    if nominated is not None and nominated != pod.nominated_node_name:
        status["nominatedNodeName"] = nominated or None
    if status:
        patch = StrategicMergePatch({"metadata": {"uid": pod.uid}, "status": status})
        await client.resource(PODS, namespace=pod.namespace).status.patch(pod.name, patch)
