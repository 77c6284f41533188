"""`DepartedResources`: what was measured of a resource goes when it is served no more, so that CRDs which come and go
leave nothing. kube-apiserver keeps such series until it ends.
"""

from collections.abc import Callable, Collection
from time import monotonic
from typing import Any, Final, TypeVar

from sampan.registry.registry import ResourceRegistry
from sampan.server.histogram import Counter, Histogram

T = TypeVar("T")

Resources = Collection[tuple[str, str]]
"""Each with its group."""
LATE_S: Final = 300.0
"""How long something may still be recorded of a resource that has gone: the end of its watches, what was under way."""


class DepartedResources:
    """Has them forgotten when one goes, and for some time whenever somebody looks."""

    def __init__(
        self, registry: ResourceRegistry, forget: Callable[[Resources], None], clock: Callable[[], float] = monotonic
    ) -> None:
        self._registry = registry
        self._forget = forget
        self._clock = clock
        self._served = set(registry.resources())
        self._departed: dict[tuple[str, str], float] = {}
        registry.subscribe(self._changed)

    def look(self) -> None:
        """Forget what was recorded late."""
        if self._departed:
            self._forget(tuple(self._departed))
            oldest = self._clock() - LATE_S
            self._departed = {key: since for key, since in self._departed.items() if since > oldest}

    def _changed(self) -> None:
        served = set(self._registry.resources())
        gone, self._served = self._served - served, served
        for key in served & self._departed.keys():
            del self._departed[key]
        if gone:
            self._departed |= dict.fromkeys(gone, self._clock())
            self.look()


def forget_series(collector: Histogram | Counter, departed: Resources) -> None:
    """Drop the series of these resources, as their labels name them."""
    group, resource = collector.labels.index("group"), collector.labels.index("resource")
    if isinstance(collector, Histogram):
        drop(collector.series, departed, group, resource)
    else:
        drop(collector.counts, departed, group, resource)


def drop(series: dict[Any, T], departed: Resources, group: int, resource: int) -> dict[Any, T]:
    """Drop the entries whose keys name these resources at two places; gives them."""
    return {key: series.pop(key) for key in list(series) if (key[group], key[resource]) in departed}
