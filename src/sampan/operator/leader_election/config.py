"""`LeaderElectionConfig`: which lease, who asks for it, and how long everything takes."""

from dataclasses import dataclass
from typing import Final

JITTER_FACTOR: Final = 1.2
"""The wait between tries to become leader is `retry_period_s` and up to this share of it more."""


@dataclass(frozen=True, slots=True)
class LeaderElectionConfig:
    """Who wants to lead. All durations are measured on the own clock alone; those of others need not agree with it.

    Raises `ValueError` when the durations do not fit: the leader must give up before others may take over.
    Source: client-go tools/leaderelection/leaderelection.go (1.36).
    """

    name: str
    """The name of the Lease."""
    namespace: str
    identity: str
    """Unique among the candidates: the pod's name and something random, say."""
    lease_duration_s: float = 15.0
    """How long others wait after the last sign of life before they take over."""
    renew_deadline_s: float = 10.0
    """How long the leader tries to renew before it gives up."""
    retry_period_s: float = 2.0
    """The time between two tries."""
    release_on_exit: bool = True
    """Whether a leader that ends gives the lease back, so that another need not wait."""

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
