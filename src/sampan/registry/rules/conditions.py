"""Conditions of the common form (metav1.Condition).

Source: apimachinery pkg/apis/meta/v1/validation/validation.go (1.36).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sampan.core.field import Path, duplicate, invalid, required, too_long
from sampan.core.validation.names import regex_error
from sampan.registry.rules.fields import Errors, check_qualified_name, not_supported

_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_is_reason = re.compile(_REASON).fullmatch
_REASON_ERROR = regex_error(
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_'",
    _REASON,
    "my_name",
    "MY_NAME",
    "MyName",
    "ReasonA,ReasonB",
    "ReasonA:ReasonB",
)
_REASON_LENGTH_MAX = 1024
_MESSAGE_LENGTH_MAX = 32 * 1024


def _check_condition(condition: Mapping[str, Any], path: Path, errors: Errors) -> None:
    check_qualified_name(condition.get("type", ""), path.child("type"), errors)
    status = condition.get("status", "")
    if status not in ("True", "False", "Unknown"):
        errors.append(not_supported(path.child("status"), status, ("False", "True", "Unknown")))
    generation = condition.get("observedGeneration", 0)
    if generation < 0:
        errors.append(invalid(path.child("observedGeneration"), generation, "must be greater than or equal to zero"))
    if not condition.get("lastTransitionTime"):
        errors.append(required(path.child("lastTransitionTime")))
    reason = condition.get("reason", "")
    if not reason:
        errors.append(required(path.child("reason")))
    else:
        if not _is_reason(reason):
            errors.append(invalid(path.child("reason"), reason, _REASON_ERROR))
        if len(reason) > _REASON_LENGTH_MAX:
            errors.append(too_long(path.child("reason"), "", _REASON_LENGTH_MAX))
    if len(condition.get("message", "")) > _MESSAGE_LENGTH_MAX:
        errors.append(too_long(path.child("message"), "", _MESSAGE_LENGTH_MAX))


def check_conditions(conditions: Iterable[Mapping[str, Any]], path: Path, errors: Errors) -> None:
    """Check conditions: unique types and valid fields."""
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        kind = condition.get("type", "")
        if kind in seen:
            errors.append(duplicate(path.index(index).child("type"), kind))
        seen.add(kind)
        _check_condition(condition, path.index(index), errors)
