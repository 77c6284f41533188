"""Counting the Pods of a Job that have ended, each exactly once, whenever this process may be killed.

A Pod carries a finalizer until it is counted. First the status names it (`uncountedTerminatedPods`; an index is named
by `completedIndexes`), then the finalizer goes, then the status counts it and names it no longer. After a crash
anywhere in between the next look finds out from both how far it came: who is named and has no finalizer is to be
counted, who is named and has one is not named again, who is neither named nor has one is counted.
Source: kube-controller-manager pkg/controller/job/job_controller.go `trackJobStatusAndRemoveFinalizers` (1.36).
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sampan.controllers.job.conditions import SUCCESS_CRITERIA_MET
from sampan.controllers.job.indexes import Indexes, completion_index
from sampan.controllers.job.policies import is_failed, pod_failure
from sampan.controllers.job.seen import Seen, is_tracked
from sampan.loops.views import Pod
from sampan.resource import Object

NAMED_MAX: Final = 500
"""Pods that a status names at most, so that it stays below some 20 kB."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Pods whose finalizers are to go as soon as the status names them."""

    release: list[Pod]
    full: bool
    """Whether there are more to be counted than the status may name at once."""


def name_terminated(seen: Seen, status: Object, end: Object | None) -> Tally:
    """Put the Pods that have ended into a status (changed in place). `end`: the condition that ends the Job, if any.

    When a Job fails, its Pods that have not ended count as failed; when it succeeds they do not count.
    """
    named: dict[str, list[str]] = {}
    for kind, uids in (status.get("uncountedTerminatedPods") or {}).items():
        named[kind] = list(uids)
    indexes: set[int] = set()
    release: list[Pod] = []
    full = False
    for pod in sorted(seen.pods, key=_by_index) if seen.spec.indexed else seen.pods:
        if not is_tracked(pod) or not _is_over(seen, pod, end):
            continue
        release.append(pod)
        kind = _kind(seen, pod, end)
        if kind == "succeeded" and seen.spec.indexed:
            index = completion_index(pod)
            if index is not None and seen.spec.has_index(index) and index not in seen.counted_indexes:
                indexes.add(index)
        elif kind and pod.metadata.uid not in seen.uncounted:
            named.setdefault(kind, []).append(pod.metadata.uid)
        full = len(indexes) + sum(map(len, named.values())) >= NAMED_MAX
        if full:
            break
    status["uncountedTerminatedPods"] = {kind: uids for kind, uids in named.items() if uids}
    if seen.spec.indexed:
        _tell_indexes(seen, status, seen.counted_indexes | Indexes.of(indexes))
    return Tally(release, full)


def count_named(status: Object, tracked: Collection[str]) -> None:
    """Count the named Pods that are not `tracked` (uids of those with the finalizer) any more, in place."""
    named: dict[str, list[str]] = status.get("uncountedTerminatedPods") or {}
    left = {kind: [uid for uid in uids if uid in tracked] for kind, uids in named.items()}
    for kind, uids in named.items():
        count = int(status.get(kind) or 0) + len(uids) - len(left[kind])
        if count:
            status[kind] = count
    status["uncountedTerminatedPods"] = {kind: uids for kind, uids in left.items() if uids}


def _by_index(pod: Pod) -> int:
    index = completion_index(pod)
    return -1 if index is None else index


def _is_over(seen: Seen, pod: Pod, end: Object | None) -> bool:
    """Whether a Pod need not be held any longer."""
    if seen.job["metadata"].get("deletionTimestamp") or end is not None or pod.status.phase == "Succeeded":
        return True
    if not is_failed(pod, seen.spec):
        return False
    index = completion_index(pod)
    waiting = seen.last_failed.get(index) if index is not None else None
    return waiting is None or waiting.metadata.uid != pod.metadata.uid


def _kind(seen: Seen, pod: Pod, end: Object | None) -> str:
    """As what a Pod counts: `succeeded`, `failed`, or "" for nothing."""
    spec = seen.spec
    if pod.status.phase == "Succeeded":
        return "succeeded"
    fails = end is not None and end["type"] != SUCCESS_CRITERIA_MET
    if not is_failed(pod, spec) and not fails:
        return ""
    if spec.indexed and not spec.has_index(completion_index(pod)):
        return ""
    return "failed" if pod_failure(spec, pod).counted else ""


def _tell_indexes(seen: Seen, status: Object, succeeded: Indexes) -> None:
    """Write the indexes as a status has them; an Indexed Job counts successes by them."""
    _set(status, "succeeded", len(succeeded))
    _set(status, "completedIndexes", str(succeeded))
    if seen.failed_indexes is not None:
        status["failedIndexes"] = str(seen.failed_indexes)
    else:
        status.pop("failedIndexes", None)


def _set(status: Object, name: str, value: object) -> None:
    """Counts of nothing are left out."""
    if value:
        status[name] = value
    else:
        status.pop(name, None)
