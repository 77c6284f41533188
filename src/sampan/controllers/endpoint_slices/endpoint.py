"""Endpoints of Pods for a Service, as pure functions. Source: staging k8s.io/endpointslice utils.go (1.36)."""

from __future__ import annotations

import ipaddress
from typing import Final

from sampan.component_base.views import Pod
from sampan.controllers.endpoint_slices.service_pods import find_port, hostname_of, is_headless, pod_ips
from sampan.kinds import core_v1, discovery_v1

IPV4: Final = "IPv4"
IPV6: Final = "IPv6"


def address_types(service: core_v1.Service) -> list[str]:
    """Return the address families of a Service's slices."""
    spec = service["spec"]
    families = [family for family in spec.get("ipFamilies") or () if family in (IPV4, IPV6)]
    if families:
        return families
    return [IPV4, IPV6] if is_headless(service) else [address_type_of(spec["clusterIP"]) or IPV4]


def address_type_of(address: str) -> str:
    """Return the family of an address; empty if it is not an IP address."""
    try:
        return IPV6 if ipaddress.ip_address(address).version == 6 else IPV4
    except ValueError:
        return ""


def endpoint_of(pod: Pod, zone: str, service: core_v1.Service, address_type: str) -> discovery_v1.Endpoint | None:
    """Return the endpoint of a Pod; None if the Pod has no address of the family."""
    addresses = [address for address in pod_ips(pod) if address_type_of(address) == address_type]
    if not addresses:
        return None
    metadata = pod.metadata
    terminating = metadata.deletion_timestamp is not None
    ready = bool(service["spec"].get("publishNotReadyAddresses")) or (pod.is_ready and not terminating)
    endpoint: discovery_v1.Endpoint = {
        "addresses": [str(ipaddress.ip_address(address)) for address in addresses],
        "conditions": {"ready": ready, "serving": pod.is_ready, "terminating": terminating},
        "targetRef": {"kind": "Pod", "namespace": metadata.namespace, "name": metadata.name, "uid": metadata.uid},
    }
    if pod.spec.node_name:
        endpoint["nodeName"] = pod.spec.node_name
    if zone:
        endpoint["zone"] = zone
    hostname = hostname_of(pod, service)
    if hostname:
        endpoint["hostname"] = hostname
    return endpoint


def ports_of(service: core_v1.Service, pod: Pod) -> list[discovery_v1.EndpointPort]:
    """Return the Pod's ports that the Service forwards to. Named ports that the Pod does not have are left out."""
    ports: list[discovery_v1.EndpointPort] = []
    for port in service["spec"].get("ports") or ():
        number = find_port(port, pod)
        if number is None:
            continue
        found: discovery_v1.EndpointPort = {
            "name": port.get("name", ""),
            "port": number,
            "protocol": port.get("protocol", "TCP"),
        }
        if port.get("appProtocol") is not None:
            found["appProtocol"] = port["appProtocol"]
        ports.append(found)
    return ports
