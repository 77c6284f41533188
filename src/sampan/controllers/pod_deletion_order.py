"""Which Pods go first when there are too many: those that would be missed least.

Source: kube-controller-manager pkg/controller/controller_utils.go `ActivePodsWithRanks` (1.36).
"""

import datetime as dt
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sampan.core.integers import integer_or
from sampan.core.time import parse_time
from sampan.loops.views import Pod

DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}


def first_to_delete(pods: Sequence[Pod], related: Iterable[Pod], count: int, now: dt.datetime) -> list[Pod]:
    """`count` of the Pods. `related` are Pods of the same kind, these among them: nodes that have many lose first."""
    if count >= len(pods):
        return list(pods)
    on_node = Counter(pod.spec.node_name for pod in related if pod.is_active)
    return sorted(pods, key=lambda pod: _rank(pod, on_node[pod.spec.node_name], now))[:count]


def _rank(pod: Pod, on_node: int, now: dt.datetime) -> tuple[Any, ...]:
    """Smaller goes first: unscheduled, not running, not ready, cheap, crowded, lately ready, often restarted, young.

    Times count by orders of magnitude, so that among Pods of about the same age chance decides (the uid).
    """
    ready = pod.condition("Ready")
    ready_since = ready.last_transition_time if ready is not None and ready.status == "True" else None
    return (
        bool(pod.spec.node_name),
        _PHASES.get(pod.status.phase, 0),
        pod.is_ready,
        deletion_cost(pod),
        -on_node,
        _magnitude(ready_since, now) if pod.is_ready else 0.0,
        *(-restarts for restarts in _restarts(pod)),
        _magnitude(pod.metadata.creation_timestamp, now),
        pod.metadata.uid,
    )


def deletion_cost(pod: Pod) -> int:
    """What the annotation says; 0 when it says nothing, or no whole number of 32 bits."""
    return integer_or(pod.metadata.annotations.get(DELETION_COST, "0"), 0, low=-(2**31), high=2**31 - 1)


def _magnitude(timestamp: str | None, now: dt.datetime) -> float:
    """The age's logarithm, in whole steps: -1 for what has no age yet."""
    if not timestamp:
        return -math.inf
    age_s = (now - parse_time(timestamp)).total_seconds()
    return float(math.floor(math.log2(age_s * 1e9))) if age_s > 0 else -1.0


def _restarts(pod: Pod) -> tuple[int, int]:
    """The most restarts of a container, and of an init container that goes on running."""
    containers = (status.restart_count for status in pod.status.container_statuses)
    sidecars = (status.restart_count for status in pod.status.init_container_statuses if status.started)
    return max(containers, default=0), max(sidecars, default=0)
