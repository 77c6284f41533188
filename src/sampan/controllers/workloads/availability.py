"""Availability of Pods: a Pod is available when it has been ready for the required time.

Source: kubernetes pkg/api/v1/pod/util.go `IsPodAvailable`; pkg/controller/controller_utils.go (1.36).
"""

import datetime as dt
from collections.abc import Iterable

from sampan.component_base.views import Pod
from sampan.core.time import add_seconds, parse_time


def is_available(pod: Pod, min_ready_s: int, now: dt.datetime) -> bool:
    """Return True if the Pod has been ready for at least `min_ready_s` seconds."""
    if not pod.is_ready:
        return False
    return min_ready_s == 0 or _wait_s(pod, min_ready_s, now) <= 0


def next_available_s(pods: Iterable[Pod], min_ready_s: int, now: dt.datetime) -> float | None:
    """Return the seconds until the next ready Pod becomes available, or None.

    None means that no Pod becomes available by waiting alone.
    """
    if not min_ready_s:
        return None
    waits = (_wait_s(pod, min_ready_s, now) for pod in pods if pod.is_ready)
    return min((wait for wait in waits if wait > 0), default=None)


def _wait_s(pod: Pod, min_ready_s: int, now: dt.datetime) -> float:
    ready = pod.condition("Ready")
    since = ready.last_transition_time if ready is not None else None
    if not since:
        return float(min_ready_s)
    return (add_seconds(parse_time(since), min_ready_s) - now).total_seconds()
