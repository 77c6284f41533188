"""`ChangeDetector`: whether anything was written to built-in resources since they were last looked at."""

from sampan.registry.cluster import Cluster
from sampan.storage.cache import WatchCache


class ChangeDetector:
    """Costs a fraction of a microsecond to ask, so that configurations nobody has cost nearly nothing."""

    __slots__ = ("_caches", "_seen")

    def __init__(self, cluster: Cluster, *resources: tuple[str, str]) -> None:
        """`resources`: each with its group."""
        self._caches = [_cache(cluster, group, resource) for group, resource in resources]
        self._seen = -1

    def has_changed(self) -> bool:
        """Whether one of them is different from when this was last asked; True the first time."""
        sum_ = 0  # which grows with each of them; the newest would hide what an other cache is told of later
        for cache in self._caches:
            sum_ += cache.poll_events()
        if sum_ == self._seen:
            return False
        self._seen = sum_
        return True


def _cache(cluster: Cluster, group: str, resource: str) -> WatchCache:
    definition = cluster.registry.get(group, resource)
    assert definition is not None, f"nothing is stored of {resource}.{group}"
    return cluster.caches[definition.storage_prefix]
