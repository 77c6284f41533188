"""The fast question of validation: is this value valid? Compiled closures, no texts; `report.py` answers why not.

Both must agree: a value that a check accepts has no errors in its report, and the other way round.
Source: kube-openapi pkg/validation/validate/, apiextensions-apiserver pkg/apiserver/schema/listtype (1.36).
"""

from collections.abc import Callable
from typing import Any

import orjson
import re2

from sampan.core.field import Path
from sampan.schema.embedded import embedded_errors
from sampan.schema.formats import is_known, string_format
from sampan.schema.structural import ListType, Schema, ValueValidations

Check = Callable[[Any], bool]

_FLOAT32_MAX = 3.4028235677973366e38
_SAFE_INTEGER = 2**53 - 1


def compile_check(schema: Schema) -> Check | None:
    """The check of a node; None: every value is valid."""
    validations = schema.validations
    parts: list[Check] = []
    if validations is not None:
        parts += _value_checks(schema, validations)
        parts += _junctor_checks(validations)
    shape = _shape(schema)
    if shape is not None:
        parts.append(shape)
    typed = _typed(schema, _all(parts))
    allows_null = schema.nullable or not (schema.type or schema.int_or_string)
    if allows_null and typed is not None and not (validations is not None and validations.enum):
        return _or_null(typed)
    return typed


def is_integer(value: Any) -> bool:
    """Whether a number is an integer for JSON schema: 3.0 is one."""
    if type(value) is int:
        return True
    return type(value) is float and abs(value) <= _SAFE_INTEGER and value.is_integer()


def compile_pattern(pattern: str) -> Callable[[str], object]:
    """The search function of a pattern in Go's syntax. Raises `re2.error` with the fault."""
    options = re2.Options()
    options.log_errors = False
    search: Callable[[str], object] = re2.compile(pattern, options=options).search
    return search


def fits_range(value: float, type_: str, format_: str | None) -> bool:
    """Whether a number fits the integer or float type that the schema names."""
    if type_ == "integer":
        limit = 2**31 if format_ == "int32" else 2**63
        return is_integer(value) and -limit <= value < limit
    return type_ != "number" or format_ != "float" or abs(value) <= _FLOAT32_MAX


def in_enum(value: Any, allowed: list[Any]) -> bool:
    """Equality as Go sees it: numbers by value, booleans are no numbers, null is never a member."""
    if value is None:
        return False
    if isinstance(value, bool):
        return any(item is value for item in allowed)
    return any(item == value and not isinstance(item, bool) and item is not None for item in allowed)


def is_multiple(value: float, factor: float, type_: str) -> bool:
    """Whether `value` is a multiple; integers are divided as integers."""
    if type(value) is int and (type_ != "integer" or float(factor).is_integer()):
        whole = int(factor)
        return whole > 0 and value % whole == 0
    if factor <= 0:
        return False
    return is_integer(1 / factor * value if factor < 1 else value / factor)


def below_maximum(value: float, maximum: float, exclusive: bool) -> bool:
    """Whether `value` keeps the maximum; for integers the maximum's fraction is cut off."""
    limit = int(maximum) if type(value) is int else maximum
    return value < limit if exclusive else value <= limit


def above_minimum(value: float, minimum: float, exclusive: bool) -> bool:
    """Whether `value` keeps the minimum; for integers the minimum's fraction is cut off."""
    limit = int(minimum) if type(value) is int else minimum
    return value > limit if exclusive else value >= limit


def duplicates(schema: Schema, items: list[Any]) -> list[int]:
    """The indices of items that repeat an earlier one of a set or of a map list (once for each repeated value)."""
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
    """What identifies an item of a map list."""
    if type(item) is not dict:
        return ()
    return tuple((key, _identity(item[key])) for key in keys if key in item)


def _identity(value: Any) -> object:
    if isinstance(value, dict | list):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return type(value), value


