"""Subsets of Endpoints, as pure functions.

Source: kube-controller-manager pkg/controller/endpoint/endpoints_controller.go; pkg/api/v1/endpoints/util.go (1.36).
"""

import ipaddress
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sampan.component_base.views import Pod
from sampan.controllers.endpoint_slices.endpoint import address_type_of
from sampan.controllers.endpoint_slices.service_pods import belongs, find_port, hostname_of, is_headless, pod_ips
from sampan.resource import Object
from sampan.wire import json

CAPACITY_MAX: Final = 1000
"""Highest number of addresses in one Endpoints object."""


def subsets_of(service: Object, pods: Iterable[Pod]) -> list[Object]:
    """Return the addresses of a Service's Pods, grouped by their ports.

    The order depends only on the content, so equal subsets compare as equal.
    """
    tolerant = bool(service["spec"].get("publishNotReadyAddresses"))
    groups: dict[bytes, Object] = {}
    for pod in pods:
        address = address_of(service, pod) if belongs(pod, include_terminating=tolerant) else None
        ports = _ports(service, pod)
        if address is None or (not ports and not _may_lack_ports(service)):
            continue
        group = groups.setdefault(json.encode(ports), {"ports": ports} if ports else {})
        field = "addresses" if tolerant or pod.is_ready else "notReadyAddresses"
        group.setdefault(field, []).append(address)
    return in_order(groups.values())


def in_order(subsets: Iterable[Object]) -> list[Object]:
    """Sort subsets into the canonical order, in which they are compared and written."""
    found: list[Object] = []
    for subset in subsets:
        ordered: Object = {}
        for field in ("addresses", "notReadyAddresses"):
            if subset.get(field):
                ordered[field] = sorted(map(_without_version, subset[field]), key=_address_order)
        if subset.get("ports"):
            ordered["ports"] = sorted(subset["ports"], key=_port_order)
        found.append(ordered)
    return sorted(found, key=lambda subset: [_port_order(port) for port in (subset.get("ports") or ())])


def address_of(service: Object, pod: Pod) -> Object | None:
    """Return the Pod's address of the Service's first family; None if it has none."""
    address = next((ip for ip in pod_ips(pod) if _fits(service, ip)), None)
    if address is None:
        return None
    metadata = pod.metadata
    target = {"kind": "Pod", "namespace": metadata.namespace, "name": metadata.name, "uid": metadata.uid}
    endpoint: dict[str, Any] = {"ip": address, "targetRef": target}
    more = {"nodeName": pod.spec.node_name, "hostname": hostname_of(pod, service)}
    return endpoint | {field: value for field, value in more.items() if value}


def truncated(subsets: Sequence[Object]) -> list[Object] | None:
    """Return the subsets cut to the capacity, each in proportion; None if all addresses fit.

    Addresses that are not ready are dropped first.
    """
    ready = sum(len(subset.get("addresses") or ()) for subset in subsets)
    not_ready = sum(len(subset.get("notReadyAddresses") or ()) for subset in subsets)
    if ready + not_ready <= CAPACITY_MAX:
        return None
    field, total, room = "notReadyAddresses", not_ready, CAPACITY_MAX - ready
    if ready > CAPACITY_MAX:
        field, total, room = "addresses", ready, CAPACITY_MAX
    left, cut = room, list[Object]()
    for subset in subsets:
        present = subset.get(field, [])
        share = min(math.ceil(len(present) / total * room), left)
        left -= min(share, len(present))
        kept = {name: value for name, value in subset.items() if name == "ports" or field != "addresses"}
        kept[field] = present[:share]
        cut.append({name: value for name, value in kept.items() if value})
    return cut


def _fits(service: Object, address: str) -> bool:
    spec = service["spec"]
    families = spec.get("ipFamilies") or ()
    if families:
        return bool(address_type_of(address) == families[0])
    return is_headless(service) or address_type_of(address) == address_type_of(spec["clusterIP"])


def _may_lack_ports(service: Object) -> bool:
    return not service["spec"].get("ports") and is_headless(service)


def _ports(service: Object, pod: Pod) -> list[Object]:
    ports: list[Object] = []
    for port in service["spec"].get("ports") or ():
        number = find_port(port, pod)
        if number is None:
            continue
        copied: Object = {"port": number, "protocol": port.get("protocol", "TCP")}
        copied |= {field: port[field] for field in ("name", "appProtocol") if port.get(field)}
        if copied not in ports:
            ports.append(copied)
    return sorted(ports, key=_port_order)


def _port_order(port: Object) -> tuple[Any, ...]:
    return (port.get("name") or "", port.get("port") or 0, port.get("protocol") or "TCP", port.get("appProtocol") or "")


def _address_order(address: Object) -> tuple[Any, ...]:
    try:
        parsed = ipaddress.ip_address(address["ip"])
    except ValueError:
        return (0, 0, address["ip"])
    return (parsed.version, int(parsed), (address.get("targetRef") or {}).get("uid", ""))


def _without_version(address: Object) -> Object:
    """Drop the `resourceVersion` of the target: a change of the Pod alone does not change its address."""
    target = address.get("targetRef")
    if not target or "resourceVersion" not in target:
        return address
    return {**address, "targetRef": {name: value for name, value in target.items() if name != "resourceVersion"}}
