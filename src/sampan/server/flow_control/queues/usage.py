"""`Utilization`: duration of each degree of utilization of a priority level, and the demand for its seats.

Kubernetes calls these metrics timing histograms. They contain nanoseconds, as if one sample was taken in each
nanosecond.
Concurrency: all methods but `read` must run on the event loop. `read` may be called from another thread.
Source: apiserver pkg/util/flowcontrol/metrics/{metrics,timing_ratio_histogram}.go, apf_controller.go (1.36).
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

_STATES_MAX: Final = 1024
"""Maximum number of states before their times are added to the histograms."""
_NS_PER_S: Final = 1e9

State = tuple[int, int, int, int]
"""Seats in use, seats of waiting requests, running requests, waiting requests."""


class _Measure(NamedTuple):
    """Amount of a state that is measured, as a ratio of the seats or of the places in the queues."""

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
"""Measures by name of the metric and phase."""

_Series = Mapping[tuple[str, str], list[float]]


class _Snapshot(NamedTuple):
    """Snapshot, replaced as a whole so that a reader in another thread counts nothing twice."""

    times: dict[State, float]
    """Seconds by state that are not in `series` yet."""
    series: _Series
    """Values by measure: the sum, then the buckets, in nanoseconds."""
    seats: int
    places: int


class DemandIntegrals(NamedTuple):
    """Integrals over a period of the demand for seats, and of its square."""

    duration_s: float = 0.0
    seat_seconds: float = 0.0
    of_square: float = 0.0


class Utilization:
    """Utilization of one level. The capacity is 1 until `scale` is called."""

    __slots__ = ("_current", "_demand", "_times")

    def __init__(self) -> None:
        self._times: dict[State, float] = {}
        self._demand = DemandIntegrals()
        """Integrals of the current period, without `_times`."""
        self._current = _Snapshot(self._times, {key: [0.0] * (len(m.bounds) + 2) for key, m in MEASURES.items()}, 1, 1)

    def add(self, state: State, passed_s: float) -> None:
        """Add the duration of a state."""
        times = self._times
        times[state] = times.get(state, 0.0) + passed_s
        if len(times) > _STATES_MAX:
            self._fold(self._current.seats, self._current.places)

    def scale(self, seats: int, places: int) -> None:
        """Set the capacity: seats, and places in the queues. Both must be at least one."""
        if (seats, places) != self._current[2:]:
            self._fold(seats, places)

    def read(self) -> _Series:
        """Return the histogram of each measure: the sum, then the buckets, in nanoseconds. The last bucket is
        unbounded.
        """
        return _folded(self._current)

    def take_demand(self) -> DemandIntegrals:
        """Return the integrals since the last call, and begin a new period."""
        self._fold(self._current.seats, self._current.places)
        taken, self._demand = self._demand, DemandIntegrals()
        return taken

    def _fold(self, seats: int, places: int) -> None:
        duration_s, seat_seconds, of_square = self._demand
        for (in_use, waiting, _, _), seconds in self._times.items():
            demand = in_use + waiting
            duration_s += seconds
            seat_seconds += seconds * demand
            of_square += seconds * demand * demand
        self._demand = DemandIntegrals(duration_s, seat_seconds, of_square)
        series = _folded(self._current)
        self._times = {}
        self._current = _Snapshot(self._times, series, seats, places)


def _folded(now: _Snapshot) -> _Series:
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
