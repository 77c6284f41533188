"""Seats of responses whose clients do not read: other requests take them."""

import pytest

from sampan.server.flow_control.queues.queue_set import HeldSeat, QueueSet, Queuing
from sampan.server.flow_control.queues.ticket import ONE_SEAT, Flow, FlowStats, Ticket


class Level:
    """A level with one seat."""

    def __init__(self, queuing: Queuing) -> None:
        self.queues = QueueSet(queuing, 1, lambda: 0.0, lambda seconds, call: None)
        self.flow = Flow("schema", "jane", tuple(range(queuing.hand_size)), FlowStats())

    def start(self) -> Ticket | None:
        return self.queues.start(self.flow, ONE_SEAT)

    def hold(self) -> HeldSeat:
        ticket = self.start()
        assert ticket is not None
        assert ticket.executing
        return HeldSeat(self.queues, ticket)


@pytest.fixture(params=[Queuing(8, 4, 10), Queuing(0)], ids=["queues", "no queues"])
def level(request: pytest.FixtureRequest) -> Level:
    return Level(request.param)


def is_running(ticket: Ticket | None) -> bool:
    return ticket is not None and ticket.executing


def test_a_request_takes_the_seat_of_a_client_that_does_not_read(level: Level) -> None:
    level.hold().stall()
    assert is_running(level.start())
    assert level.queues.executing == level.queues.seats_in_use == 1


def test_a_client_that_reads_again_keeps_its_seat(level: Level) -> None:
    seat = level.hold()
    seat.stall()
    seat.resume()
    assert not is_running(level.start())


def test_a_request_that_waits_takes_the_seat_as_soon_as_the_client_stops_reading() -> None:
    level = Level(Queuing(8, 4, 10))
    seat = level.hold()
    waiting = level.start()
    assert not is_running(waiting)
    seat.stall()
    assert is_running(waiting)


def test_a_seat_that_was_taken_is_released_once(level: Level) -> None:
    seat = level.hold()
    seat.stall()
    taken = level.start()
    assert taken is not None
    seat.release()
    assert level.queues.executing == 1
    level.queues.finish(taken)
    assert (level.queues.executing, level.queues.seats_in_use, level.queues.stalled) == (0, 0, {})
