"""The controller of Services with a selector.

Changes are reconciled after a short delay, several at a time. Otherwise each Pod of a Service with a thousand Pods
would cause the slices to be packed again.
Source: kube-controller-manager pkg/controller/endpointslice/endpointslice_controller.go; staging
k8s.io/endpointslice reconciler.go (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sampan.client import ClientError, ListOptions
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import ENDPOINT_SLICES, NODES, SERVICES
from sampan.component_base.views import POD_VIEW, Pod
from sampan.controllers.endpoint_slices.endpoint import address_types, endpoint_of, ports_of
from sampan.controllers.endpoint_slices.packing import (
    PortsKey,
    SliceChanges,
    SliceUpdate,
    endpoints_of,
    pack,
    ports_key,
)
from sampan.controllers.endpoint_slices.service_pods import (
    HEADLESS_LABEL,
    ServicesOfPods,
    belongs,
    endpoints_changed,
    is_headless,
    pod_selector,
)
from sampan.controllers.endpoint_slices.trigger_time import ANNOTATION, TriggerTimes
from sampan.controllers.endpoint_slices.writing import (
    MANAGED_BY_LABEL,
    SERVICE_NAME_LABEL,
    new_slice,
    requests_of_slices,
    slices_of,
    write,
)
from sampan.kinds import core_v1, discovery_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result, RetryLater
from sampan.resource import meta

NAME: Final = "endpointslice-controller"
MANAGER: Final = "endpointslice-controller.k8s.io"
ENDPOINTS_MAX: Final = 100
"""Highest number of endpoints in one slice."""
BATCH_S: Final = 0.02
WORKERS: Final = 5
ZONE_LABEL: Final = "topology.kubernetes.io/zone"
_RESERVED: Final = (SERVICE_NAME_LABEL, MANAGED_BY_LABEL, HEADLESS_LABEL)
_SAME_NODE: Final = "PreferSameNode"
_CLOSE: Final = ("PreferClose", "PreferSameZone", _SAME_NODE)


class NodeMissing(RetryLater):
    """Pods are on nodes that do not exist (yet). They are left out, and the Service is retried."""


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    services = ServicesOfPods(context.informer(SERVICES))
    (
        Builder(context.manager)
        .named(NAME)
        .for_(SERVICES)
        .watches(POD_VIEW, services, predicates=[endpoints_changed(services)])
        .watches(ENDPOINT_SLICES, requests_of_slices(MANAGER))
        .with_options(max_concurrent_reconciles=WORKERS, debounce_s=BATCH_S)
        .complete(EndpointSliceController(context))
    )


class EndpointSliceController:
    """Keeps the slices of Services that have a selector."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._recorder = context.recorder("endpoint-slice-controller")
        self._services = client.resource(SERVICES, namespace="")
        self._pods = client.resource(POD_VIEW, namespace="")
        self._slices = client.resource(ENDPOINT_SLICES, namespace="")
        self._nodes = context.informer(NODES).indexer
        self._times = TriggerTimes()

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one Service. Raises `NodeMissing`, `ApiError`, `TransportError`."""
        service = await self._services.find(request)
        if service is None:
            self._times.forget(request)
            return None
        selector = pod_selector(service)
        if selector is None:
            return None
        options = ListOptions(label_selector=str(selector))
        pods = (await self._pods.in_namespace(request.namespace).list(options)).items
        try:
            await self._reconcile(service, pods)
        except (ClientError, NodeMissing) as error:
            note = f"Error updating Endpoint Slices for Service {request.namespace}/{request.name}: {error}"
            self._recorder.warning(service, "FailedToUpdateEndpointSlices", note)
            raise
        return None

    async def _reconcile(self, service: core_v1.Service, pods: Sequence[Pod]) -> None:
        client = self._slices.in_namespace(meta(service).namespace)
        existing = await slices_of(client, meta(service).name, MANAGER)
        time = self._times.last(service, pods)
        members = [pod for pod in pods if belongs(pod, include_terminating=True)]
        placed = [pod for pod in members if self._is_placed(service, pod)]
        changes = SliceChanges()
        types = address_types(service)
        for address_type in types:
            mine = [slice for slice in existing if slice["addressType"] == address_type]
            changes.add(self._changes(service, placed, mine, address_type))
        changes.delete += [slice for slice in existing if slice["addressType"] not in types]
        await write(client, changes, service, {ANNOTATION: time or None})
        if len(placed) < len(members):
            missing = next(pod for pod in members if not self._is_placed(service, pod))
            service_name = f"{meta(service).namespace}/{meta(service).name}"
            raise NodeMissing(
                f"skipping Pod {missing.metadata.name} for Service {service_name}: "
                f"Node {missing.spec.node_name} Not Found"
            )

    def _is_placed(self, service: core_v1.Service, pod: Pod) -> bool:
        """Return True if the Pod's node exists, or if the Service publishes Pods that are not ready."""
        return pod.spec.node_name in self._nodes or bool(service["spec"].get("publishNotReadyAddresses"))

    def _changes(
        self,
        service: core_v1.Service,
        pods: Sequence[Pod],
        existing: Sequence[discovery_v1.EndpointSlice],
        address_type: str,
    ) -> SliceChanges:
        """Return the changes to the slices of one address family."""
        labels = labels_for(service)
        changes = SliceChanges(delete=[slice for slice in existing if not _is_owned(slice, service)])
        by_ports: dict[PortsKey, list[discovery_v1.EndpointSlice]] = {}
        for slice in existing:
            if _is_owned(slice, service):
                by_ports.setdefault(ports_key(slice.get("ports")), []).append(slice)
        groups = self._groups(service, pods, address_type)
        for key, (ports, endpoints) in groups.items():
            make = _Maker(service, address_type, ports, labels)
            changes.add(pack(by_ports.pop(key, ()), endpoints, make, ENDPOINTS_MAX))
        for unwanted in by_ports.values():
            changes.delete += unwanted
        if len(changes.delete) == len(existing) and not changes.create:
            placeholder = new_slice(service, address_type, [], labels)
            if len(existing) == 1 and _is_like(existing[0], placeholder, service):
                changes.delete.clear()
            else:
                changes.create.append(placeholder)
        foreign = [slice for slice in changes.delete if not _is_owned(slice, service)]
        changes.delete = [slice for slice in changes.delete if _is_owned(slice, service)]
        changes.recycle()
        changes.delete += foreign
        set_hints(changes, existing, service["spec"].get("trafficDistribution"))
        return changes

    def _groups(
        self, service: core_v1.Service, pods: Sequence[Pod], address_type: str
    ) -> dict[PortsKey, tuple[list[discovery_v1.EndpointPort], list[discovery_v1.Endpoint]]]:
        """Group the desired endpoints by their ports."""
        groups: dict[PortsKey, tuple[list[discovery_v1.EndpointPort], list[discovery_v1.Endpoint]]] = {}
        for pod in pods:
            ports = ports_of(service, pod)
            _, endpoints = groups.setdefault(ports_key(ports), (ports, []))
            node = self._nodes.get(pod.spec.node_name)
            endpoint = endpoint_of(pod, node.labels.get(ZONE_LABEL, "") if node else "", service, address_type)
            if endpoint is not None:
                endpoints.append(endpoint)
        return groups


