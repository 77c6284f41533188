"""Number of tasks on a manager's event loop, counted when the registry is scraped."""

import asyncio
from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric


class TaskCollector:
    """Gauge `asyncio_tasks`. A growing number indicates tasks that never end."""

    def __init__(self, registry: CollectorRegistry) -> None:
        registry.register(self)

    def describe(self) -> list[Metric]:
        """Return the metric family without values."""
        return [_family(0)]

    def collect(self) -> Iterator[Metric]:
        """Yield the family with the current number. Must be called on the event loop."""
        yield _family(len(asyncio.all_tasks()))


def _family(count: int) -> Metric:
    return GaugeMetricFamily("asyncio_tasks", "Tasks of the event loop that have not ended.", count)
