"""Conditions in an object's status: their state, the observed generation, and the time of the last transition.

The functions work on a list of `Condition`s, of other structs with the same fields, or of dicts.

Source: apimachinery pkg/api/meta/conditions.go, pkg/apis/meta/v1/types.go `Condition` (1.36).
"""

from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec

from sampan.core.time import Clock, SystemClock, timestamp

C = TypeVar("C")

ConditionStatus = Literal["True", "False", "Unknown"]

_CLOCK: Final = SystemClock()
_OWN_FIELDS: Final = ("status", "reason", "message", "observed_generation")
_NAMES: Final = {"observed_generation": "observedGeneration", "last_transition_time": "lastTransitionTime"}
_REASON: Final = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"


class Condition(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """One condition, as `metav1.Condition`. Declared kinds may have a `list_map("type")` of it."""

    type: Annotated[str, msgspec.Meta(max_length=316)]
    status: ConditionStatus
    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=1024, pattern=_REASON)]
    """Reason in one word, for programs. Example: `NetworkCreated`."""
    message: Annotated[str, msgspec.Meta(max_length=32768)] = ""
    """Reason in a sentence, for people."""
    last_transition_time: str = ""
    """Time of the last change of the status."""
    observed_generation: int = 0
    """Generation of the object that was observed."""


def find_condition(conditions: list[C], type: str) -> C | None:
    """Return the condition of a type, or None."""
    return next((condition for condition in conditions if _get(condition, "type") == type), None)


def set_condition(conditions: list[C], new: C, clock: Clock | None = None) -> bool:
    """Add a condition, or replace the one of its type. Return True if anything changed.

    The transition time changes only with the status. It is that of `new`, or the current time if `new` has none: that
    of `clock`, by default of the event loop, so that tests in virtual time get virtual times.
    """
    existing = find_condition(conditions, _get(new, "type"))
    if existing is None:
        if not _get(new, "last_transition_time"):
            _set(new, "last_transition_time", timestamp(clock or _CLOCK))
        conditions.append(new)
        return True
    changed = [field for field in _OWN_FIELDS if _get(existing, field) != _get(new, field)]
    if "status" in changed:
        _set(existing, "last_transition_time", _get(new, "last_transition_time") or timestamp(clock or _CLOCK))
    for field in changed:
        _set(existing, field, _get(new, field))
    return bool(changed)


def remove_condition(conditions: list[C], type: str) -> bool:
    """Remove the condition of a type. Return False if there is no such condition."""
    existing = find_condition(conditions, type)
    if existing is None:
        return False
    conditions.remove(existing)
    return True


def is_true(conditions: list[C], type: str, *, generation: int = 0) -> bool:
    """Return True if a condition is true; with `generation`, only if that generation or a later one was observed."""
    return _is(conditions, type, "True", generation)


def is_false(conditions: list[C], type: str, *, generation: int = 0) -> bool:
    """Return True if a condition exists and is false; `generation` as in `is_true`."""
    return _is(conditions, type, "False", generation)


def _is(conditions: list[C], type: str, status: ConditionStatus, generation: int) -> bool:
    found = find_condition(conditions, type)
    if found is None or _get(found, "status") != status:
        return False
    return int(_get(found, "observed_generation")) >= generation


def _get(condition: Any, field: str) -> Any:
    if not isinstance(condition, dict):
        return getattr(condition, field)
    return condition.get(_NAMES.get(field, field)) or (0 if field == "observed_generation" else "")


def _set(condition: Any, field: str, value: Any) -> None:
    if not isinstance(condition, dict):
        setattr(condition, field, value)
    elif value or field == "message":
        condition[_NAMES.get(field, field)] = value
    else:
        condition.pop(_NAMES.get(field, field), None)
