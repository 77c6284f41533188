"""Metrics of the watch caches, by resource.

Source: apiserver pkg/storage/cacher/metrics/metrics.go, pkg/storage/etcd3/metrics/metrics.go (1.36).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from sampan.core.gvk import GroupResource
from sampan.server.instruments.histogram import cumulative
from sampan.storage.cache import WatchCache

_BY_RESOURCE: Final = ("group", "resource")
_COUNTERS: Final[dict[str, tuple[str, dict[str, str], Callable[[WatchCache], int]]]] = {
    "apiserver_storage_events_received_total": (
        "Events received from the store.", {}, lambda cache: cache.counts.events,
    ),
    "apiserver_watch_cache_events_received_total": (
        "Events that the watch cache has received.", {}, lambda cache: cache.counts.events,
    ),
    "apiserver_watch_cache_events_dispatched_total": (
        "Events that the watch cache has sent to watches.", {}, lambda cache: cache.counts.events,
    ),
    "apiserver_watch_cache_initializations_total": (
        "Times that the watch cache has listed all objects.", {}, lambda cache: cache.counts.loads,
    ),
    "apiserver_watch_cache_consistent_read_total": (
        "Reads of the newest state from the watch cache.", {"success": "true", "fallback": "false"},
        lambda cache: cache.counts.reads,
    ),
    "apiserver_cache_list_total": (
        "Lists from the watch cache.", {"index": ""}, lambda cache: cache.counts.lists,
    ),
    "apiserver_init_events_total": (
        "Objects sent at the start of watches.", {}, lambda cache: cache.counts.begun,
    ),
    "apiserver_storage_list_total": (
        "Lists from the store.", {}, lambda cache: cache.counts.stored_lists,
    ),
    "apiserver_storage_list_fetched_objects_total": (
        "Objects read from the store for lists.", {}, lambda cache: cache.counts.fetched,
    ),
    "apiserver_storage_list_evaluated_objects_total": (
        "Objects that selectors were evaluated for, in lists from the store.", {}, lambda cache: cache.counts.fetched,
    ),
    "apiserver_storage_list_returned_objects_total": (
        "Objects in lists from the store.", {}, lambda cache: cache.counts.found,
    ),
    "apiserver_terminated_watchers_total": (
        "Watches that were ended because their clients were too slow.", {}, lambda cache: cache.counts.slow,
    ),
    "apiserver_cache_list_returned_objects_total": (
        "Objects in lists from the watch cache.", {}, lambda cache: cache.counts.listed,
    ),
}  # fmt: skip


class CacheMetrics:
    """Prometheus collector of the watch caches."""

    def __init__(self, caches: Callable[[], Mapping[GroupResource, WatchCache]]) -> None:
        """`caches` returns the watch cache of each resource."""
        self._caches = caches

    def collect(self) -> Iterable[Metric]:
        """Return all families. May be called from another thread."""
        caches = self._caches()
        revisions = GaugeMetricFamily(
            "apiserver_watch_cache_resource_version", "resourceVersion of the watch cache.", labels=_BY_RESOURCE
        )
        for resource, cache in caches.items():
            revisions.add_metric([resource.group, resource.resource], cache.revision)
        yield revisions
        sizes = GaugeMetricFamily(
            "apiserver_resource_size_estimate_bytes", "Estimated size of the objects in bytes.", labels=_BY_RESOURCE
        )
        for resource, cache in caches.items():
            sizes.add_metric([resource.group, resource.resource], cache.size_bytes)
        yield sizes
        room = GaugeMetricFamily("watch_cache_capacity", "Capacity of the watch cache in events.", labels=_BY_RESOURCE)
        for resource, cache in caches.items():
            room.add_metric([resource.group, resource.resource], cache.ring.capacity)
        yield room
        yield _waits(caches)
        for name, (text, more, count_of) in _COUNTERS.items():
            family = CounterMetricFamily(name, text, labels=[*_BY_RESOURCE, *more])
            for resource, cache in caches.items():
                count = count_of(cache)
                if count:
                    family.add_metric([resource.group, resource.resource, *more.values()], count)
            yield family


def _waits(caches: Mapping[GroupResource, WatchCache]) -> Metric:
    """Return the wait times of reads. Most reads find the newest state in the cache, and wait 0 seconds."""
    family = HistogramMetricFamily(
        "apiserver_watch_cache_read_wait_seconds",
        "Time that reads waited for the watch cache to be as new as the store.",
        labels=_BY_RESOURCE,
    )
    for resource, cache in caches.items():
        waits = cache.counts.waits
        total, *counts = waits.series.get((), [0.0] * (len(waits.buckets) + 2))
        counts[0] += max(cache.counts.reads - sum(counts), 0)
        if any(counts):
            family.add_metric([resource.group, resource.resource], cumulative(waits.buckets, counts), total)
    return family
