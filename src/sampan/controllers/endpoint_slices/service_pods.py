"""Relation between Services and Pods: the Pods and ports of a Service, and the Services of a Pod.

Source: staging k8s.io/endpointslice util/controller_utils.go, utils.go `FindPort` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from sampan.component_base.views import Pod
from sampan.core.label_selectors import Selector, selector_from_labels
from sampan.informer.ref import Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.informer.store.indexer import NAMESPACE_INDEX
from sampan.kinds import core_v1
from sampan.operator.predicates import PredicateFuncs
from sampan.operator.request import Request
from sampan.resource.view import view_decoder

HEADLESS_LABEL: Final = "service.kubernetes.io/headless"
_TCP: Final = "TCP"


def pod_selector(service: core_v1.Service) -> Selector | None:
    """Return the selector of a Service's Pods, or None.

    Services without a selector or with an external name have none: users or other controllers manage their endpoints.
    """
    spec = service.get("spec") or {}
    labels = spec.get("selector")
    if not labels or spec.get("type") == "ExternalName":
        return None
    return selector_from_labels(labels)


def is_headless(service: core_v1.Service) -> bool:
    """Return True if the Service has no cluster IP."""
    return (service["spec"].get("clusterIP") or "None") == "None"


def belongs(pod: Pod, *, include_terminating: bool) -> bool:
    """Return True if a selected Pod is an endpoint, ready or not."""
    if pod.is_terminated or not (pod.status.pod_ip or pod.status.pod_ips):
        return False
    return include_terminating or pod.metadata.deletion_timestamp is None


def hostname_of(pod: Pod, service: core_v1.Service) -> str:
    """Return the hostname of the Pod below the Service's domain; empty if it has none."""
    return pod.spec.hostname if pod.spec.subdomain == service["metadata"]["name"] else ""


def pod_ips(pod: Pod) -> list[str]:
    """Return all addresses of a Pod."""
    return [each["ip"] for each in pod.status.pod_ips if each.get("ip")] or [pod.status.pod_ip]


def find_port(port: core_v1.ServicePort, pod: Pod) -> int | None:
    """Return the Pod's port number for a Service port; None if no container has a port of that name."""
    target = port.get("targetPort", port["port"])
    if isinstance(target, int):
        return target or int(port["port"])
    protocol = port.get("protocol", _TCP)
    for each in _container_ports(pod):
        if each.get("name") == target and each.get("protocol", _TCP) == protocol:
            return int(each["containerPort"])
    return None


class _Container(msgspec.Struct):
    ports: list[dict[str, Any]] = msgspec.field(default_factory=list)


_container = view_decoder(_Container)


def _container_ports(pod: Pod) -> Iterator[dict[str, Any]]:
    """Yield the ports of the containers, then those of the sidecars."""
    for raw in pod.spec.containers:
        yield from _container(raw).ports
    for init in pod.spec.init_containers:
        if init.restart_policy == "Always":
            yield from init.ports


class ServicesOfPods:
    """Finds the Services of a Pod. Selectors are compiled once for each version of a Service."""

    def __init__(self, services: SharedInformer[Any]) -> None:
        self._services = services.indexer
        self._selectors: dict[str, tuple[str, Selector | None]] = {}

    def __call__(self, ref: Ref[Any]) -> Iterable[Request]:
        """Return the Services whose selectors match the Pod's labels."""
        if not ref.labels:
            return ()
        found: list[Request] = []
        for service in self._services.by_index(NAMESPACE_INDEX, ref.namespace):
            selector = self._selector(service)
            if selector is not None and selector.matches(ref.labels):
                found.append(Request(service.namespace, service.name))
        return found

    def _selector(self, service: Ref[Any]) -> Selector | None:
        version, selector = self._selectors.get(service.uid, ("", None))
        if version == service.resource_version:
            return selector
        if len(self._selectors) > 2 * len(self._services) + 16:
            self._selectors.clear()  # Most of them belong to deleted Services.
        selector = pod_selector(service.decode())
        self._selectors[service.uid] = (service.resource_version, selector)
        return selector


def endpoints_changed(services: ServicesOfPods) -> PredicateFuncs[Any]:
    """Return a predicate that drops changes of Pods that affect no endpoint."""

    def changes(old: Ref[Any], new: Ref[Any]) -> bool:
        if old.labels != new.labels or old.uid != new.uid:
            return True
        return bool(services(new)) and _endpoint_fields(old.decode()) != _endpoint_fields(new.decode())

    return PredicateFuncs(None, changes, None)


def _endpoint_fields(pod: Pod) -> tuple[object, ...]:
    status, spec = pod.status, pod.spec
    deleting = pod.metadata.deletion_timestamp
    return (
        deleting,
        pod.is_ready,
        pod.is_terminated,
        status.pod_ip,
        status.pod_ips,
        spec.node_name,
        spec.hostname,
        spec.subdomain,
    )
