"""Fields of objects in schemas, and objects with the fields of two."""

from dataclasses import dataclass
from typing import Any, Final

from sampan.patch.copying import copy_json
from sampan.schema.derived import derived
from sampan.schema.structural import Schema, ValueValidations

_NO_RULES: Final = ValueValidations()
_DEEP: Final = 4
"""An object with more optional objects than this gets only a few of its optional fields."""
_WIDE: Final = 6
"""An object of a built-in type with more optional fields than this is wide."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Fields of an object."""

    required: tuple[tuple[str, Schema], ...]
    optional: tuple[tuple[str, Schema], ...]
    few: bool
    """True if the object has many optional objects: of these, a random object has only a few."""
    wide: bool
    """True if an object of a built-in type has many optional fields: inside of others, it has only a few of them."""
    members: tuple[tuple[str, Schema], ...]
    """Optional objects, or all optional fields if none is an object. A union has one of them."""
    single: tuple[tuple[str, Schema], ...]
    """Optional fields that are no members."""


@derived
def fields_of(node: Schema) -> Fields:
    """Return the fields of an object."""
    required = (node.validations or _NO_RULES).required
    optional = tuple(each for each in node.properties.items() if each[0] not in required)
    deep = sum(bool(child.properties or (child.items is not None and child.items.properties)) for _, child in optional)
    members = tuple(each for each in optional if each[1].type == "object") or optional
    return Fields(
        tuple((name, node.properties.get(name) or _additional(node)) for name in required),
        optional,
        deep > _DEEP,
        bool(node.name) and len(optional) > _WIDE,
        members,
        tuple(each for each in optional if each not in members),
    )


def _additional(node: Schema) -> Schema:
    return node.additional_properties if isinstance(node.additional_properties, Schema) else Schema(type="string")


def limit(found: dict[str, Any], rules: ValueValidations) -> None:
    """Remove optional fields of an object until it has no more than the rules allow."""
    for name in [name for name in reversed(found) if name not in rules.required]:
        if rules.max_properties is not None and len(found) > rules.max_properties:
            del found[name]


def merged(first: Any, second: Any) -> Any:
    """Return the first value with the second one merged into it. One object in a list is merged with one."""
    if isinstance(first, dict) and isinstance(second, dict):
        return {**first, **{key: merged(first.get(key), value) for key, value in second.items()}}
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second) == 1:
        return [merged(first[0], second[0])]
    return copy_json(second)
