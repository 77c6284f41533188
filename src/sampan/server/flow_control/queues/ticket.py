"""State of a request and of its queue while it waits and runs."""

from bisect import bisect_left
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from sampan.server.request import Request

DURATION_BUCKETS: Final = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0)
QUEUE_LENGTH_BUCKETS: Final = (0, 10, 25, 50, 100, 250, 500, 1000)
SEATS_BUCKETS: Final = (1, 2, 4, 8, 16, 32, 64, 100)
WATCH_COUNT_BUCKETS: Final = (0, 1, 10, 100, 1000, 10000)

_SERVICE_S: Final = 0.003


class Work(NamedTuple):
    """Estimated work of a request."""

    initial_seats: int
    final_seats: int = 0
    """Seats for `additional_s` seconds after the response, because events are still sent to watches."""
    additional_s: float = 0.0

    @property
    def seats(self) -> int:
        """Maximum number of seats at any time."""
        return max(self.initial_seats, self.final_seats)

    @property
    def seat_seconds(self) -> float:
        """Estimated work in seat-seconds."""
        return self.initial_seats * _SERVICE_S + self.final_seats * self.additional_s


ONE_SEAT: Final = Work(1)


class FlowHistogram:
    """Histogram with fixed bounds."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0.0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, amount: float) -> None:
        """Count one amount."""
        self.total += amount
        self.counts[bisect_left(self.bounds, amount)] += 1


class FlowStats:
    """Statistics of the requests of one schema in one level."""

    __slots__ = (
        "dispatched",
        "executing",
        "executing_seats",
        "executions",
        "no_accommodation",
        "queue_lengths",
        "rejected",
        "seats",
        "waiting",
        "waiting_seats",
        "waits",
        "waits_in_vain",
        "watch_counts",
        "watch_executions",
    )

    def __init__(self) -> None:
        self.dispatched = self.executing = self.executing_seats = self.waiting = self.waiting_seats = 0
        self.no_accommodation = 0
        self.rejected: dict[str, int] = {}
        """Counts by reason: queue-full, concurrency-limit, time-out, cancelled."""
        self.seats = FlowHistogram(SEATS_BUCKETS)
        self.queue_lengths = FlowHistogram(QUEUE_LENGTH_BUCKETS)
        self.watch_counts = FlowHistogram(WATCH_COUNT_BUCKETS)
        self.waits, self.waits_in_vain = FlowHistogram(DURATION_BUCKETS), FlowHistogram(DURATION_BUCKETS)
        self.executions, self.watch_executions = FlowHistogram(DURATION_BUCKETS), FlowHistogram(DURATION_BUCKETS)

    def reject(self, reason: str) -> None:
        """Count a request that is refused or leaves the queue."""
        self.rejected[reason] = self.rejected.get(reason, 0) + 1


class Flow(NamedTuple):
    """Requests that share queues in a level: those of one user, of one namespace, or of a whole schema."""

    schema: str
    distinguisher: str
    hand: tuple[int, ...]
    """Indexes of its queues; empty if the level has no queues."""
    stats: FlowStats


class Ticket(msgspec.Struct, eq=False):
    """One request in a queue set. `on_dispatch` is called once when a waiting request may run."""

    flow: Flow
    work: Work
    seats: int
    arrival: float
    arrival_r: float
    """Virtual time of the set at arrival."""
    started: float
    queue: "RequestQueue | None" = None
    executing: bool = False
    on_dispatch: Callable[[], None] | None = None
    request: Request | None = None
    """The request, for debugging pages and metrics."""


class RequestQueue:
    """One queue: waiting requests in order of arrival, and the virtual start time of the next one."""

    __slots__ = ("executing", "index", "next_dispatch_r", "seats_in_use", "waiting", "work_waiting")

    def __init__(self, index: int) -> None:
        self.index = index
        self.waiting: dict[Ticket, None] = {}
        self.work_waiting = 0.0
        """Seat-seconds of the waiting requests."""
        self.executing: dict[Ticket, None] = {}
        self.seats_in_use = 0
        self.next_dispatch_r = 0.0
        """Virtual time at which the next request of this queue starts."""

    @property
    def idle(self) -> bool:
        return not self.waiting and not self.executing

    def oldest(self) -> Ticket | None:
        """Return the next request, or None."""
        return next(iter(self.waiting), None)

    def bound(self) -> None:
        """Raise the virtual start time to the arrival of the oldest request. An idle queue must not save up service
        time.
        """
        oldest = self.oldest()
        if oldest is not None and self.next_dispatch_r < oldest.arrival_r:
            self.next_dispatch_r = oldest.arrival_r
