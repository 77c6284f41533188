"""Conditions of a CRD's status. Source: apiextensions pkg/apis/apiextensions/v1/helpers.go (1.36)."""

from typing import Any

from sampan.core.object import Object

Condition = dict[str, Any]

_NOT_COMPARED = ("lastTransitionTime", "observedGeneration")
"""Kubernetes has the generation off by default; earlier versions of this server wrote it."""


def find_condition(crd: Object, kind: str) -> Condition | None:
    """The condition of a type."""
    for condition in (crd.get("status") or {}).get("conditions") or ():
        if condition.get("type") == kind:
            result: Condition = condition
            return result
    return None


def is_true(crd: Object, kind: str) -> bool:
    """Whether a condition is there and True."""
    condition = find_condition(crd, kind)
    return condition is not None and condition.get("status") == "True"


def make_condition(kind: str, status: bool, reason: str, message: str) -> Condition:
    """A condition without its transition time."""
    return {"type": kind, "status": "True" if status else "False", "reason": reason, "message": message}


def set_condition(crd: Object, wanted: Condition, now: str) -> bool:
    """Set a condition; its transition time moves only with its status. Tells whether anything changed."""
    status = crd.setdefault("status", {})
    conditions = status["conditions"] = status.get("conditions") or []
    for index, old in enumerate(conditions):
        if old.get("type") != wanted["type"]:
            continue
        same = {k: v for k, v in old.items() if k not in _NOT_COMPARED} == wanted
        since = old.get("lastTransitionTime") or now if old.get("status") == wanted["status"] else now
        conditions[index] = {**wanted, "lastTransitionTime": since}
        return not same
    conditions.append({**wanted, "lastTransitionTime": now})
    return True


def remove_condition(crd: Object, kind: str) -> bool:
    """Take a condition away. Tells whether it was there."""
    status = crd.get("status") or {}
    before = status.get("conditions") or []
    after = [condition for condition in before if condition.get("type") != kind]
    if len(after) == len(before):
        return False
    status["conditions"] = after
    return True
