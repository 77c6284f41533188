"""Cluster IPs and node ports: which are taken, as far as this server knows.

That is a hint which to choose; what counts are the `Claims` in the store, which all servers share. Every change is
undone or made final by the `Release` of the write that caused it.
Source: pkg/registry/core/service/{ipallocator,portallocator} (1.36).
"""

import ipaddress
import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from sampan.core.durations import Durations
from sampan.core.object import Object
from sampan.registry.strategies.core.addresses import IP, parse_ip

SERVICE_CIDR = "10.96.0.0/16"
NODE_PORT_FIRST, NODE_PORT_LAST = 30000, 32767


class AllocationError(ValueError):
    """An address or port cannot be given; `str()` is Kubernetes' text."""


class RangeFull(AllocationError):
    """Nothing is left. `str()` is `range is full`."""

    def __init__(self) -> None:
        super().__init__("range is full")


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


class Bitmap:
    """Which of `size` numbers are taken. Free numbers are drawn at random, first from the upper part.

    The first `offset` numbers are given out only when all others are taken, so that fixed choices rarely collide.
    """

    __slots__ = ("_offset", "_random", "_size", "_taken")

    def __init__(self, size: int, offset: int, rand: random.Random) -> None:
        self._size = size
        self._offset = offset
        self._random = rand
        self._taken: set[int] = set()

    def __contains__(self, number: int) -> bool:
        return number in self._taken

    def __len__(self) -> int:
        return len(self._taken)

    def take(self, number: int) -> bool:
        """Take one number; False when it is taken already."""
        if number in self._taken:
            return False
        self._taken.add(number)
        return True

    def take_any(self) -> int | None:
        """Take some free number; None when there is none."""
        for low, high in ((self._offset, self._size), (0, self._offset)):
            number = self._free(low, high)
            if number is not None:
                self._taken.add(number)
                return number
        return None

    def _free(self, low: int, high: int) -> int | None:
        if low >= high:
            return None
        start = self._random.randrange(low, high)
        for number in range(start, high):
            if number not in self._taken:
                return number
        for number in range(low, start):
            if number not in self._taken:
                return number
        return None

    def release(self, number: int) -> None:
        """Give a number back; one that is not taken is ignored."""
        self._taken.discard(number)

    def replace(self, taken: set[int]) -> None:
        """Learn anew which are taken."""
        self._taken = taken


class Given:
    """How often addresses or ports were asked for: certain ones (static) or any (dynamic), and how often in vain.

    `durations`: how long it took to claim one.
    """

    __slots__ = ("durations", "errors", "totals")

    def __init__(self) -> None:
        self.totals = {"static": 0, "dynamic": 0}
        self.errors = {"static": 0, "dynamic": 0}
        self.durations = Durations()

    def took(self, scope: str, *, done: bool) -> None:
        """Count one."""
        (self.totals if done else self.errors)[scope] += 1


class IPAllocator:
    """The cluster IPs of one network: all addresses but the first (and, for IPv4, the last)."""

    def __init__(self, cidr: str, rand: random.Random) -> None:
        self.network = ipaddress.ip_network(cidr)
        self.family = "IPv4" if self.network.version == 4 else "IPv6"
        self._base = int(self.network.network_address) + 1
        # Of an IPv6 network only the first 65536 addresses are given out, as the old allocator did.
        total = min(self.network.num_addresses, 1 << 16 if self.network.version == 6 else 1 << 32)
        self._size = max(0, total - (2 if self.network.version == 4 else 1))
        offset = 0 if total <= 16 else min(max(16, total // 16), 256)
        self._bitmap = Bitmap(self._size, offset, rand)
        self.given = Given()
        self.is_closed = False
        """Whether none is given, for nobody knows whether this is a network of the cluster."""

    @property
    def free(self) -> int:
        """How many addresses are left."""
        return self._size - len(self._bitmap)

    def allocate(self, text: str) -> None:
        """Take one address. Raises `AllocationError`."""
        number = self._number(text)
        if number is None:
            raise AllocationError(
                f"the provided IP ({text}) is not in the valid range. The range of valid IPs is {self.network}"
            )
        if self.is_closed:
            # What Kubernetes says when it knows no network that has the address.
            raise AllocationError("the provided network does not match the current range")
        if not self._bitmap.take(number):
            raise AllocationError("provided IP is already allocated")

    def allocate_next(self) -> str:
        """Take some free address. Raises `RangeFull`."""
        number = None if self.is_closed else self._bitmap.take_any()
        if number is None:
            raise RangeFull
        return str(self.network.network_address + number + 1)

    def release(self, text: str) -> None:
        """Give an address back."""
        number = self._number(text)
        if number is not None:
            self._bitmap.release(number)

    def learn(self, text: str, *, taken: bool) -> None:
        """Hear of an address that was claimed or given back; others than this network's are ignored."""
        number = self._number(text)
        if number is not None and taken:
            self._bitmap.take(number)
        elif number is not None:
            self._bitmap.release(number)

    def __contains__(self, text: str) -> bool:
        number = self._number(text)
        return number is not None and number in self._bitmap

    def __len__(self) -> int:
        return len(self._bitmap)

    def _number(self, text: str) -> int | None:
        ip: IP | None = parse_ip(text)
        if ip is None or ip.version != self.network.version:
            return None
        number = int(ip) - self._base
        return number if 0 <= number < self._size else None


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
        self.ips: dict[str, IPAllocator] = {}
        self.primary_family = ""
        self.adopt(cidrs)
        self.ports = PortAllocator(*ports, self._random)
        self.claims: Claims = NoClaims()

    def adopt(self, cidrs: Iterable[str]) -> None:
        """Give addresses of these networks instead. Assumption: no address has been taken yet."""
        networks = [IPAllocator(cidr, self._random) for cidr in cidrs]
        self.ips = {allocator.family: allocator for allocator in networks}
        self.primary_family = networks[0].family

    def close(self) -> None:
        """Give no addresses any more."""
        for allocator in self.ips.values():
            allocator.is_closed = True

    @property
    def first(self) -> str:
        """The first address of the primary network, which is that of the Service `kubernetes`."""
        return str(self.ips[self.primary_family].network.network_address + 1)

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

    def allocator_of(self, ip: str) -> IPAllocator | None:
        """The allocator of an address's family, if the cluster has that family."""
        return self.ips.get(family_of(ip))

    def release_ip(self, ip: str) -> None:
        """Give an address back."""
        allocator = self.allocator_of(ip)
        if allocator is not None:
            allocator.release(ip)


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
