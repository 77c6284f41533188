"""`CacheReader`: reads objects from the watch caches, for strategies and admission."""

from collections.abc import Mapping, Sequence

from sampan.core.object import Object
from sampan.registry.follower import Apply, Follower
from sampan.registry.registry import ResourceRegistry
from sampan.storage.cache import WatchCache
from sampan.storage.encoding import decode
from sampan.storage.records import Record


class CacheReader:
    """Implements `ObjectReader`. Objects are decoded private copies in their stored version."""

    def __init__(self, registry: ResourceRegistry, caches: Mapping[str, WatchCache]) -> None:
        self._registry = registry
        self._caches = caches

    def get(self, group: str, resource: str, namespace: str, name: str) -> Object | None:
        """Return one object, or None."""
        record = self.record(group, resource, namespace, name)
        return None if record is None else decode(record.value)

    async def find(self, group: str, resource: str, namespace: str, name: str) -> Object | None:
        """Return the newest state of an object, even if another server has just written it (linearizable); or None."""
        await self.fresh(group, resource)
        return self.get(group, resource, namespace, name)

    def record(self, group: str, resource: str, namespace: str, name: str) -> Record | None:
        """Return the cached record of one object, or None."""
        cache, prefix = self._cache(group, resource)
        if cache is None:
            return None
        cache.poll_events()
        return cache.get(f"{prefix}{namespace}/{name}" if namespace else f"{prefix}{name}")

    async def fresh(self, group: str, resource: str) -> None:
        """Wait until the cache contains all writes to a resource so far, including writes by other servers."""
        cache, _ = self._cache(group, resource)
        if cache is not None:
            await cache.fresh()

    def cache(self, group: str, resource: str) -> WatchCache:
        """Return the cache of a built-in resource."""
        cache, _ = self._cache(group, resource)
        assert cache is not None, f"nothing is stored of {resource}.{group}"
        return cache

    def follow(self, group: str, resource: str, apply: Apply) -> Follower:
        """Return a follower that applies the changes of a built-in resource's objects when it is polled."""
        return Follower(self.cache(group, resource), apply)

    def list(self, group: str, resource: str, namespace: str = "") -> list[Object]:
        """Return all objects of a resource, or those in one namespace."""
        return [decode(record.value) for record in self.records(group, resource, namespace)]

    def records(self, group: str, resource: str, namespace: str = "") -> Sequence[Record]:
        """Return the records of `list`, which must not be changed.

        Calls return the same list object until something in the scope is written.
        """
        cache, prefix = self._cache(group, resource)
        if cache is None:
            return ()
        cache.poll_events()
        if not len(cache):
            return ()
        return cache.list(f"{prefix}{namespace}/" if namespace else prefix).records

    def _cache(self, group: str, resource: str) -> tuple[WatchCache | None, str]:
        definition = self._registry.get(group, resource)
        if definition is None:
            return None, ""
        return self._caches.get(definition.storage_prefix), definition.storage_prefix
