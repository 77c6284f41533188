"""Conditions of Jobs: their creation, and the ones that mark a Job as finished."""

from __future__ import annotations

import datetime as dt
from typing import Final

from sampan.core.time import format_time
from sampan.kinds import batch_v1

COMPLETE: Final = "Complete"
FAILED: Final = "Failed"
FAILURE_TARGET: Final = "FailureTarget"
"""The Job will fail once its Pods have ended and are counted."""
SUCCESS_CRITERIA_MET: Final = "SuccessCriteriaMet"
"""The Job will be complete once its Pods have ended and are counted."""
SUSPENDED: Final = "Suspended"


def job_condition(
    type: str, reason: str, message: str, now: dt.datetime, *, status: str = "True"
) -> batch_v1.JobCondition:
    """Return a condition whose probe and transition are now."""
    return {
        "type": type,
        "status": status,
        "lastProbeTime": format_time(now),
        "lastTransitionTime": format_time(now),
        "reason": reason,
        "message": message,
    }


def true_condition(job: batch_v1.Job, type: str) -> batch_v1.JobCondition | None:
    """Return the condition of a type; None if it is absent or not true."""
    conditions = (job.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each["type"] == type and each["status"] == "True"), None)


def finished_condition(job: batch_v1.Job) -> batch_v1.JobCondition | None:
    """Return the condition of a finished Job, Complete or Failed; None if the Job is not finished."""
    conditions = (job.get("status") or {}).get("conditions") or ()
    terminal = (each for each in conditions if each.get("type") in (COMPLETE, FAILED) and each.get("status") == "True")
    return next(terminal, None)


def put_condition(status: batch_v1.JobStatus, condition: batch_v1.JobCondition) -> bool:
    """Set a condition. Return False if nothing changes, or if it would be a new condition with the status False.

    Source: pkg/controller/job/job_controller.go `ensureJobConditionStatus` (1.36).
    """
    conditions = list(status.get("conditions") or ())
    for position, existing in enumerate(conditions):
        if existing.get("type") == condition["type"]:
            if all(existing.get(field, "") == condition[field] for field in ("status", "reason", "message")):
                return False
            conditions[position] = condition
            break
    else:
        if condition["status"] == "False":
            return False
        conditions.append(condition)
    status["conditions"] = conditions
    return True
