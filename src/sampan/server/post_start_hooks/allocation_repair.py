"""`AllocationRepair`: compare the addresses and ports of Services with the stored claims, and correct the claims.

Concurrency: `run` is one task. Its passes may run on several servers at once, because every write is a compare and
swap. A pass yields to the event loop every few hundred Services.
Source: pkg/registry/core/service/{ipallocator,portallocator}/controller (1.36).
"""

import asyncio
import datetime
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple

from sampan.core.errors import StatusError
from sampan.core.object import Object
from sampan.core.time import Clock, parse_time
from sampan.registry.allocation.addresses import ALLOCATOR, MANAGED_BY_LABEL, canonical, parent_of
from sampan.registry.allocation.allocators import Holder, TakenElsewhere, held_ips, held_ports
from sampan.registry.allocation.claims import StoredClaims
from sampan.registry.rest.store import ResourceStore
from sampan.storage.encoding import decode
from sampan.storage.store import STORE_ERRORS, StoreError

INTERVAL_S = 60.0
GRACE = datetime.timedelta(seconds=60)
"""Maximum time between the claim of an address and the write of its Service. Younger claims are not released."""
LEAKS_MIN = 3
"""Number of consecutive passes without a Service for a port, after which the port is released."""
_CHUNK = 200
_log = logging.getLogger(__name__)


class _Held(NamedTuple):
    holders: dict[str, Holder]
    ports: set[int]


class AllocationRepair:
    """Claims the addresses and ports that Services use without a claim. After a grace period, releases claims that no
    Service uses.

    `failed` is called after each pass that fails.
    """

    def __init__(
        self, claims: StoredClaims, services: ResourceStore, clock: Clock, failed: Callable[[], None] = lambda: None
    ) -> None:
        self._failed = failed
        self._claims = claims
        self._services = services
        self._clock = clock
        self._leaks: Counter[int] = Counter()
        self._young = False
        """True if the last pass found an address without a Service whose grace period has not passed yet."""

    async def run(self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        """Repair at an interval, until cancelled."""
        checked = 0
        while True:
            await sleep(INTERVAL_S)
            try:
                revision = await self._services.store.revision()
                if revision == checked and not self._leaks and not self._young:
                    continue  # nothing has been written since the last pass
                await self.once()
                checked = revision
            except (StatusError, *STORE_ERRORS) as error:
                self._failed()
                _log.warning("cannot repair the IP addresses and node ports of Services: %s", error)

    async def once(self) -> None:
        """Run one pass."""
        self._young = False
        addresses = self._claims.addresses.store
        await addresses.cache.fresh()
        claimed = [decode(record.value) for record in addresses.cache.readable()]
        # Ports before Services: a port that is claimed in between is seen first without its Service, then with it.
        ports = await self._claims.ports.taken()
        held = await self._held()
        await self._claim_addresses(held, {address["metadata"]["name"]: address for address in claimed})
        for address in claimed:
            await self._drop_orphan(address, held)
        await self._repair_ports(ports, held.ports)

    async def _held(self) -> _Held:
        await self._services.cache.fresh()
        holders: dict[str, Holder] = {}
        ports: set[int] = set()
        records = self._services.cache.list(self._services.prefix).records
        for at, record in enumerate(records):
            service = decode(record.value)
            for ip in held_ips(service):
                holders.setdefault(canonical(ip), Holder(record.namespace, record.name))
            ports.update(held_ports(service))
            if at % _CHUNK == _CHUNK - 1:
                await asyncio.sleep(0)
        return _Held(holders, ports)

    async def _claim_addresses(self, held: _Held, claimed: dict[str, Object]) -> None:
        unreadable = self._claims.addresses.unreadable()
        for ip, holder in held.holders.items():
            if ip in unreadable:
                continue
            address = claimed.get(ip)
            if address is not None:
                parent = parent_of(address)
                if parent == holder or (parent is not None and self._holds(parent, ip)):
                    continue
                _log.warning("repairing the owner of IPAddress %s, which Service %s/%s uses", ip, *holder)
                await self._remove(address)
            try:
                await self._claims.addresses.make(ip, holder)
            except TakenElsewhere:
                continue  # another server repairs the claims, too

    def _holds(self, holder: Holder, ip: str) -> bool:
        """Return True if the Service still has the address. Then two Services have the same address, and a user must
        delete one.
        """
        record = self._services.cache.get(self._services.key(*holder))
        held = record is not None and ip in map(canonical, held_ips(decode(record.value)))
        if held:
            _log.error("several Services use the cluster IP %s, one is %s/%s: delete all but one", ip, *holder)
        return held

    async def _drop_orphan(self, address: Object, held: _Held) -> None:
        metadata = address["metadata"]
        if (metadata.get("labels") or {}).get(MANAGED_BY_LABEL) != ALLOCATOR or metadata["name"] in held.holders:
            return
        if self._clock.now() - parse_time(metadata["creationTimestamp"]) > GRACE:
            _log.warning("no Service uses the IPAddress %s; releasing it", metadata["name"])
            await self._remove(address)
        else:
            self._young = True

    async def _remove(self, address: Object) -> None:
        metadata = address["metadata"]
        store = self._claims.addresses.store
        try:
            await store.store.delete(store.key("", metadata["name"]), int(metadata["resourceVersion"]))
        except StoreError:
            return  # the address was changed in the meantime; the next pass checks it again

    async def _repair_ports(self, claimed: set[int], held: set[int]) -> None:
        ports = self._claims.ports
        await self._claim_ports(held - claimed)
        leaked = claimed - held
        self._leaks = Counter({port: self._leaks[port] + 1 for port in leaked})
        gone = [port for port, times in self._leaks.items() if times >= LEAKS_MIN]
        if gone:
            _log.warning("no Service uses the node ports %s; releasing them", gone)
            await ports.free(gone)

    async def _claim_ports(self, missing: Iterable[int]) -> None:
        taken = await self._claims.ports.taken()
        try:
            await self._claims.ports.take(set(missing) - taken)
        except TakenElsewhere:
            return  # another server repairs the claims, too
