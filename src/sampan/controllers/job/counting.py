"""Exactly-once counting of a Job's ended Pods, even if the process is killed at any point.

A Pod has a finalizer until it is counted. The steps are, in this order:

1. The status lists the Pod (`uncountedTerminatedPods`; an Indexed Job lists its index in `completedIndexes`).
2. The finalizer is removed.
3. The status counts the Pod and no longer lists it.

After a crash between two steps, the next reconciliation derives the last completed step from the status and the
finalizer:

- A listed Pod without finalizer must be counted.
- A listed Pod with finalizer is not listed again.
- A Pod that is not listed and has no finalizer has been counted.
Source: kube-controller-manager pkg/controller/job/job_controller.go `trackJobStatusAndRemoveFinalizers` (1.36).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from sampan.component_base.views import Pod
from sampan.controllers.job.conditions import SUCCESS_CRITERIA_MET
from sampan.controllers.job.indexes import Indexes, completion_index
from sampan.controllers.job.policies import is_failed, pod_failure
from sampan.controllers.job.state import JobState, is_tracked
from sampan.controllers.status import set_counts
from sampan.kinds import batch_v1

_Kind = Literal["succeeded", "failed"]
"""Lists of `uncountedTerminatedPods`, and the counts of the same name in the status."""
_KINDS: Final[tuple[_Kind, ...]] = get_args(_Kind)
NAMED_MAX: Final = 500
"""Highest number of Pods that a status lists, which keeps it below about 20 kB."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Pods whose finalizers can be removed once the status lists them."""

    release: list[Pod]
    full: bool
    """True if more Pods must be counted than the status may list at once."""


def name_terminated(state: JobState, status: batch_v1.JobStatus, end: batch_v1.JobCondition | None) -> Tally:
    """List the ended Pods in a status, which is changed in place. `end` is the condition that ends the Job, if any.

    If a Job fails, its Pods that have not ended count as failed. If it succeeds, they do not count.
    """
    uncounted = status.get("uncountedTerminatedPods") or {}
    named: dict[_Kind, list[str]] = {kind: list(uncounted[kind]) for kind in _KINDS if uncounted.get(kind)}
    indexes: set[int] = set()
    release: list[Pod] = []
    full = False
    for pod in sorted(state.pods, key=_by_index) if state.spec.indexed else state.pods:
        if not is_tracked(pod) or not _is_over(state, pod, end):
            continue
        release.append(pod)
        kind = _kind(state, pod, end)
        if kind == "succeeded" and state.spec.indexed:
            index = completion_index(pod)
            if index is not None and state.spec.has_index(index) and index not in state.counted_indexes:
                indexes.add(index)
        elif kind and pod.metadata.uid not in state.uncounted:
            named.setdefault(kind, []).append(pod.metadata.uid)
        full = len(indexes) + sum(map(len, named.values())) >= NAMED_MAX
        if full:
            break
    _write_named(status, named)
    if state.spec.indexed:
        _write_indexes(state, status, state.counted_indexes | Indexes.of(indexes))
    return Tally(release, full)


def count_named(status: batch_v1.JobStatus, tracked: Collection[str]) -> None:
    """Count the listed Pods whose UIDs are not in `tracked`, that is, whose finalizers are removed.

    The status changes in place.
    """
    named = status.get("uncountedTerminatedPods") or {}
    left: dict[_Kind, list[str]] = {}
    for kind in _KINDS:
        uids = named.get(kind) or []
        left[kind] = [uid for uid in uids if uid in tracked]
        count = (status.get(kind) or 0) + len(uids) - len(left[kind])
        if count:
            status[kind] = count
    _write_named(status, left)


def _write_named(status: batch_v1.JobStatus, named: Mapping[_Kind, list[str]]) -> None:
    written: batch_v1.UncountedTerminatedPods = {}
    for kind, uids in named.items():
        if uids:
            written[kind] = uids
    status["uncountedTerminatedPods"] = written


def _by_index(pod: Pod) -> int:
    index = completion_index(pod)
    return -1 if index is None else index


def _is_over(state: JobState, pod: Pod, end: batch_v1.JobCondition | None) -> bool:
    """Return True if the Pod can be counted and its finalizer removed."""
    if state.job["metadata"].get("deletionTimestamp") or end is not None or pod.status.phase == "Succeeded":
        return True
    if not is_failed(pod, state.spec):
        return False
    index = completion_index(pod)
    # The last failed Pod of an index is kept until its replacement exists, which takes over its failure count.
    waiting = state.last_failed.get(index) if index is not None else None
    return waiting is None or waiting.metadata.uid != pod.metadata.uid


def _kind(state: JobState, pod: Pod, end: batch_v1.JobCondition | None) -> _Kind | Literal[""]:
    """Return how a Pod counts: `succeeded`, `failed`, or "" for not at all."""
    spec = state.spec
    if pod.status.phase == "Succeeded":
        return "succeeded"
    fails = end is not None and end["type"] != SUCCESS_CRITERIA_MET
    if not is_failed(pod, spec) and not fails:
        return ""
    if spec.indexed and not spec.has_index(completion_index(pod)):
        return ""
    return "failed" if pod_failure(spec, pod).counted else ""


def _write_indexes(state: JobState, status: batch_v1.JobStatus, succeeded: Indexes) -> None:
    """Write the completed and failed indexes to the status, and the number of completed ones as `succeeded`."""
    set_counts(status, {"succeeded": len(succeeded), "completedIndexes": str(succeeded)})
    if state.failed_indexes is not None:
        status["failedIndexes"] = str(state.failed_indexes)
    else:
        status.pop("failedIndexes", None)
