"""Error message for a Pod that fits no Node.

Source: pkg/scheduler/framework/types.go `FitError` (1.36).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(slots=True, eq=False)
class FitError(Exception):
    """No Node is feasible for a Pod."""

    nodes: int
    """Number of all Nodes."""
    reasons: tuple[tuple[str, int], ...] = ()
    """Each reason with the number of Nodes it applies to."""
    pre_filter: str = ""
    """Reason, if the Pod was rejected before Nodes were filtered; otherwise empty."""
    post_filter: str = ""
    plugins: frozenset[str] = frozenset()
    """Names of the plugins that have rejected Nodes."""

    def __str__(self) -> str:
        if not self.nodes and not self.pre_filter:
            return "no nodes available to schedule pods"
        text = f"0/{self.nodes} nodes are available:"
        if self.pre_filter:
            text += f" {self.pre_filter}."
        elif self.reasons:
            text += f" {', '.join(sorted(f'{count} {reason}' for reason, count in self.reasons))}."
        return f"{text} {self.post_filter}" if self.post_filter else text

    def with_post_filter(self, message: str) -> "FitError":
        """Return a copy with the result of the preemption."""
        return replace(self, post_filter=message)


def counted(reasons: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Sum the counts of equal reasons."""
    total: Counter[str] = Counter()
    for reason, count in reasons:
        total[reason] += count
    return tuple(total.items())
