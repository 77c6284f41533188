"""`Durations`: histograms of durations by label values, for metrics.

Each component that measures owns one; the metrics endpoint reads it. Durations are recorded on the event loop and may
be read from any thread.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence

DEFAULT_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Default buckets of Prometheus, in seconds."""


class Durations:
    """Histograms by label values. `buckets` are upper bounds.

    Each series contains the sum, then the count of each bucket and of larger values.
    """

    def __init__(self, buckets: Sequence[float] = DEFAULT_BUCKETS) -> None:
        self.buckets = tuple(buckets)
        self.series: dict[tuple[str, ...], list[float]] = {}

    def observe(self, values: tuple[str, ...], seconds: float) -> None:
        """Record one duration for these label values."""
        try:
            series = self.series[values]
        except KeyError:
            series = self.begin(values)
        series[0] += seconds
        series[bisect_left(self.buckets, seconds) + 1] += 1

    def observer(self, values: tuple[str, ...]) -> Callable[[float], None]:
        """Return a function that records durations for these label values without a lookup."""
        series, buckets = self.begin(values), self.buckets

        def observe(seconds: float) -> None:
            series[0] += seconds
            series[bisect_left(buckets, seconds) + 1] += 1

        return observe

    def totals(self) -> dict[tuple[str, ...], int]:
        """Return the number of durations for each set of label values."""
        return {values: int(sum(series[1:])) for values, series in list(self.series.items()) if any(series)}

    def reset(self) -> None:
        """Set all series to zero."""
        for series in self.series.values():
            series[:] = [0.0] * len(series)

    def begin(self, values: tuple[str, ...]) -> list[float]:
        """Return the series of these label values, for callers that record into it directly."""
        return self.series.setdefault(values, [0.0] * (len(self.buckets) + 2))
