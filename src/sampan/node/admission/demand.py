"""Resources, host ports and placement rules of a Pod that its node checks before it runs the Pod."""

import msgspec

from sampan.core.numbers.resource_amounts import Amounts, amounts
from sampan.core.pods.node_affinity import Affinity
from sampan.core.pods.resources import PodParts, pod_requests
from sampan.core.pods.tolerations import Toleration
from sampan.resource.view import view_decoder

HostPort = tuple[str, str, int]
"""Protocol, address, port."""


class _Resources(msgspec.Struct, gc=False):
    requests: dict[str, str | int | float] = {}


class _Port(msgspec.Struct, rename="camel", gc=False):
    host_port: int = 0
    host_ip: str = msgspec.field(name="hostIP", default="")
    protocol: str = "TCP"


class _Container(msgspec.Struct, rename="camel", gc=False):
    resources: _Resources | None = None
    ports: list[_Port] = []
    restart_policy: str = ""


class DemandSpec(msgspec.Struct, rename="camel", gc=False):
    """Part of a Pod's spec that decides whether a node can run the Pod."""

    containers: list[_Container] = []
    init_containers: list[_Container] = []
    resources: _Resources | None = None
    overhead: dict[str, str | int | float] = {}
    node_selector: dict[str, str] = {}
    affinity: Affinity | None = None
    tolerations: list[Toleration] = []

    def amounts(self) -> Amounts:
        """Return the requests of the Pod as integers: its highest amounts at any time, plus its overhead."""
        return pod_requests(
            PodParts(
                [_requests(each.resources) for each in self.containers],
                [(_requests(each.resources), each.restart_policy == "Always") for each in self.init_containers],
                _requests(self.resources),
                amounts(self.overhead),
            )
        )

    def host_ports(self) -> tuple[HostPort, ...]:
        """Return the ports of the node that its containers use."""
        return tuple(
            (port.protocol, port.host_ip or "0.0.0.0", port.host_port)
            for container in (*self.containers, *self.init_containers)
            for port in container.ports
            if port.host_port > 0
        )


class _PodWithDemand(msgspec.Struct, gc=False):
    spec: DemandSpec


_decoder = view_decoder(_PodWithDemand)


def demand_of(raw: bytes) -> DemandSpec:
    """Decode a Pod. Raises msgspec's `ValueError`."""
    return _decoder(raw).spec


def _requests(resources: _Resources | None) -> Amounts:
    return amounts(resources.requests) if resources is not None else {}
