"""`QueueSet` decides as the naive model does, whatever happens."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.server.flow_control.queues.queue_set import QueueSet, Queuing
from sampan.server.flow_control.queues.ticket import Ticket
from tests.properties import examples
from tests.server.flow_control.model import Job, Model
from tests.server.flow_control.sets import Clock, flow, start

QUEUES = 4
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("start"), st.integers(0, QUEUES - 1), st.integers(1, 4)),
        st.tuples(st.just("finish"), st.integers(0, 20), st.just(0)),
        st.tuples(st.just("leave"), st.integers(0, 20), st.just(0)),
        # Powers of two, so that both sides add up to exactly the same.
        st.tuples(st.just("advance"), st.integers(1, 64), st.just(0)),
    ),
    max_size=60,
)


class Pair:
    """Both, side by side."""

    def __init__(self, limit: int) -> None:
        self.clock = Clock()
        self.real = QueueSet(Queuing(QUEUES, 1, 1000), limit, self.clock, self.clock.later)
        self.model = Model(QUEUES, limit)
        self.pairs: list[tuple[Ticket, Job]] = []

    def step(self, what: str, number: int, seats: int) -> None:
        if what == "start":
            self.pairs.append((start(self.real, flow(number), seats), self.model.start(number, seats)))
        elif what == "advance":
            self.clock.advance(number / 1024)
            self.model.advance(number / 1024)
        else:
            state = "running" if what == "finish" else "waiting"
            present = [pair for pair in self.pairs if pair[1].state == state]
            if not present:
                return
            ticket, job = present[number % len(present)]
            if what == "finish":
                self.real.finish(ticket)
                self.model.finish(job)
            else:
                self.real.leave(ticket, "time-out")
                self.model.leave(job)

    def check(self) -> None:
        for ticket, job in self.pairs:
            if job.state != "done":
                assert ticket.executing == (job.state == "running")
        assert self.real.executing == len(self.model.of("running"))
        assert self.real.seats_in_use == sum(job.seats for job in self.model.of("running"))
        assert self.real.waiting == len(self.model.of("waiting"))
        assert self.real.seats_waiting == sum(job.seats for job in self.model.of("waiting"))


@settings(max_examples=examples(200))
@given(limit=st.integers(1, 6), steps=STEPS)
def test_the_same_requests_run_and_wait(limit: int, steps: list[tuple[str, int, int]]) -> None:
    pair = Pair(limit)
    for step in steps:
        pair.step(*step)
        pair.check()


@settings(max_examples=examples(100))
@given(limit=st.integers(1, 6), steps=STEPS)
def test_every_request_leaves_the_queue_set(limit: int, steps: list[tuple[str, int, int]]) -> None:
    pair = Pair(limit)
    for step in steps:
        pair.step(*step)
    while not pair.real.idle:
        pair.step("finish", 0, 0)
    assert (pair.real.seats_in_use, pair.real.seats_waiting, pair.real.waiting) == (0, 0, 0)
    assert all(queue.idle and queue.work_waiting == 0 for queue in pair.real.queues())
