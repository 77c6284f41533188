"""The controller of Services with a selector and of their Endpoints.

Source: kube-controller-manager pkg/controller/endpoint/endpoints_controller.go (1.36).
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from sampan.client import ApiError, ListOptions, NotFound, merge_patch_between
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import ENDPOINTS, SERVICES
from sampan.component_base.views import POD_VIEW
from sampan.controllers.endpoint_slices.service_pods import (
    HEADLESS_LABEL,
    ServicesOfPods,
    endpoints_changed,
    is_headless,
    pod_selector,
)
from sampan.controllers.endpoint_slices.trigger_time import ANNOTATION, TriggerTimes
from sampan.controllers.endpoints.subsets import in_order, subsets_of, truncated
from sampan.controllers.workloads.pod_control import NAMESPACE_TERMINATING
from sampan.informer.shared_informer import SharedInformer
from sampan.kinds import core_v1, meta_v1
from sampan.operator.builder import Builder
from sampan.operator.handlers import for_object
from sampan.operator.predicates import PredicateFuncs
from sampan.operator.queue import WorkQueue
from sampan.operator.request import Request, Result
from sampan.resource import meta

NAME: Final = "endpoints-controller"
MANAGED_BY_LABEL: Final = "endpoints.kubernetes.io/managed-by"
MANAGER: Final = "endpoint-controller"
OVER_CAPACITY: Final = "endpoints.kubernetes.io/over-capacity"
LEADER_ANNOTATION: Final = "control-plane.alpha.kubernetes.io/leader"
"""Annotation on Endpoints that older leader elections use as a lock."""
BATCH_S: Final = 0.02
WORKERS: Final = 5


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    services = ServicesOfPods(context.informer(SERVICES))
    only_deleted = PredicateFuncs[Any](lambda _: False, lambda _old, _new: False, None)
    (
        Builder(context.manager)
        .named(NAME)
        .for_(SERVICES)
        .watches(POD_VIEW, services, predicates=[endpoints_changed(services)])
        .watches(ENDPOINTS, for_object, predicates=[only_deleted])
        .watches_source(Leftovers(context.informer(ENDPOINTS)))
        .with_options(max_concurrent_reconciles=WORKERS, debounce_s=BATCH_S)
        .complete(EndpointsController(context))
    )


class Leftovers:
    """Queues all Endpoints at the start, because their Services may have been deleted while no controller ran."""

    def __init__(self, endpoints: SharedInformer[Any]) -> None:
        self._endpoints = endpoints

    def __str__(self) -> str:
        return "leftover endpoints"

    async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
        """Queue all Endpoints, then set `synced`."""
        await self._endpoints.synced()
        for ref in self._endpoints.indexer.refs():
            if LEADER_ANNOTATION not in ref.annotations:
                queue.add(Request.of_key(ref.key))
        synced.set()
        await asyncio.get_running_loop().create_future()


class EndpointsController:
    """Keeps the Endpoints of Services that have a selector, and deletes those of deleted Services."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._recorder = context.recorder(MANAGER)
        self._services = client.resource(SERVICES, namespace="")
        self._endpoints = client.resource(ENDPOINTS, namespace="")
        self._pods = client.resource(POD_VIEW, namespace="")
        self._times = TriggerTimes()

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one Service. Raises `ApiError`, `TransportError`."""
        service = await self._services.find(request)
        if service is None:
            self._times.forget(request)
            await self._delete(request)
            return None
        selector = pod_selector(service)
        if selector is None:
            return None
        options = ListOptions(label_selector=str(selector))
        pods = (await self._pods.in_namespace(request.namespace).list(options)).items
        time = self._times.last(service, pods)
        await self._write(service, subsets_of(service, pods), time)
        return None

    async def _delete(self, request: Request) -> None:
        if await self._endpoints.find(request) is None:
            return
        try:
            await self._endpoints.in_namespace(request.namespace).delete(request.name)
        except NotFound:
            return

    async def _write(self, service: core_v1.Service, subsets: list[core_v1.EndpointSubset], time: str) -> None:
        namespace, name = meta(service).namespace, meta(service).name
        current = await self._endpoints.find(Request(namespace, name))
        fitting = truncated(subsets)
        if current is not None and _is_current(current, service, fitting or subsets, cut=fitting is not None):
            return
        annotations = dict(meta(current).annotations) if current is not None else {}
        annotations |= {ANNOTATION: time, OVER_CAPACITY: "truncated" if fitting is not None else ""}
        before: meta_v1.ObjectMeta = {"name": name, "namespace": namespace}
        metadata: meta_v1.ObjectMeta = {
            **(current["metadata"] if current is not None else before),
            "labels": labels_for(service),
            "annotations": {key: value for key, value in annotations.items() if value or key not in _OWN},
        }
        desired: core_v1.Endpoints = {**(current or _EMPTY), "metadata": metadata, "subsets": fitting or subsets}
        client = self._endpoints.in_namespace(namespace)
        try:
            if current is None:
                await client.create(desired)
            else:
                await client.patch(name, merge_patch_between(current, desired, optimistic_lock=True))
        except ApiError as error:
            if current is None and error.has_cause(NAMESPACE_TERMINATING):
                return
            verb = ("Create", "create", "for service ") if current is None else ("Update", "update", "")
            note = f"Failed to {verb[1]} endpoint {verb[2]}{namespace}/{name}: {error}"
            self._recorder.warning({**_EMPTY, "metadata": metadata}, f"FailedTo{verb[0]}Endpoint", note)
            raise


_EMPTY: Final[core_v1.Endpoints] = {"apiVersion": "v1", "kind": "Endpoints", "metadata": {}}
_OWN: Final = (ANNOTATION, OVER_CAPACITY)


def labels_for(service: core_v1.Service) -> dict[str, str]:
    """Return the labels of a Service's Endpoints."""
    labels = {name: value for name, value in meta(service).labels.items() if name != HEADLESS_LABEL}
    if is_headless(service):
        labels[HEADLESS_LABEL] = ""
    return {**labels, MANAGED_BY_LABEL: MANAGER}


def _is_current(
    current: core_v1.Endpoints, service: core_v1.Service, subsets: list[core_v1.EndpointSubset], *, cut: bool
) -> bool:
    """Return True if the stored Endpoints need no change."""
    if meta(current).labels != labels_for(service) or (OVER_CAPACITY in meta(current).annotations) != cut:
        return False
    return in_order(current.get("subsets") or ()) == subsets
