"""Addresses of the pods of a service. The client resolves them itself, without the cluster network.

Source: apiserver pkg/util/proxy/proxy.go ResolveEndpoint (1.36).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from sampan.core.object import Object
from sampan.core.pods.simulated import not_dialled
from sampan.registry.simulated_pods import SimulatedPods
from sampan.registry.strategy import ObjectReader

_ROTATIONS_MAX: Final = 1000


class ServiceAddress(NamedTuple):
    """Host and port to connect to."""

    host: str
    port: int
    node: str = ""
    """Node of the Pod that has the address, if it is known."""


Resolve = Callable[[str, str, int], Sequence[ServiceAddress]]
"""Returns the places for a service's namespace, name and port, the first to try first. Raises `ServiceError`."""


class ServiceError(Exception):
    """Service without a reachable address. The text gives the reason."""


class ServiceResolver:
    """Resolver that reads a cluster's services, endpoint slices and endpoints.

    It returns all ready addresses; each call begins with the next one. Simulated Pods are left out.
    """

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._rotations: Counter[tuple[str, str]] = Counter()

    def __call__(self, namespace: str, name: str, port: int) -> list[ServiceAddress]:
        """Return every ready place of the service, at least one; see `Resolve`."""
        service = self._reader.get("", "services", namespace, name)
        if service is None:
            raise ServiceError(f'service "{name}" not found')
        spec = service.get("spec") or {}
        if spec.get("type") == "ExternalName":
            return [ServiceAddress(spec["externalName"], port)]
        simulated = SimulatedPods(self._reader)
        ready = list(self._endpoints(namespace, name, _port_name(spec, port, name)))
        usable = [each for each in ready if not simulated.is_endpoint(namespace, each.source)]
        # Endpoints repeat the addresses of EndpointSlices.
        found = list({each[:2]: each for each in map(_place, reversed(usable))}.values())[::-1]
        if not found and ready:
            raise ServiceError(not_dialled(f'every pod of service "{name}"'))
        if not found:
            raise ServiceError(f'no endpoints available for service "{name}"')
        if len(self._rotations) > _ROTATIONS_MAX:
            self._rotations.clear()
        first = self._rotations[namespace, name] % len(found)
        self._rotations[namespace, name] += 1
        return found[first:] + found[:first]

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


def _place(endpoint: _Endpoint) -> ServiceAddress:
    return ServiceAddress(endpoint.address, endpoint.port, endpoint.source.get("nodeName") or "")


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
