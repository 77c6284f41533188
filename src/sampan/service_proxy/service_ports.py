"""`ProxiedPort`: one port of a Service in one address family, with all settings on which its rules depend."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sampan.service_proxy.endpoints import PortName, is_port
from sampan.service_proxy.family import Family
from sampan.service_proxy.views import Service

PROTOCOLS: Final = {"TCP": "tcp", "UDP": "udp", "SCTP": "sctp"}
_WITH_NODE_PORTS: Final = ("NodePort", "LoadBalancer")
_LOCAL: Final = "Local"
_SAFE_NAME: Final = re.compile(r"[a-z0-9.-]{1,253}")
"""Names that Kubernetes permits. They are parts of the names of chains."""
_AFFINITY_S_MAX: Final = 86_400


@dataclass(frozen=True, slots=True)
class ProxiedPort:
    """One port of a Service in one address family."""

    namespace: str
    service: str
    name: PortName
    protocol: str
    """Name of the protocol in nftables."""
    port: int
    cluster_ip: str
    external_ips: tuple[str, ...] = ()
    load_balancer_ips: tuple[str, ...] = ()
    source_ranges: tuple[str, ...] | None = None
    """Sources that may use the load balancer's addresses; None: all."""
    node_port: int = 0
    affinity_s: int = 0
    """Seconds for which a client keeps its endpoint; 0 without session affinity."""
    internal_local: bool = False
    external_local: bool = False

    @property
    def identity(self) -> str:
        """Text that names the port in chains: `default/web/tcp/80`."""
        return f"{self.namespace}/{self.service}/{self.protocol}/{self.port}"

    @property
    def is_external(self) -> bool:
        """Return True if clients outside of the cluster can reach the port."""
        return bool(self.external_ips or self.load_balancer_ips or self.node_port)

    @property
    def uses_cluster_endpoints(self) -> bool:
        """Return True if some traffic may go to endpoints on any node.

        With the external policy Local, that is the traffic of Pods and of the node to external addresses.
        """
        return not self.internal_local or self.is_external

    @property
    def uses_local_endpoints(self) -> bool:
        """Return True if some traffic goes only to endpoints on this node."""
        return self.internal_local or (self.external_local and self.is_external)

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses of the port, except the addresses of nodes."""
        return (self.cluster_ip, *self.external_ips, *self.load_balancer_ips)


def proxied_ports(service: Service, family: Family) -> Iterator[ProxiedPort]:
    """Return the ports of a Service in a family. Headless Services and Services of the type ExternalName have none.

    Values that no rule of nftables can have are left out: the kernel would refuse the rules of all Services.
    """
    spec, metadata = service.spec, service.metadata
    if not (_SAFE_NAME.fullmatch(metadata.namespace) and _SAFE_NAME.fullmatch(metadata.name)):
        return
    cluster_ips = family.same(spec.cluster_ips or (spec.cluster_ip,))
    if spec.type == "ExternalName" or not cluster_ips:
        return
    has_node_ports = spec.type in _WITH_NODE_PORTS
    load_balancer = service.status.load_balancer if spec.type == "LoadBalancer" else None
    captured = (each.ip for each in load_balancer.ingress if each.ip_mode != "Proxy") if load_balancer else ()
    load_balancer_ips = family.same(captured)
    affinity_s = 0
    if spec.session_affinity == "ClientIP":
        affinity_s = min(max(spec.session_affinity_config.client_ip.timeout_seconds, 0), _AFFINITY_S_MAX)
    for port in spec.ports:
        protocol = PROTOCOLS.get(port.protocol)
        if protocol is None or not is_port(port.port):
            continue
        yield ProxiedPort(
            metadata.namespace,
            metadata.name,
            PortName(port.name, port.protocol),
            protocol,
            port.port,
            cluster_ips[0],
            family.same(spec.external_ips),
            load_balancer_ips,
            family.same(spec.load_balancer_source_ranges) if spec.load_balancer_source_ranges else None,
            port.node_port if has_node_ports and is_port(port.node_port) else 0,
            affinity_s,
            spec.internal_traffic_policy == _LOCAL,
            spec.external_traffic_policy == _LOCAL and (has_node_ports or bool(spec.external_ips)),
        )
