"""Addresses of the pods of a service. The client resolves them itself, without the cluster network.

Source: apiserver pkg/util/proxy/proxy.go ResolveEndpoint (1.36).
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from sampan.core.object import Object
from sampan.core.simulated_pods import not_dialled
from sampan.registry.simulated_pods import SimulatedPods
from sampan.registry.strategy import ObjectReader

Resolve = Callable[[str, str, int], tuple[str, int]]
"""Returns host and port to connect to for a service's namespace, name and port. Raises `ServiceError`."""


class ServiceError(Exception):
    """Service without a reachable address. The text gives the reason."""


class ServiceResolver:
    """Resolver that reads a cluster's services, endpoint slices and endpoints. It picks the first ready address.

    Simulated Pods are left out.
    """

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader

    def __call__(self, namespace: str, name: str, port: int) -> tuple[str, int]:
        """Return one address; see `Resolve`."""
        return self.all(namespace, name, port)[0]

    def all(self, namespace: str, name: str, port: int) -> list[tuple[str, int]]:
        """Return every ready host and port of the service, at least one. Raises `ServiceError`."""
        service = self._reader.get("", "services", namespace, name)
        if service is None:
            raise ServiceError(f'service "{name}" not found')
        spec = service.get("spec") or {}
        if spec.get("type") == "ExternalName":
            return [(spec["externalName"], port)]
        simulated = SimulatedPods(self._reader)
        ready = list(self._endpoints(namespace, name, _port_name(spec, port, name)))
        found = [(each.address, each.port) for each in ready if not simulated.is_endpoint(namespace, each.source)]
        if not found and ready:
            raise ServiceError(not_dialled(f'every pod of service "{name}"'))
        if not found:
            raise ServiceError(f'no endpoints available for service "{name}"')
        return found

    def _endpoints(self, namespace: str, name: str, port_name: str) -> Iterator["_Endpoint"]:
        for endpoint_slice in self._reader.list("discovery.k8s.io", "endpointslices", namespace):
            if (endpoint_slice["metadata"].get("labels") or {}).get("kubernetes.io/service-name") == name:
                yield from _of_slice(endpoint_slice, port_name)
        endpoints = self._reader.get("", "endpoints", namespace, name) or {}
        for subset in endpoints.get("subsets") or ():
            number = _number(subset.get("ports") or (), port_name)
            if number is not None:
                yield from (_Endpoint(each["ip"], number, each) for each in subset.get("addresses") or ())


class _Endpoint(NamedTuple):
    """Ready address and port, and the endpoint or address of the object that has it."""

    address: str
    port: int
    source: Object


def _port_name(spec: dict[str, Any], port: int, name: str) -> str:
    for each in spec.get("ports") or ():
        if each.get("port") == port:
            found: str = each.get("name", "")
            return found
    raise ServiceError(f'no service port {port} found for service "{name}"')


def _of_slice(endpoint_slice: Object, port_name: str) -> Iterator[_Endpoint]:
    number = _number(endpoint_slice.get("ports") or (), port_name)
    if number is None:
        return
    for endpoint in endpoint_slice.get("endpoints") or ():
        if (endpoint.get("conditions") or {}).get("ready") is not False:
            yield from (_Endpoint(address, number, endpoint) for address in endpoint.get("addresses") or ())


def _number(ports: Any, name: str) -> int | None:
    return next((port.get("port") for port in ports if (port.get("name") or "") == name), None)
