"""`CidrSet`: allocation of equal parts of an address range.

Source: kubernetes pkg/controller/nodeipam/ipam/cidrset/cidr_set.go (1.36).
"""

import ipaddress
from collections import Counter

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class CidrSet:
    """Allocates parts of one size in round-robin order, so that a released part is not reused immediately."""

    def __init__(self, cluster_cidr: str, mask_size: int) -> None:
        """Create the set. Raises `ValueError` if the parts are larger than the range."""
        self._network = ipaddress.ip_network(cluster_cidr)
        if mask_size < self._network.prefixlen or mask_size > self._network.max_prefixlen:
            raise ValueError(f"{cluster_cidr} has no parts of the size /{mask_size}")
        self._mask_size = mask_size
        self._part_size = 1 << (self._network.max_prefixlen - mask_size)
        self._count = 1 << (mask_size - self._network.prefixlen)
        self._used: Counter[int] = Counter()
        self._next = 0

    def allocate(self) -> str | None:
        """Allocate a free part; None if all are in use."""
        if len(self._used) >= self._count:
            return None
        index = self._next
        while index in self._used:
            index = (index + 1) % self._count
        self._used[index] = 1
        self._next = (index + 1) % self._count
        return f"{self._network.network_address + index * self._part_size}/{self._mask_size}"

    def occupy(self, cidr: str) -> None:
        """Mark the parts that a Node's range overlaps as used, so that they are not allocated.

        Addresses outside the set are ignored. Raises `ValueError` if `cidr` is not a range.
        """
        for index in self._indexes(cidr):
            self._used[index] += 1

    def release(self, cidr: str) -> None:
        """Undo one allocation or `occupy` of a range."""
        for index in self._indexes(cidr):
            self._used[index] -= 1
            if self._used[index] <= 0:
                del self._used[index]

    def _indexes(self, cidr: str) -> range:
        """Return the indexes of the parts that a range overlaps."""
        network: Network = ipaddress.ip_network(cidr, strict=False)
        if network.version != self._network.version:
            return range(0)
        begin = int(self._network.network_address)
        first = (int(network.network_address) - begin) // self._part_size
        last = (int(network.broadcast_address) - begin) // self._part_size
        return range(max(0, first), min(self._count - 1, last) + 1)
