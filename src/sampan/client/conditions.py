"""What can be waited for: conditions on an object, which can be joined: `exists() & ~condition_is("Ready", "False")`.

Source: kubectl pkg/cmd/wait (1.36); kube-rs runtime/wait for the joining.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sampan.core.json_path import JsonPath
from sampan.resource import Object

_ANYTHING: Final = object()


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that is so or not so of an object as data; None stands for no object. `str` says what it is."""

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
    """There is such an object."""
    return Condition(lambda obj: obj is not None, "to exist")


def deleted(uid: str = "") -> Condition:
    """There is no such object; with a uid: not that very one, though there may be another of its name."""

    def holds(obj: Object | None) -> bool:
        return obj is None or bool(uid and (obj.get("metadata") or {}).get("uid") != uid)

    return Condition(holds, f"to be deleted (uid {uid})" if uid else "to be deleted")


def condition_is(kind: str, status: str = "True") -> Condition:
    """`status.conditions` has this type with this status; in both, upper and lower case are the same.

    A condition that is older than the object's spec does not count: its `observedGeneration`, or else that of the
    status, must not be behind `metadata.generation`, where they are told.
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
    """A path (`.status.phase`, `{.spec.nodes[0].name}`) leads to this value; without one: to anything but nothing.

    Of several values found one must be so. Raises `ValueError` for a path that cannot be read.
    """
    compiled = JsonPath(path.removeprefix("{").removesuffix("}"))

    def holds(obj: Object | None) -> bool:
        found = compiled.find(obj) if obj is not None else []
        if value is _ANYTHING:
            return any(each is not None and each != "" for each in found)
        return any(each == value and isinstance(each, bool) == isinstance(value, bool) for each in found)

    return Condition(holds, f"for {path}" + ("" if value is _ANYTHING else f"={value!r}"))


def generation_observed() -> Condition:
    """The controller has seen the spec: `status.observedGeneration` is not behind `metadata.generation`."""

    def holds(obj: Object | None) -> bool:
        observed = ((obj or {}).get("status") or {}).get("observedGeneration")
        return isinstance(observed, int) and observed >= _generation(obj or {})

    return Condition(holds, "for the generation to be observed")


def all_of(*conditions: Condition) -> Condition:
    """All of them hold at the same time."""
    return Condition(lambda obj: all(each.holds(obj) for each in conditions), _joined(" and ", conditions))


def any_of(*conditions: Condition) -> Condition:
    """At least one of them holds."""
    return Condition(lambda obj: any(each.holds(obj) for each in conditions), _joined(" or ", conditions))


def not_(condition: Condition) -> Condition:
    """It does not hold."""
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
