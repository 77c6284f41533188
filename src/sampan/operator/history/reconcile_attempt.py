"""`ReconcileAttempt`: a reconcile that has ended."""

from typing import NamedTuple

from sampan.operator.history.object_write import ObjectWrite
from sampan.operator.queue import NO_CAUSES, Causes


class ReconcileAttempt(NamedTuple):
    """Record of one attempt. Times are those of the event loop's clock."""

    reconcile_id: str
    started: float
    duration_s: float
    waited_s: float
    """Time that the request was due before a worker took it."""
    error: str = ""
    """Type and text of the exception, in one line; empty after a success."""
    next_s: float | None = None
    """Delay after which the reconcile, or its failure, has requested the next attempt; None: it has requested none."""
    attempt: int = 1
    """Number of the attempt since the last success."""
    causes: Causes = NO_CAUSES
    trace_id: str = ""
    writes: tuple[ObjectWrite, ...] = ()
    more_writes: int = 0
    """Number of further writes, which are not listed."""

    @property
    def result(self) -> str:
        """Return success, requeue-after, error, or terminal-error: one that is not retried."""
        if self.error:
            return "terminal-error" if self.next_s is None else "error"
        return "success" if self.next_s is None else "requeue-after"
