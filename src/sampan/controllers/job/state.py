"""`JobState`: a Job and its Pods as one reconciliation reads them, before any decision."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from sampan.component_base.views import Pod
from sampan.controllers.job.backoff import BackoffRecord, absolute_failure_count, failure_count, finished_at
from sampan.controllers.job.indexes import Indexes, completion_index
from sampan.controllers.job.policies import is_failed, pod_failure
from sampan.controllers.job.spec import JobSpec
from sampan.kinds import batch_v1

TRACKING_FINALIZER: Final = "batch.kubernetes.io/job-tracking"
"""Finalizer that keeps a Pod until its Job has counted it."""


def is_tracked(pod: Pod) -> bool:
    """Return True if the Job has not counted the Pod yet."""
    return TRACKING_FINALIZER in pod.metadata.finalizers


def is_terminating(pod: Pod) -> bool:
    """Return True if a Pod is being deleted and has not ended."""
    return pod.metadata.deletion_timestamp is not None and not pod.is_terminated


@dataclass(frozen=True, slots=True)
class JobState:
    """A Job, its Pods, and values that are derived from them. Create it with `observe`."""

    job: batch_v1.Job
    spec: JobSpec
    pods: Sequence[Pod]
    now: dt.datetime
    uncounted: frozenset[str]
    """UIDs of the ended Pods that the status lists but does not count yet."""
    active: Sequence[Pod]
    terminating: int
    succeeded: int
    """Number of succeeded Pods, or of succeeded indexes for an Indexed Job."""
    failed: int
    """Number of failed Pods, without those that the policy ignores."""
    counted_indexes: Indexes
    """Completed indexes in the status."""
    succeeded_indexes: Indexes
    """Completed indexes in the status, and indexes that have succeeded since then."""
    failed_indexes: Indexes | None
    """Indexes that will not be retried; None if failures are not counted per index."""
    last_failed: dict[int, Pod]
    """The failed Pod to replace, by index, if failures are counted per index.

    Its failure count is copied to its replacement, so it is kept until the replacement exists.
    """
    failures: BackoffRecord


def observe(job: batch_v1.Job, pods: Sequence[Pod], now: dt.datetime, failures: BackoffRecord) -> JobState:
    """Compute the state of a Job. `failures` are those of earlier reconciliations."""
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
    return JobState(
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
    """Return the Pods that must be counted and that the status does not list yet."""
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


def _failed_indexes(spec: JobSpec, status: batch_v1.JobStatus, pods: Sequence[Pod]) -> Indexes:
    """Return the indexes that will not be retried: those in the status and those failed since."""
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
