"""Outcome of a Job, as pure functions of its `JobState`.

The order matters, because a Job may meet several criteria at once: first a recorded decision, then failure, then
success.
Source: kube-controller-manager pkg/controller/job/job_controller.go `syncJob` (1.36).
"""

from __future__ import annotations

import datetime as dt

from sampan.controllers.job.conditions import (
    FAILED,
    FAILURE_TARGET,
    SUCCESS_CRITERIA_MET,
    job_condition,
    true_condition,
)
from sampan.controllers.job.policies import job_failure_message, success_message
from sampan.controllers.job.state import JobState
from sampan.core.time import add_seconds, parse_time
from sampan.kinds import batch_v1


def outcome(state: JobState) -> batch_v1.JobCondition | None:
    """Return the condition that ends the Job, or None if the Job continues.

    It is `FailureTarget` or `SuccessCriteriaMet`, or `Failed` if the target is already in the status.
    """
    return _recorded(state) or _failure(state) or _index_failure(state) or _policy_success(state)


def completion(state: JobState, active: int) -> batch_v1.JobCondition | None:
    """Return the condition of a Job with enough successes. `active` is the number of Pods that still run."""
    desired = state.spec.completions
    enough = state.succeeded > 0 if desired is None else state.succeeded >= desired
    if not enough or active:
        return None
    message = "Reached expected number of succeeded pods"
    return job_condition(SUCCESS_CRITERIA_MET, "CompletionsReached", message, state.now)


def deadline_wait(state: JobState) -> dt.timedelta | None:
    """Return the time left until the active deadline, zero or less after it; None if there is none."""
    start = (state.job.get("status") or {}).get("startTime")
    if state.spec.active_deadline_s is None or state.spec.suspend:
        return None
    begun = parse_time(start) if start else state.now
    return add_seconds(begun, state.spec.active_deadline_s) - state.now


def _recorded(state: JobState) -> batch_v1.JobCondition | None:
    met = true_condition(state.job, SUCCESS_CRITERIA_MET)
    if met is not None:
        return met
    target = true_condition(state.job, FAILURE_TARGET)
    return None if target is None else failed(target, state.now)


def failed(target: batch_v1.JobCondition, now: dt.datetime) -> batch_v1.JobCondition:
    """Return the final condition for a failure target."""
    return job_condition(FAILED, target.get("reason", ""), target.get("message", ""), now)


def _failure(state: JobState) -> batch_v1.JobCondition | None:
    message = job_failure_message(state.spec, state.pods)
    if message:
        return job_condition(FAILURE_TARGET, "PodFailurePolicy", message, state.now)
    if state.failed > state.spec.backoff_limit or _restarted_too_often(state):
        message = "Job has reached the specified backoff limit"
        return job_condition(FAILURE_TARGET, "BackoffLimitExceeded", message, state.now)
    left = deadline_wait(state)
    if left is not None and left <= dt.timedelta():
        message = "Job was active longer than specified deadline"
        return job_condition(FAILURE_TARGET, "DeadlineExceeded", message, state.now)
    return None


def _restarted_too_often(state: JobState) -> bool:
    """Return True if in-place restarts of containers have reached the backoff limit."""
    if state.spec.restart_policy != "OnFailure":
        return False
    running = (pod for pod in state.pods if pod.status.phase in ("Running", "Pending"))
    restarts = sum(
        status.restart_count
        for pod in running
        for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)
    )
    return restarts >= max(state.spec.backoff_limit, 1)


def _index_failure(state: JobState) -> batch_v1.JobCondition | None:
    if not state.failed_indexes:
        return None
    spec, failed_count = state.spec, len(state.failed_indexes)
    if spec.max_failed_indexes is not None and failed_count > spec.max_failed_indexes:
        message = "Job has exceeded the specified maximal number of failed indexes"
        return job_condition(FAILURE_TARGET, "MaxFailedIndexesExceeded", message, state.now)
    if failed_count + len(state.succeeded_indexes) >= (spec.completions or 0):
        return job_condition(FAILURE_TARGET, "FailedIndexes", "Job has failed indexes", state.now)
    return None


def _policy_success(state: JobState) -> batch_v1.JobCondition | None:
    message = success_message(state.spec, state.succeeded_indexes) if state.spec.indexed else ""
    return job_condition(SUCCESS_CRITERIA_MET, "SuccessPolicy", message, state.now) if message else None
