"""`PodAddresses`: assigns addresses of a node's pod CIDR to its Pods."""

import asyncio
import ipaddress
from typing import Final

from sampan.core.pods.simulated import POD_CIDRS
from sampan.operator.request import RetryLater

ASSIGNED_WITHIN_S: Final = 2.0
"""Time that a Pod waits for its node's pod CIDR before the agent retries later."""


def pod_cidr(number: int, whole: ipaddress.IPv4Network = POD_CIDRS) -> str:
    """Return the pod CIDR, a /24 of `whole`, of the node with this number, from 0.

    Raises `ValueError` if the range is exhausted.
    """
    network = ipaddress.IPv4Network((int(whole.network_address) + number * 256, 24))
    if not network.subnet_of(whole):
        raise ValueError(f"no pod CIDR for node {number}: {whole} has only {pod_cidr_count(whole)}")
    return str(network)


def pod_cidr_count(whole: ipaddress.IPv4Network) -> int:
    """Return the number of pod CIDRs in a range."""
    return whole.num_addresses // 256


class AddressesExhausted(RetryLater):
    """All addresses of the node are in use, or the node has no pod CIDR yet."""


class PodAddresses:
    """Allocator for one pod CIDR. It moves through the CIDR in a circle, so that an address is not reused soon."""

    def __init__(self, cidr: str = "") -> None:
        """`cidr`: empty if it is assigned later. Raises `ValueError`."""
        self.cidr = ""
        """Pod CIDR; empty if the node has none yet."""
        self._assigned = asyncio.Event()
        self._next = 0
        self._by_uid: dict[str, str] = {}
        self._used: set[str] = set()
        if cidr:
            self.assign(cidr)

    def assign(self, cidr: str) -> None:
        """Set the pod CIDR. Pods keep the addresses that they have. Raises `ValueError`."""
        network = ipaddress.ip_network(cidr)
        self._first = network.network_address + 2
        """First address for Pods, after the network address and the address of the bridge."""
        self._count = network.num_addresses - 3
        self._next = 0
        self.cidr = cidr
        self._assigned.set()

    async def assigned(self) -> None:
        """Wait for the pod CIDR. Raises `AddressesExhausted` after a few seconds."""
        if self.cidr:
            return
        try:
            async with asyncio.timeout(ASSIGNED_WITHIN_S):
                await self._assigned.wait()
        except TimeoutError:
            raise AddressesExhausted("the node has no pod CIDR yet") from None

    def reserve(self, uid: str, address: str) -> None:
        """Mark the address of a Pod as used, because the Pod had it before."""
        self._by_uid[uid] = address
        self._used.add(address)

    def take(self, uid: str) -> str:
        """Return the address of a Pod, and assign one on the first call. Raises `AddressesExhausted`."""
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

    def release(self, uid: str) -> None:
        """Release the address of a Pod."""
        address = self._by_uid.pop(uid, None)
        if address is not None:
            self._used.discard(address)
