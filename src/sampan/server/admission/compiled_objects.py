"""`CompiledObjects`: values that are compiled from all objects of a resource. `Refreshed`: a value made from them.

A policy of 100 KB compiles for a second. So policies and webhooks are compiled in threads, and the requests to which
they apply wait.

Concurrency: one request at a time compiles, in its task and a thread of the server; others wait for it. If its client
disconnects, the next request begins again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Final, Generic, TypeVar

from sampan.core.event_loop.offload import Offload
from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.server.admission.change_detector import ChangeDetector
from sampan.storage.encoding import decode
from sampan.storage.records import Record

T = TypeVar("T")

INLINE_BYTES_MAX: Final = 1024
"""Size of changed objects up to which the event loop compiles them: at most 20 ms."""


class CompiledObjects(Generic[T]):
    """Compiled form of all objects of a built-in resource. An object is compiled again only if it changes."""

    def __init__(self, cluster: Cluster, group: str, resource: str, make: Callable[[Object], T]) -> None:
        """`make` compiles an object. It runs in a thread, so it must read nothing else that may change."""
        self._reader = cluster.reader
        self._offload: Offload = cluster.offload
        self._group, self._resource = group, resource
        self._make = make
        self._known: dict[str, tuple[int, T]] = {}

    def has_any(self) -> bool:
        """Return True if there are objects."""
        return bool(self._reader.records(self._group, self._resource))

    async def by_name(self, names: Collection[str] | None = None) -> Mapping[str, T]:
        """Return the compiled objects with these names, or all, in the order of their names."""
        found = self._reader.records(self._group, self._resource)
        records = sorted(
            (record for record in found if names is None or record.name in names), key=lambda record: record.name
        )
        changed = [record for record in records if not self._is_current(record)]
        size_bytes = sum(len(record.value) for record in changed)
        if size_bytes <= INLINE_BYTES_MAX:
            made = self._compiled(changed)
        else:
            made = await self._offload.run(size_bytes, self._compiled, changed)
        fresh = {record.key: (record.revision, value) for record, value in zip(changed, made, strict=True)}
        self._known = {record.key: fresh.get(record.key) or self._known[record.key] for record in records}
        return {record.name: self._known[record.key][1] for record in records}

    def _is_current(self, record: Record) -> bool:
        known = self._known.get(record.key)
        return known is not None and known[0] == record.revision

    def _compiled(self, records: Sequence[Record]) -> list[T]:
        return [self._make(decode(record.value)) for record in records]


class Refreshed(Generic[T]):
    """Value that is made again after a write to one of the resources that it depends on."""

    def __init__(
        self, cluster: Cluster, resources: Sequence[tuple[str, str]], make: Callable[[], Awaitable[T]]
    ) -> None:
        """`resources` are pairs of group and built-in resource."""
        self._changes = ChangeDetector(cluster, *resources)
        self._make = make
        self._lock = asyncio.Lock()
        self._value: T | None = None
        self._is_stale = True

    async def get(self) -> T:
        """Return the value, which includes all writes up to this call."""
        if self._changes.has_changed():
            self._is_stale = True
        if self._is_stale or self._lock.locked():
            async with self._lock:
                await self._refresh()
        assert self._value is not None
        return self._value

    async def _refresh(self) -> None:
        if not self._is_stale:
            return
        self._is_stale = False  # a write while the value is made sets it again
        try:
            self._value = await self._make()
        except BaseException:
            self._is_stale = True
            raise
