"""The loop over Nodes. One worker: what it remembers of nodes needs no locks.

Source: kube-controller-manager pkg/controller/nodelifecycle/node_lifecycle_controller.go (1.36).
"""

import datetime as dt
from collections.abc import Iterable
from typing import Any, Final

from sampan.client import Conflict, MergePatch, NotFound, StrategicMergePatch
from sampan.controllers.node_lifecycle.health import Probe, given_up, probe_of, ready_status, silent_in_s
from sampan.controllers.node_lifecycle.taints import swaps_no_execute, taints_after, taints_of, wants_no_execute
from sampan.controllers.node_lifecycle.zones import TaintingRate, rates, zone_of
from sampan.controllers.pods_of_nodes import NODE_INDEX, index_pods_by_node
from sampan.core.time import timestamp
from sampan.informer.ref import Ref
from sampan.loops.context import ControllerContext
from sampan.loops.resources import LEASES, NODES
from sampan.loops.views import POD_VIEW
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import Object, meta

NAME: Final = "node-lifecycle-controller"
LEASE_NAMESPACE: Final = "kube-node-lease"
MONITOR_S: Final = 5.0


def set_up(context: ControllerContext) -> None:
    """Have the manager run it."""
    index_pods_by_node(context)
    (
        Builder(context.manager)
        .named(NAME)
        .for_(NODES)
        .watches(LEASES, _node_of_lease)
        .complete(NodeLifecycleController(context))
    )


class NodeLifecycleController:
    """Gives up silent nodes, and keeps the taints of all."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._clock = context.clock
        self._recorder = context.recorder("node-controller")
        self._nodes = client.resource(NODES)
        self._leases = client.resource(LEASES, namespace=LEASE_NAMESPACE)
        self._pods = client.resource(POD_VIEW, namespace="")
        self._probes: dict[str, Probe] = {}
        self._rate = TaintingRate()

    async def reconcile(self, request: Request) -> Result | None:
        """One look at one node. Raises `ApiError`, `TransportError`."""
        node = await self._nodes.find(request)
        if node is None:
            if self._probes.pop(request.name, None) is not None:
                note = f"Removing Node {request.name} from Controller"
                self._recorder.normal(_named(request.name, request.name), "RemovingNode", note)
            return None
        if request.name not in self._probes:
            note = f"Registered Node {request.name} in Controller"
            self._recorder.normal(_named(request.name, meta(node).uid), "RegisteredNode", note)
        now = self._clock.now()
        lease = await self._leases.find(Request(LEASE_NAMESPACE, request.name))
        probe = probe_of(node, lease, self._probes.get(request.name), now)
        self._probes[request.name] = probe
        silent_s = silent_in_s(node, probe, now)
        try:
            if silent_s <= 0:
                node = await self._give_up(node, now)
            wait_s = await self._taint(node, now)
        except (Conflict, NotFound):
            return Result(MONITOR_S)
        return Result(min(wait_s, max(silent_s, MONITOR_S)))

    async def _give_up(self, node: Object, now: dt.datetime) -> Object:
        """Say that nobody knows how it is; its Pods are not ready then."""
        before = ready_status(node)
        conditions = given_up(node, now)
        if conditions != (node.get("status") or {}).get("conditions"):
            metadata = {"resourceVersion": meta(node).resource_version}
            patch = MergePatch({"metadata": metadata, "status": {"conditions": conditions}})
            node = await self._nodes.status.patch(meta(node).name, patch)
        if before == "True":
            note = f"Node {meta(node).name} status is now: NodeNotReady"
            self._recorder.normal(_named(meta(node).name, meta(node).uid), "NodeNotReady", note)
        # Again at every look: it may have ended on the way the last time.
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

    async def _taint(self, node: Object, now: dt.datetime) -> float:
        """Write the taints; gives the seconds until the next look."""
        ready = ready_status(node)
        no_execute, wait_s, zone = swaps_no_execute(node, ready), MONITOR_S, zone_of(node)
        newly = wants_no_execute(node, ready) and not no_execute
        if newly:
            rate = rates(await self._nodes.list()).get(zone, 0.0)
            allowed_s = self._rate.wait_s(zone, rate, now)
            no_execute = allowed_s == 0
            wait_s = allowed_s or MONITOR_S
        taints = taints_after(node, ready, now, no_execute=no_execute)
        if taints != taints_of(node):
            metadata = {"resourceVersion": meta(node).resource_version}
            patch = MergePatch({"metadata": metadata, "spec": {"taints": taints or None}})
            await self._nodes.patch(meta(node).name, patch)
        if newly and no_execute:
            self._rate.tainted(zone, now)
        return wait_s


def _named(name: str, uid: str) -> Object:
    """What an event needs of a node."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": uid}}


def _node_of_lease(ref: Ref[Any]) -> Iterable[Request]:
    return (Request("", ref.name),) if ref.namespace == LEASE_NAMESPACE else ()
