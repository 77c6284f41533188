"""`Durations`: how long something took and how often, by label values, for metrics.

Whoever measures keeps one; who shows metrics reads it. Recorded on the event loop, read from any thread.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence

DEFAULT_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Those of Prometheus, in seconds."""


class Durations:
    """`buckets`: upper bounds. Each series is the sum, and the count in each bucket and beyond the last."""

    def __init__(self, buckets: Sequence[float] = DEFAULT_BUCKETS) -> None:
        self.buckets = tuple(buckets)
        self.series: dict[tuple[str, ...], list[float]] = {}

    def observe(self, values: tuple[str, ...], seconds: float) -> None:
        """Count one duration under these label values."""
        try:
            series = self.series[values]
        except KeyError:
            series = self.begin(values)
        series[0] += seconds
        series[bisect_left(self.buckets, seconds) + 1] += 1

    def observer(self, values: tuple[str, ...]) -> Callable[[float], None]:
        """What counts durations under these label values, without looking for them each time."""
        series, buckets = self.begin(values), self.buckets

        def observe(seconds: float) -> None:
            series[0] += seconds
            series[bisect_left(buckets, seconds) + 1] += 1

        return observe

    def totals(self) -> dict[tuple[str, ...], int]:
        """How many durations were counted under each label values."""
        return {values: int(sum(series[1:])) for values, series in list(self.series.items()) if any(series)}

    def reset(self) -> None:
        """Forget everything."""
        for series in self.series.values():
            series[:] = [0.0] * len(series)

    def begin(self, values: tuple[str, ...]) -> list[float]:
        """The series under these label values, for those who record in a way of their own."""
        return self.series.setdefault(values, [0.0] * (len(self.buckets) + 2))
