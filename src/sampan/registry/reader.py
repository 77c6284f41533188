"""`CacheReader`: other objects, for strategies and admission, straight from the watch caches."""

from collections.abc import Mapping

from sampan.core.object import Object
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

    def record(self, group: str, resource: str, namespace: str, name: str) -> Record | None:
        """One object as it lies in the cache, not decoded."""
        cache, prefix = self._cache(group, resource)
        if cache is None:
            return None
        cache.poll()
        return cache.get(f"{prefix}{namespace}/{name}" if namespace else f"{prefix}{name}")

    def list(self, group: str, resource: str, namespace: str = "") -> list[Object]:
        """All objects of a resource, or of one of its namespaces."""
        cache, prefix = self._cache(group, resource)
        if cache is None:
            return []
        cache.poll()
        page = cache.list(f"{prefix}{namespace}/" if namespace else prefix)
        return [decode(record.value) for record in page.records]

    def _cache(self, group: str, resource: str) -> tuple[WatchCache | None, str]:
        definition = self._registry.get(group, resource)
        if definition is None:
            return None, ""
        return self._caches.get(definition.storage_prefix), definition.storage_prefix
