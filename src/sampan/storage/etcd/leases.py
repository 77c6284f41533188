"""`Leases`: rows that expire share leases of etcd.

A lease is reused for rows of the same time to live. Its reuse ends after `OBJECTS_MAX` rows, after a minute, or after a
twentieth of that time to live. The lease lasts longer than the time to live by that period of reuse, so no row expires
early.

Source: apiserver storage/etcd3/lease_manager.go (1.36).
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.client import EtcdClient

OBJECTS_MAX = 1_000
REUSE_MAX_S = 60.0
_REUSE_PART = 0.05


@dataclass(slots=True)
class Lease:
    """Granted lease. New rows may use it until `reusable_until`."""

    id: int
    reusable_until: float
    rows: int = 0


class Leases:
    """Pool of leases. `clock` returns monotonic seconds."""

    def __init__(self, client: EtcdClient, clock: Callable[[], float]) -> None:
        self._client = client
        self._clock = clock
        self._by_ttl: dict[int, Lease] = {}
        self._granting = asyncio.Lock()

    async def take(self, ttl_s: int) -> int:
        """Return the id of a lease for one row. Raises `StoreUnavailable`."""
        async with self._granting:
            lease = self._by_ttl.get(ttl_s)
            if lease is None or lease.rows >= OBJECTS_MAX or self._clock() >= lease.reusable_until:
                lease = self._by_ttl[ttl_s] = await self._grant(ttl_s)
            lease.rows += 1
            return lease.id

    def forget(self, lease_id: int) -> None:
        """Drop a lease that no longer exists."""
        self._by_ttl = {ttl: lease for ttl, lease in self._by_ttl.items() if lease.id != lease_id}

    async def _grant(self, ttl_s: int) -> Lease:
        reuse_s = int(min(ttl_s * _REUSE_PART, REUSE_MAX_S))
        began = self._clock()
        request = messages.LeaseGrantRequest(TTL=ttl_s + reuse_s)
        response = await self._client.call(messages.LEASE_GRANT, request)
        expired = [ttl for ttl, lease in self._by_ttl.items() if began >= lease.reusable_until]
        for ttl in expired:
            del self._by_ttl[ttl]
        return Lease(response.ID, began + reuse_s)