def _all(parts: list[Check]) -> Check | None:
    if not parts:
        return None
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        first, second = parts
        return lambda value: first(value) and second(value)
    return lambda value: all(part(value) for part in parts)


def _or_null(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _typed(schema: Schema, rest: Check | None) -> Check | None:
    """The type comes first; a value of the wrong type is asked nothing else."""
    if schema.int_or_string:
        return _typed_int_or_string(rest)
    expected = _TYPES.get(schema.type)
    if expected is None:
        return rest if known_format(schema) is None else _typed_text(rest)
    if expected is float:
        return _typed_number(rest)
    if expected is int:
        return _typed_integer(rest)
    if expected is str and known_format(schema) is not None:
        return _typed_text(rest)
    if rest is None:
        return lambda value: type(value) is expected
    return lambda value: type(value) is expected and rest(value)


def known_format(schema: Schema) -> str | None:
    """The format that restricts a node; None if there is none, or none that is known for its type."""
    format_ = schema.validations.format if schema.validations is not None else None
    return format_ if format_ and is_known(format_, schema.type) else None


def _typed_text(rest: Check | None) -> Check:
    """With a format, lists pass for strings: the oracle's type check does not look at them either."""
    return lambda value: (type(value) is str or type(value) is list) and (rest is None or rest(value))


def _typed_int_or_string(rest: Check | None) -> Check:
    return lambda value: (type(value) is str or is_integer(value)) and (rest is None or rest(value))


def _typed_number(rest: Check | None) -> Check:
    return lambda value: (type(value) is float or type(value) is int) and (rest is None or rest(value))


def _typed_integer(rest: Check | None) -> Check:
    def check(value: Any) -> bool:
        if type(value) is int:
            fits = -(2**63) <= value < 2**63
        else:
            fits = is_integer(value)
        return fits and (rest is None or rest(value))

    return check


_TYPES: dict[str, type] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": float,
    "object": dict,
    "array": list,
}


def _value_checks(schema: Schema, rules: ValueValidations) -> list[Check]:
    found = [*_string_checks(schema, rules), *_number_checks(schema, rules), *_size_checks(rules)]
    if rules.enum:
        found.append(_enum_check(rules.enum))
    return found


def _enum_check(allowed: list[Any]) -> Check:
    if all(type(item) is str for item in allowed):
        texts = frozenset(allowed)
        return lambda value: type(value) is str and value in texts
    return lambda value: in_enum(value, allowed)


def _string_checks(schema: Schema, rules: ValueValidations) -> list[Check]:
    found: list[Check] = []
    low, high = rules.min_length or 0, rules.max_length
    if low or high is not None:
        found.append(_size_check(str, low, high))
    if rules.pattern:
        found.append(_pattern_check(rules.pattern))
    known = string_format(rules.format) if rules.format and schema.type in ("", "string") else None
    if known is not None:
        found.append(lambda value: type(value) is not str or known(value))
    return found


def _pattern_check(pattern: str) -> Check:
    try:
        search = compile_pattern(pattern)
    except re2.error:
        return lambda value: type(value) is not str
    return lambda value: type(value) is not str or search(value) is not None


def _number_checks(schema: Schema, rules: ValueValidations) -> list[Check]:
    found: list[Check] = []
    type_, format_ = schema.type, rules.format
    if rules.format in ("int32", "int64", "float") and type_ in ("integer", "number"):
        found.append(lambda value: not _is_number(value) or fits_range(value, type_, format_))
    if rules.maximum is not None:
        high, below = rules.maximum, rules.exclusive_maximum
        found.append(lambda value: not _is_number(value) or below_maximum(value, high, below))
    if rules.minimum is not None:
        low, above = rules.minimum, rules.exclusive_minimum
        found.append(lambda value: not _is_number(value) or above_minimum(value, low, above))
    if rules.multiple_of is not None:
        factor = rules.multiple_of
        found.append(lambda value: not _is_number(value) or is_multiple(value, factor, type_))
    limits = (rules.maximum, rules.minimum, rules.multiple_of)
    if any(limit is not None and not fits_range(limit, type_, format_) for limit in limits):
        found.append(lambda value: not _is_number(value))
    return found


