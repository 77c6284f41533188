"""Field selectors: parsed, formatted, and compiled to a function that is called for each object of a list or watch.

Source: apimachinery pkg/fields/selector.go (1.36).
"""

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from sampan.core.label_selectors import Matcher, Operator, all_of
from sampan.core.selectors.label_parser import CACHED_LENGTH_MAX, check_count, check_length


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """Condition on one selectable field; the operator is EQUALS or NOT_EQUALS."""

    field: str
    operator: Operator
    value: str

    def __str__(self) -> str:
        return f"{self.field}{self.operator}{escape_field_value(self.value)}"


class FieldSelector:
    """Field selector: all its requirements must match. Immutable.

    `matches(fields)` is a compiled function of the object's selectable fields; an absent field counts as empty.
    """

    __slots__ = ("matches", "requirements", "text")

    def __init__(self, requirements: Iterable[FieldRequirement] = ()) -> None:
        self.requirements = tuple(requirements)
        self.text = ",".join(map(str, self.requirements))
        self.matches: Matcher = all_of([_match_field(r) for r in self.requirements])

    @property
    def empty(self) -> bool:
        """Report whether every object is selected."""
        return not self.requirements

    def requires_exact(self, name: str) -> str | None:
        """Return the only value that the field may have, or None."""
        for requirement in self.requirements:
            if requirement.field == name and requirement.operator is Operator.EQUALS:
                return requirement.value
        return None

    def transform(self, convert: Callable[[str, str], tuple[str, str]]) -> "FieldSelector":
        """Return a selector on converted fields; a requirement that becomes `("", "")` is dropped."""
        converted: list[FieldRequirement] = []
        for requirement in self.requirements:
            name, value = convert(requirement.field, requirement.value)
            if name or value:
                converted.append(replace(requirement, field=name, value=value))
        return FieldSelector(converted)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"FieldSelector({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return self.requirements == other.requirements if isinstance(other, FieldSelector) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.requirements)


def _match_field(requirement: FieldRequirement) -> Matcher:
    name, value = requirement.field, requirement.value
    if requirement.operator is Operator.EQUALS:
        return lambda fields: fields.get(name, "") == value
    return lambda fields: fields.get(name, "") != value


EVERY_FIELD: Final = FieldSelector()
"""Selector that matches every object."""


def escape_field_value(value: str) -> str:
    """Escape a literal for a field selector."""
    return value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")


_split_terms = re.compile(r"(?:[^\\,]|\\.|\\\Z)+", re.DOTALL).findall
_split_term = re.compile(r"(.*?)(!=|==|=)(.*)", re.DOTALL).fullmatch
_FIELD_OPERATORS = {"!=": Operator.NOT_EQUALS, "==": Operator.EQUALS, "=": Operator.EQUALS}


def parse_fields(text: str) -> FieldSelector:
    """Parse a field selector (`metadata.name=x,status.phase!=Running`).

    Raises `ValueError` with Kubernetes' message.
    """
    if not text:
        return EVERY_FIELD
    return _parse_fields_cached(text) if len(text) <= CACHED_LENGTH_MAX else _parse_fields(text)


@functools.lru_cache(maxsize=256)
def _parse_fields_cached(text: str) -> FieldSelector:
    return _parse_fields(text)


def _parse_fields(text: str) -> FieldSelector:
    requirements: list[FieldRequirement] = []
    check_length(text)
    terms = _split_terms(text)
    check_count(terms)
    for term in sorted(terms):
        match = _split_term(term)
        if match is None:
            raise ValueError(f"invalid selector: '{text}'; can't understand '{term}'")
        name, sign, value = match.groups()
        if not name and not value:
            continue
        requirements.append(FieldRequirement(name, _FIELD_OPERATORS[sign], _unescape_field_value(value)))
    return FieldSelector(requirements)


def _unescape_field_value(value: str) -> str:
    if "\\" not in value and "," not in value and "=" not in value:
        return value
    characters: list[str] = []
    escaped = False
    for char in value:
        if escaped:
            if char not in "\\,=":
                raise ValueError(f"invalid field selector: invalid escape sequence: \\{char}")
            characters.append(char)
            escaped = False
        elif char == "\\":
            escaped = True
        elif char in ",=":
            raise ValueError(f"invalid field selector: unescaped character in value: {ord(char)}")
        else:
            characters.append(char)
    if escaped:
        raise ValueError("invalid field selector: invalid escape sequence: \\")
    return "".join(characters)
