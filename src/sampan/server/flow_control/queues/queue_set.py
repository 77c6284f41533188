"""`QueueSet`: the queues of one priority level, served fairly by virtual time.

Concurrency: it has no tasks. All calls must be on one event loop, and the time comes from the caller's clock. The
virtual time R advances at the rate at which each active queue would be served if all were served at once. The next
queue to serve is the one whose oldest request would finish first in virtual time. R is a float, whose precision
suffices for the lifetime of a process.
Source: apiserver pkg/util/flowcontrol/fairqueuing/queueset/{doc,queueset}.go (1.36).
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

import msgspec

from sampan.server.flow_control.queues.demand import DemandStatistics, statistics
from sampan.server.flow_control.queues.ticket import Flow, RequestQueue, Ticket, Work
from sampan.server.flow_control.queues.usage import Utilization

_LISTED_MAX: Final = 1024
SERVICE_S: Final = 0.003
"""Estimated duration in seconds of a request that has not run yet."""

Later = Callable[[float, Callable[[], None]], object]
"""Calls a function after a number of seconds, like `loop.call_later`."""


class Queuing(NamedTuple):
    """Shape of the queues. With `queues` 0, a request without a seat is refused. With -1, every request runs."""

    queues: int
    hand_size: int = 0
    queue_length_limit: int = 0


EXEMPT: Final = Queuing(-1)
REJECT: Final = Queuing(0)


class HeldSeat(msgspec.Struct, eq=False):
    """Seat of a response that is written. `release` is called at its end, or earlier if the seat is needed."""

    _queue_set: "QueueSet"
    _ticket: Ticket | None
    _watch: bool = False

    def stall(self) -> None:
        """Let other requests take the seat: the client does not read."""
        if self._ticket is not None:
            if self._queue_set.waiting:
                self.release()
            else:
                self._queue_set.stalled[self] = None

    def resume(self) -> None:
        """Keep the seat if it was not taken: the client reads."""
        self._queue_set.stalled.pop(self, None)

    def release(self) -> None:
        """Give up the seat. Does nothing if it is free already."""
        ticket, self._ticket = self._ticket, None
        if ticket is not None:
            self._queue_set.stalled.pop(self, None)
            self._queue_set.finish(ticket, watch=self._watch)


class QueueSet:
    """Set of fair queues. Each ticket from `start` must be passed once to `finish`, or to `leave` if it waits."""

    def __init__(self, queuing: Queuing, limit: int, clock: Callable[[], float], later: Later) -> None:
        self.queuing = queuing
        self.limit = limit
        """Number of seats."""
        self.executing = self.waiting = 0
        self.seats_in_use = self.seats_waiting = 0
        self.dispatched = self.rejected = self.timed_out = self.cancelled = 0
        self.queueless: dict[Ticket, None] = {}
        """Running requests that were not assigned to a queue."""
        self.stalled: dict[HeldSeat, None] = {}
        """Seats of responses whose clients do not read. Other requests may take them."""
        self.usage = Utilization()
        self._demand_max = 0
        """Largest demand for seats since the last `take_demand`."""
        self.seats_measured = 1
        """Number of seats that is the base of the usage metrics if there is no limit."""
        self._clock = clock
        self._later = later
        self._queues: dict[int, RequestQueue] = {}
        """Queues in use, by index. A level may have 10,000,000 queues, so each is created when it is first used."""
        self._with_waiting: dict[RequestQueue, None] = {}
        self._active = 0
        self._enqueues = 0
        self._robin = 0
        self._r = 0.0
        self._synced = clock()
        self.configure(queuing, limit)

    @property
    def idle(self) -> bool:
        """True if no request waits or runs."""
        return not self.waiting and not self.executing

    @property
    def r(self) -> float:
        """Virtual time of the last change, in seat-seconds."""
        return self._r

    def queues(self) -> Iterator[RequestQueue]:
        """Yield the queues by index, for metrics and dumps. Beyond a maximum index, only queues in use are included."""
        listed = min(self.queuing.queues, _LISTED_MAX)
        yield from map(self._queue, range(listed))
        yield from (self._queues[index] for index in sorted(self._queues) if index >= listed)

    def configure(self, queuing: Queuing, limit: int) -> None:
        """Change the shape. Surplus queues are removed when they are empty."""
        self._sync()
        self.queuing, self.limit = queuing, limit
        self.usage.scale(limit or self.seats_measured, max(queuing.queue_length_limit, 1) * max(queuing.queues, 1))
        self._dispatch()

    def catch_up(self) -> None:
        """Update the measurements to the current time."""
        self._sync()

    def take_demand(self) -> DemandStatistics:
        """Return the statistics of the demand for seats since the last call."""
        maximum, self._demand_max = self._demand_max, self.seats_in_use + self.seats_waiting
        return statistics(self.usage.take_demand(), maximum)

    def start(self, flow: Flow, work: Work) -> Ticket | None:
        """Assign a seat or a place in a queue; `Ticket.executing` is True for a seat. Return None to refuse the
        request.
        """
        if self.stalled and self.queuing.queues >= 0 and self.seats_in_use + work.seats > self.limit:
            self._reclaim(work.seats)
        now = self._sync()
        ticket = Ticket(flow, work, work.seats, now, self._r, now)
        if self.queuing.queues < 1:
            if self.queuing.queues == 0 and not self._accommodates(ticket.seats):
                self._refuse(flow, "concurrency-limit")
                return None
            self.queueless[ticket] = None
            self._run(ticket, now)
            return ticket
        queue = ticket.queue = self._choose(flow.hand)
        if self.seats_in_use >= self.limit and len(queue.waiting) >= self.queuing.queue_length_limit:
            self._refuse(flow, "queue-full")
            return None
        self._queues[queue.index] = queue
        if not queue.waiting and not queue.executing:
            # An idle queue saves no credit: otherwise it could later take all seats for a long time.
            queue.next_dispatch_r = self._r
            # An active queue has waiting or running requests. R advances more slowly the more of them share the seats.
            self._active += 1
        # Only if no request waits, because the new request would overtake it.
        if not self.waiting and self.seats_in_use + ticket.seats <= self.limit:
            # No request is ahead of it, so it need not be queued.
            self._robin = queue.index
            if queue.next_dispatch_r < self._r:
                queue.next_dispatch_r = self._r
            self._run_of_queue(ticket, queue, now)
            return ticket
        self._enqueue(ticket, queue)
        self._dispatch()
        return ticket

    def _reclaim(self, seats: int) -> None:
        """Take so many seats from responses whose clients do not read, the oldest first."""
        while self.stalled and self.seats_in_use + seats > self.limit:
            next(iter(self.stalled)).release()

    def leave(self, ticket: Ticket, reason: str) -> None:
        """Remove a waiting request. `reason` is time-out or cancelled."""
        now = self._sync()
        self._dequeue(ticket)
        self._refuse(ticket.flow, reason)
        # A separate metric: in Kubernetes, waiting times of executed and of refused requests are separate.
        ticket.flow.stats.waits_in_vain.observe(now - ticket.arrival)
        queue = ticket.queue
        assert queue is not None
        queue.bound()
        if queue.idle:
            self._active -= 1
        if reason == "cancelled":
            self.cancelled += 1
        else:
            self.timed_out += 1
        self._drop_if_unused(queue)

    def finish(self, ticket: Ticket, *, watch: bool = False) -> None:
        """Record the end of a request. Its seats become free at once or after the additional time."""
        now = self._sync()
        took = now - ticket.started
        self.executing -= 1
        stats, queue = ticket.flow.stats, ticket.queue
        stats.executing -= 1
        (stats.watch_executions if watch else stats.executions).observe(took)
        if queue is None:
            del self.queueless[ticket]
        else:
            del queue.executing[ticket]
            # The dispatch assumed `SERVICE_S`; replace the estimate with the time that the request really took.
            queue.next_dispatch_r -= ticket.work.initial_seats * (SERVICE_S - took)
            if queue.waiting:
                queue.bound()
            elif not queue.executing:
                self._active -= 1
        # A write costs more after its response: its events are sent to all watches.
        if ticket.work.additional_s > 0:
            self._later(ticket.work.additional_s, partial(self._release_later, ticket))
        else:
            self._release(ticket)
        if self.waiting:
            self._dispatch()

    def _release_later(self, ticket: Ticket) -> None:
        self._sync()
        self._release(ticket)
        self._dispatch()

    def _release(self, ticket: Ticket) -> None:
        self.seats_in_use -= ticket.seats
        ticket.flow.stats.executing_seats -= ticket.seats
        if ticket.queue is not None:
            ticket.queue.seats_in_use -= ticket.seats
            self._drop_if_unused(ticket.queue)

    def _sync(self) -> float:
        """Advance the virtual time to now. Return the real time."""
        now = self._clock()
        passed = now - self._synced
        if passed > 0:
            self._synced = now
            in_use, waiting = self.seats_in_use, self.seats_waiting
            self.usage.add((in_use, waiting, self.executing, self.waiting), passed)
            if self._active:
                # Virtual time does not pass faster than seats are wanted, or idle seats would count as service.
                desired = in_use + waiting
                self._r += passed * (desired if desired < self.limit else self.limit) / self._active
        return now

    def _choose(self, hand: tuple[int, ...]) -> RequestQueue:
        """Return the queue of the hand with the least work. The first candidate rotates."""
        size = len(hand)
        # Rotates, so that among equal queues not always the first of the hand gets the request.
        offset = self._enqueues % size
        self._enqueues += 1
        best = self._queue(hand[offset])
        # Without waiting requests all queues are equal, and comparing them would cost time on the fast path.
        if self.waiting:
            for step in range(1, size):
                queue = self._queue(hand[(offset + step) % size])
                if queue.work_waiting < best.work_waiting:
                    best = queue
        return best

    def _enqueue(self, ticket: Ticket, queue: RequestQueue) -> None:
        queue.waiting[ticket] = None
        queue.work_waiting += ticket.work.seat_seconds
        self._with_waiting[queue] = None
        queue.bound()
        self.waiting += 1
        self.seats_waiting += ticket.seats
        demand = self.seats_in_use + self.seats_waiting
        if demand > self._demand_max:
            self._demand_max = demand
        stats = ticket.flow.stats
        stats.waiting += 1
        stats.waiting_seats += ticket.seats
        stats.queue_lengths.observe(len(queue.waiting))

    def _dequeue(self, ticket: Ticket) -> None:
        queue = ticket.queue
        assert queue is not None
        del queue.waiting[ticket]
        if queue.waiting:
            queue.work_waiting -= ticket.work.seat_seconds
        else:
            # Not a subtraction: rounding errors of floats would accumulate over the life of the queue.
            queue.work_waiting = 0.0
            del self._with_waiting[queue]
        self.waiting -= 1
        self.seats_waiting -= ticket.seats
        ticket.flow.stats.waiting -= 1
        ticket.flow.stats.waiting_seats -= ticket.seats

    def _dispatch(self) -> None:
        """Start waiting requests while seats are free."""
        while self.waiting and self.seats_in_use < self.limit:
            queue = self._next_queue()
            ticket = queue.oldest()
            assert ticket is not None
            # Do not start a smaller request instead: a stream of small ones would starve the large one.
            if not self._accommodates(ticket.seats):
                ticket.flow.stats.no_accommodation += 1
                return
            self._dequeue(ticket)
            self._robin = queue.index
            self._run_of_queue(self._limit_final_seats(ticket), queue, self._synced)
            queue.bound()
            if ticket.on_dispatch is not None:
                ticket.on_dispatch()

    def _next_queue(self) -> RequestQueue:
        """Return the queue whose oldest request would finish first. Ties are broken in round-robin order."""
        first = self._robin + 1

        def virtual_finish(queue: RequestQueue) -> tuple[float, bool, int]:
            oldest = queue.oldest()
            assert oldest is not None
            # `queue.index < first` sorts the queues up to the last served one to the end: this is the round robin.
            return queue.next_dispatch_r + oldest.work.seat_seconds, queue.index < first, queue.index

        return min(self._with_waiting, key=virtual_finish)

    def _limit_final_seats(self, ticket: Ticket) -> Ticket:
        """Reduce the final seats of a ticket to the limit, and extend their time in proportion."""
        work = ticket.work
        if work.final_seats > self.limit:
            additional_s = work.final_seats * work.additional_s / self.limit
            ticket.work = Work(work.initial_seats, self.limit, additional_s)
            ticket.seats = ticket.work.seats
        return ticket

    def _accommodates(self, seats: int) -> bool:
        # More seats than the whole level has: the request runs alone, because otherwise it would never run.
        if seats > self.limit:
            return self.executing == 0
        return self.seats_in_use + seats <= self.limit

    def _run_of_queue(self, ticket: Ticket, queue: RequestQueue, now: float) -> None:
        queue.executing[ticket] = None
        queue.seats_in_use += ticket.seats
        queue.next_dispatch_r += ticket.work.seat_seconds
        self._run(ticket, now)

    def _run(self, ticket: Ticket, now: float) -> None:
        ticket.started = now
        ticket.executing = True
        seats, stats = ticket.seats, ticket.flow.stats
        self.executing += 1
        self.dispatched += 1
        self.seats_in_use += seats
        demand = self.seats_in_use + self.seats_waiting
        if demand > self._demand_max:
            self._demand_max = demand
        stats.executing += 1
        stats.executing_seats += seats
        stats.dispatched += 1
        stats.waits.observe(now - ticket.arrival)

    def _refuse(self, flow: Flow, reason: str) -> None:
        self.rejected += 1
        flow.stats.reject(reason)

    def _queue(self, index: int) -> RequestQueue:
        queue = self._queues.get(index)
        return RequestQueue(index) if queue is None else queue

    def _drop_if_unused(self, queue: RequestQueue) -> None:
        """Remove a queue in its initial state."""
        if queue.idle and not queue.seats_in_use:
            self._queues.pop(queue.index, None)
