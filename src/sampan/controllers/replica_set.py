"""The ReplicaSet controller: keeps the desired number of Pods of one template running.

A ReplicationController works the same way, with a simpler form of selector.

Concurrency: the manager runs the controller; each object is reconciled by one worker at a time. Reads include the
controller's own earlier writes, so it never creates more Pods than are missing.
Source: kube-controller-manager pkg/controller/replicaset/replica_set.go, replica_set_utils.go (1.36).
"""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from sampan.client import ClientError, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import REPLICA_SETS, REPLICATION_CONTROLLERS
from sampan.component_base.views import POD_VIEW, Pod
from sampan.controllers.status import (
    find_status_condition,
    remove_status_condition,
    set_status_condition,
    status_of,
    write_status,
)
from sampan.controllers.workloads.availability import is_available, next_available_s
from sampan.controllers.workloads.ownership import Owned, OwnerGone, controller_of, index_by_controller, owners_of_pods
from sampan.controllers.workloads.pod_changes import CountChanged
from sampan.controllers.workloads.pod_control import PodControl, pod_from_template
from sampan.controllers.workloads.pod_deletion_order import first_to_delete
from sampan.controllers.workloads.slow_start import slow_start
from sampan.core.label_selectors import Selector, selector_from_label_selector, selector_from_labels
from sampan.kinds import apps_v1, core_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import Object, TypedResource, meta

BURST: Final = 500
"""Highest number of Pods that one reconciliation creates or deletes."""
WORKERS: Final = 5
REST_S_PER_POD: Final = 50e-6
"""Pause in seconds for each Pod, after reconciling a set that has its desired number of Pods.

Reconciling 2,000 Pods takes about 20 ms. While they become ready one by one, each of them triggers a reconciliation.
The pause combines several of these into one.
"""
OWNER_INDEX: Final = "replicas-owner"
"""Index of sets by the UID of their controlling owner (a Deployment)."""
_REPLICA_FAILURE: Final = "ReplicaFailure"


def set_up(context: ControllerContext) -> None:
    """Register the controller of ReplicaSets with the manager."""
    ReplicaController(context, REPLICA_SETS, "replicaset-controller").start()


def set_up_replication(context: ControllerContext) -> None:
    """Register the controller of ReplicationControllers with the manager."""
    ReplicaController(context, REPLICATION_CONTROLLERS, "replicationcontroller-controller").start()


_Set: TypeAlias = "apps_v1.ReplicaSet | core_v1.ReplicationController"


class ReplicaController:
    """Keeps the desired number of Pods for each set of one kind."""

    def __init__(self, context: ControllerContext, kind: TypedResource[_Set], name: str) -> None:
        self._context = context
        self._kind = kind
        self._name = name
        self._sets = context.manager.client.resource(kind, namespace="")
        self._informer = context.informer(kind)
        self._informer.indexer.add_indexer(OWNER_INDEX, index_by_controller)
        self._owned: Owned[Pod] = Owned(context, POD_VIEW, kind)
        self._pods = PodControl(context, context.recorder(name))

    def start(self) -> None:
        """Register the controller with the manager."""
        (
            Builder(self._context.manager)
            .named(self._name)
            .for_(self._kind)
            .watches(
                POD_VIEW,
                owners_of_pods(self._kind, self._informer, self._selector),
                predicates=[CountChanged(self._kind.kind)],
            )
            .with_options(max_concurrent_reconciles=WORKERS)
            .complete(self)
        )

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one set. Raises `ClientError`."""
        try:
            owner = await self._sets.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return None
        selector = self._selector(owner)
        try:
            pods = await self._owned.claim(owner, selector, passes=lambda pod: pod.is_active)
        except OwnerGone:
            return None
        failure: ClientError | None = None
        if meta(owner).deletion_timestamp is None:
            try:
                await self._manage(owner, pods)
            except ClientError as error:
                # The status is written first, so that users see why Pods are missing. The error is raised afterwards.
                failure = error
        now = self._context.clock.now()
        await write_status(self._sets, owner, self._status(owner, pods, failure, now))
        if failure is not None:
            raise failure
        if len(pods) == _desired(owner):
            await asyncio.sleep(len(pods) * REST_S_PER_POD)
        return Result(next_available_s(pods, _min_ready_s(owner), now))

    async def _manage(self, owner: _Set, pods: Sequence[Pod]) -> None:
        """Create or delete Pods to reach the desired number."""
        surplus = len(pods) - _desired(owner)
        if surplus < 0:
            pod = pod_from_template(owner["spec"]["template"], owner)

            async def create(_: int) -> None:
                await self._pods.create(pod, owner)

            # A template that the server refuses (a quota, an admission rule) would fail the same way for each Pod.
            await slow_start(min(-surplus, BURST), create)
        elif surplus > 0:
            now = self._context.clock.now()
            # If all Pods are deleted, their order does not matter.
            related = await self._related(owner) if surplus < len(pods) else ()
            victims = first_to_delete(pods, related, min(surplus, BURST), now)
            ends = [self._pods.delete(pod, owner) for pod in victims]
            # Every deletion is attempted. The first error then causes a retry of the failed ones.
            results = await asyncio.gather(*ends, return_exceptions=True)
            for result in results:
                if isinstance(result, BaseException):
                    raise result

    async def _related(self, owner: _Set) -> list[Pod]:
        """Return the Pods of all sets of the same Deployment: they compete for the same nodes."""
        reference = controller_of(owner)
        if reference is None:
            return list(await self._owned.of(owner))
        related: list[Pod] = []
        for other in self._informer.indexer.by_index(OWNER_INDEX, reference.uid):
            related += await self._owned.of(other)
        return related

    def _status(
        self,
        owner: _Set,
        pods: Sequence[Pod],
        failure: ClientError | None,
        now: dt.datetime,
    ) -> Object:
        status: Object = status_of(owner)
        min_ready_s = _min_ready_s(owner)
        labels = selector_from_labels((owner["spec"]["template"].get("metadata") or {}).get("labels"))
        counts = {
            "replicas": len(pods),
            "fullyLabeledReplicas": sum(labels.matches(pod.metadata.labels) for pod in pods),
            "readyReplicas": sum(pod.is_ready for pod in pods),
            "availableReplicas": sum(is_available(pod, min_ready_s, now) for pod in pods),
        }
        for name, count in counts.items():
            if count or name == "replicas":
                status[name] = count
            else:
                status.pop(name, None)
        status["observedGeneration"] = meta(owner).generation
        if failure is None:
            remove_status_condition(status, _REPLICA_FAILURE)
        # Written once and not updated, as in Kubernetes: a message that changes with each retry would cause endless
        # writes.
        elif find_status_condition(status, _REPLICA_FAILURE) is None:
            reason = "FailedCreate" if len(pods) < _desired(owner) else "FailedDelete"
            condition = {"type": _REPLICA_FAILURE, "status": "True", "reason": reason, "message": str(failure)}
            set_status_condition(status, condition, self._context.clock)
        return status

    def _selector(self, owner: _Set) -> Selector:
        selector: Any = owner["spec"].get("selector")  # of another type in each of the kinds
        return selector_from_label_selector(selector) if self._kind == REPLICA_SETS else selector_from_labels(selector)


def _desired(owner: _Set) -> int:
    replicas = owner["spec"].get("replicas")
    return 1 if replicas is None else int(replicas)


def _min_ready_s(owner: _Set) -> int:
    return int(owner["spec"].get("minReadySeconds") or 0)
