"""Counters and histograms that cost the hot path a dict look-up; Prometheus' objects are made when somebody scrapes."""

import itertools
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from prometheus_client.core import HistogramMetricFamily, Metric


class Histogram:
    """Durations in seconds by label values. Recorded on the event loop, read from any thread."""

    def __init__(self, name: str, help_text: str, labels: Sequence[str], buckets: Sequence[float]) -> None:
        self.name = name
        self.help_text = help_text
        self.labels = tuple(labels)
        self.buckets = tuple(buckets)
        self._series: dict[tuple[str, ...], list[float]] = {}

    def observe(self, values: tuple[str, ...], seconds: float) -> None:
        """Count one duration under these label values."""
        try:
            series = self._series[values]
        except KeyError:
            series = self._series[values] = [0.0] * (len(self.buckets) + 2)
        series[0] += seconds
        series[bisect_left(self.buckets, seconds) + 1] += 1

    def totals(self) -> dict[tuple[str, ...], int]:
        """How many durations were counted under each label values."""
        return {values: int(sum(series[1:])) for values, series in list(self._series.items())}

    def reset(self) -> None:
        """Forget everything."""
        self._series.clear()

    def collect(self) -> Iterable[HistogramMetricFamily]:
        """For Prometheus."""
        family = HistogramMetricFamily(self.name, self.help_text, labels=self.labels)
        for values, series in list(self._series.items()):
            family.add_metric(values, cumulative(self.buckets, series[1:]), series[0])
        yield family


class Counter:
    """Counts by label values. Recorded on the event loop, read from any thread."""

    def __init__(self, name: str, help_text: str, labels: Sequence[str]) -> None:
        self.name = name
        self.help_text = help_text
        self.labels = tuple(labels)
        self.counts: dict[tuple[str, ...], int] = {}

    def add(self, values: tuple[str, ...], count: int = 1) -> None:
        """Count under these label values."""
        self.counts[values] = self.counts.get(values, 0) + count

    def reset(self) -> None:
        """Forget everything."""
        self.counts.clear()

    def collect(self) -> Iterable[Metric]:
        """For Prometheus. Its library ends the names of counters with `_total`, which Kubernetes does not always do."""
        typed = self.name.endswith("_total")
        family = (
            Metric(self.name.removesuffix("_total"), self.help_text, "counter")
            if typed
            else Metric(self.name, self.help_text, "unknown")
        )
        for values, count in list(self.counts.items()):
            family.add_sample(self.name, dict(zip(self.labels, values, strict=True)), count)
        yield family


def cumulative(bounds: Sequence[float], counts: Sequence[float]) -> list[tuple[str, float]]:
    """Buckets as Prometheus wants them: each holds all that is below its bound; the last bound is infinite."""
    names = [f"{bound:g}" for bound in bounds] + ["+Inf"]
    return list(zip(names, itertools.accumulate(counts), strict=True))
