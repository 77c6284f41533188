"""For how long how much of a level was in use."""

from sampan.server.flow_control.queues.queue_set import QueueSet
from sampan.server.flow_control.queues.usage import MEASURES, Utilization
from tests.server.flow_control.sets import Clock, flow, queue_set, start

SEATS = ("priority_level_seat_utilization", "executing")
DEMAND = ("demand_seats", "")
WAITING = ("priority_level_request_utilization", "waiting")
EXECUTING = ("priority_level_request_utilization", "executing")


def held(found: QueueSet, key: tuple[str, str]) -> dict[float, float]:
    """Seconds by bound, where there are any."""
    found.catch_up()
    _, *counts = found.usage.read()[key]
    bounds = (*MEASURES[key].bounds, float("inf"))
    return {bound: ns / 1e9 for bound, ns in zip(bounds, counts, strict=True) if ns}


def test_time_is_counted_by_the_part_of_the_seats_in_use() -> None:
    clock = Clock()
    found = queue_set(clock, limit=4)
    clock.advance(3)
    start(found, flow(0))
    clock.advance(2)
    assert held(found, SEATS) == {0: 3, 0.3: 2}
    assert held(found, EXECUTING) == {0: 3, 0.25: 2}
    assert found.usage.read()[SEATS][0] == 0.25 * 2e9


def test_waiting_requests_are_measured_by_queue_places_and_count_as_demand() -> None:
    clock = Clock()
    found = queue_set(clock, queues=4, limit=1, length=25)
    for _ in range(2):
        start(found, flow(0))
    clock.advance(5)
    assert held(found, WAITING) == {0.01: 5}
    assert held(found, DEMAND) == {2: 5}


def test_recorded_ratios_are_kept_when_the_seats_change() -> None:
    clock = Clock()
    found = queue_set(clock, limit=1)
    start(found, flow(0))
    clock.advance(1)
    found.configure(found.queuing, 2)
    clock.advance(1)
    assert held(found, SEATS) == {1: 1, 0.5: 1}


def test_memory_is_bounded_with_many_states() -> None:
    usage = Utilization()
    for seats in range(5000):
        usage.add((seats, 0, 0, 0), 1.0)
    assert sum(usage.read()[SEATS][1:]) == 5000e9
    assert len(usage._times) < 1025
