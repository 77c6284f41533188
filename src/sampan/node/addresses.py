"""`PodAddresses`: the addresses that a node gives to its Pods, from its own range."""

import asyncio
import ipaddress
from typing import Final

from sampan.operator.request import RetryLater

RANGE: Final = ipaddress.IPv4Network("10.128.0.0/9")
"""Where the ranges of simulated nodes are, a /24 each: beside the Services' 10.96.0.0/12."""

ASSIGNED_WITHIN_S: Final = 2.0
"""How long a Pod waits for its node's range before it is tried again later."""


def pod_cidr(number: int) -> str:
    """The range of the node with this number, from 0. Raises `ValueError` when there are no more."""
    network = ipaddress.IPv4Network((int(RANGE.network_address) + number * 256, 24))
    if not network.subnet_of(RANGE):
        raise ValueError(f"there are no addresses for node {number}: {RANGE} has room for {RANGE.num_addresses // 256}")
    return str(network)


class AddressesExhausted(RetryLater):
    """All addresses of the node are in use, or it has none yet."""


class PodAddresses:
    """Hands out one range, round and round, so that an address is not used again at once."""

    def __init__(self, cidr: str = "") -> None:
        """Empty: the range is assigned later. Raises `ValueError`."""
        self.cidr = ""
        """The range; empty as long as there is none."""
        self._assigned = asyncio.Event()
        self._next = 0
        self._by_uid: dict[str, str] = {}
        self._used: set[str] = set()
        if cidr:
            self.assign(cidr)

    def assign(self, cidr: str) -> None:
        """The range from now on; who has an address keeps it. Raises `ValueError`."""
        network = ipaddress.ip_network(cidr)
        self._first = network.network_address + 2
        """Behind the network's own address and that of the bridge."""
        self._count = network.num_addresses - 3
        self._next = 0
        self.cidr = cidr
        self._assigned.set()

    async def assigned(self) -> None:
        """Wait until there is a range. Raises `AddressesExhausted` when that takes long."""
        if self.cidr:
            return
        try:
            async with asyncio.timeout(ASSIGNED_WITHIN_S):
                await self._assigned.wait()
        except TimeoutError:
            raise AddressesExhausted("the node has no range of addresses yet") from None

    def reserve(self, uid: str, address: str) -> None:
        """A Pod has this address already."""
        self._by_uid[uid] = address
        self._used.add(address)

    def take(self, uid: str) -> str:
        """The address of a Pod, a new one the first time. Raises `AddressesExhausted`."""
        known = self._by_uid.get(uid)
        if known is not None:
            return known
        for _ in range(self._count):
            address = str(self._first + self._next)
            self._next = (self._next + 1) % self._count
            if address not in self._used:
                self.reserve(uid, address)
                return address
        raise AddressesExhausted(f"all {self._count} addresses of the node are in use")

    def give_back(self, uid: str) -> None:
        """A Pod is gone."""
        address = self._by_uid.pop(uid, None)
        if address is not None:
            self._used.discard(address)
