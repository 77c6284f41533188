"""The controller of Nodes. A Node is reconciled after each change, and when its grace period may have ended.

Source: kube-controller-manager pkg/controller/nodelifecycle/node_lifecycle_controller.go (1.36).
"""

from __future__ import annotations

import asyncio
import datetime as dt
import math
from typing import Final

from sampan.client import Conflict, MergePatch, NotFound, StrategicMergePatch
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import LEASES, NODES
from sampan.component_base.views import POD_VIEW
from sampan.controllers.node_lifecycle.health import ready_status, silent_in_s, unknown_conditions
from sampan.controllers.node_lifecycle.node_health_map import LEASE_NAMESPACE, NodeHealthMap
from sampan.controllers.node_lifecycle.taints import swaps_no_execute, taints_after, taints_of, wants_no_execute
from sampan.controllers.node_lifecycle.zones import TaintingRate, rates, zone_of
from sampan.controllers.pods_of_nodes import NODE_INDEX, index_pods_by_node
from sampan.core.time import timestamp
from sampan.kinds import core_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import Object, meta

NAME: Final = "node-lifecycle-controller"
MONITOR_S: Final = 5.0
WORKERS: Final = 8


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    index_pods_by_node(context)
    (
        Builder(context.manager)
        .named(NAME)
        .for_(NODES)
        .with_options(max_concurrent_reconciles=WORKERS)
        .complete(NodeLifecycleController(context))
    )


class NodeLifecycleController:
    """Marks silent nodes as unknown, and keeps the taints of all nodes."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._clock = context.clock
        self._recorder = context.recorder("node-controller")
        self._nodes = client.resource(NODES)
        self._leases = client.resource(LEASES, namespace=LEASE_NAMESPACE)
        self._pods = client.resource(POD_VIEW, namespace="")
        self._health = NodeHealthMap(context.clock)
        context.informer(LEASES).add_handler(self._health)
        self._rate = TaintingRate()
        self._evicting = asyncio.Lock()

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one node. Raises `ApiError`, `TransportError`."""
        node = await self._nodes.find(request)
        if node is None:
            if self._health.forget(request.name):
                note = f"Removing Node {request.name} from Controller"
                self._recorder.normal(_named(request.name, request.name), "RemovingNode", note)
            return None
        if request.name not in self._health:
            note = f"Registered Node {request.name} in Controller"
            self._recorder.normal(_named(request.name, meta(node).uid), "RegisteredNode", note)
        now = self._clock.now()
        lease = await self._leases.find(Request(LEASE_NAMESPACE, request.name))
        health = self._health.observe(node, lease, now)
        silent_s = silent_in_s(node, health, now)
        try:
            if silent_s <= 0:
                node = await self._mark_unknown(node, now)
            wait_s = await self._taint(node, now)
        except (Conflict, NotFound):
            return Result(MONITOR_S)
        return Result(min(wait_s, max(silent_s, MONITOR_S)))

    async def _mark_unknown(self, node: core_v1.Node, now: dt.datetime) -> core_v1.Node:
        """Set the conditions of a silent node to Unknown, and mark its Pods as not ready."""
        before = ready_status(node)
        conditions = unknown_conditions(node, now)
        status = node.get("status")
        if conditions != (status.get("conditions") if status else None):
            metadata = {"resourceVersion": meta(node).resource_version}
            patch = MergePatch({"metadata": metadata, "status": {"conditions": conditions}})
            node = await self._nodes.status.patch(meta(node).name, patch)
        if before == "True":
            note = f"Node {meta(node).name} status is now: NodeNotReady"
            self._recorder.normal(_named(meta(node).name, meta(node).uid), "NodeNotReady", note)
        # Repeated in each reconciliation, because an earlier one may have failed halfway.
        await self._mark_pods(meta(node).name)
        return node

    async def _mark_pods(self, node_name: str) -> None:
        for pod in await self._pods.by_index(NODE_INDEX, node_name):
            if not pod.is_ready:
                continue
            condition = {"type": "Ready", "status": "False", "lastTransitionTime": timestamp(self._clock)}
            metadata = {"uid": pod.metadata.uid}
            patch = StrategicMergePatch({"metadata": metadata, "status": {"conditions": [condition]}})
            try:
                await self._pods.in_namespace(pod.metadata.namespace).status.patch(pod.metadata.name, patch)
            except (NotFound, Conflict):
                continue
            named = {**metadata, "name": pod.metadata.name, "namespace": pod.metadata.namespace}
            about = {"apiVersion": "v1", "kind": "Pod", "metadata": named}
            self._recorder.warning(about, "NodeNotReady", "Node is not ready")

    async def _taint(self, node: core_v1.Node, now: dt.datetime) -> float:
        """Write the taints. Return the seconds until more taints can be written without a change of the node."""
        ready = ready_status(node)
        swaps = swaps_no_execute(node, ready)
        if wants_no_execute(node, ready) and not swaps:
            async with self._evicting:
                return await self._evict(node, ready, now)
        await self._write_taints(node, ready, now, no_execute=swaps)
        return math.inf

    async def _evict(self, node: core_v1.Node, ready: str, now: dt.datetime) -> float:
        """Add the NoExecute taint if the rate allows it. The lock serializes nodes, because the rate counts writes."""
        zone = zone_of(node)
        rate = rates(await self._nodes.list()).get(zone, 0.0)
        wait_s = self._rate.wait_s(zone, rate, now)
        await self._write_taints(node, ready, now, no_execute=wait_s == 0)
        if wait_s == 0:
            self._rate.tainted(zone, now)
        return wait_s or MONITOR_S

    async def _write_taints(self, node: core_v1.Node, ready: str, now: dt.datetime, *, no_execute: bool) -> None:
        """Write the taints that the node should have, if they differ."""
        taints = taints_after(node, ready, now, no_execute=no_execute)
        if taints != taints_of(node):
            metadata = {"resourceVersion": meta(node).resource_version}
            patch = MergePatch({"metadata": metadata, "spec": {"taints": taints or None}})
            await self._nodes.patch(meta(node).name, patch)


def _named(name: str, uid: str) -> Object:
    """Return an object that identifies a Node in an event."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": uid}}
