"""The passes over all Pods.

Concurrency: one task of the manager makes a pass now and then; in it, at most `PARALLEL` Pods are deleted at a time.
Source: kube-controller-manager pkg/controller/podgc/gc_controller.go (1.36).
"""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from sampan.client import ClientError, DeleteOptions, NotFound, StrategicMergePatch
from sampan.controllers.pod_garbage_collector.garbage import (
    Quarantine,
    is_out_of_service,
    orphaned,
    out_of_service,
    terminated,
    unscheduled,
)
from sampan.core.time import timestamp
from sampan.loops.context import ControllerContext
from sampan.loops.resources import NODES
from sampan.loops.views import POD_VIEW, Pod
from sampan.resource import Object

NAME: Final = "pod-garbage-collector-controller"
PARALLEL: Final = 20

_log = logging.getLogger(f"sampan.{NAME}")


@dataclass(frozen=True, slots=True)
class PodGarbageSettings:
    """How much garbage is kept."""

    terminated_threshold: int = 12500
    """Pods that have ended and may stay; 0: all."""
    period_s: float = 20.0
    """Between two passes."""
    quarantine_s: float = 40.0
    """How long a node must be missing."""


def set_up(context: ControllerContext, settings: PodGarbageSettings = PodGarbageSettings()) -> None:
    """Register the controller with the manager."""
    context.manager.add(PodGarbageCollector(context, settings))


class PodGarbageCollector:
    """Deletes Pods that nobody else would."""

    def __init__(self, context: ControllerContext, settings: PodGarbageSettings) -> None:
        client = context.manager.client
        self._settings = settings
        self._clock = context.clock
        self._pod_informer = context.informer(POD_VIEW)
        self._node_informer = context.informer(NODES)
        self._pods = client.resource(POD_VIEW, namespace="")
        self._nodes = client.direct.resource(NODES)
        self._quarantine = Quarantine(settings.quarantine_s)

    def __str__(self) -> str:
        return NAME

    async def run(self) -> None:
        """Make passes until cancelled."""
        await self._pod_informer.synced()
        await self._node_informer.synced()
        while True:
            await self.collect()
            await asyncio.sleep(self._settings.period_s)

    async def collect(self) -> None:
        """One pass. What fails is logged, and tried again in the next one."""
        pods = [ref.decode() for ref in self._pod_informer.indexer.refs()]
        nodes = self._node_informer.indexer
        await self._end(terminated(pods, self._settings.terminated_threshold))
        refused = {ref.name for ref in nodes.refs() if b"out-of-service" in ref.raw and is_out_of_service(ref.decode())}
        await self._end(out_of_service(pods, refused))
        missing = {pod.spec.node_name for pod in pods if pod.spec.node_name and pod.spec.node_name not in nodes}
        gone = await self._gone(missing)
        await self._end(orphaned(pods, gone), reason="DeletionByPodGC", message="PodGC: node no longer exists")
        await self._end(unscheduled(pods))

    async def _gone(self, missing: Iterable[str]) -> set[str]:
        """The nodes that have been missing for long, and that the server does not know either."""
        over = self._quarantine.over(missing, asyncio.get_running_loop().time())
        return {name for name in over if not await self._is_there(name)}

    async def _is_there(self, node_name: str) -> bool:
        try:
            await self._nodes.metadata_only().get(node_name)
        except NotFound:
            return False
        except (ClientError, ValueError) as error:
            _log.warning("cannot tell whether node %s is there: %s", node_name, error)
        return True

    async def _end(self, pods: Iterable[Pod], *, reason: str = "", message: str = "") -> None:
        """Delete Pods at once; the condition tells why they were disrupted."""
        condition: Object = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message}
        room = asyncio.Semaphore(PARALLEL)

        async def end(pod: Pod) -> None:
            async with room:
                try:
                    await self._end_one(pod, condition if reason else None)
                except NotFound:
                    return
                except ClientError as error:
                    _log.warning("pod %s/%s cannot be deleted: %s", pod.metadata.namespace, pod.metadata.name, error)

        async with asyncio.TaskGroup() as group:
            for pod in pods:
                group.create_task(end(pod))

    async def _end_one(self, pod: Pod, condition: Object | None) -> None:
        """Mark it as failed, unless it has ended, so that its owner counts it right; then delete it."""
        metadata, client = pod.metadata, self._pods.in_namespace(pod.metadata.namespace)
        if not pod.is_terminated:
            status: dict[str, Any] = {"phase": "Failed"}
            if condition is not None:
                status["conditions"] = [{**condition, "lastTransitionTime": timestamp(self._clock)}]
            patch = StrategicMergePatch({"metadata": {"uid": metadata.uid}, "status": status})
            await client.status.patch(metadata.name, patch)
        await client.delete(metadata.name, DeleteOptions(grace_period_seconds=0, uid=metadata.uid))
