"""A queue set on a clock of the test's own."""

from collections.abc import Callable

from sampan.server.flow_control.queues.queue_set import QueueSet, Queuing
from sampan.server.flow_control.queues.ticket import Flow, FlowStats, Ticket, Work


class Clock:
    """Stands still until it is moved; calls back what was put off."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._due: list[tuple[float, Callable[[], None]]] = []

    def __call__(self) -> float:
        return self.now

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        """As `loop.call_later`."""
        self._due.append((self.now + seconds, call))

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + seconds
        while self._due and min(self._due, key=lambda entry: entry[0])[0] <= end:
            first = min(self._due, key=lambda entry: entry[0])
            self._due.remove(first)
            self.now = max(self.now, first[0])
            first[1]()
        self.now = end


def flow(*hand: int, name: str = "") -> Flow:
    """A flow that may use these queues."""
    return Flow("schema", name, hand, FlowStats())


def queue_set(clock: Clock, queues: int = 4, limit: int = 1, *, length: int = 50, hand: int = 1) -> QueueSet:
    """With so many queues and seats."""
    return QueueSet(Queuing(queues, hand, length), limit, clock, clock.later)


def start(found: QueueSet, of: Flow, seats: int = 1) -> Ticket:
    """Start a request that is not refused."""
    ticket = found.start(of, Work(seats))
    assert ticket is not None
    return ticket
