"""`Candidate`: a Node and the Pods that would have to go; and which of several is the best.

Source: pkg/scheduler/framework/preemption/preemption.go `pickOneNodeForPreemption` (1.36).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sampan.scheduler.pod_info import PodInfo

_PRIORITY_SHIFT: Final = 2**31
"""Makes all priorities positive, so that few Pods of a negative one are not worse than many."""
_NOT_STARTED: Final = "9999"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A Node that would have room."""

    node_name: str
    victims: tuple[PodInfo, ...]
    """At least one; the most important first."""
    violations: int
    """Victims that a disruption budget protects."""


def importance(pod: PodInfo) -> tuple[int, str]:
    """The order of Pods, the most important first: by priority, then by how long they run."""
    return -pod.priority, pod.started or _NOT_STARTED


def best_candidate(candidates: Sequence[Candidate]) -> Candidate:
    """The one that costs least; of several, that whose most important victims were started last."""
    least = min(map(_cost, candidates))
    return max((each for each in candidates if _cost(each) == least), key=_most_important_start)


def _cost(candidate: Candidate) -> tuple[int, int, int, int]:
    """Violations of budgets, the highest priority, the sum of the priorities, the number of victims."""
    victims = candidate.victims
    priorities = sum(pod.priority + _PRIORITY_SHIFT for pod in victims)
    return candidate.violations, victims[0].priority, priorities, len(victims)


def _most_important_start(candidate: Candidate) -> str:
    """When the oldest of the victims with the highest priority was started."""
    highest = candidate.victims[0].priority
    return min(pod.started or _NOT_STARTED for pod in candidate.victims if pod.priority == highest)
