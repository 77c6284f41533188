"""Backoff of a failed Pod's replacement: 10 s, 20 s, 40 s … up to 10 minutes, from the end of the last failed Pod.

Source: kube-controller-manager pkg/controller/job/backoff_utils.go (1.36).
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sampan.component_base.views import ContainerStatus, Pod
from sampan.core.numbers.integers import integer_or
from sampan.core.time import add_seconds, parse_time

FIRST: Final = dt.timedelta(seconds=10)
LONGEST: Final = dt.timedelta(minutes=10)
FAILURE_COUNT: Final = "batch.kubernetes.io/job-index-failure-count"
"""Annotation of a Pod: number of earlier Pods of its index that failed and counted."""
IGNORED_FAILURE_COUNT: Final = "batch.kubernetes.io/job-index-ignored-failure-count"
"""Annotation of a Pod: number of earlier Pods of its index that failed and were ignored by the policy."""

_INT32_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class BackoffRecord:
    """Number of a Job's Pods that failed since the last success, and the time of the last failure."""

    count: int = 0
    last: dt.datetime | None = None

    def after(self, succeeded: Iterable[Pod], failed: Iterable[Pod]) -> "BackoffRecord":
        """Return the failures after these Pods have ended too."""
        ends = sorted(map(finished_at, failed))
        success = max(map(finished_at, succeeded), default=None)
        if success is not None:
            later = [end for end in ends if end > success]
            return BackoffRecord(len(later), later[-1]) if later else BackoffRecord()
        return BackoffRecord(self.count + len(ends), ends[-1]) if ends else self

    def wait(self, now: dt.datetime) -> dt.timedelta:
        """Return the remaining backoff; zero if there is none."""
        if not self.count or self.last is None:
            return dt.timedelta()
        # The exponent is capped, because a few doublings already exceed the longest backoff.
        whole = min(FIRST * (1 << min(self.count - 1, 16)), LONGEST)
        return max(whole - (now - self.last), dt.timedelta())


def index_wait(last_failed: Pod | None, now: dt.datetime) -> dt.timedelta:
    """Return the remaining backoff for the replacement of an index's last failed Pod."""
    if last_failed is None:
        return dt.timedelta()
    return BackoffRecord(absolute_failure_count(last_failed) + 1, finished_at(last_failed)).wait(now)


def failure_count(pod: Pod) -> int:
    """Return the number of earlier Pods of the index that failed and counted."""
    return _count(pod, FAILURE_COUNT)


def ignored_failure_count(pod: Pod) -> int:
    """Return the number of earlier Pods of the index that failed and were ignored."""
    return _count(pod, IGNORED_FAILURE_COUNT)


def absolute_failure_count(pod: Pod) -> int:
    """Return the number of all earlier Pods of the index that failed."""
    return failure_count(pod) + ignored_failure_count(pod)


def _count(pod: Pod, annotation: str) -> int:
    return integer_or(pod.metadata.annotations.get(annotation, "0"), 0, low=0, high=_INT32_MAX)


def finished_at(pod: Pod) -> dt.datetime:
    """Return the time a Pod ended.

    That is the end of its last container, or else the time it became unready, its deletion began or it was created.
    """
    end = _last_end(pod)
    if end is not None:
        return end
    ready = pod.condition("Ready")
    if ready is not None and ready.status == "False" and ready.last_transition_time:
        return parse_time(ready.last_transition_time)
    metadata = pod.metadata
    if metadata.deletion_timestamp is not None:
        return add_seconds(parse_time(metadata.deletion_timestamp), -(metadata.deletion_grace_period_seconds or 0))
    return parse_time(metadata.creation_timestamp or "1970-01-01T00:00:00Z")


def _last_end(pod: Pod) -> dt.datetime | None:
    """Return the end of the last container or sidecar; None if some have not ended."""
    sidecars = {container.name for container in pod.spec.init_containers if container.restart_policy == "Always"}
    statuses: Sequence[ContainerStatus] = [
        *pod.status.container_statuses,
        *(status for status in pod.status.init_container_statuses if status.name in sidecars),
    ]
    ends = [str((status.state.get("terminated") or {}).get("finishedAt") or "") for status in statuses]
    return max(map(parse_time, ends)) if ends and all(ends) else None
