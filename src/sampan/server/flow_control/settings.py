"""What flow control is told."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FlowControlSettings:
    """How many requests run at once, and who decides."""

    priority_and_fairness: bool = True
    """Off: the two limits hold for themselves, and what is beyond them is refused."""
    max_requests_inflight: int = 400
    max_mutating_requests_inflight: int = 200
    """Requests that run at once. With priority and fairness their sum is the number of seats; without, 0: no limit."""
    request_timeout_s: float = 60.0
    """The longest that a request may take; it waits a quarter of its time at most."""

    @property
    def seats(self) -> int:
        """What the priority levels share."""
        return self.max_requests_inflight + self.max_mutating_requests_inflight
