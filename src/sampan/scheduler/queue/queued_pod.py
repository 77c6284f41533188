"""`QueuedPod`: a Pod in the scheduling queue."""

from dataclasses import dataclass, field

from sampan.scheduler.pod_info import PodInfo


@dataclass(slots=True, eq=False)
class QueuedPod:
    """A Pod with the state of its attempts. Times are those of the queue's clock."""

    pod: PodInfo
    added_at: float
    """Time when the Pod was last added to the active queue, or found unschedulable."""
    first_at: float
    """Time when the Pod was first added to the active queue."""
    active_at: float = 0.0
    """Time when the Pod was last added to the active queue, or taken from backoff early."""
    event: str = ""
    """Event for which the Pod was last queued."""
    began_s: float = 0.0
    """Start of the last attempt, by the clock of the metrics."""
    attempts: int = 0
    failures: int = 0
    """Number of attempts in which no Node was feasible. It determines the backoff."""
    errors: int = 0
    """Number of consecutive errors that are unrelated to the Pod."""
    plugins: frozenset[str] = field(default_factory=frozenset)
    """Plugins that rejected the Pod in the last attempt."""
    gate: str = ""
    """Reason why the Pod is gated; empty if it is not."""

    @property
    def order(self) -> tuple[int, float]:
        """Sort key: by priority, then by waiting time. Source: plugins/queuesort/priority_sort.go."""
        return -self.pod.priority, self.added_at
