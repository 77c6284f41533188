"""Removal of the metric series of resources that are no longer served.

A deleted CRD must not leave its series behind. kube-apiserver keeps such series until it ends.
"""

from collections.abc import Callable, Collection
from typing import Any, Final, TypeVar

from sampan.core.clock import monotonic
from sampan.registry.registry import ResourceRegistry
from sampan.server.instruments.histogram import Counter, Histogram

T = TypeVar("T")

Resources = Collection[tuple[str, str]]
"""Pairs of group and resource."""
LATE_S: Final = 300.0
"""Seconds after the removal of a resource in which series may still appear, because its watches and last
requests end.
"""


class RemovedResources:
    """Drops the metric series of removed resources: at once, and again while late series may appear."""

    def __init__(
        self, registry: ResourceRegistry, forget: Callable[[Resources], None], clock: Callable[[], float] = monotonic
    ) -> None:
        self._registry = registry
        self._forget = forget
        self._clock = clock
        self._served = set(registry.resources())
        self._removed: dict[tuple[str, str], float] = {}
        registry.subscribe(self._changed)

    def forget_late(self) -> None:
        """Drop the series that were recorded after the removal."""
        if self._removed:
            self._forget(tuple(self._removed))
            oldest = self._clock() - LATE_S
            self._removed = {key: since for key, since in self._removed.items() if since > oldest}

    def _changed(self) -> None:
        served = set(self._registry.resources())
        gone, self._served = self._served - served, served
        for key in served & self._removed.keys():
            del self._removed[key]
        if gone:
            self._removed |= dict.fromkeys(gone, self._clock())
            self.forget_late()


def forget_series(collector: Histogram | Counter, removed: Resources) -> None:
    """Drop the series whose labels name a removed resource."""
    group, resource = collector.labels.index("group"), collector.labels.index("resource")
    if isinstance(collector, Histogram):
        drop(collector.series, removed, group, resource)
    else:
        drop(collector.counts, removed, group, resource)


def drop(series: dict[Any, T], removed: Resources, group: int, resource: int) -> dict[Any, T]:
    """Remove and return the entries of removed resources. `group` and `resource` are positions in the key."""
    return {key: series.pop(key) for key in list(series) if (key[group], key[resource]) in removed}
