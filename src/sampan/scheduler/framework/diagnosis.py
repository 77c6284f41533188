"""What is told of a Pod that fits nowhere.

Source: pkg/scheduler/framework/types.go `FitError` (1.36).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(slots=True, eq=False)
class FitError(Exception):
    """No Node is left."""

    nodes: int
    """How many there are."""
    reasons: tuple[tuple[str, int], ...] = ()
    """Each reason with the number of Nodes that it holds for."""
    pre_filter: str = ""
    """The reason when no Node was looked at."""
    post_filter: str = ""
    plugins: frozenset[str] = frozenset()
    """Those that have rejected Nodes."""

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
        """The same, with what came of making room."""
        return replace(self, post_filter=message)


def counted(reasons: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """The same reasons of several plugins as one each."""
    total: Counter[str] = Counter()
    for reason, count in reasons:
        total[reason] += count
    return tuple(total.items())
