"""The subsets of Endpoints: pure functions.

Source: kube-controller-manager pkg/controller/endpoint/endpoints_controller.go; pkg/api/v1/endpoints/util.go (1.36).
"""

import ipaddress
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sampan.controllers.endpoint_slices.endpoint import address_type_of
from sampan.controllers.service_pods import belongs, find_port, hostname_of, is_headless, pod_ips
from sampan.loops.views import Pod
from sampan.resource import Object
from sampan.wire import json

CAPACITY_MAX: Final = 1000
"""Addresses in one Endpoints object."""


def subsets_of(service: Object, pods: Iterable[Pod]) -> list[Object]:
    """The addresses of a Service's Pods, those of the same ports together; in an order that depends on them alone."""
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
    """The same subsets in the one order that they are compared and written in."""
    found: list[Object] = []
    for subset in subsets:
        said: Object = {}
        for field in ("addresses", "notReadyAddresses"):
            if subset.get(field):
                said[field] = sorted(map(_without_version, subset[field]), key=_address_order)
        if subset.get("ports"):
            said["ports"] = sorted(subset["ports"], key=_port_order)
        found.append(said)
    return sorted(found, key=lambda subset: [_port_order(port) for port in subset.get("ports", ())])


def address_of(service: Object, pod: Pod) -> Object | None:
    """The Pod's address of the Service's first family; None when it has none."""
    address = next((ip for ip in pod_ips(pod) if _fits(service, ip)), None)
    if address is None:
        return None
    metadata = pod.metadata
    target = {"kind": "Pod", "namespace": metadata.namespace, "name": metadata.name, "uid": metadata.uid}
    said: dict[str, Any] = {"ip": address, "targetRef": target}
    more = {"nodeName": pod.spec.node_name, "hostname": hostname_of(pod, service)}
    return said | {field: value for field, value in more.items() if value}


def truncated(subsets: Sequence[Object]) -> list[Object] | None:
    """The subsets with no more addresses than fit, each cut in proportion; None when all fit.

    Those that are not ready go first.
    """
    ready = sum(len(subset.get("addresses", ())) for subset in subsets)
    not_ready = sum(len(subset.get("notReadyAddresses", ())) for subset in subsets)
    if ready + not_ready <= CAPACITY_MAX:
        return None
    field, total, room = "notReadyAddresses", not_ready, CAPACITY_MAX - ready
    if ready > CAPACITY_MAX:
        field, total, room = "addresses", ready, CAPACITY_MAX
    left, cut = room, list[Object]()
    for subset in subsets:
        there = subset.get(field, [])
        share = min(math.ceil(len(there) / total * room), left)
        left -= min(share, len(there))
        kept = {name: value for name, value in subset.items() if name == "ports" or field != "addresses"}
        kept[field] = there[:share]
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
        said: Object = {"port": number, "protocol": port.get("protocol", "TCP")}
        said |= {field: port[field] for field in ("name", "appProtocol") if port.get(field)}
        if said not in ports:
            ports.append(said)
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
    """The version of a Pod does not matter to its address."""
    target = address.get("targetRef")
    if not target or "resourceVersion" not in target:
        return address
    return {**address, "targetRef": {name: value for name, value in target.items() if name != "resourceVersion"}}
