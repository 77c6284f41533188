"""What a request holds while it waits and while it runs."""

from bisect import bisect_left
from collections.abc import Callable
from typing import Final, NamedTuple

from sampan.server.request import Request

DURATION_BUCKETS: Final = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0)
QUEUE_LENGTH_BUCKETS: Final = (0, 10, 25, 50, 100, 250, 500, 1000)
SEATS_BUCKETS: Final = (1, 2, 4, 8, 16, 32, 64, 100)
WATCH_COUNT_BUCKETS: Final = (0, 1, 10, 100, 1000, 10000)

_SERVICE_S: Final = 0.003


class Work(NamedTuple):
    """How much a request asks of the server."""

    initial_seats: int
    final_seats: int = 0
    """Seats for `additional_s` seconds after the answer: what it causes goes on (events to watchers)."""
    additional_s: float = 0.0

    @property
    def seats(self) -> int:
        """What it holds at most."""
        return max(self.initial_seats, self.final_seats)

    @property
    def seat_seconds(self) -> float:
        """The work as it is guessed beforehand."""
        return self.initial_seats * _SERVICE_S + self.final_seats * self.additional_s


ONE_SEAT: Final = Work(1)


class Histogram:
    """How often which amount was seen."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0.0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, amount: float) -> None:
        """Count one."""
        self.total += amount
        self.counts[bisect_left(self.bounds, amount)] += 1


class FlowStats:
    """Numbers about the requests of one schema in one level, for metrics."""

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
        """By reason: queue-full, concurrency-limit, time-out, cancelled."""
        self.seats = Histogram(SEATS_BUCKETS)
        self.queue_lengths = Histogram(QUEUE_LENGTH_BUCKETS)
        self.watch_counts = Histogram(WATCH_COUNT_BUCKETS)
        self.waits, self.waits_in_vain = Histogram(DURATION_BUCKETS), Histogram(DURATION_BUCKETS)
        self.executions, self.watch_executions = Histogram(DURATION_BUCKETS), Histogram(DURATION_BUCKETS)

    def reject(self, reason: str) -> None:
        """Count a request that does not run."""
        self.rejected[reason] = self.rejected.get(reason, 0) + 1


class Flow(NamedTuple):
    """Requests that share their fate within a level: those of one user, of one namespace, or of a whole schema."""

    schema: str
    distinguisher: str
    hand: tuple[int, ...]
    """Which queues it may use; empty where the level has none."""
    stats: FlowStats


class Ticket:
    """One request in a queue set. `on_dispatch` is called once when a request that waited may run."""

    __slots__ = (
        "arrival", "arrival_r", "executing", "flow", "on_dispatch", "queue", "request", "seats", "started", "work",
    )  # fmt: skip

    def __init__(self, flow: Flow, work: Work, arrival: float, arrival_r: float) -> None:
        self.flow = flow
        self.work = work
        self.seats = work.seats
        self.arrival = self.started = arrival
        self.arrival_r = arrival_r
        """The set's virtual time at arrival."""
        self.queue: Queue | None = None
        self.executing = False
        self.on_dispatch: Callable[[], None] | None = None
        self.request: Request | None = None
        """What it is for, where somebody is told."""


class Queue:
    """One queue: who waits, in order of arrival, and from when on the next one would be served."""

    __slots__ = ("executing", "index", "next_dispatch_r", "seats_in_use", "waiting", "work_waiting")

    def __init__(self, index: int) -> None:
        self.index = index
        self.waiting: dict[Ticket, None] = {}
        self.work_waiting = 0.0
        """Seat-seconds of those who wait."""
        self.executing: dict[Ticket, None] = {}
        self.seats_in_use = 0
        self.next_dispatch_r = 0.0
        """Virtual time at which the next request of this queue starts."""

    @property
    def idle(self) -> bool:
        return not self.waiting and not self.executing

    def oldest(self) -> Ticket | None:
        """Who is served next."""
        return next(iter(self.waiting), None)

    def bound(self) -> None:
        """A queue saves nothing up: no request starts, in virtual time, before it arrived."""
        oldest = self.oldest()
        if oldest is not None and self.next_dispatch_r < oldest.arrival_r:
            self.next_dispatch_r = oldest.arrival_r
