"""`Watched`: whether anything was written to a built-in resource since it was last looked at."""

from sampan.registry.cluster import Cluster


class Watched:
    """Costs a fraction of a microsecond to ask, so that configurations nobody has cost nearly nothing."""

    __slots__ = ("_cache", "_seen")

    def __init__(self, cluster: Cluster, group: str, resource: str) -> None:
        definition = cluster.registry.get(group, resource)
        assert definition is not None, f"nothing is stored of {resource}.{group}"
        self._cache = cluster.caches[definition.storage_prefix]
        self._seen = -1

    def has_changed(self) -> bool:
        """Whether it is different from when this was last asked; True the first time."""
        cache = self._cache
        cache.poll_events()
        changed = cache.changed
        if changed == self._seen:
            return False
        self._seen = changed
        return True
