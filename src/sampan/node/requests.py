"""What a Pod asks of its node, as whole numbers: CPU in thousandths, all else in units.

Read once for each Pod, when it comes to the node.
Source: component-helpers resource/helpers.go `PodRequests` (1.36).
"""

import functools
from collections.abc import Iterable, Mapping

import msgspec

from sampan.core.node_affinity import Affinity
from sampan.core.quantity import parse
from sampan.core.tolerations import Toleration

Amounts = dict[str, int]
_Said = dict[str, str | int | float]
HostPort = tuple[str, str, int]
"""Protocol, address, port."""


class _Resources(msgspec.Struct, gc=False):
    requests: _Said = {}


class _Port(msgspec.Struct, rename="camel", gc=False):
    host_port: int = 0
    host_ip: str = msgspec.field(name="hostIP", default="")
    protocol: str = "TCP"


class _Container(msgspec.Struct, rename="camel", gc=False):
    resources: _Resources | None = None
    ports: list[_Port] = []
    restart_policy: str = ""


class DemandSpec(msgspec.Struct, rename="camel", gc=False):
    """Everything in a Pod's spec that its node must be able to give."""

    containers: list[_Container] = []
    init_containers: list[_Container] = []
    resources: _Resources | None = None
    overhead: _Said = {}
    node_selector: dict[str, str] = {}
    affinity: Affinity | None = None
    tolerations: list[Toleration] = []

    def amounts(self) -> Amounts:
        """The most that it needs at a time."""
        total = _sum(_asked(each) for each in self.containers)
        sidecars: Amounts = {}
        peak: Amounts = {}
        for container in self.init_containers:
            asks = _asked(container)
            if container.restart_policy == "Always":
                sidecars = _sum((sidecars, asks))
                peak = _most(peak, sidecars)
            else:
                peak = _most(peak, _sum((sidecars, asks)))
        if sidecars or peak:
            total = _most(_sum((total, sidecars)), peak)
        if self.resources is not None:
            total = {**total, **amounts(self.resources.requests)}
        return _sum((total, amounts(self.overhead))) if self.overhead else total

    def host_ports(self) -> tuple[HostPort, ...]:
        """The ports of the node that its containers want."""
        return tuple(
            (port.protocol, port.host_ip or "0.0.0.0", port.host_port)
            for container in (*self.containers, *self.init_containers)
            for port in container.ports
            if port.host_port > 0
        )


class _Demanding(msgspec.Struct, gc=False):
    spec: DemandSpec


_decoder = msgspec.json.Decoder(_Demanding)


def demand_of(raw: bytes) -> DemandSpec:
    """Read a Pod."""
    return _decoder.decode(raw).spec


def amounts(said: Mapping[str, str | int | float]) -> Amounts:
    """Amounts by resource; those that are no quantities count for nothing."""
    return {resource: _amount(str(value), -3 if resource == "cpu" else 0) for resource, value in said.items()}


@functools.lru_cache(maxsize=4096)
def _amount(text: str, scale: int) -> int:
    try:
        return parse(text).scaled_value(scale)
    except ValueError:
        return 0


def _asked(container: _Container) -> Amounts:
    return amounts(container.resources.requests) if container.resources is not None else {}


def _sum(parts: Iterable[Amounts]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        for resource, value in part.items():
            total[resource] = total.get(resource, 0) + value
    return total


def _most(one: Amounts, other: Amounts) -> Amounts:
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in one.keys() | other.keys()}
