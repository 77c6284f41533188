"""Order in which surplus Pods are deleted: the least useful first.

Source: kube-controller-manager pkg/controller/controller_utils.go `ActivePodsWithRanks` (1.36).
"""

import datetime as dt
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sampan.component_base.views import Pod
from sampan.core.numbers.integers import integer_or
from sampan.core.time import parse_time

DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}


def first_to_delete(pods: Sequence[Pod], related: Iterable[Pod], count: int, now: dt.datetime) -> list[Pod]:
    """Return the `count` Pods to delete first.

    `related`: the Pods of all sets of the same owner, including `pods`. Pods on nodes with many of these are deleted
    first.
    """
    if count >= len(pods):
        return list(pods)
    on_node = Counter(pod.spec.node_name for pod in related if pod.is_active)
    return sorted(pods, key=lambda pod: _rank(pod, on_node[pod.spec.node_name], now))[:count]


def _rank(pod: Pod, on_node: int, now: dt.datetime) -> tuple[Any, ...]:
    """Return the sort key of a Pod; the lowest is deleted first.

    The criteria in this order: unscheduled, not running, not ready, cheap to delete, on a crowded node, ready for a
    short time, often restarted, young. Times count by orders of magnitude, so Pods of about the same age are ordered by
    their UID, that is, at random.
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
    """Return the deletion cost in the annotation; 0 if it is missing or not a 32-bit integer."""
    return integer_or(pod.metadata.annotations.get(DELETION_COST, "0"), 0, low=-(2**31), high=2**31 - 1)


def _magnitude(timestamp: str | None, now: dt.datetime) -> float:
    """Return the base-2 logarithm of the age in ns, rounded down: -inf without a timestamp, -1 for a time to come."""
    if not timestamp:
        return -math.inf
    age_s = (now - parse_time(timestamp)).total_seconds()
    return float(math.floor(math.log2(age_s * 1e9))) if age_s > 0 else -1.0


def _restarts(pod: Pod) -> tuple[int, int]:
    """Return the highest restart count of a container, and that of a running sidecar."""
    containers = (status.restart_count for status in pod.status.container_statuses)
    sidecars = (status.restart_count for status in pod.status.init_container_statuses if status.started)
    return max(containers, default=0), max(sidecars, default=0)
