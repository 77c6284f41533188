"""Cluster IPs and node ports: which are taken, as far as this server knows.

That is a hint which to choose; what counts are the `Claims` in the store, which all servers share. Every change is
undone or made final by the `Release` of the write that caused it.
Source: pkg/registry/core/service/{ipallocator,portallocator} (1.36).
"""

import ipaddress
import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from sampan.core.object import Object
from sampan.registry.allocation.ip_allocator import (
    AllocationError,
    Bitmap,
    FamilyAllocator,
    Given,
    IPAllocator,
    RangeFull,
)
from sampan.registry.kinds.rules.ip_addresses import parse_ip

SERVICE_CIDR = "10.96.0.0/16"
NODE_PORT_FIRST, NODE_PORT_LAST = 30000, 32767


class TakenElsewhere(Exception):
    """What was free as far as this server knew is claimed already; `str()` says what."""


class Holder(NamedTuple):
    """The Service that claims something."""

    namespace: str
    name: str


class Claims(Protocol):
    """What Services hold for all servers."""

    async def refresh(self, *, ports: bool) -> None:
        """Bring the allocators up to what is claimed now; those of the node ports only if `ports`."""

    async def make(self, holder: Holder, ips: Sequence[str], ports: Sequence[int]) -> None:
        """Claim, all or nothing. Raises `TakenElsewhere`, and what a write raises."""

    async def drop(self, holder: Holder, ips: Sequence[str], ports: Sequence[int]) -> None:
        """Give back what is the holder's still; what cannot be given back now is left to the repair."""


class NoClaims:
    """`Claims` where one server is all there is, and its memory enough."""

    async def refresh(self, *, ports: bool) -> None:
        """See `Claims.refresh`."""

    async def make(self, holder: Holder, ips: Sequence[str], ports: Sequence[int]) -> None:
        """See `Claims.make`."""

    async def drop(self, holder: Holder, ips: Sequence[str], ports: Sequence[int]) -> None:
        """See `Claims.drop`."""


class PortAllocator:
    """The node ports."""

    def __init__(self, first: int, last: int, rand: random.Random) -> None:
        self.first, self.last = first, last
        size = last - first + 1
        offset = 0 if size <= 16 else min(max(16, size // 32), 128)
        self._bitmap = Bitmap(size, offset, rand)
        self.given = Given()

    @property
    def free(self) -> int:
        """How many ports are left."""
        return self.last - self.first + 1 - len(self._bitmap)

    def allocate(self, port: int) -> None:
        """Take one port. Raises `AllocationError`."""
        if not self.first <= port <= self.last:
            raise AllocationError(
                f"provided port is not in the valid range. The range of valid ports is {self.first}-{self.last}"
            )
        if not self._bitmap.take(port - self.first):
            raise AllocationError("provided port is already allocated")

    def allocate_next(self) -> int:
        """Take some free port. Raises `RangeFull`."""
        number = self._bitmap.take_any()
        if number is None:
            raise RangeFull
        return self.first + number

    def release(self, port: int) -> None:
        """Give a port back."""
        self._bitmap.release(port - self.first)

    def learn(self, taken: Iterable[int]) -> None:
        """Hear which ports are taken: these and no others."""
        self._bitmap.replace({port - self.first for port in taken})

    def __contains__(self, port: int) -> bool:
        return port - self.first in self._bitmap

    def __len__(self) -> int:
        return len(self._bitmap)


class Allocators:
    """What Services share: an IP allocator for each family (that of the first network is the primary), and the ports.

    `cidrs`: one network, or two of different families. `ports`: first and last node port. `rand` draws free numbers.
    """

    __slots__ = ("_random", "claims", "ips", "ports", "primary_family")

    def __init__(
        self,
        cidrs: Iterable[str] = (SERVICE_CIDR,),
        ports: tuple[int, int] = (NODE_PORT_FIRST, NODE_PORT_LAST),
        rand: random.Random | None = None,
    ) -> None:
        self._random = rand or random.Random()
        self.ips: dict[str, FamilyAllocator] = {}
        self.primary_family = ""
        self.adopt(cidrs)
        self.ports = PortAllocator(*ports, self._random)
        self.claims: Claims = NoClaims()

    def adopt(self, cidrs: Iterable[str]) -> None:
        """Give addresses of these networks instead. Assumption: no address has been taken yet."""
        networks = [IPAllocator(cidr, self._random) for cidr in cidrs]
        self.ips = {each.family: FamilyAllocator(each) for each in networks}
        self.primary_family = networks[0].family

    def close(self) -> None:
        """Give no addresses any more."""
        for allocator in self.ips.values():
            allocator.close()

    @property
    def first(self) -> str:
        """The first address of the primary network, which is that of the Service `kubernetes`."""
        return str(self.ips[self.primary_family].network.network_address + 1)

    def extend(self, cidrs: Sequence[str]) -> bool:
        """Give addresses of these networks too, where their family is known. See `FamilyAllocator.extend`."""
        new = [family.extend(_of(name, cidrs), self._random) for name, family in self.ips.items()]
        return any(new)

    def adopt_ports(self, first: int, last: int) -> None:
        """Give these ports instead. Assumption: no port has been taken yet."""
        self.ports = PortAllocator(first, last, self._random)

    def rebuild(self, services: Iterable[Object]) -> list[str]:
        """Take what stored Services hold. Gives a text for each address or port that two of them claim."""
        problems: list[str] = []
        for service in services:
            metadata = service.get("metadata") or {}
            name = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
            for ip in held_ips(service):
                problems.extend(self._try(name, ip))
            for port in held_ports(service):
                problems.extend(self._try(name, port))
        return problems

    def _try(self, name: str, what: str | int) -> list[str]:
        try:
            if isinstance(what, int):
                self.ports.allocate(what)
            else:
                allocator = self.allocator_of(what)
                if allocator is not None:
                    allocator.allocate(what)
        except AllocationError as error:
            return [f"service {name}: {what}: {error}"]
        return []

    def allocator_of(self, ip: str) -> FamilyAllocator | None:
        """The allocator of an address's family, if the cluster has that family."""
        return self.ips.get(family_of(ip))

    def release_ip(self, ip: str) -> None:
        """Give an address back."""
        allocator = self.allocator_of(ip)
        if allocator is not None:
            allocator.release(ip)


def _of(family: str, cidrs: Sequence[str]) -> list[str]:
    networks = map(ipaddress.ip_network, cidrs)
    return [str(network) for network in networks if f"IPv{network.version}" == family]


def family_of(ip: str) -> str:
    """`IPv4`, `IPv6` or `unknown`."""
    parsed = parse_ip(ip)
    return "unknown" if parsed is None else f"IPv{parsed.version}"


def held_ips(service: Object) -> list[str]:
    """The cluster IPs that a Service holds."""
    spec = service.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return []
    ips = spec.get("clusterIPs") or ([spec["clusterIP"]] if spec.get("clusterIP") else [])
    return [] if "None" in ips else list(ips)


def held_ports(service: Object) -> list[int]:
    """The node ports that a Service holds, each once."""
    spec = service.get("spec") or {}
    ports = [port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")]
    if needs_health_check(spec) and spec.get("healthCheckNodePort"):
        ports.append(spec["healthCheckNodePort"])
    return list(dict.fromkeys(ports))


def needs_health_check(spec: Object) -> bool:
    """Whether load balancers ask a port of the node's own whether it has endpoints."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"
