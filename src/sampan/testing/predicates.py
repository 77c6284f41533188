"""Predicates of objects for `eventually`, `consistently` and `never`. They combine with `&`, `|` and `~`.

    has_condition("Ready") & has_status(replicas=3)
    field(".spec.paused") == True
    ~exists()

A predicate explains what is wrong, so a failure shows the difference and not only "timed out".
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sampan.client.conditions import Condition
from sampan.core.json.path import JsonPath
from sampan.core.json.values import same_by_number
from sampan.resource import Object

_ABSENT: Final = object()
Explain = Callable[[Object | None], list[str]]
"""Returns the differences between an object (None: it does not exist) and the desired state; empty: none."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """Condition of an object. `text` completes the sentence "the object has to …"."""

    text: str
    explain: Explain

    def __and__(self, other: "Predicate") -> "Predicate":
        return Predicate(f"{self.text} and {other.text}", lambda obj: self.explain(obj) + other.explain(obj))

    def __or__(self, other: "Predicate") -> "Predicate":
        def explain(obj: Object | None) -> list[str]:
            first, second = self.explain(obj), other.explain(obj)
            return [] if not first or not second else first + second

        return Predicate(f"{self.text} or {other.text}", explain)

    def __invert__(self) -> "Predicate":
        return Predicate(f"not {self.text}", lambda obj: [] if self.explain(obj) else [f"it does {self.text}"])

    def __str__(self) -> str:
        return self.text


def exists() -> Predicate:
    """Return the predicate that the object exists."""
    return Predicate("exist", _missing)


def is_gone() -> Predicate:
    """Return the predicate that the object does not exist."""
    return Predicate("be gone", lambda obj: [] if obj is None else [_why_it_stays(obj)])


def has_condition(kind: str, status: str = "True", *, reason: str = "") -> Predicate:
    """Return the predicate that `status.conditions` has this type and status, and the reason if there is one."""
    text = f"have condition {kind}={status}" + (f" with reason {reason}" if reason else "")

    def explain(obj: Object | None) -> list[str]:
        if obj is None:
            return _missing(obj)
        found = [each for each in (obj.get("status") or {}).get("conditions") or () if each.get("type") == kind]
        if not found:
            return [f"condition {kind}: missing, expected {status}"]
        condition = found[0]
        if condition.get("status") != status:
            why = f" ({condition.get('reason', '')}: {condition.get('message', '')})"
            return [f"condition {kind}: {condition.get('status')}{why}, expected {status}"]
        if reason and condition.get("reason") != reason:
            return [f"condition {kind}: reason {condition.get('reason')!r}, expected {reason!r}"]
        return []

    return Predicate(text, explain)


def has_status(**fields: Any) -> Predicate:
    """Return the predicate that fields of `status` have these values: `has_status(ready_replicas=3)`."""
    desired = {_camel(name): value for name, value in fields.items()}
    return matches({"status": desired})


def matches(part: Mapping[str, Any]) -> Predicate:
    """Return the predicate that the object contains this part. Maps may have more keys; other values must be equal."""

    def explain(obj: Object | None) -> list[str]:
        return _missing(obj) if obj is None else list(_differences(obj, part, ""))

    return Predicate(f"match {dict(part)!r}", explain)


def owned_by(owner: Mapping[str, Any]) -> Predicate:
    """Return the predicate that `owner`, an object that was read, owns the object."""
    uid, name = owner["metadata"]["uid"], owner["metadata"]["name"]

    def explain(obj: Object | None) -> list[str]:
        if obj is None:
            return _missing(obj)
        owners = obj["metadata"].get("ownerReferences") or []
        if any(each.get("uid") == uid for each in owners):
            return []
        names = ", ".join(f"{each.get('kind')}/{each.get('name')}" for each in owners) or "nothing"
        return [f"owned by {names}, expected {owner.get('kind')}/{name} with uid {uid}"]

    return Predicate(f"be owned by {owner.get('kind')}/{name}", explain)


class Field:
    """Field of an object by its path. Comparisons return predicates."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._json_path = JsonPath(path)

    def __eq__(self, value: object) -> Predicate:  # type: ignore[override]  # it compares later, with an object
        return self._compared("equal", value, lambda found: found == value)

    def __ne__(self, value: object) -> Predicate:  # type: ignore[override]  # as `__eq__`
        return self._compared("differ from", value, lambda found: found != value)

    def __lt__(self, value: Any) -> Predicate:
        return self._compared("be less than", value, lambda found: found is not _ABSENT and bool(found < value))

    def __gt__(self, value: Any) -> Predicate:
        return self._compared("be greater than", value, lambda found: found is not _ABSENT and bool(found > value))

    def contains(self, value: Any) -> Predicate:
        """Return the predicate that the list, map or text contains a value."""
        return self._compared("contain", value, lambda found: found is not _ABSENT and value in found)

    def is_set(self) -> Predicate:
        """Return the predicate that the field has a value."""
        return self._compared("be", "set", lambda found: found not in (_ABSENT, None))

    def _compared(self, word: str, value: object, holds: Callable[[Any], bool]) -> Predicate:
        def explain(obj: Object | None) -> list[str]:
            if obj is None:
                return _missing(obj)
            values = self._json_path.find(obj)
            found = values[0] if values else _ABSENT
            shown = "missing" if found is _ABSENT else repr(found)
            return [] if holds(found) else [f"{self._path}: {shown}, expected to {word} {value!r}"]

        return Predicate(f"have {self._path} {word} {value!r}", explain)

    __hash__ = None  # type: ignore[assignment]  # equality returns a predicate


