"""Cluster IPs of one network, and of all networks of a family: which are taken, as far as this server knows.

Source: pkg/registry/core/service/ipallocator (1.36).
"""

import ipaddress
import random
from collections.abc import Iterable, Sequence

from sampan.core.durations import Durations
from sampan.registry.kinds.rules.ip_addresses import IP, parse_ip


class AllocationError(ValueError):
    """An address or port cannot be given; `str()` is Kubernetes' text."""


class RangeFull(AllocationError):
    """Nothing is left. `str()` is `range is full`."""

    def __init__(self) -> None:
        super().__init__("range is full")


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
        if number is None or self.is_closed:
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

    def covers(self, text: str) -> bool:
        """Whether an address is one of this network's."""
        return self._number(text) is not None

    def _number(self, text: str) -> int | None:
        ip: IP | None = parse_ip(text)
        if ip is None or ip.version != self.network.version:
            return None
        number = int(ip) - self._base
        return number if 0 <= number < self._size else None


class FamilyAllocator:
    """The cluster IPs of one family. Of its `networks`, which may overlap, the first that has room gives an address."""

    def __init__(self, first: IPAllocator) -> None:
        self.family = first.family
        self.networks: Sequence[IPAllocator] = (first,)

    @property
    def network(self) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        """The one that the cluster began with."""
        return self.networks[0].network

    @property
    def given(self) -> Given:
        """What is counted, for all networks."""
        return self.networks[0].given

    def extend(self, cidrs: Iterable[str], rand: random.Random) -> bool:
        """Give addresses of these networks too, and of no others but the first. Whether one is new: then what is
        taken in it is to be learnt.
        """
        if self.networks[0].is_closed:
            return False
        known = {str(each.network): each for each in self.networks}
        first, *_ = known
        wanted = [cidr for cidr in dict.fromkeys(cidrs) if cidr != first]
        more = [known.get(cidr) or IPAllocator(cidr, rand) for cidr in wanted]
        self.networks = (self.networks[0], *more)
        return any(cidr not in known for cidr in wanted)

    def close(self) -> None:
        """Give no addresses any more."""
        for network in self.networks:
            network.is_closed = True

    def allocate(self, text: str) -> None:
        """Take one address. Raises `AllocationError`."""
        owners = self._owners(text) or self.networks
        owners[0].allocate(text)
        self.learn(text, taken=True)

    def allocate_next(self) -> str:
        """Take some free address. Raises `RangeFull`."""
        for network in self.networks:
            try:
                text = network.allocate_next()
            except RangeFull:
                continue
            self.learn(text, taken=True)
            return text
        raise RangeFull

    def release(self, text: str) -> None:
        """Give an address back."""
        self.learn(text, taken=False)

    def learn(self, text: str, *, taken: bool) -> None:
        """Hear of an address that was claimed or given back; those of no network are ignored."""
        for network in self._owners(text):
            network.learn(text, taken=taken)

    def __contains__(self, text: str) -> bool:
        return any(text in network for network in self.networks)

    def __len__(self) -> int:
        return sum(map(len, self.networks))

    def _owners(self, text: str) -> list[IPAllocator]:
        return [network for network in self.networks if network.covers(text)]
