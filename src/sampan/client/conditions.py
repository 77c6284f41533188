"""Conditions that a caller can wait for. They combine: `exists() & ~condition_is("Ready", "False")`.

Source: kubectl pkg/cmd/wait (1.36); for the combination kube-rs runtime/wait.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sampan.core.json.path import JsonPath
from sampan.resource import Object

_ANYTHING: Final = object()


@dataclass(frozen=True, slots=True)
class Condition:
    """Predicate on an object as data; None means that the object does not exist. `str` returns a description."""

    holds: Callable[[Object | None], bool]
    text: str

    def __and__(self, other: "Condition") -> "Condition":
        return all_of(self, other)

    def __or__(self, other: "Condition") -> "Condition":
        return any_of(self, other)

    def __invert__(self) -> "Condition":
        return not_(self)

    def __str__(self) -> str:
        return self.text


def exists() -> Condition:
    """Return the condition that the object exists."""
    return Condition(lambda obj: obj is not None, "to exist")


def deleted(uid: str = "") -> Condition:
    """Return the condition that the object does not exist. With a uid, another object of this name is allowed."""

    def holds(obj: Object | None) -> bool:
        return obj is None or bool(uid and (obj.get("metadata") or {}).get("uid") != uid)

    return Condition(holds, f"to be deleted (uid {uid})" if uid else "to be deleted")


def condition_is(kind: str, status: str = "True") -> Condition:
    """Return the condition that an entry of `status.conditions` has this type and status, in any letter case.

    A condition older than the spec does not count. Its `observedGeneration`, or else that of the status, must not be
    less than `metadata.generation`, if the object has both.
    """

    def holds(obj: Object | None) -> bool:
        for condition in _conditions(obj):
            if (
                str(condition.get("type")).lower() == kind.lower()
                and str(condition.get("status")).lower() == status.lower()
            ):
                return _is_current(obj or {}, condition)
        return False

    return Condition(holds, f"for condition {kind}={status}")


def json_path(path: str, value: Any = _ANYTHING) -> Condition:
    """Return the condition that a path (`.status.phase`, `{.spec.nodes[0].name}`) yields this value.

    Without a value, any value but null matches. If the path yields several values, one match is enough. Raises
    `ValueError` if the path is malformed.
    """
    compiled = JsonPath(path.removeprefix("{").removesuffix("}"))

    def holds(obj: Object | None) -> bool:
        found = compiled.find(obj) if obj is not None else []
        if value is _ANYTHING:
            return any(each is not None and each != "" for each in found)
        return any(each == value and isinstance(each, bool) == isinstance(value, bool) for each in found)

    return Condition(holds, f"for {path}" + ("" if value is _ANYTHING else f"={value!r}"))


def generation_observed() -> Condition:
    """Return the condition that `status.observedGeneration` is not less than `metadata.generation`."""

    def holds(obj: Object | None) -> bool:
        observed = ((obj or {}).get("status") or {}).get("observedGeneration")
        return isinstance(observed, int) and observed >= _generation(obj or {})

    return Condition(holds, "for the generation to be observed")


def all_of(*conditions: Condition) -> Condition:
    """Return the condition that all conditions hold for the same state."""
    return Condition(lambda obj: all(each.holds(obj) for each in conditions), _joined(" and ", conditions))


def any_of(*conditions: Condition) -> Condition:
    """Return the condition that at least one of the conditions holds."""
    return Condition(lambda obj: any(each.holds(obj) for each in conditions), _joined(" or ", conditions))


def not_(condition: Condition) -> Condition:
    """Return the negation of a condition."""
    return Condition(lambda obj: not condition.holds(obj), f"not {condition}")


def _joined(word: str, conditions: tuple[Condition, ...]) -> str:
    return "(" + word.join(map(str, conditions)) + ")"


def _conditions(obj: Object | None) -> list[Object]:
    found = ((obj or {}).get("status") or {}).get("conditions") or []
    return [each for each in found if isinstance(each, dict)]


def _is_current(obj: Object, condition: Object) -> bool:
    observed = condition.get("observedGeneration")
    if observed is None:
        observed = (obj.get("status") or {}).get("observedGeneration")
    return not isinstance(observed, int) or observed >= _generation(obj)


def _generation(obj: Object) -> int:
    return (obj.get("metadata") or {}).get("generation") or 0
