"""Options that limit the number of concurrent requests."""

from dataclasses import dataclass

from sampan.core.settings import setting
from sampan.core.settings.kinds import POSITIVE_DURATION, integer

_REQUESTS = integer(0, metavar="REQUESTS")


@dataclass(frozen=True, slots=True)
class FlowControlSettings:
    """Limits of concurrent requests."""

    max_requests_inflight: int = setting(
        400,
        "Reading requests that run at once; 0: no limit. With priority and fairness, reading and changing requests "
        "share the sum of both limits.",
        kind=_REQUESTS,
    )
    max_mutating_requests_inflight: int = setting(
        200, "Changing requests that run at once; 0: no limit.", kind=_REQUESTS
    )
    request_timeout_s: float = setting(
        60.0,
        "Timeout of requests other than watches and streams. A request waits for a seat at most a quarter of it.",
        kind=POSITIVE_DURATION,
        default="60s",
    )
    priority_and_fairness: bool = setting(
        True,
        "Let FlowSchemas and PriorityLevelConfigurations decide which requests run and which wait. If false, requests "
        "beyond the two limits are refused.",
        name="enable-priority-and-fairness",
    )

    @property
    def seats(self) -> int:
        """Total number of seats of the priority levels."""
        return self.max_requests_inflight + self.max_mutating_requests_inflight
