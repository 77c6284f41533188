"""`select`: decides which endpoints of a port get traffic.

Source: pkg/proxy/topology.go `CategorizeEndpoints` (1.36).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sampan.service_proxy.endpoints import ServiceEndpoint
from sampan.service_proxy.node_facts import NodeFacts
from sampan.service_proxy.service_ports import ProxiedPort


@dataclass(frozen=True, slots=True)
class EndpointSelection:
    """Endpoints of a port by traffic policy."""

    cluster: tuple[ServiceEndpoint, ...] = ()
    """Endpoints for the policy Cluster."""
    local: tuple[ServiceEndpoint, ...] = ()
    """Endpoints for the policy Local."""
    exists: bool = False
    """True if the port has a usable endpoint on any node."""


def select(port: ProxiedPort, endpoints: Sequence[ServiceEndpoint], node: NodeFacts) -> EndpointSelection:
    """Return the endpoints that get traffic from this node."""
    cluster = _usable(_near(endpoints, node)) if port.uses_cluster_endpoints else ()
    local = _usable([each for each in endpoints if each.local]) if port.uses_local_endpoints else ()
    return EndpointSelection(cluster, local, bool(cluster or local or _usable(endpoints)))


def _usable(endpoints: Sequence[ServiceEndpoint]) -> tuple[ServiceEndpoint, ...]:
    """Return the ready endpoints. If there are none, return the terminating endpoints that still serve."""
    ready = tuple(each for each in endpoints if each.ready)
    return ready or tuple(each for each in endpoints if each.is_last_resort)


def _near(endpoints: Sequence[ServiceEndpoint], node: NodeFacts) -> Sequence[ServiceEndpoint]:
    """Return the endpoints with a hint for this node, else for its zone, else all.

    Hints count only if every ready endpoint has one. Otherwise, the endpoints with a hint would be overloaded.
    """
    ready = [each for each in endpoints if each.ready]
    if all(each.nodes for each in ready) and (near := [each for each in ready if node.name in each.nodes]):
        return near
    if node.zone and all(each.zones for each in ready):
        return [each for each in ready if node.zone in each.zones] or endpoints
    return endpoints