def field(path: str) -> Field:
    """Return a field for comparisons: `field(".spec.replicas") == 3`. Raises `ValueError` for a malformed path."""
    return Field(path)


def predicate_of(what: Predicate | Condition | Callable[[Any], Any] | None) -> Predicate:
    """Return a predicate for any condition. A function gets the object, or None if it does not exist.

    Raises `TypeError` for anything else.
    """
    if what is None:
        return exists()
    if isinstance(what, Predicate):
        return what
    if isinstance(what, Condition):
        holds, text = what.holds, what.text
        return Predicate(text, lambda obj: [] if holds(obj) else [f"expected {text}"])
    if not callable(what):
        raise TypeError(
            f"{what!r} is no predicate: pass field('.spec.x') == 1, has_condition('Ready') or a function of the object"
        )
    words = source_of(what)
    return Predicate(f"satisfy {words}", lambda obj: [] if what(obj) else [f"{words} is not true"])


def source_of(function: Callable[..., Any]) -> str:
    """Return the source of a lambda, or the name of a function."""
    name: str = getattr(function, "__name__", repr(function))
    if name != "<lambda>":
        return name
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        return "the function"
    return " ".join(text[text.index("lambda") :].split()).rstrip("),") if "lambda" in text else "the function"


def _missing(obj: Object | None) -> list[str]:
    return ["it does not exist"] if obj is None else []


def _why_it_stays(obj: Object) -> str:
    metadata = obj["metadata"]
    if "deletionTimestamp" not in metadata:
        return "it exists, and nothing has requested its deletion"
    finalizers = ", ".join(metadata.get("finalizers") or ()) or "none; a grace period may run"
    return f"it is being deleted since {metadata['deletionTimestamp']}; finalizers: {finalizers}"


def _differences(found: Any, desired: Any, path: str) -> Any:
    if isinstance(desired, Mapping) and isinstance(found, Mapping):
        for key, value in desired.items():
            if key in found:
                yield from _differences(found[key], value, f"{path}.{key}")
            else:
                yield f"{path}.{key}: missing, expected {value!r}"
    elif not same_by_number(found, desired):
        yield f"{path}: {found!r}, expected {desired!r}"


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
