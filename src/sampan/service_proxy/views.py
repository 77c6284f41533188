"""Views: the parts of Services, EndpointSlices and Nodes that the proxy reads."""

from typing import Any, Final

import msgspec

from sampan.component_base.resources import ENDPOINT_SLICES, NODES, SERVICE_CIDRS, SERVICES
from sampan.resource import ObjectMeta, ObjectType
from sampan.resource.view import view_decoder

SERVICE_NAME: Final = "kubernetes.io/service-name"
"""Label of an EndpointSlice: name of its Service."""


class ServicePort(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """Port at which the addresses of a Service accept connections. `node_port` is 0 for none."""

    name: str = ""
    protocol: str = "TCP"
    port: int = 0
    node_port: int = 0


class ClientIP(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """Settings of the session affinity ClientIP."""

    timeout_seconds: int = 10800


class SessionAffinityConfig(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """Settings of session affinity."""

    client_ip: ClientIP = msgspec.field(name="clientIP", default=ClientIP())


class ServiceSpec(msgspec.Struct, rename="camel", frozen=True):
    """Addresses, ports and policies of a Service."""

    type: str = "ClusterIP"
    cluster_ip: str = msgspec.field(name="clusterIP", default="")
    cluster_ips: tuple[str, ...] = msgspec.field(name="clusterIPs", default=())
    external_ips: tuple[str, ...] = msgspec.field(name="externalIPs", default=())
    ports: tuple[ServicePort, ...] = ()
    session_affinity: str = "None"
    session_affinity_config: SessionAffinityConfig = SessionAffinityConfig()
    internal_traffic_policy: str = "Cluster"
    external_traffic_policy: str = "Cluster"
    load_balancer_source_ranges: tuple[str, ...] = ()
    health_check_node_port: int = 0


class Ingress(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """Address of a load balancer."""

    ip: str = ""
    ip_mode: str = "VIP"


class LoadBalancer(msgspec.Struct, frozen=True):
    """Addresses of a load balancer."""

    ingress: tuple[Ingress, ...] = ()


class ServiceStatus(msgspec.Struct, rename="camel", frozen=True):
    """Addresses that a load balancer has given to a Service."""

    load_balancer: LoadBalancer = LoadBalancer()


class Service(msgspec.Struct, frozen=True):
    """Fields of a Service that the proxy reads."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: ServiceSpec = ServiceSpec()
    status: ServiceStatus = ServiceStatus()


class Conditions(msgspec.Struct, frozen=True, gc=False):
    """Conditions of an endpoint; None if unknown."""

    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class Named(msgspec.Struct, frozen=True, gc=False):
    """Zone or node in a hint."""

    name: str = ""


class Hints(msgspec.Struct, rename="camel", frozen=True):
    """Zones and nodes whose traffic should go to an endpoint."""

    for_zones: tuple[Named, ...] = ()
    for_nodes: tuple[Named, ...] = ()


class SliceEndpoint(msgspec.Struct, rename="camel", frozen=True):
    """Target of connections. The first address is used; hints limit the zones and Nodes that use it."""

    addresses: tuple[str, ...] = ()
    conditions: Conditions = Conditions()
    node_name: str = ""
    hints: Hints = Hints()


class SlicePort(msgspec.Struct, frozen=True, gc=False):
    """Port that all endpoints of a slice have. Without a number, the proxy cannot reach the endpoints."""

    name: str | None = None
    protocol: str = "TCP"
    port: int | None = None


class EndpointSlice(msgspec.Struct, rename="camel", frozen=True):
    """Endpoints of a Service, or a part of them."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    address_type: str = "IPv4"
    endpoints: tuple[SliceEndpoint, ...] | None = ()
    ports: tuple[SlicePort, ...] | None = ()


class NodeAddress(msgspec.Struct, frozen=True, gc=False):
    """Address at which a Node is reached, with its type, such as "InternalIP" or "ExternalIP"."""

    type: str = ""
    address: str = ""


class NodeSpec(msgspec.Struct, rename="camel", frozen=True):
    """Ranges of the addresses of a Node's Pods."""

    pod_cidr: str = msgspec.field(name="podCIDR", default="")
    pod_cidrs: tuple[str, ...] = msgspec.field(name="podCIDRs", default=())


class NodeStatus(msgspec.Struct, frozen=True):
    """Addresses of a Node."""

    addresses: tuple[NodeAddress, ...] = ()


class Node(msgspec.Struct, frozen=True):
    """Fields of a Node that the proxy reads."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class ServiceCidrSpec(msgspec.Struct, frozen=True):
    """Ranges of cluster IPs."""

    cidrs: tuple[str, ...] = ()


class ServiceCidr(msgspec.Struct, frozen=True):
    """Fields of a ServiceCIDR: ranges of addresses that Services may have."""

    spec: ServiceCidrSpec = ServiceCidrSpec()


def _read_only(obj: Any) -> bytes:
    raise ValueError("a view cannot be written")


SERVICE_VIEW: ObjectType[Service] = ObjectType(SERVICES, view_decoder(Service), _read_only)
SLICE_VIEW: ObjectType[EndpointSlice] = ObjectType(ENDPOINT_SLICES, view_decoder(EndpointSlice), _read_only)
NODE_VIEW: ObjectType[Node] = ObjectType(NODES, view_decoder(Node), _read_only)
SERVICE_CIDR_VIEW: ObjectType[ServiceCidr] = ObjectType(SERVICE_CIDRS, view_decoder(ServiceCidr), _read_only)
