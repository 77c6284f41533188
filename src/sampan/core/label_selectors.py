"""Label selectors: formatted, and compiled to a function that is called for each object of a list or watch.

Source: apimachinery pkg/labels/selector.go, pkg/apis/meta/v1/helpers.go (1.36).
"""

import enum
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sampan.core import field
from sampan.core.field import FieldError, Path, aggregate
from sampan.core.numbers.integers import parse_integer
from sampan.core.validation.names import label_value_errors, qualified_name_errors

Matcher = Callable[[Mapping[str, str]], bool]
"""Function that reports whether labels (or selectable fields) of an object are selected."""


class Operator(enum.StrEnum):
    """Comparison operator of a requirement."""

    DOES_NOT_EXIST = "!"
    EQUALS = "="
    DOUBLE_EQUALS = "=="
    IN = "in"
    NOT_EQUALS = "!="
    NOT_IN = "notin"
    EXISTS = "exists"
    GREATER_THAN = "gt"
    LESS_THAN = "lt"


_SIGNS = {
    Operator.EQUALS: "=",
    Operator.DOUBLE_EQUALS: "==",
    Operator.NOT_EQUALS: "!=",
    Operator.IN: " in ",
    Operator.NOT_IN: " notin ",
    Operator.GREATER_THAN: ">",
    Operator.LESS_THAN: "<",
}
_is_integer = re.compile(r"[+-]?[0-9]{1,40}").fullmatch


def _int64(text: str) -> int | None:
    """Parse a 64-bit integer, as for Gt and Lt; None if it is not one."""
    try:
        return parse_integer(text)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Requirement:
    """Condition on one label."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.operator is Operator.EXISTS:
            return self.key
        if self.operator is Operator.DOES_NOT_EXIST:
            return f"!{self.key}"
        values = ",".join(sorted(self.values))
        if self.operator in (Operator.IN, Operator.NOT_IN):
            values = f"({values})"
        return f"{self.key}{_SIGNS[self.operator]}{values}"

    def matcher(self) -> Matcher:
        """Return the condition as a function of the labels."""
        return _MATCHERS[self.operator](self.key, self.values)


def _match_in(key: str, values: tuple[str, ...]) -> Matcher:
    if len(values) == 1:
        value = values[0]
        return lambda labels: labels.get(key) == value
    desired = frozenset(values)
    return lambda labels: labels.get(key) in desired


def _match_not_in(key: str, values: tuple[str, ...]) -> Matcher:
    if len(values) == 1:
        value = values[0]
        return lambda labels: labels.get(key) != value
    unwanted = frozenset(values)
    return lambda labels: labels.get(key) not in unwanted


def _match_exists(key: str, values: tuple[str, ...]) -> Matcher:
    return lambda labels: key in labels


def _match_does_not_exist(key: str, values: tuple[str, ...]) -> Matcher:
    return lambda labels: key not in labels


def _match_greater(key: str, values: tuple[str, ...]) -> Matcher:
    bound = _int64(values[0])

    def matches(labels: Mapping[str, str]) -> bool:
        number = _int64(labels.get(key, ""))
        return number is not None and bound is not None and number > bound

    return matches


def _match_less(key: str, values: tuple[str, ...]) -> Matcher:
    bound = _int64(values[0])

    def matches(labels: Mapping[str, str]) -> bool:
        number = _int64(labels.get(key, ""))
        return number is not None and bound is not None and number < bound

    return matches


_MATCHERS: Final[dict[Operator, Callable[[str, tuple[str, ...]], Matcher]]] = {
    Operator.IN: _match_in,
    Operator.EQUALS: _match_in,
    Operator.DOUBLE_EQUALS: _match_in,
    Operator.NOT_IN: _match_not_in,
    Operator.NOT_EQUALS: _match_not_in,
    Operator.EXISTS: _match_exists,
    Operator.DOES_NOT_EXIST: _match_does_not_exist,
    Operator.GREATER_THAN: _match_greater,
    Operator.LESS_THAN: _match_less,
}


def _match_everything(labels: Mapping[str, str]) -> bool:
    return True


def _match_nothing(labels: Mapping[str, str]) -> bool:
    return False


def all_of(matchers: Sequence[Matcher]) -> Matcher:
    """Return one function that requires all conditions."""
    if not matchers:
        return _match_everything
    if len(matchers) == 1:
        return matchers[0]
    if len(matchers) == 2:
        first, second = matchers
        return lambda labels: first(labels) and second(labels)

    def matches(labels: Mapping[str, str]) -> bool:
        for matcher in matchers:  # noqa: SIM110 (a generator costs twice as much)
            if not matcher(labels):
                return False
        return True

    return matches


class Selector:
    """Label selector: all its requirements must match. Immutable.

    `matches(labels)` is a compiled function; `labels` is a dict, empty when the object has none.
    """

    __slots__ = ("matches", "nothing", "requirements", "text")

    def __init__(self, requirements: Iterable[Requirement] = (), *, nothing: bool = False) -> None:
        self.requirements = tuple(sorted(requirements, key=lambda r: r.key))
        self.nothing = nothing
        self.text = ",".join(map(str, self.requirements))
        self.matches: Matcher = _match_nothing if nothing else all_of([r.matcher() for r in self.requirements])

    @property
    def empty(self) -> bool:
        """Report whether every object is selected."""
        return not self.requirements and not self.nothing

    def requires_exact(self, key: str) -> str | None:
        """Return the only value that the label may have, or None."""
        for requirement in self.requirements:
            if requirement.key == key:
                exact = requirement.operator in (Operator.EQUALS, Operator.DOUBLE_EQUALS, Operator.IN)
                return requirement.values[0] if exact and len(requirement.values) == 1 else None
        return None

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return "Selector(nothing)" if self.nothing else f"Selector({self.text!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Selector):
            return NotImplemented
        return self.requirements == other.requirements and self.nothing == other.nothing

    def __hash__(self) -> int:
        return hash((self.requirements, self.nothing))


EVERYTHING: Final = Selector()
"""Selector that matches every object."""

NOTHING: Final = Selector(nothing=True)
"""Selector that matches no object."""


NO_PATH: Final = Path()
_VALUE_COUNT_ERRORS: Final[dict[Operator, str]] = {
    Operator.IN: "for 'in', 'notin' operators, values set can't be empty",
    Operator.NOT_IN: "for 'in', 'notin' operators, values set can't be empty",
    Operator.EQUALS: "exact-match compatibility requires one single value",
    Operator.DOUBLE_EQUALS: "exact-match compatibility requires one single value",
    Operator.NOT_EQUALS: "exact-match compatibility requires one single value",
    Operator.EXISTS: "values set must be empty for exists and does not exist",
    Operator.DOES_NOT_EXIST: "values set must be empty for exists and does not exist",
    Operator.GREATER_THAN: "for 'Gt', 'Lt' operators, exactly one value is required",
    Operator.LESS_THAN: "for 'Gt', 'Lt' operators, exactly one value is required",
}


def _value_count_is_right(operator: Operator, count: int) -> bool:
    if operator in (Operator.IN, Operator.NOT_IN):
        return count > 0
    if operator in (Operator.EXISTS, Operator.DOES_NOT_EXIST):
        return count == 0
    return count == 1


def new_requirement(key: str, operator: Operator, values: Sequence[str], path: Path = NO_PATH) -> Requirement:
    """Return a validated requirement. Raises `ValueError` with Kubernetes' message."""
    errors: list[FieldError] = []
    if texts := qualified_name_errors(key):
        errors.append(field.invalid(path.child("key"), key, "; ".join(texts)))
    values_path = path.child("values")
    if not _value_count_is_right(operator, len(values)):
        errors.append(field.invalid(values_path, list(values), _VALUE_COUNT_ERRORS[operator]))
    if operator in (Operator.GREATER_THAN, Operator.LESS_THAN):
        for index, value in enumerate(values):
            if _int64(value) is None:
                detail = "for 'Gt', 'Lt' operators, the value must be an integer"
                errors.append(field.invalid(values_path.index(index), value, detail))
    for index, value in enumerate(values):
        if texts := label_value_errors(value):
            errors.append(field.invalid(values_path.index(index).key(key), value, "; ".join(texts)))
    if errors:
        raise ValueError(aggregate(errors))
    return Requirement(key, operator, tuple(values))


