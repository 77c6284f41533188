"""Settings of load balancers without a cloud: ranges of addresses for Services of type LoadBalancer."""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class AddressRange:
    """Range of addresses of one IP family, with both ends."""

    first: Address
    last: Address

    @classmethod
    def parse(cls, text: str) -> "AddressRange":
        """Return the range of `192.0.2.0/28`, `192.0.2.1-192.0.2.9` or `192.0.2.1`. Raises `ValueError`."""
        start, dash, end = text.partition("-")
        if not dash:
            network = ipaddress.ip_network(text)
            return cls(network[0], network[-1])
        first, last = ipaddress.ip_address(start.strip()), ipaddress.ip_address(end.strip())
        if first.version != last.version or int(first) > int(last):
            raise ValueError(f"{text!r} is no range of addresses: the first one must not be after the last one")
        return cls(first, last)

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    def __contains__(self, address: object) -> bool:
        return (
            isinstance(address, ipaddress.IPv4Address | ipaddress.IPv6Address)
            and address.version == self.first.version
            and int(self.first) <= int(address) <= int(self.last)
        )

    def __iter__(self) -> Iterator[Address]:
        return (ipaddress.ip_address(number) for number in _numbers(self))


def _numbers(addresses: AddressRange) -> Iterator[int]:
    # Not a `range`: one of IPv6 may be longer than its length can be.
    number = int(addresses.first)
    while number <= int(addresses.last):
        yield number
        number += 1


@dataclass(frozen=True, slots=True)
class LoadBalancerOptions:
    """Settings of the load balancer of nodes."""

    pool: tuple[AddressRange, ...] = ()
    """Addresses of Services. Empty: the nodes' own addresses."""
