"""`QueuedPod`: a Pod on its way through the queue."""

from dataclasses import dataclass, field

from sampan.scheduler.pod_info import PodInfo


@dataclass(slots=True, eq=False)
class QueuedPod:
    """A Pod and how it has fared. Times are those of the queue's clock."""

    pod: PodInfo
    added_at: float
    """When it came into the active queue last, or was found unschedulable."""
    first_at: float
    """When it came into the active queue for the first time."""
    began_s: float = 0.0
    """When its last turn began, by the clock of the metrics."""
    attempts: int = 0
    failures: int = 0
    """How often it fitted nowhere; how long it waits next."""
    errors: int = 0
    """How often in a row something failed that has nothing to do with the Pod."""
    plugins: frozenset[str] = field(default_factory=frozenset)
    """Those that have rejected it last."""
    gate: str = ""
    """Why it is held back."""

    @property
    def order(self) -> tuple[int, float]:
        """The higher its priority and the longer it waits, the sooner. Source: plugins/queuesort/priority_sort.go."""
        return -self.pod.priority, self.added_at
