"""`LeaderElectionConfig`: the lease, the candidate, and the durations."""

import os
import socket
import uuid
from dataclasses import dataclass, field
from typing import Final

JITTER_FACTOR: Final = 1.2
"""Upper limit of the random delay between attempts to lead, as a multiple of `retry_period_s`."""


def unique_identity() -> str:
    """Return an identity that no other process has: `host_1234_8f1c…`."""
    return f"{socket.gethostname()}_{os.getpid()}_{uuid.uuid4()}"


@dataclass(frozen=True, slots=True)
class LeaderElectionConfig:
    """Settings of a candidate. Durations are measured with the local clock; clocks of other candidates need not agree.

    Raises `ValueError` if the durations are inconsistent: the leader must stop before another candidate may take over.

    Source: client-go tools/leaderelection/leaderelection.go (1.36).
    """

    name: str
    """Name of the Lease."""
    namespace: str
    identity: str = field(default_factory=unique_identity)
    """Unique among the candidates: two processes with the same identity both lead. The default has the name of the
    host, which is that of the Pod in a cluster, the process id and a random suffix.
    """
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
