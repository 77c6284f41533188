"""`LeaderElectionConfig`: the lease, the candidate, and the durations."""

from dataclasses import dataclass
from typing import Final

JITTER_FACTOR: Final = 1.2
"""Upper limit of the random delay between attempts to lead, as a multiple of `retry_period_s`."""


@dataclass(frozen=True, slots=True)
class LeaderElectionConfig:
    """Settings of a candidate. Durations are measured with the local clock; clocks of other candidates need not agree.

    Raises `ValueError` if the durations are inconsistent: the leader must stop before another candidate may take over.

    Source: client-go tools/leaderelection/leaderelection.go (1.36).
    """

    name: str
    """Name of the Lease."""
    namespace: str
    identity: str
    """Unique among the candidates, for example the pod's name and a random suffix."""
    lease_duration_s: float = 15.0
    """Time after the last renewal until another candidate may take over."""
    renew_deadline_s: float = 10.0
    """Time during which the leader tries to renew before it stops."""
    retry_period_s: float = 2.0
    """Time between two attempts."""
    release_on_exit: bool = True
    """Release the lease on exit, so that another candidate need not wait."""

    def __post_init__(self) -> None:
        if not self.name or not self.namespace or not self.identity:
            raise ValueError("a leader election needs a name, a namespace and an identity")
        if self.lease_duration_s < 1:
            raise ValueError("lease_duration_s must be at least 1: a Lease counts whole seconds")
        if self.retry_period_s <= 0:
            raise ValueError("retry_period_s must be greater than zero")
        if self.lease_duration_s <= self.renew_deadline_s:
            raise ValueError("lease_duration_s must be greater than renew_deadline_s")
        if self.renew_deadline_s <= JITTER_FACTOR * self.retry_period_s:
            raise ValueError(f"renew_deadline_s must be greater than retry_period_s * {JITTER_FACTOR}")
