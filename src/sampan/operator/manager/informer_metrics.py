"""Metrics of informers. They are read from the informers' counters when the registry is scraped."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from sampan.informer.shared_informer import SharedInformer

_COUNTERS: Final = {
    "lists": "Started lists",
    "list_failures": "Lists that failed",
    "watches": "Started watches",
    "watch_failures": "Watches that ended with an error",
    "short_watches": "Watches that ended at once",
    "idle_watches": "Watches that were ended because they were silent",
    "events": "Events of watches",
    "backoffs": "Waits after failures",
}
_GAUGES: Final[dict[str, tuple[str, Callable[[SharedInformer[Any]], int]]]] = {
    "informer_objects": ("Objects in the store", lambda informer: len(informer.indexer)),
    "informer_synced": ("1: the store holds a first list", lambda informer: int(informer.has_synced())),
    "informer_unindexed": (
        "Objects that an index lacks, because its function raises for them",
        lambda informer: len(informer.indexer.unindexed),
    ),
    "informer_pending": (
        "Events that wait for the slowest handler",
        lambda informer: max((handler.pending for handler in informer.registrations), default=0),
    ),
}


class InformerCollector:
    """Collector for all informers of a manager. The label `resource` is, for example, `networks.net.example.com`."""

    def __init__(self, registry: CollectorRegistry, informers: Callable[[], Sequence[SharedInformer[Any]]]) -> None:
        self._informers = informers
        registry.register(self)

    def describe(self) -> list[Metric]:
        """Return the metric families without values."""
        return list(self._families([]))

    def collect(self) -> Iterator[Metric]:
        """Yield the families with the current values."""
        return self._families(self._informers())

    def _families(self, informers: Sequence[SharedInformer[Any]]) -> Iterator[Metric]:
        named = [(str(informer.object_type.info.gvr.group_resource), informer) for informer in informers]
        for name, text in _COUNTERS.items():
            counter = CounterMetricFamily(f"reflector_{name}", text, labels=["resource"])
            for resource, figure in _summed([(resource, getattr(each.metrics, name)) for resource, each in named]):
                counter.add_metric([resource], figure)
            yield counter
        for name, (text, read) in _GAUGES.items():
            gauge = GaugeMetricFamily(name, text, labels=["resource"])
            for resource, figure in _summed([(resource, read(each)) for resource, each in named]):
                gauge.add_metric([resource], figure)
            yield gauge


def _summed(figures: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Sum the values by resource, which may have several informers (metadata only, other namespaces)."""
    sums: dict[str, int] = {}
    for resource, figure in figures:
        sums[resource] = sums.get(resource, 0) + figure
    return list(sums.items())
