"""Allocators of cluster IPs, for one network and for all networks of a family.

Source: pkg/registry/core/service/ipallocator (1.36).
"""

import ipaddress
import random
from collections.abc import Iterable, Sequence

from sampan.core.telemetry.durations import Durations
from sampan.registry.rules.ip_addresses import IP, parse_ip


class AllocationError(ValueError):
    """An address or port cannot be allocated; `str()` is Kubernetes' text."""


class RangeFull(AllocationError):
    """Nothing is free. `str()` is `range is full`."""

    def __init__(self) -> None:
        super().__init__("range is full")


class Bitmap:
    """Set of allocated numbers below `size`. Selects free numbers at random, first from the upper part.

    It selects one of the first `offset` numbers only if all others are allocated. So a number that a user chooses from
    them rarely collides with an automatic choice.
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
        """Allocate this number; return False if it is already allocated."""
        if number in self._taken:
            return False
        self._taken.add(number)
        return True

    def take_any(self) -> int | None:
        """Allocate any free number; return None if there is none."""
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
        """Release a number; do nothing if it is free."""
        self._taken.discard(number)

    def replace(self, taken: set[int]) -> None:
        """Replace the set of allocated numbers."""
        self._taken = taken


class AllocationCounters:
    """Counters of allocations and failures: of addresses or ports that the client chose (static) and that the allocator
    chose (dynamic). `durations`: seconds to claim one in the store.
    """

    __slots__ = ("durations", "errors", "totals")

    def __init__(self) -> None:
        self.totals = {"static": 0, "dynamic": 0}
        self.errors = {"static": 0, "dynamic": 0}
        self.durations = Durations()

    def count(self, scope: str, *, done: bool) -> None:
        """Count one allocation or, if `done` is False, one failure."""
        (self.totals if done else self.errors)[scope] += 1


class IPAllocator:
    """Allocator for one network: all addresses except the first (and, for IPv4, the last)."""

    def __init__(self, cidr: str, rand: random.Random) -> None:
        self.network = ipaddress.ip_network(cidr)
        self.family = "IPv4" if self.network.version == 4 else "IPv6"
        self._base = int(self.network.network_address) + 1
        # Of an IPv6 network only the first 65536 addresses are given out, as the old allocator did.
        total = min(self.network.num_addresses, 1 << 16 if self.network.version == 6 else 1 << 32)
        self._size = max(0, total - (2 if self.network.version == 4 else 1))
        offset = 0 if total <= 16 else min(max(16, total // 16), 256)
        self._bitmap = Bitmap(self._size, offset, rand)
        self.counters = AllocationCounters()
        self.is_closed = False
        """No addresses are allocated, because it is unknown whether the cluster has this network."""

    @property
    def free(self) -> int:
        """Number of free addresses."""
        return self._size - len(self._bitmap)

    def allocate(self, text: str) -> None:
        """Allocate this address. Raises `AllocationError`."""
        number = self._number(text)
        if number is None or self.is_closed:
            raise AllocationError("the provided network does not match the current range")
        if not self._bitmap.take(number):
            raise AllocationError("provided IP is already allocated")

    def allocate_next(self) -> str:
        """Allocate any free address. Raises `RangeFull`."""
        number = None if self.is_closed else self._bitmap.take_any()
        if number is None:
            raise RangeFull
        return str(self.network.network_address + number + 1)

    def release(self, text: str) -> None:
        """Release an address."""
        number = self._number(text)
        if number is not None:
            self._bitmap.release(number)

    def learn(self, text: str, *, taken: bool) -> None:
        """Mark an address as allocated or free, as in the store. Ignore addresses of other networks."""
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

    def covers(self, text: str) -> bool:
        """Report whether this network can allocate an address."""
        return self._number(text) is not None

    def _number(self, text: str) -> int | None:
        ip: IP | None = parse_ip(text)
        if ip is None or ip.version != self.network.version:
            return None
        number = int(ip) - self._base
        return number if 0 <= number < self._size else None


class FamilyAllocator:
    """Allocator for all networks of one family, which may overlap. Allocates from the first network with a free
    address.
    """

    def __init__(self, first: IPAllocator) -> None:
        self.family = first.family
        self.networks: Sequence[IPAllocator] = (first,)

    @property
    def network(self) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        """Network that the cluster was created with."""
        return self.networks[0].network

    @property
    def counters(self) -> AllocationCounters:
        """Counters of all networks together."""
        return self.networks[0].counters

    def extend(self, cidrs: Iterable[str], rand: random.Random) -> bool:
        """Replace all networks except the first.

        Return True if a network is new; the caller then marks its allocated addresses.
        """
        if self.networks[0].is_closed:
            return False
        known = {str(each.network): each for each in self.networks}
        first, *_ = known
        desired = [cidr for cidr in dict.fromkeys(cidrs) if cidr != first]
        more = [known.get(cidr) or IPAllocator(cidr, rand) for cidr in desired]
        self.networks = (self.networks[0], *more)
        return any(cidr not in known for cidr in desired)

    def close(self) -> None:
        """Stop allocating addresses."""
        for network in self.networks:
            network.is_closed = True

    def allocate(self, text: str) -> None:
        """Allocate this address. Raises `AllocationError`."""
        owners = self._owners(text) or self.networks
        owners[0].allocate(text)
        self.learn(text, taken=True)

    def allocate_next(self) -> str:
        """Allocate any free address. Raises `RangeFull`."""
        for network in self.networks:
            try:
                text = network.allocate_next()
            except RangeFull:
                continue
            self.learn(text, taken=True)
            return text
        raise RangeFull

    def release(self, text: str) -> None:
        """Release an address."""
        self.learn(text, taken=False)

    def learn(self, text: str, *, taken: bool) -> None:
        """Mark an address as allocated or free, as in the store. Ignore addresses outside all networks."""
        for network in self._owners(text):
            network.learn(text, taken=taken)

    def __contains__(self, text: str) -> bool:
        return any(text in network for network in self.networks)

    def __len__(self) -> int:
        return sum(map(len, self.networks))

    def _owners(self, text: str) -> list[IPAllocator]:
        return [network for network in self.networks if network.covers(text)]
