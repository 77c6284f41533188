"""`ChangeDetector`: detects writes to built-in resources."""

from sampan.registry.cluster import Cluster
from sampan.storage.cache import WatchCache


class ChangeDetector:
    """Detects writes since the last check. The caches report changes, so a check without changes costs one comparison
    however many resources there are.
    """

    __slots__ = ("_caches", "_may_have_changed", "_seen")

    def __init__(self, cluster: Cluster, *resources: tuple[str, str]) -> None:
        """`resources` are pairs of group and resource."""
        self._caches = [_cache(cluster, group, resource) for group, resource in resources]
        self._seen = -1
        self._may_have_changed = True
        for cache in self._caches:
            cache.listeners.append(self._note)
            cache.pending_listeners.append(self._note)

    def has_changed(self) -> bool:
        """Return True at the first call, and if a resource has changed since the last call."""
        if not self._may_have_changed:
            return False
        sum_ = 0  # a maximum would miss a change that a cache receives later than other caches
        for cache in self._caches:
            sum_ += cache.poll_events()
        self._may_have_changed = False  # after the loop, because applying events reports them again
        if sum_ == self._seen:
            return False
        self._seen = sum_
        return True

    def _note(self) -> None:
        self._may_have_changed = True


def _cache(cluster: Cluster, group: str, resource: str) -> WatchCache:
    definition = cluster.registry.get(group, resource)
    assert definition is not None, f"nothing is stored of {resource}.{group}"
    return cluster.caches[definition.storage_prefix]
