"""Counters and histograms that cost one dictionary look-up on the hot path. Prometheus' objects are built during a
scrape.
"""

import functools
import itertools
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

from prometheus_client.core import (
    CounterMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
    UnknownMetricFamily,
)

from sampan.core.telemetry.durations import Durations


class Histogram(Durations):
    """`Durations` with a metric name."""

    def __init__(self, name: str, help_text: str, labels: Sequence[str], buckets: Sequence[float]) -> None:
        super().__init__(buckets)
        self.name = name
        self.help_text = help_text
        self.labels = tuple(labels)

    @classmethod
    def of(cls, durations: Durations, name: str, help_text: str, labels: Sequence[str]) -> "Histogram":
        """Wrap durations that another object records, without copying."""
        made = cls(name, help_text, labels, durations.buckets)
        made.series = durations.series
        return made

    def collect(self) -> Iterable[HistogramMetricFamily]:
        """Return the family for Prometheus."""
        yield self.family(self.buckets)

    def family(self, buckets: Sequence[float]) -> HistogramMetricFamily:
        """Return the family with a subset of its buckets."""
        family = HistogramMetricFamily(self.name, self.help_text, labels=self.labels)
        for values, series in list(self.series.items()):
            if any(series):
                counts = series[1:] if buckets is self.buckets else self._regrouped(series[1:], buckets)
                family.add_metric(values, cumulative(buckets, counts), series[0])
        return family

    def whole(self, buckets: Sequence[float]) -> tuple[float, list[float]]:
        """Return the totals over all labels: the sum, and the counts in a subset of the buckets."""
        sums = [sum(column) for column in zip(*list(self.series.values()), strict=True)]
        return (sums[0], self._regrouped(sums[1:], buckets)) if sums else (0.0, [0.0] * (len(buckets) + 1))

    def _regrouped(self, counts: Sequence[float], buckets: Sequence[float]) -> list[float]:
        found = [0.0] * (len(buckets) + 1)
        for bound, count in zip((*self.buckets, inf), counts, strict=True):
            found[bisect_left(buckets, bound)] += count
        return found

    def summary(self, name: str) -> SummaryMetricFamily:
        """Return only counts and sums, under another name."""
        family = SummaryMetricFamily(name, self.help_text, labels=self.labels)
        for values, count in self.totals().items():
            family.add_metric(values, count, self.series[values][0])
        return family


class Counter:
    """Counter by label values. Record on the event loop; read from any thread."""

    def __init__(self, name: str, help_text: str, labels: Sequence[str]) -> None:
        self.name = name
        self.help_text = help_text
        self.labels = tuple(labels)
        self.counts: dict[tuple[str, ...], int] = {}

    @classmethod
    def of(cls, counts: "dict[Any, int]", name: str, help_text: str, labels: Sequence[str]) -> "Counter":
        """Wrap counts that another object records, without copying."""
        made = cls(name, help_text, labels)
        made.counts = counts
        return made

    def add(self, values: tuple[str, ...], count: int = 1) -> None:
        """Add to the counter with these label values."""
        self.counts[values] = self.counts.get(values, 0) + count

    def reset(self) -> None:
        """Drop all series, so that they begin again at 0."""
        self.counts.clear()

    def collect(self) -> Iterable[Metric]:
        """Return the family for Prometheus.

        prometheus_client appends `_total` to counter names; Kubernetes does not for all of them.
        """
        make = CounterMetricFamily if self.name.endswith("_total") else UnknownMetricFamily
        family: Metric = make(self.name, self.help_text, labels=self.labels)
        for values, count in list(self.counts.items()):
            family.add_sample(self.name, dict(zip(self.labels, values, strict=True)), count)
        yield family


def cumulative(bounds: Sequence[float], counts: Sequence[float]) -> list[tuple[str, float]]:
    """Return cumulative buckets, as Prometheus expects them. The last bound is infinite."""
    names = [_shown(bound) for bound in bounds] + ["+Inf"]
    return list(zip(names, itertools.accumulate(counts), strict=True))


@functools.cache
def _shown(bound: float) -> str:
    """Format a bound as Go does, with the fewest digits."""
    digits = next(count for count in range(6, 18) if float(f"{bound:.{count}g}") == bound)
    return f"{bound:.{digits}g}"
