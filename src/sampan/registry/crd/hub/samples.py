"""Generated objects that a schema allows, for trying conversions. One schema always gives the same objects."""

import random
from collections.abc import Iterator
from typing import Any

from sampan.core.object import Object
from sampan.schema.compile import CompiledSchema
from sampan.schema.structural import UNSET, Schema, ValueValidations

_COUNT = 40
_TEXTS = ("a", "b-c", "", "7", "1.5", "-0", "007", "Za z", "10.0.0.0/8", "10.0.0.1", "1Gi", "30s", "ä", "true", "v1",
          "2020-01-02T03:04:05Z", "a,b", "a:1")  # fmt: skip
_NUMBERS = (0, 1, -1, 7, 80, 1500, 65535, 2**31 - 1, -(2**31), 2**53 + 1)
_NO_LIMITS = ValueValidations()


def sample_values(schema: Schema, compiled: CompiledSchema) -> Iterator[Any]:
    """Yield values that the schema allows, or nothing if none was found. `compiled` is compiled from `schema`."""
    chance = random.Random(7)
    for _ in range(_COUNT):
        value = _value(schema, chance)
        if not compiled.validate(value):
            yield value


def sample_objects(schema: Schema, compiled: CompiledSchema, api_version: str, kind: str) -> Iterator[Object]:
    """Yield whole objects."""
    chance = random.Random(11)
    for _ in range(_COUNT):
        obj = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "sample"}}
        for name, child in schema.properties.items():
            if name not in obj and chance.random() < 0.9:
                obj[name] = _value(child, chance)
        compiled.prune(obj)
        compiled.default(obj)
        if not compiled.validate(obj):
            yield obj


def _value(schema: Schema, chance: random.Random) -> Any:
    limits = schema.validations or _NO_LIMITS
    if limits.enum:
        return chance.choice(limits.enum)
    if schema.default is not UNSET and chance.random() < 0.2:
        return schema.default
    if schema.int_or_string:
        return chance.choice((*_TEXTS, *_NUMBERS))
    match schema.type:
        case "object":
            return _object(schema, limits, chance)
        case "array":
            count = max(limits.min_items or 0, chance.randrange(3))
            return [_value(schema.items, chance) for _ in range(count)] if schema.items is not None else []
        case "integer":
            return chance.choice(_fitting(limits))
        case "number":
            return chance.choice([*_fitting(limits), *(number + 0.5 for number in _fitting(limits))])
        case "boolean":
            return chance.random() < 0.5
        case _:
            return _text(limits, chance)


def _object(schema: Schema, limits: ValueValidations, chance: random.Random) -> Any:
    made = {}
    for name, child in schema.properties.items():
        if name in limits.required or chance.random() < 0.6:
            made[name] = _value(child, chance)
    if isinstance(schema.additional_properties, Schema):
        for name in ("k", "a.b/c")[: chance.randrange(3)]:
            made[name] = _value(schema.additional_properties, chance)
    return made


def _fitting(limits: ValueValidations) -> list[int]:
    low = -(2**40) if limits.minimum is None else int(limits.minimum)
    high = 2**60 if limits.maximum is None else int(limits.maximum)
    return [number for number in _NUMBERS if low <= number <= high] + [number for number in (low, high) if number]


def _text(limits: ValueValidations, chance: random.Random) -> str:
    text = chance.choice(_TEXTS)
    return text.ljust(limits.min_length or 0, "x")[: limits.max_length]
