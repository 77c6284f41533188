"""One priority level: running, waiting and refused requests."""

import itertools

import pytest

from sampan.server.flow_control.queues.queue_set import EXEMPT, REJECT, QueueSet, Queuing
from sampan.server.flow_control.queues.ticket import Work
from tests.server.flow_control.sets import Clock, flow, queue_set, start


def test_a_request_that_finds_a_seat_runs_at_once() -> None:
    ticket = start(queue_set(Clock()), flow(0))
    assert ticket.executing


def test_a_request_without_a_seat_waits_until_one_is_free() -> None:
    found = queue_set(Clock())
    first, second = start(found, flow(0)), start(found, flow(1))
    called: list[int] = []
    second.on_dispatch = lambda: called.append(1)
    assert not second.executing
    found.finish(first)
    assert second.executing
    assert called == [1]


def test_a_full_queue_refuses_while_no_seat_is_free() -> None:
    found = queue_set(Clock(), length=1)
    one = flow(0)
    start(found, one)
    start(found, one)
    assert found.start(one, Work(1)) is None
    assert one.stats.rejected == {"queue-full": 1}


def test_the_shortest_queue_of_the_hand_is_taken() -> None:
    found = queue_set(Clock(), hand=2)
    start(found, flow(2))
    start(found, flow(0))
    ticket = start(found, flow(0, 1))
    assert ticket.queue is not None
    assert ticket.queue.index == 1


def test_the_order_within_a_queue_is_that_of_arrival() -> None:
    found = queue_set(Clock())
    tickets = [start(found, flow(0)) for _ in range(4)]
    for before, after in itertools.pairwise(tickets):
        found.finish(before)
        assert after.executing


def test_queues_are_served_in_turn() -> None:
    clock = Clock()
    found = queue_set(clock)
    running = start(found, flow(3))
    waiting = [start(found, flow(queue), seats=1) for queue in (0, 0, 0, 1, 1, 1)]
    order = []
    while found.waiting:
        clock.advance(0.01)
        found.finish(running)
        running = next(ticket for ticket in waiting if ticket.executing and ticket not in order)
        assert running.queue is not None
        order.append(running)
    assert [ticket.queue.index for ticket in order if ticket.queue] == [0, 1, 0, 1, 0, 1]


def test_a_request_that_left_is_not_dispatched() -> None:
    found = queue_set(Clock())
    first, second, third = (start(found, flow(0)) for _ in range(3))
    found.leave(second, "time-out")
    found.finish(first)
    assert not second.executing
    assert third.executing
    assert second.flow.stats.rejected == {"time-out": 1}


def test_a_request_that_needs_more_seats_than_there_are_runs_alone() -> None:
    found = queue_set(Clock(), limit=4)
    small, big = start(found, flow(0)), start(found, flow(1), seats=10)
    assert not big.executing
    found.finish(small)
    assert big.executing
    assert not start(found, flow(2)).executing


def test_a_big_request_is_not_overtaken_forever() -> None:
    found = queue_set(Clock(), limit=2)
    small = [start(found, flow(0)) for _ in range(2)]
    big = start(found, flow(1), seats=2)
    later = start(found, flow(2), seats=2)
    found.finish(small[0])
    assert not later.executing
    found.finish(small[1])
    assert big.executing


def test_without_queues_a_request_without_a_seat_is_refused() -> None:
    clock = Clock()
    found = QueueSet(REJECT, 1, clock, clock.later)
    one = flow()
    start(found, one)
    assert found.start(one, Work(1)) is None
    assert one.stats.rejected == {"concurrency-limit": 1}


def test_all_requests_of_an_exempt_level_run() -> None:
    clock = Clock()
    found = QueueSet(EXEMPT, 0, clock, clock.later)
    assert all(start(found, flow()).executing for _ in range(100))


def test_final_seats_are_held_after_the_response() -> None:
    clock = Clock()
    found = queue_set(clock, limit=4)
    ticket = found.start(flow(0), Work(1, 4, 0.5))
    assert ticket is not None
    waiting = start(found, flow(1))
    found.finish(ticket)
    assert not waiting.executing
    clock.advance(0.5)
    assert waiting.executing
    assert found.seats_in_use == 1


def test_final_seats_beyond_the_limit_are_held_for_longer() -> None:
    clock = Clock()
    found = queue_set(clock, limit=2)
    ticket = found.start(flow(0), Work(1, 8, 0.1))
    assert ticket is not None
    assert ticket.seats == 2
    found.finish(ticket)
    clock.advance(0.3)
    assert found.seats_in_use == 2
    clock.advance(0.2)
    assert found.seats_in_use == 0


def test_additional_seats_dispatch_waiting_requests() -> None:
    found = queue_set(Clock())
    tickets = [start(found, flow(queue)) for queue in range(3)]
    found.configure(Queuing(4, 1, 50), 3)
    assert all(ticket.executing for ticket in tickets)


def test_surplus_queues_are_removed_when_they_are_empty() -> None:
    found = queue_set(Clock(), queues=4)
    first, second = start(found, flow(0)), start(found, flow(3))
    found.configure(Queuing(2, 1, 50), 1)
    assert [queue.index for queue in found.queues()] == [0, 1, 3]
    found.finish(first)
    found.finish(second)
    assert len(list(found.queues())) == 2


def test_ten_million_queues_exist_only_while_they_are_used() -> None:
    found = queue_set(Clock(), queues=10_000_000)
    ticket = start(found, flow(9_999_999))
    *listed, last = found.queues()
    assert (len(listed), last.index) == (1024, 9_999_999)
    found.finish(ticket)
    assert len(list(found.queues())) == 1024


def test_waiting_requests_are_served_after_queues_are_removed() -> None:
    found = queue_set(Clock())
    first, second = start(found, flow(0)), start(found, flow(1))
    found.configure(REJECT, 1)
    found.finish(first)
    assert second.executing


@pytest.mark.parametrize("limit", [1, 3])
def test_demand_includes_running_and_waiting_requests(limit: int) -> None:
    clock = Clock()
    found = queue_set(clock, limit=limit)
    tickets = [start(found, flow(0)) for _ in range(4)]
    clock.advance(10.0)
    for ticket in tickets:
        found.finish(ticket)
    observed = found.take_demand()
    assert (observed.maximum, observed.average, observed.deviation) == (4, 4.0, 0.0)


def test_demand_is_that_of_the_period_also_when_the_seats_change() -> None:
    clock = Clock()
    found = queue_set(clock, limit=4)
    tickets = [start(found, flow(0)) for _ in range(4)]
    clock.advance(5.0)
    found.configure(found.queuing, 3)
    for ticket in tickets[:2]:
        found.finish(ticket)
    clock.advance(5.0)
    found.catch_up()
    assert found.take_demand() == (10.0, 3.0, 1.0, 4)
    clock.advance(1.0)
    found.catch_up()
    assert found.take_demand() == (1.0, 2.0, 0.0, 2)
