"""`CacheReader`: other objects, for strategies and admission, straight from the watch caches."""

from collections.abc import Mapping, Sequence

from sampan.core.object import Object
from sampan.registry.follower import Apply, Follower
from sampan.registry.registry import ResourceRegistry
from sampan.storage.cache import WatchCache
from sampan.storage.encoding import decode
from sampan.storage.records import Record


class CacheReader:
    """Implements `ObjectReader`. Objects come decoded, in their stored version; they are private copies."""

    def __init__(self, registry: ResourceRegistry, caches: Mapping[str, WatchCache]) -> None:
        self._registry = registry
        self._caches = caches

    def get(self, group: str, resource: str, namespace: str, name: str) -> Object | None:
        """One object, or None."""
        record = self.record(group, resource, namespace, name)
        return None if record is None else decode(record.value)

    async def find(self, group: str, resource: str, namespace: str, name: str) -> Object | None:
        """The same as of now, also if another server has just written it."""
        await self.fresh(group, resource)
        return self.get(group, resource, namespace, name)

    def record(self, group: str, resource: str, namespace: str, name: str) -> Record | None:
        """One object as it lies in the cache, not decoded."""
        cache, prefix = self._cache(group, resource)
        if cache is None:
            return None
        cache.poll_events()
        return cache.get(f"{prefix}{namespace}/{name}" if namespace else f"{prefix}{name}")

    async def fresh(self, group: str, resource: str) -> None:
        """Have all that was written to a resource so far, also by other servers, in what is read from now on."""
        cache, _ = self._cache(group, resource)
        if cache is not None:
            await cache.fresh()

    def follow(self, group: str, resource: str, apply: Apply) -> Follower:
        """Be told of each change of a built-in resource's objects, whenever the follower is polled."""
        cache, _ = self._cache(group, resource)
        assert cache is not None, f"nothing is stored of {resource}.{group}"
        return Follower(cache, apply)

    def list(self, group: str, resource: str, namespace: str = "") -> list[Object]:
        """All objects of a resource, or of one of its namespaces."""
        return [decode(record.value) for record in self.records(group, resource, namespace)]

    def records(self, group: str, resource: str, namespace: str = "") -> Sequence[Record]:
        """The same, not decoded; not to be changed. While nothing is written in the scope it is the same list."""
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
