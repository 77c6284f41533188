"""Facts about Services, Nodes and endpoints on which the addresses of load balancers depend.

Source: cloud-provider controllers/service/controller.go `nodeIncludedPredicate`, `nodeReadyPredicate` (1.36); the
addresses of Nodes as for the ServiceLB of k3s: external ones before internal ones.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from sampan.component_base.pod_networks import RUNTIME_LABEL
from sampan.component_base.resources import NODES
from sampan.controllers.service_load_balancer.assignment import AddressPort, Balanced, NodeAddresses, ProtocolPort
from sampan.core.pods.simulated import RUNTIME
from sampan.kinds import core_v1, discovery_v1
from sampan.resource import ObjectMeta, ObjectType, meta
from sampan.resource.view import view_decoder

CLASS: Final = "sampan.dev/node"
"""Class that a Service may name. Services without a class get addresses too."""
NODE_LABEL: Final = "sampan.dev/load-balancer"
"""Label of Nodes. If a Node has `true`, only such Nodes serve; `false` excludes a Node."""
EXCLUDED: Final = "node.kubernetes.io/exclude-from-external-load-balancers"
_LEAVING: Final = "ToBeDeletedByClusterAutoscaler"
_KUBELET: Final = "node server (kubelet)"
_FAMILIES: Final = {"IPv4": 4, "IPv6": 6}
PORTS_OF_NODES: Final = {
    ProtocolPort("TCP", 22): "SSH of the nodes",
    ProtocolPort("TCP", 10256): "health of the Service proxy",
}
"""Ports that no Service gets at addresses of nodes. A pool has them."""
_PORTS_OF_SERVERS: Final = {ProtocolPort("TCP", 2379): "etcd", ProtocolPort("TCP", 2380): "etcd"}
"""Ports that no Service gets on machines with an API server."""


class _Typed(msgspec.Struct, gc=False):
    type: str = ""
    address: str = ""
    status: str = ""


class _Taint(msgspec.Struct, gc=False):
    key: str = ""


class _Spec(msgspec.Struct, gc=False):
    taints: list[_Taint] = []


class _Endpoint(msgspec.Struct, gc=False):
    port: int = msgspec.field(name="Port", default=0)


class _Daemons(msgspec.Struct, rename="camel", gc=False):
    kubelet_endpoint: _Endpoint = msgspec.field(default_factory=_Endpoint)


class _Status(msgspec.Struct, rename="camel", gc=False):
    addresses: list[_Typed] = []
    conditions: list[_Typed] = []
    daemon_endpoints: _Daemons = msgspec.field(default_factory=_Daemons)


class BalancerNode(msgspec.Struct, gc=False):
    """The fields of a Node on which load balancers depend."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)

    @property
    def is_usable(self) -> bool:
        """True if the Node may serve the addresses of Services."""
        labels = self.metadata.labels
        return (
            self.metadata.deletion_timestamp is None
            and EXCLUDED not in labels
            and labels.get(NODE_LABEL) != "false"
            and labels.get(RUNTIME_LABEL) != RUNTIME
            and not any(taint.key == _LEAVING for taint in self.spec.taints)
            and any(each.type == "Ready" and each.status == "True" for each in self.status.conditions)
        )

    @property
    def is_chosen(self) -> bool:
        """True if a label selects the Node."""
        return self.metadata.labels.get(NODE_LABEL) == "true"

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses, in their canonical form."""
        return tuple(_usable(each.address for each in self.status.addresses))

    def public_addresses(self) -> tuple[str, ...]:
        """Return the external addresses, or else the internal ones. Loopback addresses reach no other machine."""
        for type in ("ExternalIP", "InternalIP"):
            found = tuple(_usable(each.address for each in self.status.addresses if each.type == type))
            if found:
                return found
        return ()

    def used_places(self) -> dict[AddressPort, str]:
        """Return the ports of the node's own server."""
        port = self.status.daemon_endpoints.kubelet_endpoint.port
        return {AddressPort(each, ProtocolPort("TCP", port)): _KUBELET for each in self.addresses} if port else {}


def _read_only(obj: Any) -> bytes:
    raise ValueError("a view cannot be written")


BALANCER_NODE_VIEW: ObjectType[BalancerNode] = ObjectType(NODES, view_decoder(BalancerNode), _read_only)


