"""Whether a Job is over, and why. Each function looks at what was `Seen` and decides; nothing is done here.

The order matters, since a Job may fulfil several criteria at once: what an earlier look has found out stays; then
failure; then success.
Source: kube-controller-manager pkg/controller/job/job_controller.go `syncJob` (1.36).
"""

import datetime as dt

from sampan.controllers.job.conditions import (
    FAILED,
    FAILURE_TARGET,
    SUCCESS_CRITERIA_MET,
    job_condition,
    true_condition,
)
from sampan.controllers.job.policies import job_failure_message, success_message
from sampan.controllers.job.seen import Seen
from sampan.core.time import add_seconds, parse_time
from sampan.resource import Object


def outcome(seen: Seen) -> Object | None:
    """The condition that the Pods end the Job with: `FailureTarget`, `SuccessCriteriaMet`, or `Failed` when the target
    was told before. None: it goes on."""
    return _known(seen) or _failure(seen) or _index_failure(seen) or _policy_success(seen)


def completion(seen: Seen, active: int) -> Object | None:
    """The condition of a Job whose Pods have done all that was wanted. `active`: the Pods that are left."""
    wanted = seen.spec.completions
    enough = seen.succeeded > 0 if wanted is None else seen.succeeded >= wanted
    if not enough or active:
        return None
    message = "Reached expected number of succeeded pods"
    return job_condition(SUCCESS_CRITERIA_MET, "CompletionsReached", message, seen.now)


def deadline_wait(seen: Seen) -> dt.timedelta | None:
    """The time that the Job may still be active; None when it may be for ever, zero or less when it was too long."""
    start = (seen.job.get("status") or {}).get("startTime")
    if seen.spec.active_deadline_s is None or seen.spec.suspend:
        return None
    begun = parse_time(start) if start else seen.now
    return add_seconds(begun, seen.spec.active_deadline_s) - seen.now


def _known(seen: Seen) -> Object | None:
    met = true_condition(seen.job, SUCCESS_CRITERIA_MET)
    if met is not None:
        return met
    target = true_condition(seen.job, FAILURE_TARGET)
    return None if target is None else failed(target, seen.now)


def failed(target: Object, now: dt.datetime) -> Object:
    """The final condition that follows from the target."""
    return job_condition(FAILED, target.get("reason", ""), target.get("message", ""), now)


def _failure(seen: Seen) -> Object | None:
    message = job_failure_message(seen.spec, seen.pods)
    if message:
        return job_condition(FAILURE_TARGET, "PodFailurePolicy", message, seen.now)
    if seen.failed > seen.spec.backoff_limit or _restarted_too_often(seen):
        message = "Job has reached the specified backoff limit"
        return job_condition(FAILURE_TARGET, "BackoffLimitExceeded", message, seen.now)
    left = deadline_wait(seen)
    if left is not None and left <= dt.timedelta():
        message = "Job was active longer than specified deadline"
        return job_condition(FAILURE_TARGET, "DeadlineExceeded", message, seen.now)
    return None


def _restarted_too_often(seen: Seen) -> bool:
    """Containers that are restarted in place count by their restarts."""
    if seen.spec.restart_policy != "OnFailure":
        return False
    running = (pod for pod in seen.pods if pod.status.phase in ("Running", "Pending"))
    restarts = sum(
        status.restart_count
        for pod in running
        for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)
    )
    return restarts >= max(seen.spec.backoff_limit, 1)


def _index_failure(seen: Seen) -> Object | None:
    if not seen.failed_indexes:
        return None
    spec, failed_count = seen.spec, len(seen.failed_indexes)
    if spec.max_failed_indexes is not None and failed_count > spec.max_failed_indexes:
        message = "Job has exceeded the specified maximal number of failed indexes"
        return job_condition(FAILURE_TARGET, "MaxFailedIndexesExceeded", message, seen.now)
    if failed_count + len(seen.succeeded_indexes) >= (spec.completions or 0):
        return job_condition(FAILURE_TARGET, "FailedIndexes", "Job has failed indexes", seen.now)
    return None


def _policy_success(seen: Seen) -> Object | None:
    message = success_message(seen.spec, seen.succeeded_indexes) if seen.spec.indexed else ""
    return job_condition(SUCCESS_CRITERIA_MET, "SuccessPolicy", message, seen.now) if message else None
