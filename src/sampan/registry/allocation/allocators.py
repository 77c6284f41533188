"""Allocators of cluster IPs and node ports, in this server's memory.

Their state may be stale, so it is only a hint when a server selects a free address or port. The `Claims` in the store,
which all servers share, are authoritative. At the end of a write, its `Release` callback commits or reverts its
allocations.
Source: pkg/registry/core/service/{ipallocator,portallocator} (1.36).
"""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from sampan.core.object import Object
from sampan.kinds import core_v1
from sampan.registry.allocation.ip_allocator import (
    AllocationCounters,
    AllocationError,
    Bitmap,
    FamilyAllocator,
    IPAllocator,
    RangeFull,
)
from sampan.registry.rules.ip_addresses import parse_ip
from sampan.registry.rules.service_types import needs_health_check

SERVICE_CIDR = "10.96.0.0/16"
NODE_PORT_FIRST, NODE_PORT_LAST = 30000, 32767


class TakenElsewhere(Exception):
    """Another server has claimed an address or port that was free in this server's memory; `str()` returns the address
    or port.
    """


class Holder(NamedTuple):
    """Service that claims addresses and ports."""

    namespace: str
    name: str


class Claims(Protocol):
    """Claims of Services in the store, for all servers."""

    async def refresh(self, *, ports: bool) -> None:
        """Update the IP allocators from the store and, if `ports` is set, the port allocator too."""

    async def make(self, holder: Holder, ips: Sequence[str], ports: Sequence[int]) -> None:
        """Claim all of these addresses and ports, or none of them. Raises `TakenElsewhere`, and the errors of a
        write.
        """

    async def drop(self, holder: Holder, ips: Sequence[str], ports: Sequence[int]) -> None:
        """Release the addresses and ports that the holder still has. If that fails, the repair loop releases them
        later.
        """


class PortAllocator:
    """Allocator of node ports."""

    def __init__(self, first: int, last: int, rand: random.Random) -> None:
        self.first, self.last = first, last
        size = last - first + 1
        offset = 0 if size <= 16 else min(max(16, size // 32), 128)
        self._bitmap = Bitmap(size, offset, rand)
        self.counters = AllocationCounters()

    @property
    def free(self) -> int:
        """Number of free ports."""
        return self.last - self.first + 1 - len(self._bitmap)

    def allocate(self, port: int) -> None:
        """Allocate this port. Raises `AllocationError`."""
        if not self.first <= port <= self.last:
            raise AllocationError(
                f"provided port is not in the valid range. The range of valid ports is {self.first}-{self.last}"
            )
        if not self._bitmap.take(port - self.first):
            raise AllocationError("provided port is already allocated")

    def allocate_next(self) -> int:
        """Allocate any free port. Raises `RangeFull`."""
        number = self._bitmap.take_any()
        if number is None:
            raise RangeFull
        return self.first + number

    def release(self, port: int) -> None:
        """Make a port of the range available again. Releasing a free port has no effect."""
        self._bitmap.release(port - self.first)

    def learn(self, taken: Iterable[int]) -> None:
        """Replace the set of allocated ports."""
        self._bitmap.replace({port - self.first for port in taken})

    def __contains__(self, port: int) -> bool:
        return port - self.first in self._bitmap

    def __len__(self) -> int:
        return len(self._bitmap)


class Allocators:
    """An IP allocator for each family, and the allocator of node ports.

    `cidrs`: one network, or two of different families; the family of the first is the primary one. `ports`: first and
    last node port. `rand` selects free numbers.
    """

    __slots__ = ("_random", "ips", "ports", "primary_family")

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

    def adopt(self, cidrs: Iterable[str]) -> None:
        """Replace the networks. Assumption: no address is allocated yet."""
        networks = [IPAllocator(cidr, self._random) for cidr in cidrs]
        self.ips = {each.family: FamilyAllocator(each) for each in networks}
        self.primary_family = networks[0].family

    def close(self) -> None:
        """Stop allocating addresses."""
        for allocator in self.ips.values():
            allocator.close()

    @property
    def first(self) -> str:
        """First address of the primary network, which the Service `kubernetes` has."""
        return str(self.ips[self.primary_family].network.network_address + 1)

    def extend(self, cidrs: Sequence[str]) -> bool:
        """Add networks, if the cluster has their family. See `FamilyAllocator.extend`."""
        new = [family.extend(_of(name, cidrs), self._random) for name, family in self.ips.items()]
        return any(new)

    def adopt_ports(self, first: int, last: int) -> None:
        """Replace the range of node ports. Assumption: no port is allocated yet."""
        self.ports = PortAllocator(first, last, self._random)

    def rebuild(self, services: Iterable[Object]) -> list[str]:
        """Allocate the addresses and ports of the stored Services. Return a message for each address or port that two
        Services have.
        """
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
        """Return the allocator of an address's family, if the cluster has that family."""
        return self.ips.get(family_of(ip))

    def release_ip(self, ip: str) -> None:
        """Release an address."""
        allocator = self.allocator_of(ip)
        if allocator is not None:
            allocator.release(ip)


@dataclass(frozen=True, slots=True)
class Allocation:
    """Both parts of an allocation: the allocators of this server, and the claims that all servers share."""

    allocators: Allocators
    claims: Claims


def _of(family: str, cidrs: Sequence[str]) -> list[str]:
    networks = map(ipaddress.ip_network, cidrs)
    return [str(network) for network in networks if f"IPv{network.version}" == family]


def family_of(ip: str) -> str:
    """Return `IPv4`, `IPv6` or `unknown`."""
    parsed = parse_ip(ip)
    return "unknown" if parsed is None else f"IPv{parsed.version}"


def held_ips(service: Object) -> list[str]:
    """Return the cluster IPs that a Service has allocated."""
    spec = service.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return []
    ips = spec.get("clusterIPs") or ([spec["clusterIP"]] if spec.get("clusterIP") else [])
    return [] if "None" in ips else list(ips)


def held_ports(service: Object) -> list[int]:
    """Return the node ports that a Service has allocated, without duplicates."""
    spec: core_v1.ServiceSpec = service.get("spec") or {}
    ports = [port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")]
    if needs_health_check(spec) and spec.get("healthCheckNodePort"):
        ports.append(spec["healthCheckNodePort"])
    return list(dict.fromkeys(ports))
