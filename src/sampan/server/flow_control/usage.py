"""`Usage`: for how long how much of a priority level was in use, as parts of what it has.

Kubernetes calls them timing histograms: they hold nanoseconds, as if somebody had looked at the end of each.
Concurrency: `add` and `scale` belong to the event loop; `read` may be called from another thread.
Source: apiserver pkg/util/flowcontrol/metrics/{metrics,timing_ratio_histogram}.go, apf_controller.go (1.36).
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

_STATES_MAX: Final = 1024
"""How many states are kept apart before their times go into the histograms."""
_NS_PER_S: Final = 1e9

State = tuple[int, int, int, int]
"""Seats in use, seats that are waited for, requests that run, requests that wait."""


class _Measure(NamedTuple):
    """What of a state is looked at, and whether as a part of the seats or of the places in the queues."""

    bounds: tuple[float, ...]
    amount: Callable[[State], int]
    of_places: bool = False


_REQUEST_BOUNDS: Final = (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1)
_SEAT_BOUNDS: Final = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1)
_DEMAND_BOUNDS: Final = (0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6)

MEASURES: Final[dict[tuple[str, str], _Measure]] = {
    ("demand_seats", ""): _Measure(_DEMAND_BOUNDS, lambda state: state[0] + state[1]),
    ("priority_level_seat_utilization", "executing"): _Measure(_SEAT_BOUNDS, lambda state: state[0]),
    ("priority_level_request_utilization", "waiting"): _Measure(_REQUEST_BOUNDS, lambda state: state[3], True),
    ("priority_level_request_utilization", "executing"): _Measure(_REQUEST_BOUNDS, lambda state: state[2]),
}
"""By the name of the metric and the phase."""

_Series = Mapping[tuple[str, str], list[float]]


class _Read(NamedTuple):
    """All there is, replaced at once: whoever reads it from another thread finds nothing twice and misses nothing."""

    times: dict[State, float]
    """Seconds by state, not yet in `series`."""
    series: _Series
    """By measure: the sum, then the buckets, in nanoseconds."""
    seats: int
    places: int


class Usage:
    """Of one level. Scaled to nothing until `scale` says what the level has."""

    __slots__ = ("_now", "_times")

    def __init__(self) -> None:
        self._times: dict[State, float] = {}
        self._now = _Read(self._times, {key: [0.0] * (len(m.bounds) + 2) for key, m in MEASURES.items()}, 1, 1)

    def add(self, state: State, passed_s: float) -> None:
        """It was so for so long."""
        times = self._times
        times[state] = times.get(state, 0.0) + passed_s
        if len(times) > _STATES_MAX:
            self._fold(self._now.seats, self._now.places)

    def scale(self, seats: int, places: int) -> None:
        """From now on the level has so many seats, and its queues so many places; each at least one."""
        if (seats, places) != self._now[2:]:
            self._fold(seats, places)

    def read(self) -> _Series:
        """By measure: the sum, then the buckets, the last one for all that is beyond the bounds; in nanoseconds."""
        return _folded(self._now)

    def _fold(self, seats: int, places: int) -> None:
        series = _folded(self._now)
        self._times = {}
        self._now = _Read(self._times, series, seats, places)


def _folded(now: _Read) -> _Series:
    times = list(now.times.items())
    series = {}
    for key, (bounds, amount, of_places) in MEASURES.items():
        whole = now.places if of_places else now.seats
        found = series[key] = list(now.series[key])
        for state, seconds in times:
            part = amount(state) / whole
            found[0] += part * seconds * _NS_PER_S
            found[bisect_left(bounds, part) + 1] += seconds * _NS_PER_S
    return series
