"""`StoredClaims`: cluster IPs (IPAddress objects) and node ports (one RangeAllocation) that Services have in the store.

Source: pkg/registry/core/service/{ipallocator,portallocator} (1.36).
"""

import logging
from collections.abc import Mapping, Sequence

from sampan.core.clock import monotonic
from sampan.core.errors import StatusError
from sampan.core.object import Object
from sampan.core.time import Clock
from sampan.registry.allocation.addresses import AddressClaims, canonical
from sampan.registry.allocation.allocators import Allocators, Holder, TakenElsewhere
from sampan.registry.allocation.ports import PortClaims
from sampan.registry.follower import Follower
from sampan.registry.rest.store import ResourceStore
from sampan.storage.encoding import decode
from sampan.storage.records import Record
from sampan.storage.store import STORE_ERRORS, Store, Untransformable

_log = logging.getLogger(__name__)


class StoredClaims:
    """`Claims` in the store. Also updates this server's allocators, which are only a hint."""

    def __init__(
        self, store: Store, addresses: ResourceStore, cidrs: ResourceStore, allocators: Allocators, clock: Clock
    ) -> None:
        self.addresses = AddressClaims(addresses, clock)
        self.ports = PortClaims(store, allocators)
        self._allocators = allocators
        self._follower = Follower(addresses.cache, self._learn, only_readable=True)
        self._cidrs = cidrs
        self._present: dict[str, Object] = {}
        self._networks = Follower(cidrs.cache, self._learn_cidr, only_readable=True)
        self._doubtful: set[str] = set()
        self._unreadable: set[str] = set()

    async def refresh(self, *, ports: bool) -> None:
        """Update the IP allocators from the store and, if `ports` is set, the port allocator too."""
        await self.addresses.store.cache.fresh()
        self._follower.poll()
        await self._cidrs.cache.fresh()
        if self._networks.poll() and self._allocators.extend(_usable(self._present)):
            for record in self.addresses.store.cache.readable():
                self._learn(record.key, record)
        self._learn_unreadable()
        self._settle_doubts()
        if ports:
            self._allocators.ports.learn(await self.ports.taken())

    async def make(self, holder: Holder, ips: Sequence[str], ports: Sequence[int]) -> None:
        """Claim all of these addresses and ports, or none of them."""
        made: list[str] = []
        try:
            for ip in ips:
                await self._claim(ip, holder)
                made.append(ip)
            await self.ports.take(ports)
        except BaseException as error:
            if isinstance(error, TakenElsewhere):
                self._doubtful.update(ips)
            await self.drop(holder, made, ())
            raise

    async def _claim(self, ip: str, holder: Holder) -> None:
        began = monotonic()
        await self.addresses.make(ip, holder)
        allocator = self._allocators.allocator_of(ip)
        if allocator is not None:
            allocator.counters.durations.observe((), monotonic() - began)

    async def drop(self, holder: Holder, ips: Sequence[str], ports: Sequence[int]) -> None:
        """Release the addresses and ports that the holder still has."""
        try:
            for ip in ips:
                await self.addresses.drop(ip, holder)
            await self.ports.free(ports)
        except (StatusError, Untransformable, *STORE_ERRORS) as error:
            _log.warning("cannot release addresses and ports of %s/%s; the repair loop will: %s", *holder, error)

    def _learn_unreadable(self) -> None:
        """Treat unreadable IPAddresses as allocated until they become readable or are deleted."""
        before, self._unreadable = self._unreadable, self.addresses.unreadable()
        for ip in self._unreadable:
            self._learn_of(ip, taken=True)
        self._doubtful.update(before - self._unreadable)

    def _settle_doubts(self) -> None:
        """Read the state of doubtful addresses again.

        A failed write has marked its addresses as free in memory, although another server may have claimed one in
        between.
        """
        store = self.addresses.store
        for ip in map(canonical, self._doubtful):
            taken = ip in self._unreadable or store.cache.get(store.key("", ip)) is not None
            self._learn_of(ip, taken=taken)
        self._doubtful.clear()

    def _learn_cidr(self, key: str, record: Record | None) -> None:
        self._present.pop(key, None)
        if record is not None:
            self._present[key] = decode(record.value)

    def _learn(self, key: str, record: Record | None) -> None:
        self._learn_of(key.rpartition("/")[2], taken=record is not None)

    def _learn_of(self, ip: str, *, taken: bool) -> None:
        allocator = self._allocators.allocator_of(ip)
        if allocator is not None:
            allocator.learn(ip, taken=taken)


def _usable(service_cidrs: Mapping[str, Object]) -> list[str]:
    """Return the networks of ServiceCIDRs that are ready and not being deleted. A ServiceCIDR without a condition is
    ready.
    """
    found: list[str] = []
    for _, obj in sorted(service_cidrs.items()):
        conditions = (obj.get("status") or {}).get("conditions") or ()
        ready = next((each.get("status") for each in conditions if each.get("type") == "Ready"), "True")
        if ready == "True" and obj["metadata"].get("deletionTimestamp") is None:
            found += obj["spec"].get("cidrs") or ()
    return found
