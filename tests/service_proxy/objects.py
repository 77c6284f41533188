"""Services and endpoints for tests."""

from typing import Any

from sampan.resource import ObjectMeta
from sampan.service_proxy.endpoints import PortName, ServiceEndpoint
from sampan.service_proxy.node_facts import NodeFacts
from sampan.service_proxy.rules.options import RuleOptions
from sampan.service_proxy.service_ports import ProxiedPort
from sampan.service_proxy.views import (
    Conditions,
    EndpointSlice,
    Service,
    ServicePort,
    ServiceSpec,
    SliceEndpoint,
    SlicePort,
)

NODE = NodeFacts("node-a", "zone-1", ("172.30.0.11",))
OPTIONS = RuleOptions(cluster_cidrs=("10.244.0.0/16", "fd00:1::/64"))


def port(**more: Any) -> ProxiedPort:
    """Return the TCP port 80 of the Service `default/web`."""
    return ProxiedPort("default", "web", PortName("", "TCP"), "tcp", 80, "10.96.0.10", **more)


def endpoint(number: int, *, local: bool = True, **more: Any) -> ServiceEndpoint:
    """Return an endpoint with the address 10.244.1.NUMBER."""
    return ServiceEndpoint(f"10.244.1.{number}", 8080, local=local, **more)


def service(name: str, address: str, *, protocol: str = "TCP", **spec: Any) -> Service:
    """Return a Service with the port 80."""
    ports = (ServicePort(protocol=protocol, port=80, node_port=spec.pop("node_port", 0)),)
    metadata = ObjectMeta(name=name, namespace="default")
    return Service(metadata, ServiceSpec(cluster_ips=(address,), ports=ports, **spec))


def piece(*addresses: str, ready: bool = True, protocol: str = "TCP") -> EndpointSlice:
    """Return an EndpointSlice whose endpoints are on the node of the proxy."""
    conditions = Conditions(ready=ready)
    found = tuple(SliceEndpoint((address,), conditions, "node-a") for address in addresses)
    return EndpointSlice(endpoints=found, ports=(SlicePort("", protocol, 8080),))
