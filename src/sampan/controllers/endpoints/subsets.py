"""Subsets of Endpoints, as pure functions.

Source: kube-controller-manager pkg/controller/endpoint/endpoints_controller.go; pkg/api/v1/endpoints/util.go (1.36).
"""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

from sampan.component_base.views import Pod
from sampan.controllers.endpoint_slices.endpoint import address_type_of
from sampan.controllers.endpoint_slices.service_pods import belongs, find_port, hostname_of, is_headless, pod_ips
from sampan.kinds import core_v1
from sampan.wire import json

CAPACITY_MAX: Final = 1000
"""Highest number of addresses in one Endpoints object."""


def subsets_of(service: core_v1.Service, pods: Iterable[Pod]) -> list[core_v1.EndpointSubset]:
    """Return the addresses of a Service's Pods, grouped by their ports.

    The order depends only on the content, so equal subsets compare as equal.
    """
    tolerant = bool(service["spec"].get("publishNotReadyAddresses"))
    groups: dict[bytes, core_v1.EndpointSubset] = {}
    for pod in pods:
        address = address_of(service, pod) if belongs(pod, include_terminating=tolerant) else None
        ports = _ports(service, pod)
        if address is None or (not ports and not _may_lack_ports(service)):
            continue
        group = groups.setdefault(json.encode(ports), {"ports": ports} if ports else {})
        if tolerant or pod.is_ready:
            group.setdefault("addresses", []).append(address)
        else:
            group.setdefault("notReadyAddresses", []).append(address)
    return in_order(groups.values())


def in_order(subsets: Iterable[core_v1.EndpointSubset]) -> list[core_v1.EndpointSubset]:
    """Sort subsets into the canonical order, in which they are compared and written."""
    found: list[core_v1.EndpointSubset] = []
    for subset in subsets:
        ordered: core_v1.EndpointSubset = {}
        if subset.get("addresses"):
            ordered["addresses"] = _addresses_in_order(subset["addresses"])
        if subset.get("notReadyAddresses"):
            ordered["notReadyAddresses"] = _addresses_in_order(subset["notReadyAddresses"])
        if subset.get("ports"):
            ordered["ports"] = sorted(subset["ports"], key=_port_order)
        found.append(ordered)
    return sorted(found, key=lambda subset: [_port_order(port) for port in (subset.get("ports") or ())])


def address_of(service: core_v1.Service, pod: Pod) -> core_v1.EndpointAddress | None:
    """Return the Pod's address of the Service's first family; None if it has none."""
    address = next((ip for ip in pod_ips(pod) if _fits(service, ip)), None)
    if address is None:
        return None
    metadata = pod.metadata
    target: core_v1.ObjectReference = {
        "kind": "Pod",
        "namespace": metadata.namespace,
        "name": metadata.name,
        "uid": metadata.uid,
    }
    found: core_v1.EndpointAddress = {"ip": address, "targetRef": target}
    if pod.spec.node_name:
        found["nodeName"] = pod.spec.node_name
    hostname = hostname_of(pod, service)
    if hostname:
        found["hostname"] = hostname
    return found


def truncated(subsets: Sequence[core_v1.EndpointSubset]) -> list[core_v1.EndpointSubset] | None:
    """Return the subsets cut to the capacity, each in proportion; None if all addresses fit.

    Addresses that are not ready are dropped first.
    """
    ready = sum(len(subset.get("addresses") or ()) for subset in subsets)
    not_ready = sum(len(subset.get("notReadyAddresses") or ()) for subset in subsets)
    if ready + not_ready <= CAPACITY_MAX:
        return None
    field: Literal["addresses", "notReadyAddresses"] = "notReadyAddresses"
    total, room = not_ready, CAPACITY_MAX - ready
    if ready > CAPACITY_MAX:
        field, total, room = "addresses", ready, CAPACITY_MAX
    left, cut = room, list[core_v1.EndpointSubset]()
    for subset in subsets:
        present = subset.get(field) or []
        share = min(math.ceil(len(present) / total * room), left)
        left -= min(share, len(present))
        part: core_v1.EndpointSubset = {"addresses": subset.get("addresses") or []} if field != "addresses" else {}
        part[field] = present[:share]
        cut.append(_without_empty(part, subset.get("ports")))
    return cut


def _without_empty(subset: core_v1.EndpointSubset, ports: list[core_v1.EndpointPort] | None) -> core_v1.EndpointSubset:
    """Return the addresses of a subset with these ports, without empty fields."""
    found: core_v1.EndpointSubset = {}
    if subset.get("addresses"):
        found["addresses"] = subset["addresses"]
    if subset.get("notReadyAddresses"):
        found["notReadyAddresses"] = subset["notReadyAddresses"]
    if ports:
        found["ports"] = ports
    return found


def _addresses_in_order(addresses: Iterable[core_v1.EndpointAddress]) -> list[core_v1.EndpointAddress]:
    return sorted(map(_without_version, addresses), key=_address_order)


def _fits(service: core_v1.Service, address: str) -> bool:
    spec = service["spec"]
    families = spec.get("ipFamilies") or ()
    if families:
        return bool(address_type_of(address) == families[0])
    return is_headless(service) or address_type_of(address) == address_type_of(spec["clusterIP"])


def _may_lack_ports(service: core_v1.Service) -> bool:
    return not service["spec"].get("ports") and is_headless(service)


def _ports(service: core_v1.Service, pod: Pod) -> list[core_v1.EndpointPort]:
    ports: list[core_v1.EndpointPort] = []
    for port in service["spec"].get("ports") or ():
        number = find_port(port, pod)
        if number is None:
            continue
        copied: core_v1.EndpointPort = {"port": number, "protocol": port.get("protocol", "TCP")}
        if port.get("name"):
            copied["name"] = port["name"]
        if port.get("appProtocol"):
            copied["appProtocol"] = port["appProtocol"]
        if copied not in ports:
            ports.append(copied)
    return sorted(ports, key=_port_order)


def _port_order(port: core_v1.EndpointPort) -> tuple[Any, ...]:
    return (port.get("name") or "", port.get("port") or 0, port.get("protocol") or "TCP", port.get("appProtocol") or "")


def _address_order(address: core_v1.EndpointAddress) -> tuple[Any, ...]:
    try:
        parsed = ipaddress.ip_address(address["ip"])
    except ValueError:
        return (0, 0, address["ip"])
    return (parsed.version, int(parsed), (address.get("targetRef") or {}).get("uid", ""))


def _without_version(address: core_v1.EndpointAddress) -> core_v1.EndpointAddress:
    """Drop the `resourceVersion` of the target: a change of the Pod alone does not change its address."""
    target = address.get("targetRef")
    if not target or "resourceVersion" not in target:
        return address
    reference = target.copy()
    reference.pop("resourceVersion")
    return {**address, "targetRef": reference}
