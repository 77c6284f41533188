"""Check whether a value is valid, with compiled closures and without error messages. `report.py` returns the errors.

Both must agree: a value passes its check exactly if its report has no errors.
Source: kube-openapi pkg/validation/validate/, apiextensions-apiserver pkg/apiserver/schema/listtype (1.36).
"""

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

from sampan.core.field import Path
from sampan.schema.embedded import embedded_errors
from sampan.schema.structural import ListType, Schema, ValueValidations
from sampan.schema.validation import predicate
from sampan.schema.validation.formats import string_format
from sampan.schema.validation.pattern import compile_pattern
from sampan.schema.work import spend

Check = Callable[[Any], bool]

_TYPES: dict[str, type] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": float,
    "object": dict,
    "array": list,
}
_NO_RULES = ValueValidations()
_SMALL = 16
"""Objects with at most this number of fields are not counted as work."""


class _Node(NamedTuple):
    """Checks of one node: `usual` for values of `type` (None: all are valid), `other` for all other values."""

    type: type
    usual: Check | None
    other: Check


def compile_check(schema: Schema) -> Check | None:
    """Return the check of a node; None if every value is valid."""
    if not _restricts(schema):
        return None
    expected, usual, other = _node(schema)
    return lambda value: (usual is None or usual(value)) if type(value) is expected else other(value)


def _restricts(schema: Schema) -> bool:
    """Report whether a node restricts values. Built-in types (the metadata) are validated elsewhere."""
    if schema.name:
        return False
    shaped = schema.type or schema.int_or_string or schema.properties or schema.items is not None
    shaped = shaped or schema.list_type is not None
    return bool(shaped or schema.validations or schema.embedded_resource or schema.additional_properties is not None)


def _node(schema: Schema) -> _Node:
    expected = _TYPES.get(schema.type, dict)
    usual = _for_type(schema, expected) if schema.type else _when_needed(schema, dict)
    if schema.int_or_string:
        return _Node(str, _for_type(schema, str), _other_int_or_string(schema))
    if not schema.type:
        if predicate.known_format(schema) is not None:
            return _Node(str, _for_type(schema, str), _other_untyped(schema, (list,)))
        return _Node(dict, usual, _other_untyped(schema, (str, list, int, float, bool)))
    if expected is int:
        return _Node(int, usual, _or_null(schema, _whole_float(_for_type(schema, float))))
    if expected is float:
        return _Node(float, usual, _or_null(schema, _only(int, _for_type(schema, int))))
    if expected is str and predicate.known_format(schema) is not None:
        return _Node(str, usual, _or_null(schema, _only(list, _for_type(schema, list))))
    return _Node(expected, usual, _or_null(schema, _never))


def _never(value: Any) -> bool:
    return False


def _only(type_: type, check: Check | None) -> Check:
    return lambda value: type(value) is type_ and (check is None or check(value))


def _whole_float(check: Check | None) -> Check:
    return lambda value: predicate.is_integer(value) and (check is None or check(value))


def _or_null(schema: Schema, check: Check) -> Check:
    """Allow null if the node is nullable.

    Null is checked only against the type and the enum, which never contains it.
    """
    if not schema.nullable or (schema.validations is not None and schema.validations.enum):
        return check
    return lambda value: value is None or check(value)


def _when_needed(schema: Schema, type_: type) -> Check:
    """Return a check for values of one type that is compiled on first use.

    Otherwise, for nodes without a type, `allOf` in `allOf` would be compiled for each combination of types.
    """
    made: list[Check | None] = []

    def check(value: Any) -> bool:
        if not made:
            made.append(_for_type(schema, type_))
        inner = made[0]
        return inner is None or inner(value)

    return check


def _other_int_or_string(schema: Schema) -> Check:
    whole, fraction = _for_type(schema, int), _whole_float(_for_type(schema, float))

    def check(value: Any) -> bool:
        return (whole is None or whole(value)) if type(value) is int else fraction(value)

    return _or_null(schema, check)


def _other_untyped(schema: Schema, types: tuple[type, ...]) -> Check:
    """Check a value of a node without a type: all types are valid. A format applies only to strings, not to lists."""
    checks = {type_: _when_needed(schema, type_) for type_ in types}
    has_enum = schema.validations is not None and bool(schema.validations.enum)

    def check(value: Any) -> bool:
        if value is None:
            return not has_enum
        if type(value) not in checks:
            return False
        return checks[type(value)](value)

    return check


