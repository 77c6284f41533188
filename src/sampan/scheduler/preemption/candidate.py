"""`Candidate`: a Node and its victims, and the choice of the best candidate.

Source: pkg/scheduler/framework/preemption/preemption.go `pickOneNodeForPreemption` (1.36).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sampan.scheduler.pod_info import PodInfo

_PRIORITY_SHIFT: Final = 2**31
"""Offset that makes all priorities positive. Otherwise, more victims with a negative priority would have a lower cost
than fewer.
"""
_NOT_STARTED: Final = "9999"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A Node that would have room for the Pod."""

    node_name: str
    victims: tuple[PodInfo, ...]
    """Pods to evict: at least one, the most important first."""
    violations: int
    """Number of victims whose eviction violates a budget."""


def importance(pod: PodInfo) -> tuple[int, str]:
    """Sort key of Pods, most important first: by priority, then by start time."""
    return -pod.priority, pod.started or _NOT_STARTED


def best_candidate(candidates: Sequence[Candidate]) -> Candidate:
    """Return the cheapest candidate; among equals the one whose most important victims were started last."""
    least = min(map(_cost, candidates))
    return max((each for each in candidates if _cost(each) == least), key=_most_important_start)


def _cost(candidate: Candidate) -> tuple[int, int, int, int]:
    """Return budget violations, highest priority, sum of priorities and number of victims."""
    victims = candidate.victims
    priorities = sum(pod.priority + _PRIORITY_SHIFT for pod in victims)
    return candidate.violations, victims[0].priority, priorities, len(victims)


def _most_important_start(candidate: Candidate) -> str:
    """Return the start time of the oldest victim with the highest priority."""
    highest = candidate.victims[0].priority
    return min(pod.started or _NOT_STARTED for pod in candidate.victims if pod.priority == highest)
