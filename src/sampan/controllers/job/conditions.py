"""Conditions of Jobs: their creation, and the ones that mark a Job as finished."""

import datetime as dt
from typing import Final

from sampan.controllers.status import find_status_condition
from sampan.core.time import format_time
from sampan.resource import Object

COMPLETE: Final = "Complete"
FAILED: Final = "Failed"
FAILURE_TARGET: Final = "FailureTarget"
"""The Job will fail once its Pods have ended and are counted."""
SUCCESS_CRITERIA_MET: Final = "SuccessCriteriaMet"
"""The Job will be complete once its Pods have ended and are counted."""
SUSPENDED: Final = "Suspended"


def job_condition(type: str, reason: str, message: str, now: dt.datetime, *, status: str = "True") -> Object:
    """Return a condition of a Job."""
    return {
        "type": type,
        "status": status,
        "lastProbeTime": format_time(now),
        "lastTransitionTime": format_time(now),
        "reason": reason,
        "message": message,
    }


def true_condition(job: Object, type: str) -> Object | None:
    """Return the condition of a type, if it is true."""
    condition = find_status_condition(job.get("status") or {}, type)
    return condition if condition is not None and condition.get("status") == "True" else None


def finished_condition(job: Object) -> Object | None:
    """Return the condition of a finished Job, Complete or Failed; None if the Job is not finished."""
    conditions = (job.get("status") or {}).get("conditions") or ()
    terminal = (each for each in conditions if each.get("type") in (COMPLETE, FAILED) and each.get("status") == "True")
    return next(terminal, None)


def put_condition(status: Object, condition: Object) -> bool:
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