def _for_type(schema: Schema, type_: type) -> Check | None:
    """Return the check for values of one type; None if all are valid."""
    rules = schema.validations or _NO_RULES
    parts: list[Check] = []
    if type_ is str:
        parts += _text(schema, rules)
    elif type_ is int or type_ is float:
        parts += _number(schema, rules, type_)
    elif type_ is list:
        parts += [*_size(rules.min_items, rules.max_items), *_items(schema)]
    elif type_ is dict:
        parts += [*_size(rules.min_properties, rules.max_properties), *_fields(schema, rules)]
    if rules.enum:
        parts.append(_enum(rules.enum, type_))
    return _all([*parts, *_junctors(rules)])


def _all(parts: list[Check]) -> Check | None:
    if not parts:
        return None
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        first, second = parts
        return lambda value: first(value) and second(value)
    return lambda value: all(part(value) for part in parts)


def _enum(allowed: list[Any], type_: type) -> Check:
    if type_ is str:
        return frozenset(item for item in allowed if type(item) is str).__contains__
    if type_ is int or type_ is float:
        return frozenset(item for item in allowed if type(item) in (int, float)).__contains__

    def check(value: Any) -> bool:
        spend(len(allowed))
        return predicate.in_enum(value, allowed)

    return check


def _text(schema: Schema, rules: ValueValidations) -> list[Check]:
    found = _size(rules.min_length, rules.max_length)
    if rules.pattern:
        found.append(_pattern(rules.pattern))
    known = string_format(rules.format) if rules.format and schema.type in ("", "string") else None
    return found if known is None else [*found, known]


def _pattern(pattern: str) -> Check:
    """Match a pattern, which is compiled on first use, and again after it was evicted from the cache."""

    def check(value: Any) -> bool:
        try:
            return compile_pattern(pattern)(value)
        except ValueError:
            return False

    return check


def _size(low: int | None, high: int | None) -> list[Check]:
    least, most = low or 0, high
    if most is not None:
        return [lambda value: least <= len(value) <= most]
    return [lambda value: len(value) >= least] if least else []


def _number(schema: Schema, rules: ValueValidations, type_: type) -> list[Check]:
    limits = (rules.maximum, rules.minimum, rules.multiple_of)
    if any(limit is not None and not predicate.fits_range(limit, schema.type, rules.format) for limit in limits):
        return [_never]
    found: list[Check] = _whole_bounds(schema, rules) if type_ is int else _bounds(schema, rules)
    if rules.multiple_of is not None:
        factor, name = rules.multiple_of, schema.type
        found.append(lambda value: predicate.is_multiple(value, factor, name))
    return found


def _whole_bounds(schema: Schema, rules: ValueValidations) -> list[Check]:
    """Combine the range, minimum and maximum of integers into one comparison."""
    bits = 31 if rules.format == "int32" and schema.type == "integer" else 63
    low, high = (-(2**bits), 2**bits - 1) if schema.type == "integer" else (float("-inf"), float("inf"))
    if rules.minimum is not None:
        low = max(low, int(rules.minimum) + (1 if rules.exclusive_minimum else 0))
    if rules.maximum is not None:
        high = min(high, int(rules.maximum) - (1 if rules.exclusive_maximum else 0))
    return [lambda value: low <= value <= high]


def _bounds(schema: Schema, rules: ValueValidations) -> list[Check]:
    found: list[Check] = []
    name, format_ = schema.type, rules.format
    if format_ == "float" or name == "integer":
        found.append(lambda value: predicate.fits_range(value, name, format_))
    if rules.maximum is not None:
        high, below = rules.maximum, rules.exclusive_maximum
        found.append(lambda value: predicate.below_maximum(value, high, below))
    if rules.minimum is not None:
        low, above = rules.minimum, rules.exclusive_minimum
        found.append(lambda value: predicate.above_minimum(value, low, above))
    return found