def _is_number(value: Any) -> bool:
    return type(value) is int or type(value) is float


def _size_checks(rules: ValueValidations) -> list[Check]:
    found: list[Check] = []
    if rules.min_items or rules.max_items is not None:
        found.append(_size_check(list, rules.min_items or 0, rules.max_items))
    if rules.min_properties or rules.max_properties is not None:
        found.append(_size_check(dict, rules.min_properties or 0, rules.max_properties))
    return found


def _size_check(expected: type[str | list[Any] | dict[str, Any]], low: int, high: int | None) -> Check:
    return lambda value: type(value) is not expected or (low <= len(value) and (high is None or len(value) <= high))


def _junctor_checks(rules: ValueValidations) -> list[Check]:
    found: list[Check] = []
    if rules.all_of:
        found += [check for child in rules.all_of if (check := compile_check(child)) is not None]
    if rules.any_of:
        any_of = [compile_check(child) for child in rules.any_of]
        if None not in any_of:
            found.append(lambda value: any(check is None or check(value) for check in any_of))
    if rules.one_of:
        one_of = [compile_check(child) for child in rules.one_of]
        found.append(lambda value: sum([check is None or check(value) for check in one_of]) == 1)
    if rules.not_ is not None:
        denied = compile_check(rules.not_)
        found.append(lambda value: denied is not None and not denied(value))
    return found


def _shape(schema: Schema) -> Check | None:
    """Properties and items, required names, and the uniqueness of sets and map lists."""
    required = schema.validations.required if schema.validations is not None else ()
    known = {name: check for name, child in schema.properties.items() if (check := compile_check(child)) is not None}
    additional = schema.additional_properties
    other = compile_check(additional) if isinstance(additional, Schema) else None
    parts: list[Check] = []
    if additional is False:
        names = frozenset(schema.properties)
        parts.append(lambda value: type(value) is not dict or names.issuperset(value))
    if other is not None:
        parts.append(_map_check(known, frozenset(schema.properties), other, required))
    elif known or required:
        parts.append(_object_check(known, required))
    items = _items_check(schema)
    if items is not None:
        parts.append(items)
    if schema.embedded_resource:
        parts.append(lambda value: type(value) is not dict or not embedded_errors(value, Path()))
    return _all(parts)


def _object_check(known: dict[str, Check], required: tuple[str, ...]) -> Check:
    get = known.get

    def check_object(value: Any) -> bool:
        if type(value) is not dict:
            return True
        for name in required:
            if name not in value:
                return False
        for key, item in value.items():
            check = get(key)
            if check is not None and not check(item):
                return False
        return True

    return check_object


def _map_check(known: dict[str, Check], names: frozenset[str], other: Check, required: tuple[str, ...]) -> Check:
    def check_map(value: Any) -> bool:
        if type(value) is not dict:
            return True
        for name in required:
            if name not in value:
                return False
        for key, item in value.items():
            check = known.get(key) if key in names else other
            if check is not None and not check(item):
                return False
        return True

    return check_map


def _items_check(schema: Schema) -> Check | None:
    check = compile_check(schema.items) if schema.items is not None else None
    unique = schema.list_type in (ListType.SET, ListType.MAP)
    if check is None and not unique:
        return None

    def check_list(value: Any) -> bool:
        if type(value) is not list:
            return True
        if check is not None:
            for item in value:
                if not check(item):
                    return False
        return not unique or _is_unique(schema, value)

    return check_list


def _is_unique(schema: Schema, value: list[Any]) -> bool:
    if schema.list_type is ListType.MAP and any(item is not None and type(item) is not dict for item in value):
        return False
    return len(value) < 2 or not duplicates(schema, value)
