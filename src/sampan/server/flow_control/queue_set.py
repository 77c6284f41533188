"""`QueueSet`: the queues of one priority level, served fairly by virtual time.

Concurrency: none of its own; all is called on one event loop, and time comes from the caller's clock. The virtual time
R runs as fast as each active queue would be served if all were served at once; the queue whose oldest request would end
first by it is served next. R is a float: an event loop does not live long enough to exhaust its precision.
Source: apiserver pkg/util/flowcontrol/fairqueuing/queueset/{doc,queueset}.go (1.36).
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

from sampan.server.flow_control.demand import DemandMeter
from sampan.server.flow_control.ticket import Flow, Queue, Ticket, Work
from sampan.server.flow_control.usage import Usage

_LISTED_MAX: Final = 1024
SERVICE_S: Final = 0.003
"""How long a request is guessed to run, until it has."""

Later = Callable[[float, Callable[[], None]], object]
"""Calls back after so many seconds, as `loop.call_later` does."""


class Queuing(NamedTuple):
    """The shape of the queues. `queues` 0: who finds no seat is refused; -1: everybody finds a seat."""

    queues: int
    hand_size: int = 0
    queue_length_limit: int = 0


EXEMPT: Final = Queuing(-1)
REJECT: Final = Queuing(0)


class QueueSet:
    """See the module. Every ticket that `start` gives is handed back once: to `finish`, or to `leave` if it waits."""

    def __init__(self, queuing: Queuing, limit: int, clock: Callable[[], float], later: Later) -> None:
        self.queuing = queuing
        self.limit = limit
        """Seats."""
        self.executing = self.waiting = 0
        self.seats_in_use = self.seats_waiting = 0
        self.dispatched = self.rejected = self.timed_out = self.cancelled = 0
        self.queueless: dict[Ticket, None] = {}
        """Who runs without having been in a queue."""
        self.demand = DemandMeter(clock())
        self.usage = Usage()
        self.seats_measured = 1
        """What the use of seats is measured by where there is no limit."""
        self._clock = clock
        self._later = later
        self._queues: dict[int, Queue] = {}
        """The queues that are in use, by index. A level may have 10,000,000: a queue is made when it is dealt."""
        self._with_waiting: dict[Queue, None] = {}
        self._active = 0
        self._enqueues = 0
        self._robin = 0
        self._r = 0.0
        self._synced = clock()
        self.configure(queuing, limit)

    @property
    def idle(self) -> bool:
        """Whether nobody waits or runs."""
        return not self.waiting and not self.executing

    @property
    def r(self) -> float:
        """The virtual time of the last change, in seat-seconds."""
        return self._r

    def queues(self) -> Iterator[Queue]:
        """List the queues by index, for metrics and dumps; of those beyond a limit only the ones in use."""
        listed = min(self.queuing.queues, _LISTED_MAX)
        yield from map(self._dealt, range(listed))
        yield from (self._queues[index] for index in sorted(self._queues) if index >= listed)

    def configure(self, queuing: Queuing, limit: int) -> None:
        """Go on in another shape. Queues that are too many end when they are empty."""
        self._sync()
        self.queuing, self.limit = queuing, limit
        self.usage.scale(limit or self.seats_measured, max(queuing.queue_length_limit, 1) * max(queuing.queues, 1))
        self._dispatch()

    def catch_up(self) -> None:
        """Measure up to now, though nothing happens."""
        self._sync()

    def start(self, flow: Flow, work: Work) -> Ticket | None:
        """Take a seat, or a place in a queue (`Ticket.executing` says which); None: refused."""
        now = self._sync()
        ticket = Ticket(flow, work, now, self._r)
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
            queue.next_dispatch_r = self._r
            self._active += 1
        if not self.waiting and self.seats_in_use + ticket.seats <= self.limit:
            # Nobody is before it: it need not be put into the queue.
            self._robin = queue.index
            if queue.next_dispatch_r < self._r:
                queue.next_dispatch_r = self._r
            self._run_of_queue(ticket, queue, now)
            return ticket
        self._enqueue(ticket, queue)
        self._dispatch()
        return ticket

    def leave(self, ticket: Ticket, reason: str) -> None:
        """Give up waiting: `reason` is time-out or cancelled."""
        now = self._sync()
        self._dequeue(ticket)
        self._refuse(ticket.flow, reason)
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
        """The request has been answered; its seats are free, at once or after its additional time."""
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
            queue.next_dispatch_r -= ticket.work.initial_seats * (SERVICE_S - took)
            if queue.waiting:
                queue.bound()
            elif not queue.executing:
                self._active -= 1
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
        self.demand.level = self.seats_in_use + self.seats_waiting
        ticket.flow.stats.executing_seats -= ticket.seats
        if ticket.queue is not None:
            ticket.queue.seats_in_use -= ticket.seats
            self._drop_if_unused(ticket.queue)

    def _sync(self) -> float:
        """Bring the virtual time up to now. Gives the real one."""
        now = self._clock()
        passed = now - self._synced
        if passed > 0:
            self._synced = now
            self.demand.advance(passed)
            self.usage.add((self.seats_in_use, self.seats_waiting, self.executing, self.waiting), passed)
            if self._active:
                wanted = self.seats_in_use + self.seats_waiting
                self._r += passed * min(wanted, self.limit) / self._active
        return now

    def _choose(self, hand: tuple[int, ...]) -> Queue:
        """Of the hand, the queue with the least work; the first one to look at goes round."""
        size = len(hand)
        offset = self._enqueues % size
        self._enqueues += 1
        best = self._dealt(hand[offset])
        if self.waiting:
            for step in range(1, size):
                queue = self._dealt(hand[(offset + step) % size])
                if queue.work_waiting < best.work_waiting:
                    best = queue
        return best

    def _enqueue(self, ticket: Ticket, queue: Queue) -> None:
        queue.waiting[ticket] = None
        queue.work_waiting += ticket.work.seat_seconds
        self._with_waiting[queue] = None
        queue.bound()
        self.waiting += 1
        self.seats_waiting += ticket.seats
        self.demand.raise_to(self.seats_in_use + self.seats_waiting)
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
            queue.work_waiting = 0.0
            del self._with_waiting[queue]
        self.waiting -= 1
        self.seats_waiting -= ticket.seats
        self.demand.level = self.seats_in_use + self.seats_waiting
        ticket.flow.stats.waiting -= 1
        ticket.flow.stats.waiting_seats -= ticket.seats

    def _dispatch(self) -> None:
        """Let run whoever may."""
        while self.waiting and self.seats_in_use < self.limit:
            queue = self._next_queue()
            ticket = queue.oldest()
            assert ticket is not None
            if not self._accommodates(ticket.seats):
                ticket.flow.stats.no_accommodation += 1
                return
            self._dequeue(ticket)
            self._robin = queue.index
            self._run_of_queue(self._fitted(ticket), queue, self._synced)
            queue.bound()
            if ticket.on_dispatch is not None:
                ticket.on_dispatch()

    def _next_queue(self) -> Queue:
        """Whose oldest request would end first; among equals the next one in the round."""
        first = self._robin + 1

        def virtual_finish(queue: Queue) -> tuple[float, bool, int]:
            oldest = queue.oldest()
            assert oldest is not None
            return queue.next_dispatch_r + oldest.work.seat_seconds, queue.index < first, queue.index

        return min(self._with_waiting, key=virtual_finish)

    def _fitted(self, ticket: Ticket) -> Ticket:
        """With no more final seats than there are: it holds them for longer instead."""
        work = ticket.work
        if work.final_seats > self.limit:
            additional_s = work.final_seats * work.additional_s / self.limit
            ticket.work = Work(work.initial_seats, self.limit, additional_s)
            ticket.seats = ticket.work.seats
        return ticket

    def _accommodates(self, seats: int) -> bool:
        if seats > self.limit:
            return self.executing == 0
        return self.seats_in_use + seats <= self.limit

    def _run_of_queue(self, ticket: Ticket, queue: Queue, now: float) -> None:
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
        self.demand.raise_to(self.seats_in_use + self.seats_waiting)
        stats.executing += 1
        stats.executing_seats += seats
        stats.dispatched += 1
        stats.waits.observe(now - ticket.arrival)

    def _refuse(self, flow: Flow, reason: str) -> None:
        self.rejected += 1
        flow.stats.reject(reason)

    def _dealt(self, index: int) -> Queue:
        queue = self._queues.get(index)
        return Queue(index) if queue is None else queue

    def _drop_if_unused(self, queue: Queue) -> None:
        """Forget a queue that is as good as a new one."""
        if queue.idle and not queue.seats_in_use:
            self._queues.pop(queue.index, None)
