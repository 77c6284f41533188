"""Passes over all Pods that delete garbage.

Concurrency: one task of the manager makes a pass every `period_s`. It deletes at most `PARALLEL` Pods at a time.
Source: kube-controller-manager pkg/controller/podgc/gc_controller.go (1.36).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from sampan.client import ClientError, DeleteOptions, NotFound, StrategicMergePatch
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import NODES
from sampan.component_base.views import POD_VIEW, Pod
from sampan.controllers.pod_garbage_collector.garbage import (
    Quarantine,
    is_out_of_service,
    orphaned,
    out_of_service,
    terminated,
    unscheduled,
)
from sampan.core.time import timestamp
from sampan.kinds import core_v1

NAME: Final = "pod-garbage-collector-controller"
PARALLEL: Final = 20

_log = logging.getLogger(f"sampan.{NAME}")


@dataclass(frozen=True, slots=True)
class PodGarbageSettings:
    """Settings of the Pod garbage collector."""

    terminated_threshold: int = 12500
    """Number of ended Pods that are kept; 0: all."""
    period_s: float = 20.0
    """Seconds between two passes."""
    quarantine_s: float = 40.0
    """Seconds a node must be missing before its Pods are deleted."""


def set_up(context: ControllerContext, settings: PodGarbageSettings = PodGarbageSettings()) -> None:
    """Register the controller with the manager."""
    context.manager.add(PodGarbageCollector(context, settings))


class PodGarbageCollector:
    """Deletes Pods that no other component deletes."""

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
        """Make one pass. Failures are logged, and the next pass retries them."""
        pods = [ref.decode() for ref in self._pod_informer.indexer.refs()]
        nodes = self._node_informer.indexer
        await self._delete_all(terminated(pods, self._settings.terminated_threshold))
        refused = {ref.name for ref in nodes.refs() if b"out-of-service" in ref.raw and is_out_of_service(ref.decode())}
        await self._delete_all(out_of_service(pods, refused))
        missing = {pod.spec.node_name for pod in pods if pod.spec.node_name and pod.spec.node_name not in nodes}
        gone = await self._gone(missing)
        await self._delete_all(orphaned(pods, gone), reason="DeletionByPodGC", message="PodGC: node no longer exists")
        await self._delete_all(unscheduled(pods))

    async def _gone(self, missing: Iterable[str]) -> set[str]:
        """Return the nodes that have been missing for the quarantine and do not exist on the server."""
        over = self._quarantine.over(missing, asyncio.get_running_loop().time())
        return {name for name in over if not await self._exists(name)}

    async def _exists(self, node_name: str) -> bool:
        try:
            await self._nodes.metadata_only().get(node_name)
        except NotFound:
            return False
        except (ClientError, ValueError) as error:
            _log.warning("cannot check whether node %s exists; keeping its pods: %s", node_name, error)
        return True

    async def _delete_all(self, pods: Iterable[Pod], *, reason: str = "", message: str = "") -> None:
        """Delete Pods without grace period. A reason is recorded in their condition DisruptionTarget."""
        condition: core_v1.PodCondition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": reason,
            "message": message,
        }
        room = asyncio.Semaphore(PARALLEL)

        async def delete(pod: Pod) -> None:
            async with room:
                try:
                    await self._delete(pod, condition if reason else None)
                except NotFound:
                    return
                except ClientError as error:
                    _log.warning("cannot delete pod %s/%s: %s", pod.metadata.namespace, pod.metadata.name, error)

        async with asyncio.TaskGroup() as group:
            for pod in pods:
                group.create_task(delete(pod))

    async def _delete(self, pod: Pod, condition: core_v1.PodCondition | None) -> None:
        """Mark a Pod as failed, unless it has ended, so that its owner counts it correctly; then delete it."""
        metadata, client = pod.metadata, self._pods.in_namespace(pod.metadata.namespace)
        if not pod.is_terminated:
            status: dict[str, Any] = {"phase": "Failed"}
            if condition is not None:
                status["conditions"] = [{**condition, "lastTransitionTime": timestamp(self._clock)}]
            patch = StrategicMergePatch({"metadata": {"uid": metadata.uid}, "status": status})
            await client.status.patch(metadata.name, patch)
        await client.delete(metadata.name, DeleteOptions(grace_period_seconds=0, uid=metadata.uid))
