"""The taint eviction controller: deletes Pods that do not tolerate a NoExecute taint of their node.

Source: kube-controller-manager pkg/controller/tainteviction/taint_eviction.go (1.36).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from sampan.client import Conflict, DeleteOptions, NotFound, StrategicMergePatch
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import NODES
from sampan.component_base.views import POD_VIEW, Pod, node_name_of
from sampan.controllers.pods_of_nodes import NODE_INDEX, index_pods_by_node
from sampan.core.time import timestamp
from sampan.informer.ref import Ref
from sampan.kinds import core_v1
from sampan.operator.builder import Builder
from sampan.operator.predicates import PredicateFuncs
from sampan.operator.request import Request, Result
from sampan.resource import Object
from sampan.resource.view import view_decoder

NAME: Final = "taint-eviction-controller"
NO_EXECUTE: Final = "NoExecute"
WORKERS: Final = 4


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    index_pods_by_node(context)
    pods = context.informer(POD_VIEW).indexer
    controller = TaintEvictionController(context)

    def pods_of_node(ref: Ref[Any]) -> Iterable[Request]:
        return [Request.of_key(key) for key in pods.index_keys(NODE_INDEX, ref.name)]

    (
        Builder(context.manager)
        .named(NAME)
        .watches(POD_VIEW, controller.affected)
        .watches(NODES, pods_of_node, predicates=[PredicateFuncs(_is_tainted, _taints_changed, None)])
        .with_options(max_concurrent_reconciles=WORKERS)
        .complete(controller)
    )


class TaintEvictionController:
    """Evicts each Pod once its toleration time for the node's taints is over."""

    def __init__(self, context: ControllerContext) -> None:
        self._clock = context.clock
        self._recorder = context.recorder(NAME)
        self._pod_refs = context.informer(POD_VIEW).indexer
        self._nodes = context.informer(NODES).indexer
        self._pods = context.manager.client.resource(POD_VIEW, namespace="")
        self._since: dict[Request, tuple[str, dt.datetime]] = {}

    def affected(self, ref: Ref[Any]) -> Iterable[Request]:
        """Return a request for the Pod if its node is tainted or its eviction is pending, else nothing."""
        request = Request.of_key(ref.key)
        if request in self._since:
            return (request,)
        node = self._nodes.get(node_name_of(ref.raw))
        return (request,) if node is not None and _is_tainted(node) else ()

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one Pod. Raises `ApiError`, `TransportError`."""
        ref = self._pod_refs.get(request.key)
        pod = None if ref is None else ref.decode()
        if ref is None or pod is None or pod.metadata.deletion_timestamp is not None or not pod.spec.node_name:
            self._since.pop(request, None)
            return None
        node = self._nodes.get(pod.spec.node_name)
        taints = no_execute_taints(node.decode()) if node is not None and _is_tainted(node) else []
        tolerated_s = tolerated_for_s(taints, _tolerations(ref.raw).spec.tolerations) if taints else None
        if tolerated_s is None:
            if self._since.pop(request, None) is not None:
                note = f"Cancelling deletion of Pod {request.key}"
                self._recorder.normal(_named(pod), "TaintManagerEviction", note)
            return None
        now = self._clock.now()
        # The toleration time counts from the first reconciliation of this Pod (by its UID) on the tainted node.
        uid, since = self._since.get(request, ("", now))
        if uid != pod.metadata.uid:
            since = now
        self._since[request] = (pod.metadata.uid, since)
        wait_s = tolerated_s - (now - since).total_seconds()
        if wait_s > 0:
            return Result(wait_s)
        await self._evict(pod)
        self._since.pop(request, None)
        return None

    async def _evict(self, pod: Pod) -> None:
        metadata, client = pod.metadata, self._pods.in_namespace(pod.metadata.namespace)
        note = f"Marking for deletion Pod {metadata.namespace}/{metadata.name}"
        self._recorder.normal(_named(pod), "TaintManagerEviction", note)
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByTaintManager",
            "message": "Taint manager: deleting due to NoExecute taint",
            "lastTransitionTime": timestamp(self._clock),
        }
        patch = StrategicMergePatch({"metadata": {"uid": metadata.uid}, "status": {"conditions": [condition]}})
        try:
            await client.status.patch(metadata.name, patch)
            await client.delete(metadata.name, DeleteOptions(uid=metadata.uid))
        except (NotFound, Conflict):
            return


def no_execute_taints(node: core_v1.Node) -> list[core_v1.Taint]:
    """Return the taints of a node that evict Pods without a toleration."""
    return [taint for taint in (node.get("spec") or {}).get("taints") or () if taint.get("effect") == NO_EXECUTE]


class Toleration(msgspec.Struct, rename="camel"):
    """Toleration with the time for which it holds back an eviction."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None

    def tolerates(self, taint: core_v1.Taint) -> bool:
        """Return True if the toleration matches a taint."""
        if self.effect and self.effect != taint.get("effect"):
            return False
        if self.key and self.key != taint.get("key"):
            return False
        return self.operator == "Exists" or (
            self.operator in ("", "Equal") and bool(self.key) and self.value == (taint.get("value") or "")
        )


def tolerated_for_s(taints: Iterable[core_v1.Taint], tolerations: Sequence[Toleration]) -> float | None:
    """Return the seconds a Pod may stay on a node with these taints: 0 if one is not tolerated, None if unlimited."""
    used: list[Toleration] = []
    for taint in taints:
        found = [toleration for toleration in tolerations if toleration.tolerates(taint)]
        if not found:
            return 0.0
        used += found
    limits = [each.toleration_seconds for each in used if each.toleration_seconds is not None]
    return max(float(min(limits)), 0.0) if limits else None


class _Spec(msgspec.Struct):
    tolerations: list[Toleration] = msgspec.field(default_factory=list)


class _Tolerating(msgspec.Struct):
    spec: _Spec


_tolerations = view_decoder(_Tolerating)


def _named(pod: Pod) -> Object:
    metadata = {"name": pod.metadata.name, "namespace": pod.metadata.namespace, "uid": pod.metadata.uid}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}


def _is_tainted(node: Ref[Any]) -> bool:
    return b'"NoExecute"' in node.raw


def _taints_changed(old: Ref[Any], new: Ref[Any]) -> bool:
    if not _is_tainted(old) and not _is_tainted(new):
        return False
    return no_execute_taints(old.decode()) != no_execute_taints(new.decode())
