"""Schemas without `allOf`, `anyOf`, `oneOf` and `not`: one alternative of each is chosen and made part of the node."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sampan.schema.derived import derived
from sampan.schema.structural import Schema, ValueValidations
from sampan.testing.generated.choices import Choices, pick

_LOWEST = ("min_length", "min_items", "min_properties", "minimum")
_HIGHEST = ("max_length", "max_items", "max_properties", "maximum")
_EITHER = ("format", "pattern", "multiple_of")


def plain(schema: Schema, choices: Choices) -> Schema:
    """Return a node without these keywords that is at least as strict.

    Negations that cannot be expressed are dropped.
    """
    rules = schema.validations
    if rules is None or not (rules.all_of or rules.any_of or rules.one_of or rules.not_):
        return schema
    found = _bare(schema)
    chosen = list(rules.all_of)
    if rules.any_of:
        chosen.append(pick(choices, rules.any_of))
    if rules.one_of:
        branch = pick(choices, rules.one_of)
        chosen.append(branch)
        found = _without(found, _names(each for each in rules.one_of if each is not branch) - _names([branch]))
    for each in chosen:
        found = merged(found, plain(each, choices))
    if rules.not_ is not None:
        found = _without(found, _names([rules.not_, *(rules.not_.validations or ValueValidations()).any_of]))
    return found


@derived
def _bare(schema: Schema) -> Schema:
    rules = schema.validations or ValueValidations()
    return _copy(schema, validations=replace(rules, all_of=(), any_of=(), one_of=(), not_=None))


@derived
def merged(schema: Schema, other: Schema) -> Schema:
    """Return a node with the restrictions of both."""
    properties = dict(schema.properties)
    for name, child in other.properties.items():
        properties[name] = merged(properties[name], child) if name in properties else child
    items, additional = schema.items, schema.additional_properties
    if other.items is not None:
        items = other.items if items is None else merged(items, other.items)
    if isinstance(other.additional_properties, Schema) and isinstance(additional, Schema):
        additional = merged(additional, other.additional_properties)
    rules = _both(schema.validations or ValueValidations(), other.validations or ValueValidations())
    changes = {"validations": rules, "properties": properties, "items": items, "additional_properties": additional}
    return _copy(schema, **changes)


def _both(first: ValueValidations, second: ValueValidations) -> ValueValidations:
    changes: dict[str, Any] = {}
    for name in _LOWEST + _HIGHEST:
        known = [value for each in (first, second) if (value := getattr(each, name)) is not None]
        if known:
            changes[name] = max(known) if name in _LOWEST else min(known)
    for name in _EITHER:
        changes[name] = getattr(first, name) or getattr(second, name)
    if second.enum:
        changes["enum"] = [each for each in second.enum if not first.enum or each in first.enum]
    for name in ("exclusive_minimum", "exclusive_maximum"):
        changes[name] = getattr(first, name) or getattr(second, name)
    return replace(first, required=tuple(dict.fromkeys((*first.required, *second.required))), **changes)


@derived
def _without(schema: Schema, names: frozenset[str]) -> Schema:
    """Return a node without these fields, except for the required ones."""
    names -= frozenset((schema.validations or ValueValidations()).required)
    return _copy(schema, properties={name: child for name, child in schema.properties.items() if name not in names})


def _names(schemas: Iterable[Schema]) -> frozenset[str]:
    return frozenset(name for each in schemas if each.validations is not None for name in each.validations.required)


def _copy(schema: Schema, **changes: Any) -> Schema:
    return replace(schema, **changes)
