"""The conditions of Jobs: what they are made of, and which ones say that a Job is finished."""

import datetime as dt
from typing import Final

from sampan.controllers.status import find_status_condition
from sampan.core.time import format_time
from sampan.resource import Object

COMPLETE: Final = "Complete"
FAILED: Final = "Failed"
FAILURE_TARGET: Final = "FailureTarget"
"""The Job will be failed when its Pods have ended and are counted."""
SUCCESS_CRITERIA_MET: Final = "SuccessCriteriaMet"
"""The Job will be complete when its Pods have ended and are counted."""
SUSPENDED: Final = "Suspended"


def job_condition(type: str, reason: str, message: str, now: dt.datetime, *, status: str = "True") -> Object:
    """A condition as Jobs have it, true unless said otherwise."""
    return {
        "type": type,
        "status": status,
        "lastProbeTime": format_time(now),
        "lastTransitionTime": format_time(now),
        "reason": reason,
        "message": message,
    }


def true_condition(job: Object, type: str) -> Object | None:
    """The condition of a type, if it is true."""
    condition = find_status_condition(job.get("status") or {}, type)
    return condition if condition is not None and condition.get("status") == "True" else None


def finished_condition(job: Object) -> Object | None:
    """The condition that says that a Job is finished, Complete or Failed; None when it is not."""
    conditions = (job.get("status") or {}).get("conditions") or ()
    terminal = (each for each in conditions if each.get("type") in (COMPLETE, FAILED) and each.get("status") == "True")
    return next(terminal, None)


def put_condition(status: Object, condition: Object) -> bool:
    """Put a condition in the place of that of its type; False when it is said already, or is false and was never told.

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
