"""`PortClaims`: allocated node ports in the store, in one RangeAllocation that is written with compare-and-swap.

Concurrency: changes that wait during a write share the next write (group commit). The first waiting task that gets the
lock writes the changes of all. A change that is refused or cancelled does not affect other changes.
Source: pkg/registry/core/service/allocator/storage/storage.go (1.36).
"""

import asyncio
import base64
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from sampan.core.object import Object
from sampan.registry.allocation.allocators import Allocators, TakenElsewhere
from sampan.storage.encoding import decode, encode
from sampan.storage.store import Conflict, KeyExists, KeyValue, Store

KEY = "/registry/ranges/servicenodeports"


async def stored_range(store: Store) -> tuple[int, int] | None:
    """Return the first and last node port of the server that allocated ports first, for example a kube-apiserver."""
    row = await store.get(KEY)
    if row is None:
        return None
    first, _, last = str(decode(row.value).get("range", "")).partition("-")
    return (int(first), int(last)) if first.isdecimal() and last.isdecimal() else None


@dataclass(slots=True, eq=False)
class _Change:
    take: frozenset[int]
    free: frozenset[int]
    done: bool = False
    refused: set[int] = field(default_factory=set)


class PortClaims:
    """Allocated node ports in the store. The allocators have the range, which may change until the cluster serves."""

    def __init__(self, store: Store, allocators: Allocators) -> None:
        self._store = store
        self._allocators = allocators
        self._waiting: list[_Change] = []
        self._lock = asyncio.Lock()

    async def taken(self) -> set[int]:
        """Return all allocated ports (linearizable)."""
        return self._ports(await self._store.get(KEY))

    async def take(self, ports: Iterable[int]) -> None:
        """Claim all of these ports or none. Raises `TakenElsewhere`."""
        await self._change(_Change(frozenset(ports), frozenset()))

    async def free(self, ports: Iterable[int]) -> None:
        """Release ports."""
        await self._change(_Change(frozenset(), frozenset(ports)))

    async def _change(self, change: _Change) -> None:
        if not change.take and not change.free:
            return
        self._waiting.append(change)
        try:
            async with self._lock:
                if not change.done:
                    await self._write()
        finally:
            with suppress(ValueError):
                self._waiting.remove(change)
        if change.refused:
            raise TakenElsewhere(", ".join(map(str, sorted(change.refused))))

    async def _write(self) -> None:
        """Write all pending changes. If the write fails, each of the other waiting tasks tries again when it gets the
        lock.
        """
        changes = list(self._waiting)
        while True:
            row = await self._store.get(KEY)
            before = self._ports(row)
            after = _changed(before, changes)
            try:
                if after != before:
                    await self._put(row, after, frees=after < before)
                break
            except (Conflict, KeyExists):
                continue
        for change in changes:
            change.done = True
        self._waiting = [change for change in self._waiting if not change.done]

    async def _put(self, row: KeyValue | None, ports: set[int], *, frees: bool) -> None:
        value = encode(self._record(ports))
        if row is None:
            await self._store.create(KEY, value)
        else:
            await self._store.update(KEY, value, row.mod_revision, frees=frees)

    def _record(self, ports: set[int]) -> Object:
        first, last = self._allocators.ports.first, self._allocators.ports.last
        bits = sum(1 << (port - first) for port in ports if first <= port <= last)
        data = bits.to_bytes((bits.bit_length() + 7) // 8, "big")
        return {
            "kind": "RangeAllocation",
            "apiVersion": "v1",
            "metadata": {},
            "range": f"{first}-{last}",
            "data": base64.b64encode(data).decode(),
        }

    @staticmethod
    def _ports(row: KeyValue | None) -> set[int]:
        if row is None:
            return set()
        record = decode(row.value)
        first = int(record["range"].partition("-")[0])
        bits = int.from_bytes(base64.b64decode(record.get("data") or ""), "big")
        return {first + at for at, bit in enumerate(reversed(f"{bits:b}")) if bit == "1"}


def _changed(before: set[int], changes: Sequence[_Change]) -> set[int]:
    """Return the allocated ports after the changes, in their order. Refuse changes that claim an allocated port."""
    after = set(before)
    for change in changes:
        change.refused = after & change.take
        if not change.refused:
            after |= change.take
            after -= change.free
    return after