def answering(nodes: Iterable[BalancerNode]) -> Sequence[NodeAddresses]:
    """Return the nodes that serve, with their addresses, by name."""
    possible = [node for node in nodes if node.is_usable]
    chosen = [node for node in possible if node.is_chosen] or possible
    found = [NodeAddresses(node.metadata.name, node.public_addresses()) for node in chosen]
    return sorted((each for each in found if each.addresses), key=lambda each: each.name)


def is_balanced(service: core_v1.Service) -> bool:
    """Return whether a Service gets addresses."""
    spec = service.get("spec") or {}
    return (
        spec.get("type") == "LoadBalancer"
        and spec.get("loadBalancerClass") in (None, "", CLASS)
        and meta(service).deletion_timestamp is None
    )


def balanced(service: core_v1.Service, local_nodes: frozenset[str]) -> Balanced:
    """Return the facts about a Service. `local_nodes`: nodes with ready endpoints."""
    spec, metadata = service["spec"], meta(service)
    return Balanced(
        f"{metadata.namespace}/{metadata.name}",
        ports_of(service),
        tuple(_FAMILIES[each] for each in spec.get("ipFamilies") or ("IPv4",) if each in _FAMILIES),
        metadata.creation_timestamp or "",
        next(_usable([spec.get("loadBalancerIP") or ""]), ""),
        addresses_of(service),
        local_nodes if spec.get("externalTrafficPolicy") == "Local" else None,
    )


def ports_of(service: core_v1.Service) -> tuple[ProtocolPort, ...]:
    """Return the ports of a Service with their protocols; TCP is the default."""
    return tuple(
        ProtocolPort(each.get("protocol") or "TCP", each["port"]) for each in service["spec"].get("ports") or ()
    )


def node_ports_of(service: core_v1.Service) -> dict[ProtocolPort, str]:
    """Return the NodePorts of a Service, with its name."""
    metadata = meta(service)
    name = f"NodePort of Service {metadata.namespace}/{metadata.name}"
    ports = service["spec"].get("ports") or ()
    return {
        ProtocolPort(each.get("protocol") or "TCP", each["nodePort"]): name for each in ports if each.get("nodePort")
    }


def addresses_of(service: core_v1.Service) -> tuple[str, ...]:
    """Return the published addresses of a Service."""
    ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return tuple(_usable(each.get("ip") or "" for each in ingress))


def nodes_of_slices(slices: Iterable[discovery_v1.EndpointSlice]) -> frozenset[str]:
    """Return the nodes with ready endpoints."""
    return frozenset(
        endpoint["nodeName"]
        for piece in slices
        for endpoint in piece.get("endpoints") or ()
        if endpoint.get("nodeName") and (endpoint.get("conditions") or {}).get("ready") is not False
    )


def places_of_slices(slices: Iterable[discovery_v1.EndpointSlice], name: str) -> dict[AddressPort, str]:
    """Return the addresses and ports of endpoints, with the name of what listens there."""
    return {
        AddressPort(address, ProtocolPort(port.get("protocol") or "TCP", port["port"])): name
        for piece in slices
        for endpoint in piece.get("endpoints") or ()
        for address in _usable(endpoint.get("addresses") or ())
        for port in piece.get("ports") or ()
        if port.get("port")
    }


def neighbours_of(servers: Mapping[AddressPort, str]) -> dict[AddressPort, str]:
    """Return the ports of programs that usually run on the machines of API servers."""
    addresses = {place.address for place in servers}
    return {AddressPort(each, port): name for each in addresses for port, name in _PORTS_OF_SERVERS.items()}


def on_whole_nodes(places: Mapping[AddressPort, str], nodes: Iterable[BalancerNode]) -> dict[AddressPort, str]:
    """Return the places, and their ports at all other addresses of the same nodes.

    An EndpointSlice has one address of a program, which usually listens at all of them.
    """
    node_of = {address: node for node in nodes for address in node.addresses}
    found = dict(places)
    for place, name in places.items():
        if place.address in node_of:
            found |= {AddressPort(each, place.port): name for each in node_of[place.address].addresses}
    return found


def _usable(texts: Iterable[Any]) -> Iterator[str]:
    """Yield the addresses that are valid and not loopback, in their canonical form."""
    for text in texts:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            continue
        if not address.is_loopback:
            yield str(address)
