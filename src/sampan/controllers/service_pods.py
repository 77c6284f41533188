"""Which Pods are behind a Service, by which ports, and which Services a Pod is behind.

Source: staging k8s.io/endpointslice util/controller_utils.go, utils.go `FindPort` (1.36).
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from sampan.core.label_selectors import Selector, selector_from_labels
from sampan.informer.indexer import NAMESPACE_INDEX
from sampan.informer.ref import Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.loops.views import Pod
from sampan.operator.predicates import PredicateFuncs
from sampan.operator.request import Request
from sampan.resource import Object

HEADLESS_LABEL: Final = "service.kubernetes.io/headless"
_TCP: Final = "TCP"


def pod_selector(service: Object) -> Selector | None:
    """What selects the Pods of a Service; None when it has none, or has an external name: others give it endpoints."""
    spec = service.get("spec") or {}
    labels = spec.get("selector")
    if not labels or spec.get("type") == "ExternalName":
        return None
    return selector_from_labels(labels)


def is_headless(service: Object) -> bool:
    """Whether it has no address of its own."""
    return (service["spec"].get("clusterIP") or "None") == "None"


def belongs(pod: Pod, *, include_terminating: bool) -> bool:
    """Whether a selected Pod is an endpoint, ready or not."""
    if pod.is_terminated or not (pod.status.pod_ip or pod.status.pod_ips):
        return False
    return include_terminating or pod.metadata.deletion_timestamp is None


def hostname_of(pod: Pod, service: Object) -> str:
    """The name of the Pod below the Service's, where it has one."""
    return pod.spec.hostname if pod.spec.subdomain == service["metadata"]["name"] else ""


def pod_ips(pod: Pod) -> list[str]:
    """All addresses of a Pod."""
    return [each["ip"] for each in pod.status.pod_ips if each.get("ip")] or [pod.status.pod_ip]


def find_port(port: Object, pod: Pod) -> int | None:
    """The number of the Pod's port that a port of a Service leads to; None when no container has one of that name."""
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


_container = msgspec.json.Decoder(_Container)


def _container_ports(pod: Pod) -> Iterator[dict[str, Any]]:
    """Those of containers, then those of sidecars."""
    for raw in pod.spec.containers:
        yield from _container.decode(raw).ports
    for init in pod.spec.init_containers:
        if init.restart_policy == "Always":
            yield from init.ports


class ServicesOfPods:
    """Finds the Services of a Pod that has changed; their selectors are compiled once for each version."""

    def __init__(self, services: SharedInformer[Any]) -> None:
        self._services = services.indexer
        self._selectors: dict[str, tuple[str, Selector | None]] = {}

    def __call__(self, ref: Ref[Any]) -> Iterable[Request]:
        """Those whose selectors match the Pod's labels."""
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
            self._selectors.clear()  # Most of them are of Services that are gone.
        selector = pod_selector(service.decode())
        self._selectors[service.uid] = (service.resource_version, selector)
        return selector


def endpoints_changed(services: ServicesOfPods) -> PredicateFuncs[Any]:
    """Drops changes of Pods that no endpoint shows, or that are behind no Service."""

    def shows(old: Ref[Any], new: Ref[Any]) -> bool:
        if old.labels != new.labels or old.uid != new.uid:
            return True
        return bool(services(new)) and _shown(old.decode()) != _shown(new.decode())

    return PredicateFuncs(None, shows, None)


def _shown(pod: Pod) -> tuple[object, ...]:
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
