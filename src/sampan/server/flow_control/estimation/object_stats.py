"""Size of each resource: the number of objects from the watch cache, and their mean size from a sample."""

from collections.abc import Callable, Sequence
from typing import Final

from sampan.registry.cluster import Cluster
from sampan.server.flow_control.estimation.estimator import ObjectStats
from sampan.storage.cache import WatchCache
from sampan.storage.records import Record
from sampan.storage.store import Untransformable

SAMPLE: Final = 50
SAMPLE_INTERVAL_S: Final = 30.0
_RESOURCES_MAX: Final = 4096


class CachedObjectStats:
    """Statistics of stored objects. Samples are cached; the number of objects is always current."""

    def __init__(self, cluster: Cluster, clock: Callable[[], float]) -> None:
        self._cluster = cluster
        self._clock = clock
        self._samples: dict[tuple[str, str], tuple[float, WatchCache, int]] = {}
        """Expiry of the sample, its cache, and the mean size in bytes."""
        cluster.registry.subscribe(self._samples.clear)  # Otherwise the samples would keep unused caches alive.

    def of(self, group: str, resource: str) -> ObjectStats | None:
        """Return the statistics of a resource, or None if nothing is stored."""
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
        records = _sample_records(cache)
        average = sum(len(record.value) for record in records) // max(len(records), 1)
        if len(self._samples) >= _RESOURCES_MAX:
            self._samples.clear()
        found = self._clock() + (SAMPLE_INTERVAL_S if records else 0.0), cache, average
        self._samples[group, resource] = found
        return found


def _sample_records(cache: WatchCache) -> Sequence[Record]:
    try:
        return cache.list(cache.prefix, limit=SAMPLE).records
    except Untransformable:
        return ()  # A list request reports this error; the estimate must not.
