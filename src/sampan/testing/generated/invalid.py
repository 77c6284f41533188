"""Invalid objects: a valid one with one fault, and the field path that a server has to name.

The path comes from the schema, and not from the validator. Objects are left out if the fault also breaks a rule of
another field, because they would have more than one cause.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from sampan.core.field import ErrorType
from sampan.core.go_text import NIL
from sampan.core.object import Object
from sampan.schema.structural import UNSET, ListType, Schema, ValueValidations
from sampan.schema.validation.formats import is_known, string_format
from sampan.testing.generated.choices import Complete, Seeded
from sampan.testing.generated.invalid_builtin import probed
from sampan.testing.generated.places import Place, put, remove, schema_at, value_at
from sampan.testing.generated.repair import generated_object, smallest_object
from sampan.testing.generated.subject import Subject
from sampan.testing.generated.values.formats import WRONG
from sampan.testing.generated.values.patterns import not_matching
from sampan.testing.generated.values.schema_values import Generator
from sampan.testing.generated.values.semantics import Meanings

_INDEX: Final = re.compile(r"\[\d+\]")
_NO_RULES: Final = ValueValidations()
_SIZE_MAX: Final = 1000
"""Largest size of a list or text that is generated to exceed a limit."""
_RULE_TRIES: Final = 100
_RULE_SIZE: Final = 20
"""Maximum number of optional fields in the objects that are generated to break a rule."""
_WRONG_TYPES: Final = {
    "string": 7,
    "integer": "seven",
    "number": "seven",
    "boolean": "yes",
    "object": "x",
    "array": "x",
}
_NOT_CHECKED: Final = NIL
"""Field of the cause which reports that rules in CEL were not checked."""


@dataclass(frozen=True, slots=True)
class InvalidObject:
    """A valid object with one fault."""

    obj: Object
    field: str
    """Path of the faulty field, as in the cause that a server returns."""
    reason: str
    """Reason of the cause, such as `FieldValueRequired` or `FieldValueInvalid`."""
    fault: str
    """The broken rule, in a few words."""

    def __str__(self) -> str:
        return f"{self.field}: {self.fault}"


@dataclass(frozen=True, slots=True)
class _Fault:
    """A fault at a place: a wrong value, or (with `removed`) a missing one."""

    place: Place
    field: str
    reason: ErrorType
    fault: str
    value: Any = None
    removed: bool = False


def invalid_objects_of(subject: Subject, base: Object | None, meanings: Meanings) -> list[InvalidObject]:
    """Return the invalid objects of a kind. Those of a built-in kind are found by probes."""
    first = smallest_object(subject, meanings=meanings) if base is None else base
    if not subject.is_custom:
        refusals = probed(subject, first, meanings)
        return [InvalidObject(each.obj, each.field, str(each.reason), each.words) for each in refusals]
    full = generated_object(subject, Complete(), first, meanings=meanings)
    found: dict[tuple[str, str], InvalidObject] = {}
    for start in (full, first, *(generated_object(subject, Seeded(n), first, meanings=meanings) for n in range(3))):
        for fault in _faults(subject, start):
            made = deepcopy(start)
            if fault.removed:
                remove(made, fault.place)
            else:
                put(made, fault.place, fault.value)
            key = (_INDEX.sub("[]", fault.field), fault.fault)
            if key not in found and _is_only(subject, made, fault):
                found[key] = InvalidObject(made, fault.field, str(fault.reason), fault.fault)
    for case in _broken_rules(subject, first, meanings):
        found.setdefault((case.field, case.fault), case)
    return list(found.values())


def _is_only(subject: Subject, obj: Object, fault: _Fault) -> bool:
    causes = {(str(each.field), each.type) for each in subject.faults(obj) if str(each.field) != _NOT_CHECKED}
    return causes == {(fault.field, fault.reason)}


def _faults(subject: Subject, obj: Object) -> Iterator[_Fault]:
    for name, child in subject.schema.properties.items():
        if name in obj and name not in ("apiVersion", "kind", "metadata", "status"):
            yield from _at(child, obj[name], (name,), name)


def _at(schema: Schema, value: Any, place: Place, field: str) -> Iterator[_Fault]:
    """Yield the faults of a value and of all below it."""
    rules = schema.validations or _NO_RULES
    if schema.type:
        wrong = _WRONG_TYPES[schema.type]
        yield _Fault(place, field, ErrorType.TYPE_INVALID, f"not of type {schema.type}", wrong)
    elif schema.int_or_string:
        yield _Fault(place, field, ErrorType.TYPE_INVALID, "neither integer nor string", True)
    if rules.enum:
        other = "not-one-of-them" if schema.type in ("", "string") else 987654321
        yield _Fault(place, field, ErrorType.NOT_SUPPORTED, "not in the enum", other)
    if isinstance(value, str):
        yield from _of_text(schema, rules, value, place, field)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _of_number(rules, place, field)
    elif isinstance(value, list):
        yield from _of_list(schema, rules, value, place, field)
    elif isinstance(value, dict):
        yield from _of_object(schema, rules, value, place, field)


def _of_text(schema: Schema, rules: ValueValidations, value: str, place: Place, field: str) -> Iterator[_Fault]:
    if rules.enum:
        return
    if rules.max_length is not None and rules.max_length <= _SIZE_MAX:
        text = (value or "a") * (rules.max_length + 1)
        longer = text[: rules.max_length + 1]
        yield _Fault(place, field, ErrorType.TOO_LONG, f"longer than {rules.max_length}", longer)
    if rules.min_length:
        yield _Fault(place, field, ErrorType.INVALID, f"shorter than {rules.min_length}", value[: rules.min_length - 1])
    if rules.pattern:
        other = not_matching(rules.pattern, rules.min_length or 0, rules.max_length)
        if other is not None:
            yield _Fault(place, field, ErrorType.INVALID, "does not match the pattern", other)
    if rules.format and is_known(rules.format, schema.type):
        known = string_format(rules.format)
        wrong = next((each for each in WRONG if known is not None and not known(each)), None)
        if wrong is not None:
            yield _Fault(place, field, ErrorType.TYPE_INVALID, f"not a {rules.format}", wrong)


def _of_number(rules: ValueValidations, place: Place, field: str) -> Iterator[_Fault]:
    if rules.enum:
        return
    if rules.minimum is not None:
        low = int(rules.minimum) - (0 if rules.exclusive_minimum else 1)
        yield _Fault(place, field, ErrorType.INVALID, f"less than {rules.minimum:g}", low)
    if rules.maximum is not None:
        high = int(rules.maximum) + (0 if rules.exclusive_maximum else 1)
        yield _Fault(place, field, ErrorType.INVALID, f"more than {rules.maximum:g}", high)
    if rules.multiple_of is not None and rules.multiple_of > 1:
        start = int(rules.minimum or 0)
        other = next(each for each in range(start, start + 3) if each % int(rules.multiple_of))
        yield _Fault(place, field, ErrorType.INVALID, f"no multiple of {rules.multiple_of:g}", other)


def _of_list(schema: Schema, rules: ValueValidations, value: list[Any], place: Place, field: str) -> Iterator[_Fault]:
    if rules.max_items is not None and rules.max_items < _SIZE_MAX and value:
        many = (value * (rules.max_items + 1))[: rules.max_items + 1]
        if schema.list_type not in (ListType.SET, ListType.MAP):
            yield _Fault(place, field, ErrorType.TOO_MANY, f"more than {rules.max_items} items", many)
    if rules.min_items:
        yield _Fault(
            place, field, ErrorType.INVALID, f"fewer than {rules.min_items} items", value[: rules.min_items - 1]
        )
    if value and schema.list_type in (ListType.SET, ListType.MAP):
        index = len(value)
        twice = [*value, deepcopy(value[0])]
        yield _Fault(place, f"{field}[{index}]", ErrorType.DUPLICATE, "an item that is there", twice)
    if schema.items is not None and value:
        yield from _at(schema.items, value[0], (*place, 0), f"{field}[0]")


def _of_object(schema: Schema, rules: ValueValidations, value: Object, place: Place, field: str) -> Iterator[_Fault]:
    if rules.min_properties:
        fewer = dict(list(value.items())[: rules.min_properties - 1])
        yield _Fault(place, field, ErrorType.INVALID, f"fewer than {rules.min_properties} entries", fewer)
    if rules.max_properties is not None and rules.max_properties < _SIZE_MAX and value and not schema.properties:
        sample = next(iter(value.values()))
        more = {f"key-{number}": deepcopy(sample) for number in range(rules.max_properties + 1)}
        yield _Fault(place, field, ErrorType.TOO_MANY, f"more than {rules.max_properties} entries", more)
    for name in rules.required:
        child = schema.properties.get(name)
        if name in value and (child is None or child.default is UNSET):
            yield _Fault((*place, name), f"{field}.{name}", ErrorType.REQUIRED, "missing", removed=True)
    for name, each in value.items():
        child = schema.properties.get(name)
        if child is not None:
            yield from _at(child, each, (*place, name), f"{field}.{name}")
    if isinstance(schema.additional_properties, Schema):
        for name in [name for name in value if name not in schema.properties][:1]:
            yield from _at(schema.additional_properties, value[name], (*place, name), f"{field}.{name}")


def _broken_rules(subject: Subject, base: Object, meanings: Meanings) -> Iterator[InvalidObject]:
    """Yield an object for each CEL rule that random values break, if they break no other."""
    if not _has_rules(subject.schema):
        return
    seen: set[str] = set()
    for number in range(_RULE_TRIES):
        choices = Seeded(number)
        start = generated_object(subject, choices, base, meanings=meanings, size=_RULE_SIZE)
        place = _random_place(start, choices)
        node = None if place is None else schema_at(subject.schema, place)
        if place is None or node is None:
            continue
        if choices.optional() or value_at(start, place) is None:
            name = place[-1] if isinstance(place[-1], str) else ""
            put(start, place, Generator(choices, meanings, 8).value(node, name))
        else:
            remove(start, place)
        faults = subject.faults(start)
        if len(faults) == 1 and faults[0].detail not in seen and _is_rule(subject.schema, faults[0].detail):
            seen.add(faults[0].detail)
            yield InvalidObject(start, str(faults[0].field), str(faults[0].type), faults[0].detail)


def _random_place(obj: Object, choices: Seeded) -> Place | None:
    """Return the place of a random field below the spec."""
    places = list(_places(obj.get("spec"), ("spec",)))
    return places[choices.integer(0, len(places) - 1)] if places else None


def _places(value: Any, place: Place) -> Iterator[Place]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield (*place, key)
            yield from _places(each, (*place, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield (*place, index)
            yield from _places(each, (*place, index))


def _has_rules(schema: Schema) -> bool:
    return any(True for _ in _rules(schema))


def _rules(schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield the message and the text of each CEL rule. Built-in types have none."""
    if schema.name:
        return
    yield from ((each.message, each.rule) for each in schema.rules)
    below = [*schema.properties.values(), schema.items, schema.additional_properties]
    for each in below:
        if isinstance(each, Schema):
            yield from _rules(each)


def _is_rule(schema: Schema, detail: str) -> bool:
    return any(detail == message or detail == f"failed rule: {rule}" for message, rule in _rules(schema))
