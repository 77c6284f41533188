"""An elephant does not starve mice: a simulation in virtual time."""

import heapq
import itertools
from collections.abc import Callable

from sampan.server.flow_control.queues.dealer import deal, hash_flow
from sampan.server.flow_control.queues.queue_set import QueueSet, Queuing
from sampan.server.flow_control.queues.ticket import Flow, FlowStats, Ticket, Work
from tests.server.flow_control.sets import Clock

SERVICE_S = 0.01
MICE = 10


class Simulation:
    """Ten seats; each request runs for 10 ms."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.set = QueueSet(Queuing(64, 6, 50), 10, self.clock, self.clock.later)
        self._count = itertools.count()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self.waited: dict[str, list[float]] = {}
        self.refused: dict[str, int] = {}

    def at(self, when: float, call: Callable[[], None]) -> None:
        heapq.heappush(self._events, (when, next(self._count), call))

    def request(self, user: str, then: Callable[[], None] = lambda: None) -> None:
        """Send a request now; `then` is called after the response."""
        of = Flow("schema", user, deal(hash_flow("schema", user), 64, 6), FlowStats())
        ticket = self.set.start(of, Work(1))
        if ticket is None:
            self.refused[user] = self.refused.get(user, 0) + 1
            self.at(self.clock.now + SERVICE_S, then)
        elif ticket.executing:
            self._run(ticket, then)
        else:
            waiting = ticket
            waiting.on_dispatch = lambda: self._run(waiting, then)

    def _run(self, ticket: Ticket, then: Callable[[], None]) -> None:
        self.waited.setdefault(ticket.flow.distinguisher, []).append(self.clock.now - ticket.arrival)

        def end() -> None:
            self.set.finish(ticket)
            then()

        self.at(self.clock.now + SERVICE_S, end)

    def run(self, seconds: float) -> None:
        end = self.clock.now + seconds
        while self._events and self._events[0][0] <= end:
            self.clock.now = max(self.clock.now, self._events[0][0])
            heapq.heappop(self._events)[2]()


def elephant_and_mice(elephant: int) -> Simulation:
    """Let the elephant keep many requests open. Each mouse sends its next request after a response."""
    found = Simulation()

    def again(user: str) -> Callable[[], None]:
        return lambda: found.request(user, again(user))

    for _ in range(elephant):
        found.at(found.clock.now, again("elephant"))
    for mouse in range(MICE // 2):
        found.at(found.clock.now, again(f"mouse-{mouse}"))
    found.run(3.0)
    return found


def test_mice_get_their_seats_next_to_an_elephant() -> None:
    found = elephant_and_mice(200)
    # A mouse with one request open at a time gets 100 answers a second when it never waits.
    responses = [len(found.waited[f"mouse-{mouse}"]) for mouse in range(MICE // 2)]
    assert min(responses) >= 200
    assert not any(found.refused.get(f"mouse-{mouse}") for mouse in range(MICE // 2))


def test_the_elephant_gets_what_the_mice_leave() -> None:
    found = elephant_and_mice(200)
    total = sum(len(waited) for waited in found.waited.values())
    assert total >= 0.95 * 3.0 * 10 / SERVICE_S
