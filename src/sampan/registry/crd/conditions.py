"""Conditions of a CRD's status.

Source: apiextensions pkg/apis/apiextensions/v1/helpers.go (1.36).
"""

from typing import Any

from sampan.core.object import Object

Condition = dict[str, Any]

_NOT_COMPARED = ("lastTransitionTime", "observedGeneration")
"""Fields that are ignored when conditions are compared. Kubernetes omits `observedGeneration` by default; earlier
versions of this server wrote it.
"""


def find_condition(crd: Object, kind: str) -> Condition | None:
    """Return the condition of a type, or None."""
    for condition in (crd.get("status") or {}).get("conditions") or ():
        if condition.get("type") == kind:
            result: Condition = condition
            return result
    return None


def is_true(crd: Object, kind: str) -> bool:
    """Return True if the condition exists and has status True."""
    condition = find_condition(crd, kind)
    return condition is not None and condition.get("status") == "True"


def make_condition(kind: str, status: bool, reason: str, message: str) -> Condition:
    """Build a condition without its transition time."""
    return {"type": kind, "status": "True" if status else "False", "reason": reason, "message": message}


def set_condition(crd: Object, desired: Condition, now: str) -> bool:
    """Set a condition and return True if that changes anything. The transition time changes only with the status."""
    status = crd.setdefault("status", {})
    conditions = status["conditions"] = status.get("conditions") or []
    for index, old in enumerate(conditions):
        if old.get("type") != desired["type"]:
            continue
        same = {k: v for k, v in old.items() if k not in _NOT_COMPARED} == desired
        since = old.get("lastTransitionTime") or now if old.get("status") == desired["status"] else now
        conditions[index] = {**desired, "lastTransitionTime": since}
        return not same
    conditions.append({**desired, "lastTransitionTime": now})
    return True


def remove_condition(crd: Object, kind: str) -> bool:
    """Remove a condition and return True if it existed."""
    status = crd.get("status") or {}
    before = status.get("conditions") or []
    after = [condition for condition in before if condition.get("type") != kind]
    if len(after) == len(before):
        return False
    status["conditions"] = after
    return True
