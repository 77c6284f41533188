"""Eviction of a preemption's victims.

Source: pkg/scheduler/framework/preemption/executor.go (1.36).
"""

import asyncio

from sampan.client.client import Client
from sampan.client.errors import NotFound
from sampan.client.options import DeleteOptions
from sampan.client.patch import MergePatch, StrategicMergePatch
from sampan.component_base.resources import PODS
from sampan.core.time import Clock, timestamp
from sampan.operator.events import EventRecorder
from sampan.operator.events.event import ObjectReference
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.preemption.candidate import Candidate


class Evictor:
    """Evicts Pods and records events about it."""

    def __init__(self, client: Client, clock: Clock, recorder: EventRecorder) -> None:
        self._client = client
        self._clock = clock
        self._recorder = recorder

    async def evict(self, candidate: Candidate, preemptor: PodInfo) -> None:
        """Evict all victims.

        Pods that no longer exist, or that are already terminating, are skipped. Raises `ClientError`.
        """
        waiting = [pod for pod in candidate.victims if not pod.is_terminating]
        evictions = (self._evict(pod, candidate.node_name, preemptor) for pod in waiting)
        for result in await asyncio.gather(*evictions, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result

    async def withdraw(self, nominated: PodInfo) -> None:
        """Remove the nomination of a Pod."""
        pods = self._client.resource(PODS, namespace=nominated.namespace)
        try:
            await pods.status.patch(nominated.name, MergePatch({"status": {"nominatedNodeName": None}}))
        except NotFound:
            pass

    async def _evict(self, victim: PodInfo, node_name: str, preemptor: PodInfo) -> None:
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
            "message": f"{preemptor.constraints.scheduler_name}: preempting to accommodate a higher priority pod",
            "lastTransitionTime": timestamp(self._clock),
        }
        pods = self._client.resource(PODS, namespace=victim.namespace)
        patch = StrategicMergePatch({"metadata": {"uid": victim.uid}, "status": {"conditions": [condition]}})
        try:
            await pods.status.patch(victim.name, patch)
            await pods.delete(victim.name, DeleteOptions(uid=victim.uid))
        except NotFound:
            return
        regarding = ObjectReference("v1", "Pod", victim.namespace, victim.name, victim.uid, victim.resource_version)
        related = ObjectReference("v1", "Pod", preemptor.namespace, preemptor.name, preemptor.uid)
        note = f"Preempted by pod {preemptor.uid} on node {node_name}"
        self._recorder.normal(regarding, "Preempted", note, action="Preempting", related=related)
