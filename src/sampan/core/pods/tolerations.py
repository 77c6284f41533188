"""Taints and tolerations: which taints of Nodes a Pod tolerates.

Source: component-helpers scheduling/corev1/helpers.go; pkg/apis/core/v1/helper `AddOrUpdateTolerationInPodSpec`;
pkg/util/tolerations/tolerations.go (1.36).
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import msgspec

from sampan.core.numbers.integers import parse_integer

NO_SCHEDULE: Final = "NoSchedule"
NO_EXECUTE: Final = "NoExecute"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
HARD: Final = (NO_SCHEDULE, NO_EXECUTE)
"""Effects that keep Pods off a Node."""


class Toleration(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """Taints that a Pod tolerates; `toleration_seconds` limits for how long."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class Taint(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """Mark on a Node that keeps Pods off it."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Report whether a toleration matches a taint. The default operator is Equal."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Lt" | "Gt":
            return _compares(toleration, taint)
    return False


def untolerated(
    tolerations: Collection[Toleration], taints: Iterable[Taint], effects: Collection[str] = HARD
) -> Taint | None:
    """Return the first taint with one of the effects that no toleration matches."""
    for taint in taints:
        if taint.effect in effects and not any(tolerates(toleration, taint) for toleration in tolerations):
            return taint
    return None


def with_toleration(tolerations: Iterable[Toleration], added: Toleration) -> list[Toleration]:
    """Return the tolerations with one more. It replaces tolerations that differ from it only in the time."""
    found = list(tolerations)
    same = [position for position, each in enumerate(found) if _without_time(each) == _without_time(added)]
    for position in same:
        found[position] = added
    return found if same else [*found, added]


def merge_tolerations(tolerations: Sequence[Toleration]) -> list[Toleration]:
    """Remove tolerations that another one covers, and duplicates."""
    merged: list[Toleration] = []
    for position, each in enumerate(tolerations):
        later = tolerations[position + 1 :]
        needless = any(covers(other, each) for other in merged)
        if not needless and not any(other != each and covers(other, each) for other in later):
            merged.append(each)
    return merged


def covers(wide: Toleration, narrow: Toleration) -> bool:
    """Report whether `wide` tolerates everything that `narrow` does, and for as long."""
    if wide == narrow:
        return True
    if narrow.key != wide.key and (wide.key or wide.operator != "Exists"):
        return False
    if wide.effect and narrow.effect != wide.effect:
        return False
    if wide.effect == NO_EXECUTE and wide.toleration_seconds is not None:
        seconds = narrow.toleration_seconds
        if seconds is None or seconds > wide.toleration_seconds:
            return False
    if wide.operator in ("", "Equal"):
        return narrow.operator == "Equal" and narrow.value == wide.value
    return wide.operator == "Exists"


def _without_time(toleration: Toleration) -> tuple[str, str, str, str]:
    return toleration.key, toleration.operator, toleration.value, toleration.effect


def _compares(toleration: Toleration, taint: Taint) -> bool:
    try:
        bound, found = parse_integer(toleration.value), parse_integer(taint.value)
    except ValueError:
        return False
    return found < bound if toleration.operator == "Lt" else found > bound
