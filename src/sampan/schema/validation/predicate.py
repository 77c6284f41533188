"""Predicates on single values, with the semantics of JSON schema in Go's libraries.

Source: kube-openapi pkg/validation/validate/{values,validator}.go (1.36).
"""

from typing import Any

import orjson

from sampan.core.json.values import same_by_number
from sampan.schema.structural import ListType, Schema
from sampan.schema.validation.formats import is_known

_FLOAT32_MAX = 3.4028235677973366e38
_SAFE_INTEGER = 2**53 - 1


def known_format(schema: Schema) -> str | None:
    """Return the format that restricts a node; None without one, or if it is not defined for the type."""
    format_ = schema.validations.format if schema.validations is not None else None
    return format_ if format_ and is_known(format_, schema.type) else None


def is_integer(value: Any) -> bool:
    """Report whether a number is an integer in JSON schema: 3.0 is an integer."""
    if type(value) is int:
        return True
    return type(value) is float and abs(value) <= _SAFE_INTEGER and value.is_integer()


def fits_range(value: float, type_: str, format_: str | None) -> bool:
    """Report whether a number fits the integer or float type of the schema."""
    if type_ == "integer":
        limit = 2**31 if format_ == "int32" else 2**63
        return is_integer(value) and -limit <= value < limit
    return type_ != "number" or format_ != "float" or abs(value) <= _FLOAT32_MAX


def in_enum(value: Any, allowed: list[Any]) -> bool:
    """Test membership as Go does: numbers by value, booleans are not numbers, null never matches."""
    if value is None:
        return False
    return any(same_by_number(item, value) for item in allowed)


def is_multiple(value: float, factor: float, type_: str) -> bool:
    """Report whether `value` is a multiple of `factor`; integers use integer division."""
    if type(value) is int and (type_ != "integer" or float(factor).is_integer()):
        whole = int(factor)
        return whole > 0 and value % whole == 0
    if factor <= 0:
        return False
    return is_integer(1 / factor * value if factor < 1 else value / factor)


def below_maximum(value: float, maximum: float, exclusive: bool) -> bool:
    """Report whether `value` respects the maximum; for integers, the maximum's fraction is dropped."""
    limit = int(maximum) if type(value) is int else maximum
    return value < limit if exclusive else value <= limit


def above_minimum(value: float, minimum: float, exclusive: bool) -> bool:
    """Report whether `value` respects the minimum; for integers, the minimum's fraction is dropped."""
    limit = int(minimum) if type(value) is int else minimum
    return value > limit if exclusive else value >= limit


def duplicates(schema: Schema, items: list[Any]) -> list[int]:
    """Return the indices of items that repeat an earlier one of a set or map list (one for each repeated value)."""
    seen: dict[object, int] = {}
    found = []
    keys = schema.list_map_keys
    for index, item in enumerate(items):
        key = _identity(item) if schema.list_type is ListType.SET else map_key(item, keys)
        count = seen[key] = seen.get(key, 0) + 1
        if count == 2:
            found.append(index)
    return found


def map_key(item: Any, keys: tuple[str, ...]) -> object:
    """Return the identity of an item of a map list."""
    if type(item) is not dict:
        return ()
    return tuple((key, _identity(item[key])) for key in keys if key in item)


def _identity(value: Any) -> object:
    if isinstance(value, dict | list):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return type(value), value
