"""`Seen`: all that one look at a Job finds, before anything is decided."""

import datetime as dt
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from sampan.controllers.job.backoff import Failures, absolute_failure_count, failure_count, finished_at
from sampan.controllers.job.indexes import Indexes, completion_index
from sampan.controllers.job.policies import is_failed, pod_failure
from sampan.controllers.job.spec import JobSpec
from sampan.loops.views import Pod
from sampan.resource import Object

TRACKING_FINALIZER: Final = "batch.kubernetes.io/job-tracking"
"""Keeps a Pod there until its Job has counted it."""


def is_tracked(pod: Pod) -> bool:
    """Whether a Pod is still to be counted by its Job."""
    return TRACKING_FINALIZER in pod.metadata.finalizers


def is_terminating(pod: Pod) -> bool:
    """Whether a Pod is being deleted and has not ended."""
    return pod.metadata.deletion_timestamp is not None and not pod.is_terminated


@dataclass(frozen=True, slots=True)
class Seen:
    """A Job, its Pods, and what follows from them at once. Made by `look`."""

    job: Object
    spec: JobSpec
    pods: Sequence[Pod]
    now: dt.datetime
    uncounted: frozenset[str]
    """The uids of Pods that the status names as ended but does not count yet."""
    active: Sequence[Pod]
    terminating: int
    succeeded: int
    """Pods that have succeeded; of an Indexed Job indexes."""
    failed: int
    """Pods that have failed, without those that the policy ignores."""
    counted_indexes: Indexes
    """The indexes that the status has as completed."""
    succeeded_indexes: Indexes
    """Those, and what has succeeded since."""
    failed_indexes: Indexes | None
    """The indexes that have failed for good; None when failures are not counted for each index."""
    last_failed: dict[int, Pod]
    """By index, where failures are counted for each: the failed Pod that is to be replaced. Its count goes over to the
    new one, so that it stays until that is there."""
    failures: Failures


def look(job: Object, pods: Sequence[Pod], now: dt.datetime, failures: Failures) -> Seen:
    """Find out how a Job stands. `failures` are those that were known before."""
    spec = JobSpec.of(job)
    status = job.get("status") or {}
    uncounted = status.get("uncountedTerminatedPods") or {}
    named: tuple[list[str], list[str]] = (uncounted.get("succeeded") or [], uncounted.get("failed") or [])
    succeeded = _to_count(spec, pods, named[0], lambda pod: pod.status.phase == "Succeeded")
    failed = _to_count(spec, pods, named[1], lambda pod: is_failed(pod, spec))
    counting = failed if spec.failure_rules is None else [pod for pod in failed if pod_failure(spec, pod).counted]
    active = [pod for pod in pods if pod.is_active]
    before = Indexes.parse(status.get("completedIndexes") or "", spec.completions or 0)
    successes = before | _succeeded_indexes(spec, pods) if spec.indexed else before
    failed_indexes = _failed_indexes(spec, status, pods) if spec.indexed and spec.per_index else None
    last_failed = {} if failed_indexes is None else _last_failed(spec, pods, active, successes | failed_indexes)
    total = int(status.get("succeeded") or 0) + len(succeeded) + len(named[0])
    return Seen(
        job=job,
        spec=spec,
        pods=pods,
        now=now,
        uncounted=frozenset(named[0]) | frozenset(named[1]),
        active=active,
        terminating=sum(map(is_terminating, pods)),
        succeeded=len(successes) if spec.indexed else total,
        failed=int(status.get("failed") or 0) + len(counting) + len(named[1]),
        counted_indexes=before,
        succeeded_indexes=successes,
        failed_indexes=failed_indexes,
        last_failed=last_failed,
        failures=failures.after(succeeded, failed),
    )


def _to_count(spec: JobSpec, pods: Sequence[Pod], named: Collection[str], passes: Callable[[Pod], bool]) -> list[Pod]:
    """The Pods that are still to be counted, and are not named in the status yet."""
    return [
        pod
        for pod in pods
        if is_tracked(pod)
        and pod.metadata.uid not in named
        and (not spec.indexed or spec.has_index(completion_index(pod)))
        and passes(pod)
    ]


def _succeeded_indexes(spec: JobSpec, pods: Sequence[Pod]) -> Indexes:
    ended = [pod for pod in pods if pod.status.phase == "Succeeded" and is_tracked(pod)]
    return _indexes(spec, ended)


def _failed_indexes(spec: JobSpec, status: Object, pods: Sequence[Pod]) -> Indexes:
    """The indexes that have failed for good: those that the status tells, and what has failed since."""
    before = Indexes.parse(status.get("failedIndexes") or "", spec.completions or 0)
    return before | _indexes(spec, [pod for pod in pods if is_tracked(pod) and _fails_index(spec, pod)])


def _fails_index(spec: JobSpec, pod: Pod) -> bool:
    if not is_failed(pod, spec):
        return False
    failure = pod_failure(spec, pod)
    if failure.action == "FailIndex":
        return True
    return failure.counted and failure_count(pod) >= (spec.backoff_limit_per_index or 0)


def _indexes(spec: JobSpec, pods: Sequence[Pod]) -> Indexes:
    found = (completion_index(pod) for pod in pods)
    return Indexes.of(index for index in found if index is not None and spec.has_index(index))


def _last_failed(spec: JobSpec, pods: Sequence[Pod], active: Sequence[Pod], done: Indexes) -> dict[int, Pod]:
    settled = done | _indexes(spec, active)
    found: dict[int, Pod] = {}
    for pod in pods:
        index = completion_index(pod)
        if index is None or not spec.has_index(index) or index in settled:
            continue
        if not is_tracked(pod) or not is_failed(pod, spec):
            continue
        other = found.get(index)
        if other is None or (
            absolute_failure_count(pod) >= absolute_failure_count(other) and finished_at(pod) >= finished_at(other)
        ):
            found[index] = pod
    return found
