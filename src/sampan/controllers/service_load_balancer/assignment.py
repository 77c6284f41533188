"""`assign`: the addresses of all Services of type LoadBalancer.

Pure functions. An address can have each port once, so Services compete. A Service that has an address keeps it; then
the oldest one is first.
"""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from sampan.component_base.load_balancer import Address, AddressRange

ADDRESSES_MAX: Final = 64
"""Addresses of one Service. A client needs few, and each takes space in the status."""


class ProtocolPort(NamedTuple):
    """Number that only one Service can use at an address."""

    protocol: str
    number: int


class AddressPort(NamedTuple):
    """Place in the network that only one Service can have."""

    address: str
    port: ProtocolPort


@dataclass(frozen=True, slots=True)
class Balanced:
    """Service that gets addresses."""

    key: str
    ports: tuple[ProtocolPort, ...]
    versions: tuple[int, ...] = (4,)
    """IP families in their order: 4, 6."""
    created: str = ""
    requested: str = ""
    """Address that the Service requests; empty for any."""
    before: tuple[str, ...] = ()
    """Addresses that it has."""
    nodes: frozenset[str] | None = None
    """Nodes that may serve the address; None for all."""


@dataclass(frozen=True, slots=True)
class NodeAddresses:
    """Node that serves the addresses of Services."""

    name: str
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assignment:
    """Addresses of a Service, or the reason why it has none."""

    addresses: tuple[str, ...] = ()
    problem: str = ""


@dataclass(slots=True)
class Assigner:
    """Assigns addresses to one Service after the other."""

    nodes: Sequence[NodeAddresses]
    pool: Sequence[AddressRange] = ()
    reserved: Mapping[AddressPort, str] = field(default_factory=dict)
    """Places that something else uses, with its name."""
    reserved_ports: Mapping[ProtocolPort, str] = field(default_factory=dict)
    """Ports that something else uses at all addresses of nodes. The Service of a NodePort is named by its key."""
    host_ports: Mapping[AddressPort, str] = field(default_factory=dict)
    """Places that Pods use, with their names. A Service keeps a place that it has."""
    disputed: dict[AddressPort, str] = field(default_factory=dict)
    """Places that both a Pod and a Service use, with the Service."""
    _taken: dict[AddressPort, str] = field(default_factory=dict)
    _holders: dict[str, str] = field(default_factory=dict)
    """Service of each address of the pool that was chosen."""
    _untried: dict[int, Iterator[Address]] = field(default_factory=dict)
    """Addresses of the pool, by IP family, that no Service has tried yet. So each address is passed only once."""
    _passed: dict[int, list[Address]] = field(default_factory=dict)
    """Addresses before them that have no Service, because something else uses a port there."""

    def assign(self, services: Iterable[Balanced]) -> dict[str, Assignment]:
        """Return the assignment of each Service by its key."""
        return dict(self.steps(services))

    def steps(self, services: Iterable[Balanced]) -> Iterator[tuple[str, Assignment]]:
        """Yield the key and the assignment of one Service after the other."""
        ordered = sorted(services, key=lambda each: (not each.before, each.created, each.key))
        # First, so that no new choice takes an address of the pool that another Service has.
        for each in ordered:
            for address in each.before if self.pool else ():
                self._holders.setdefault(address, each.key)
        yield from ((each.key, self._one(each)) for each in ordered)

    def _one(self, service: Balanced) -> Assignment:
        if self.pool:
            return self._from_pool(service)
        return self._of_nodes(service)

    def _of_nodes(self, service: Balanced) -> Assignment:
        chosen = [node for node in self.nodes if service.nodes is None or node.name in service.nodes]
        addresses = [
            address
            for version in service.versions
            for node in chosen
            for address in node.addresses
            if ipaddress.ip_address(address).version == version
        ]
        if service.requested:
            if service.requested not in addresses:
                return Assignment(problem=f"{service.requested} is no address of a node that can answer")
            addresses = [service.requested]
        if not addresses:
            return Assignment(problem=_without_nodes(service))
        free, problem = self._take(service, addresses)
        return Assignment(free[:ADDRESSES_MAX], "" if free else problem)

    def _from_pool(self, service: Balanced) -> Assignment:
        if service.requested:
            address = ipaddress.ip_address(service.requested)
            if not any(address in each for each in self.pool):
                return Assignment(problem=f"{service.requested} is not in the pool of addresses")
            free, problem = self._take(service, [str(address)])
            return Assignment(free, problem)
        chosen = []
        for version in service.versions:
            found = self._choose(service, version)
            if found is not None:
                self._holders[str(found)] = service.key
                chosen.append(str(found))
        if not chosen:
            return Assignment(problem="the pool has no free address of its IP families")
        self._take(service, chosen)
        return Assignment(tuple(chosen))

    def _choose(self, service: Balanced, version: int) -> Address | None:
        """Return the address of the pool that the Service has, or else the first free one."""
        ranges = [each for each in self.pool if each.first.version == version]
        present = [ipaddress.ip_address(address) for address in service.before]
        for address in present:
            if any(address in each for each in ranges) and self._is_free(service, str(address)):
                return address
        passed = self._passed.setdefault(version, [])
        for number, each in enumerate(passed):
            if self._is_free(service, str(each)):
                return passed.pop(number)
        for each in self._untried.setdefault(version, chain.from_iterable(ranges)):
            if self._is_free(service, str(each)):
                return each
            if str(each) not in self._holders:
                passed.append(each)
        return None

    def _is_free(self, service: Balanced, address: str) -> bool:
        return self._holders.get(address, service.key) == service.key and not self._conflict(service, address)

    def _take(self, service: Balanced, addresses: Sequence[str]) -> tuple[tuple[str, ...], str]:
        """Take the ports of a Service at those addresses where all are free.

        Returns these addresses, and the first conflict.
        """
        problems = {address: self._conflict(service, address) for address in addresses}
        free = tuple(address for address, problem in problems.items() if not problem)
        for address in free:
            places = {AddressPort(address, port): f"Service {service.key}" for port in service.ports}
            self._taken.update(places)
            self.disputed |= {place: name for place, name in places.items() if place in self.host_ports}
            if self.pool:
                self._holders.setdefault(address, service.key)
        return free, next(filter(None, problems.values()), "")

    def _conflict(self, service: Balanced, address: str) -> str:
        for port in service.ports:
            place = AddressPort(address, port)
            user = self._taken.get(place) or self.reserved.get(place)
            if user is None and not self.pool:
                user = self.reserved_ports.get(port)
            if user is None and address not in service.before:
                user = self.host_ports.get(place)
            if user is not None and user != f"NodePort of Service {service.key}":
                return f"port {port.number}/{port.protocol} of {address} is in use: {user}"
        return ""


def _without_nodes(service: Balanced) -> str:
    if service.nodes is not None:
        return "no node that can answer has a ready endpoint, which externalTrafficPolicy: Local needs"
    return (
        "no node can answer: it must be ready, run containers or processes, and have an address of the IP family "
        "other than loopback"
    )