def _junctors(rules: ValueValidations) -> list[Check]:
    found: list[Check] = []
    all_of = [check for child in rules.all_of if (check := compile_check(child)) is not None]
    if all_of:
        found.append(_counted(len(all_of), lambda value: all(check(value) for check in all_of)))
    if rules.any_of:
        any_of = [compile_check(child) for child in rules.any_of]
        found.append(_counted(len(any_of), lambda value: any(check is None or check(value) for check in any_of)))
    if rules.one_of:
        one_of = [compile_check(child) for child in rules.one_of]
        found.append(_counted(len(one_of), lambda value: sum(check is None or check(value) for check in one_of) == 1))
    if rules.not_ is not None:
        denied = compile_check(rules.not_)
        found.append(lambda value: denied is not None and not denied(value))
    return found


def _counted(steps: int, check: Check) -> Check:
    def counted(value: Any) -> bool:
        spend(steps)
        return check(value)

    return counted


def _fields(schema: Schema, rules: ValueValidations) -> list[Check]:
    known = {name: _node(child) for name, child in schema.properties.items() if _restricts(child)}
    additional = schema.additional_properties
    found: list[Check] = []
    if rules.required:
        found.append(_required(rules.required))
    if additional is False:
        found.append(frozenset(schema.properties).issuperset)
    if isinstance(additional, Schema) and _restricts(additional):
        free = dict.fromkeys(name for name in schema.properties if name not in known)
        found.append(_map({**free, **known}, _node(additional)))
    elif known:
        found.append(_object(known))
    if schema.embedded_resource:
        found.append(lambda value: not embedded_errors(value, Path()))
    return found


def _required(names: tuple[str, ...]) -> Check:
    if len(names) == 1:
        name = names[0]
        return lambda value: name in value
    required = frozenset(names)
    return lambda value: value.keys() >= required


def _object(known: dict[str, _Node]) -> Check:
    get = known.get

    def check_object(value: Any) -> bool:
        if len(value) > _SMALL:
            spend(len(value))
        for key, item in value.items():
            node = get(key)
            if node is None:
                continue
            expected, usual, other = node
            if type(item) is expected:
                if usual is not None and not usual(item):
                    return False
            elif not other(item):
                return False
        return True

    return check_object


def _map(known: dict[str, _Node | None], node: _Node) -> Check:
    expected, usual, other = node
    check_values = _each(expected, usual, other)
    if not known:
        return lambda value: check_values(value.values())

    def check_map(value: Any) -> bool:
        if not check_values([item for key, item in value.items() if key not in known]):
            return False
        return check_known({key: item for key, item in value.items() if key in known})

    check_known = _object({name: child for name, child in known.items() if child is not None})
    return check_map


def _each(expected: type, usual: Check | None, other: Check) -> Callable[[Any], bool]:
    def check_each(items: Any) -> bool:
        spend(len(items))
        for item in items:
            if type(item) is expected:
                if usual is not None and not usual(item):
                    return False
            elif not other(item):
                return False
        return True

    return check_each


def _items(schema: Schema) -> list[Check]:
    found: list[Check] = []
    if schema.items is not None and _restricts(schema.items):
        found.append(_each(*_node(schema.items)))
    if schema.list_type is ListType.SET:
        found.append(_set(schema))
    elif schema.list_type is ListType.MAP:
        found.append(_map_list(schema))
    return found


def _set(schema: Schema) -> Check:
    """Check the uniqueness of the items.

    Python's equality is coarser than that of JSON values: items that differ in Python are unique, but only an exact
    comparison finds duplicates.
    """

    def check(value: Any) -> bool:
        if len(value) < 2:
            return True
        try:
            if len(set(value)) == len(value):
                return True
        except TypeError:
            pass
        return not predicate.duplicates(schema, value)

    return check


def _map_list(schema: Schema) -> Check:
    keys_of = itemgetter(*schema.list_map_keys) if schema.list_map_keys else None

    def check(value: Any) -> bool:
        try:
            if keys_of is not None and len(set(map(keys_of, value))) == len(value):
                return True
        except (KeyError, TypeError, IndexError):
            pass
        return _is_unique_map(schema, value)

    return check


def _is_unique_map(schema: Schema, value: list[Any]) -> bool:
    if any(item is not None and type(item) is not dict for item in value):
        return False
    return len(value) < 2 or not predicate.duplicates(schema, value)
