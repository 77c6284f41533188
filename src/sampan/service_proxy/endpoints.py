"""`ServiceEndpoint`, and `endpoints_of`: the endpoints of each port of a Service, from its EndpointSlices."""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

import msgspec

from sampan.core.pods.simulated import PREFIX
from sampan.service_proxy.family import ADDRESS_TYPES, Family
from sampan.service_proxy.views import EndpointSlice, SliceEndpoint

_PORT_MAX: Final = 65_535


class PortName(NamedTuple):
    """Key of a port. A Service and its slices use the same key for the same port."""

    name: str
    protocol: str


class ServiceEndpoint(msgspec.Struct, frozen=True, gc=False):
    """Address and port that serve a port of a Service."""

    address: str
    port: int
    ready: bool = True
    serving: bool = True
    terminating: bool = False
    local: bool = False
    """True if the endpoint runs on the node of the proxy."""
    zones: tuple[str, ...] = ()
    """Zones whose traffic should be sent to this endpoint (topology hint)."""
    nodes: tuple[str, ...] = ()
    """Nodes whose traffic should be sent to this endpoint (topology hint)."""

    @property
    def is_last_resort(self) -> bool:
        """Return True if the endpoint is terminating but still serves. It is used if no endpoint is ready."""
        return self.serving and self.terminating


def is_port(number: int) -> bool:
    """Return True if a number may be that of a port: 1 to 65535."""
    return 0 < number <= _PORT_MAX


def endpoints_of(
    slices: Iterable[EndpointSlice], family: Family, node_name: str, simulated_nodes: Collection[str] = ()
) -> dict[PortName, tuple[ServiceEndpoint, ...]]:
    """Return the endpoints of each port in the order of their addresses.

    An endpoint that moves between slices may be in two of them for a short time. In that case, the ready one is used.
    Simulated Pods are left out, because they have no network: those with an address of their range, and those on a
    Node of `simulated_nodes`, whose addresses may be those of another machine. So are ports that are no port: the API
    accepts any number.
    """
    found: dict[PortName, dict[tuple[str, int], ServiceEndpoint]] = {}
    for piece in slices:
        if ADDRESS_TYPES.get(piece.address_type) is not family:
            continue
        for port in piece.ports or ():
            if port.port is None or not is_port(port.port):
                continue
            by_address = found.setdefault(PortName(port.name or "", port.protocol), {})
            for each in piece.endpoints or ():
                if each.node_name in simulated_nodes:
                    continue
                for endpoint in _endpoints(each, port.port, family, node_name):
                    key = endpoint.address, endpoint.port
                    if key not in by_address or endpoint.ready:
                        by_address[key] = endpoint
    return {name: tuple(by_address[key] for key in sorted(by_address)) for name, by_address in found.items()}


def _endpoints(each: SliceEndpoint, port: int, family: Family, node_name: str) -> Iterable[ServiceEndpoint]:
    conditions = each.conditions
    ready = conditions.ready is not False
    for address in family.same(each.addresses[:1]):  # the API defines only the first address
        if address.startswith(PREFIX):
            continue
        yield ServiceEndpoint(
            address,
            port,
            ready,
            ready if conditions.serving is None else conditions.serving,
            bool(conditions.terminating),
            bool(node_name) and each.node_name == node_name,
            tuple(zone.name for zone in each.hints.for_zones),
            tuple(node.name for node in each.hints.for_nodes),
        )
