"""Objects of a cluster without a server, for zones."""

import ipaddress
from typing import Any

import msgspec

from sampan.dns.names import parse_name
from sampan.dns.objects import EndpointSlice, Service
from sampan.dns.zone import ClusterZone

DOMAIN = parse_name("cluster.local")


class FakeObjects:
    """Namespace `default` with some Services and slices."""

    def __init__(self, *objects: Service | EndpointSlice) -> None:
        self.all = objects

    def has_namespace(self, name: str) -> bool:
        return name == "default"

    def service(self, namespace: str, name: str) -> Service | None:
        found = [each for each in self._services if (each.metadata.namespace, each.metadata.name) == (namespace, name)]
        return found[0] if found else None

    def slices(self, namespace: str, service: str) -> list[EndpointSlice]:
        return [each for each in self._slices if (each.metadata.namespace, each.service) == (namespace, service)]

    def services_at(self, address: str) -> list[Service]:
        return [each for each in self._services if address in each.addresses]

    def slices_at(self, address: str) -> list[EndpointSlice]:
        desired = ipaddress.ip_address(address)
        return [each for each in self._slices if desired in map(ipaddress.ip_address, _addresses(each))]

    @property
    def _services(self) -> list[Service]:
        return [each for each in self.all if isinstance(each, Service)]

    @property
    def _slices(self) -> list[EndpointSlice]:
        return [each for each in self.all if isinstance(each, EndpointSlice)]


def _addresses(slice: EndpointSlice) -> list[str]:
    return [address for endpoint in slice.endpoints or () for address in endpoint.addresses or ()]


def address(number: int) -> ipaddress.IPv4Address:
    """Return the address of the endpoint with this number, from 0."""
    return ipaddress.IPv4Address("10.0.0.1") + number


def service(name: str, *addresses: str, **spec: Any) -> Service:
    """Return a Service; without addresses it is headless."""
    ports = [{"name": "http", "port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]
    ips = list(addresses) or ["None"]
    metadata = {"name": name, "namespace": "default"}
    spec = {"clusterIP": ips[0], "clusterIPs": ips, "ports": ports, **spec}
    return msgspec.convert({"metadata": metadata, "spec": spec}, Service)


def slice_of(name: str, *endpoints: tuple[str, str, bool], family: str = "IPv4") -> EndpointSlice:
    """Return a slice with endpoints of `(address, hostname, ready)`."""
    metadata = {"name": f"{name}-1", "namespace": "default", "labels": {"kubernetes.io/service-name": name}}
    made = [
        {"addresses": [address], "hostname": hostname or None, "conditions": {"ready": ready}}
        for address, hostname, ready in endpoints
    ]
    ports = [{"name": "http", "port": 8080, "protocol": "TCP"}]
    return msgspec.convert(
        {"metadata": metadata, "addressType": family, "endpoints": made, "ports": ports}, EndpointSlice
    )


def zone(*objects: Service | EndpointSlice) -> ClusterZone:
    """Return a zone with these objects."""
    return ClusterZone(FakeObjects(*objects), DOMAIN, ttl_s=30, servers=lambda: ["10.96.0.10"])
