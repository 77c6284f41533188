"""How much is stored of each resource: the number from the watch cache, the size of an object from a sample."""

from collections.abc import Callable, Sequence
from typing import Final

from sampan.registry.cluster import Cluster
from sampan.server.flow_control.estimator import ObjectStats
from sampan.storage.cache import WatchCache
from sampan.storage.records import Record
from sampan.storage.store import Untransformable

SAMPLE: Final = 50
SAMPLE_INTERVAL_S: Final = 30.0
_RESOURCES_MAX: Final = 4096


class CachedObjectStats:
    """Samples are taken seldom; numbers are always today's."""

    def __init__(self, cluster: Cluster, clock: Callable[[], float]) -> None:
        self._cluster = cluster
        self._clock = clock
        self._samples: dict[tuple[str, str], tuple[float, WatchCache, int]] = {}
        """Until when it holds, the cache that it is of, and the mean size in bytes."""
        cluster.registry.subscribe(self._samples.clear)  # else caches would stay that nobody uses any more

    def of(self, group: str, resource: str) -> ObjectStats | None:
        """None: nothing is stored of it."""
        found = self._samples.get((group, resource))
        if found is None or self._clock() >= found[0]:
            found = self._sample(group, resource)
            if found is None:
                return None
        return ObjectStats(len(found[1]), found[2])

    def _sample(self, group: str, resource: str) -> tuple[float, WatchCache, int] | None:
        definition = self._cluster.registry.get(group, resource)
        cache = None if definition is None else self._cluster.caches.get(definition.storage_prefix)
        if cache is None:
            self._samples.pop((group, resource), None)
            return None
        records = _some_of(cache)
        average = sum(len(record.value) for record in records) // max(len(records), 1)
        if len(self._samples) >= _RESOURCES_MAX:
            self._samples.clear()
        found = self._clock() + (SAMPLE_INTERVAL_S if records else 0.0), cache, average
        self._samples[group, resource] = found
        return found


def _some_of(cache: WatchCache) -> Sequence[Record]:
    try:
        return cache.list(cache.prefix, limit=SAMPLE).records
    except Untransformable:
        return ()  # Whoever may list it is told; who only asks is not.