def selector_from_labels(labels: Mapping[str, str] | None) -> Selector:
    """Return the selector of all objects with these labels. Does not validate them."""
    if not labels:
        return EVERYTHING
    return Selector(Requirement(key, Operator.EQUALS, (value,)) for key, value in labels.items())


_LABEL_SELECTOR_OPERATORS = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
}


def selector_from_label_selector(label_selector: Mapping[str, Any] | None) -> Selector:
    """Return the selector of a `LabelSelector` object: None selects nothing, an empty one everything.

    Raises `ValueError` with Kubernetes' message.
    """
    if label_selector is None:
        return NOTHING
    requirements = [
        new_requirement(key, Operator.EQUALS, (value,))
        for key, value in (label_selector.get("matchLabels") or {}).items()
    ]
    for expression in label_selector.get("matchExpressions") or ():
        name = expression.get("operator", "")
        operator = _LABEL_SELECTOR_OPERATORS.get(name)
        if operator is None:
            raise ValueError(f"{field.quote(name)} is not a valid label selector operator")
        requirements.append(new_requirement(expression.get("key", ""), operator, expression.get("values") or ()))
    return Selector(requirements) if requirements else EVERYTHING


def selector_text(label_selector: Mapping[str, Any] | None) -> str:
    """Format a `LabelSelector` object, or a plain map of labels, for `status.selector` of a Scale.

    Raises `ValueError` when it is not a valid selector.
    """
    if not label_selector:
        return ""
    if label_selector.keys() <= {"matchLabels", "matchExpressions"}:
        return selector_from_label_selector(label_selector).text
    return selector_from_labels(label_selector).text
