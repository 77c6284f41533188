"""`Model`: the Services, the EndpointSlices and the Node that the proxy has received, and the rules computed from them.

It performs no I/O: `proxy` passes events to it.
"""

from collections import defaultdict
from collections.abc import Iterable, Set

from sampan.component_base.nftables.fragment import EMPTY, Fragment
from sampan.service_proxy.conntrack import Socket, UdpTargets
from sampan.service_proxy.endpoints import PortName, ServiceEndpoint, endpoints_of
from sampan.service_proxy.family import FAMILIES, Family
from sampan.service_proxy.node_facts import NodeFacts
from sampan.service_proxy.rules.base import base_fragment, pod_ranges
from sampan.service_proxy.rules.options import RuleOptions
from sampan.service_proxy.rules.port import port_fragment, union
from sampan.service_proxy.selection import EndpointSelection, select
from sampan.service_proxy.service_ports import ProxiedPort, proxied_ports
from sampan.service_proxy.views import EndpointSlice, Service


class Model:
    """State of the cluster. Keys are `namespace/name`."""

    def __init__(self, node: NodeFacts, options: RuleOptions = RuleOptions()) -> None:
        self.node = node
        self.options = options
        self.service_cidrs: dict[str, tuple[str, ...]] = {}
        """Ranges of each ServiceCIDR."""
        self.simulated_nodes: set[str] = set()
        """Names of the Nodes whose Pods have no network."""
        self._services: dict[str, Service] = {}
        self._slices: defaultdict[str, dict[str, EndpointSlice]] = defaultdict(dict)
        self._service_of_slice: dict[str, str] = {}

    def services(self) -> Set[str]:
        """Return the keys of all Services."""
        return self._services.keys()

    def put_service(self, key: str, service: Service | None) -> None:
        """Set a Service; None removes it."""
        if service is None:
            self._services.pop(key, None)
        else:
            self._services[key] = service

    def put_slice(self, key: str, service: str, piece: EndpointSlice | None) -> set[str]:
        """Set an EndpointSlice of a Service; None removes it. Return the affected Services."""
        before = self._service_of_slice.pop(key, None)
        if before is not None:
            del self._slices[before][key]
            if not self._slices[before]:
                del self._slices[before]
        if piece is not None:
            self._slices[service][key] = piece
            self._service_of_slice[key] = service
        return {each for each in (before, service if piece is not None else None) if each is not None}

    def base(self, family: Family) -> Fragment:
        """Return the rules that do not depend on Services."""
        cidrs = [cidr for cidrs in self.service_cidrs.values() for cidr in cidrs]
        return base_fragment(family, self.options, self.node, cidrs)

    def fragment(self, key: str, family: Family) -> Fragment:
        """Return the rules of a Service; `EMPTY` if it has none."""
        pods = pod_ranges(family, self.options, self.node)
        parts = [
            port_fragment(port, chosen, family, pods=pods, node=self.node) for port, chosen in self._ports(key, family)
        ]
        return union(parts) if parts else EMPTY

    def health_check(self, key: str) -> tuple[int, int] | None:
        """Return the health check port of a Service and its number of ready endpoints on this node; None if it has no
        such port. An endpoint counts once, even with several ports and addresses.
        """
        service = self._services.get(key)
        if service is None or service.spec.type != "LoadBalancer" or service.spec.external_traffic_policy != "Local":
            return None
        if not service.spec.health_check_node_port:
            return None
        per_port = (
            [each for each in endpoints if each.local and each.ready]
            for family in FAMILIES
            for endpoints in self._endpoints(key, family).values()
        )
        return service.spec.health_check_node_port, max((len(found) for found in per_port), default=0)

    def udp_targets(self, keys: Iterable[str], family: Family) -> UdpTargets:
        """Return the endpoints of UDP ports of Services. Ports without endpoints are omitted."""
        by_destination: dict[Socket, Set[Socket]] = {}
        by_node_port: dict[int, Set[Socket]] = {}
        for key in keys:
            for port, chosen in self._ports(key, family):
                endpoints = {Socket(each.address, each.port) for each in (*chosen.cluster, *chosen.local)}
                if port.protocol != "udp" or not endpoints:
                    continue
                for address in port.addresses:
                    by_destination[Socket(address, port.port)] = endpoints
                if port.node_port:
                    by_node_port[port.node_port] = endpoints
        return UdpTargets(by_destination, by_node_port)

    def _ports(self, key: str, family: Family) -> list[tuple[ProxiedPort, EndpointSelection]]:
        service = self._services.get(key)
        if service is None:
            return []
        endpoints = self._endpoints(key, family)
        return [
            (port, select(port, endpoints.get(port.name, ()), self.node)) for port in proxied_ports(service, family)
        ]

    def _endpoints(self, key: str, family: Family) -> dict[PortName, tuple[ServiceEndpoint, ...]]:
        slices = self._slices.get(key)
        return endpoints_of(slices.values(), family, self.node.name, self.simulated_nodes) if slices else {}
