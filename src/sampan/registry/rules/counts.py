"""Counters in a status."""

from collections.abc import Iterable, Mapping
from typing import Any

from sampan.core.field import Path, invalid
from sampan.registry.rules.fields import NOT_NEGATIVE, Errors

MORE_THAN_REPLICAS = "cannot be greater than status.replicas"


def check_counts(status: Mapping[str, Any], names: Iterable[str], path: Path, errors: Errors) -> None:
    """Check that counters are not negative. They may be absent."""
    for name in names:
        value = status.get(name)
        if value is not None and value < 0:
            errors.append(invalid(path.child(name), value, NOT_NEGATIVE))


def check_at_most(status: Mapping[str, Any], name: str, bound: str, detail: str, *, path: Path, errors: Errors) -> None:
    """Check that the counter `name` does not exceed the counter `bound`."""
    value = status.get(name, 0)
    if value > status.get(bound, 0):
        errors.append(invalid(path.child(name), value, detail))


def check_collision_count(status: Mapping[str, Any], old: Mapping[str, Any], path: Path, errors: Errors) -> None:
    """Check that `collisionCount` does not decrease."""
    before, now = old.get("collisionCount"), status.get("collisionCount")
    if before is not None and (now is None or now < before):
        errors.append(invalid(path.child("collisionCount"), now or 0, "cannot be decremented"))