class _Maker:
    """Creates empty slices for one set of ports."""

    def __init__(
        self,
        service: core_v1.Service,
        address_type: str,
        ports: list[discovery_v1.EndpointPort],
        labels: dict[str, str],
    ) -> None:
        self._arguments = (service, address_type, ports, labels)

    def __call__(self) -> discovery_v1.EndpointSlice:
        return new_slice(*self._arguments)


def labels_for(service: core_v1.Service) -> dict[str, str]:
    """Return the labels of a Service's slices: the Service's labels, except those reserved for slices."""
    labels = {name: value for name, value in meta(service).labels.items() if name not in _RESERVED}
    if is_headless(service):
        labels[HEADLESS_LABEL] = ""
    return {**labels, SERVICE_NAME_LABEL: meta(service).name, MANAGED_BY_LABEL: MANAGER}


def _is_owned(slice: discovery_v1.EndpointSlice, service: core_v1.Service) -> bool:
    """Return True if the Service owns the slice, not a deleted Service of the same name."""
    uid = meta(service).uid
    return any(each.uid == uid and each.kind == "Service" for each in meta(slice).owner_references)


def _is_like(
    slice: discovery_v1.EndpointSlice, placeholder: discovery_v1.EndpointSlice, service: core_v1.Service
) -> bool:
    same = meta(slice).labels == meta(placeholder).labels and _is_owned(slice, service)
    return same and not endpoints_of(slice) and not slice.get("ports")


def set_hints(changes: SliceChanges, existing: Iterable[discovery_v1.EndpointSlice], distribution: str | None) -> None:
    """Set the hints on changed slices, and update slices with wrong hints. Without a distribution hints are removed.

    `distribution`: `trafficDistribution` of the Service.
    Source: staging k8s.io/endpointslice trafficdist/trafficdist.go (1.36).
    """
    settled = [id(each) for each in changes.delete] + [id(update.before) for update in changes.update]
    for slice in changes.create:
        _hint(slice, distribution)
    for update in changes.update:
        _hint(update.after, distribution)
    for slice in existing:
        if id(slice) not in settled:
            after: discovery_v1.EndpointSlice = {**slice, "endpoints": list(endpoints_of(slice))}
            _hint(after, distribution)
            if after["endpoints"] != endpoints_of(slice):
                changes.update.append(SliceUpdate(slice, after))


def _hint(slice: discovery_v1.EndpointSlice, distribution: str | None) -> None:
    slice["endpoints"] = [_hinted(endpoint, distribution) for endpoint in endpoints_of(slice)]


def _hinted(endpoint: discovery_v1.Endpoint, distribution: str | None) -> discovery_v1.Endpoint:
    """Return an endpoint with its hints. Endpoints that are not ready keep theirs, because they get no traffic."""
    close = distribution in _CLOSE
    if close and not (endpoint.get("conditions") or {}).get("ready"):
        return endpoint
    hints: discovery_v1.EndpointHints = {}
    if close and endpoint.get("zone"):
        hints["forZones"] = [{"name": endpoint["zone"]}]
    if distribution == _SAME_NODE and endpoint.get("nodeName"):
        hints["forNodes"] = [{"name": endpoint["nodeName"]}]
    if hints == (endpoint.get("hints") or {}):
        return endpoint
    changed = endpoint.copy()
    changed.pop("hints", None)
    if hints:
        changed["hints"] = hints
    return changed
