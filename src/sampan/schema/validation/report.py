"""Report the errors of a value, with the messages of kube-apiserver.

Runs only after a check has failed. Errors in values that an update does not change are dropped (ratcheting).
Source: kube-openapi pkg/validation/{validate,errors}/, apiextensions-apiserver pkg/apiserver/validation/ (1.36).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from sampan.core.field import FAULTS_CHARACTERS_MAX, FAULTS_MAX, ErrorType, FieldError, TooManyFaults, quote
from sampan.core.go_text import NIL
from sampan.core.object import Object
from sampan.schema.structural import UNSET, Schema, ValueValidations
from sampan.schema.validation import predicate
from sampan.schema.validation.formats import string_format
from sampan.schema.validation.pattern import compile_pattern
from sampan.schema.validation.ratchet import item_old, items_old, property_old, same
from sampan.schema.work import REPORT_STEPS, spend

_KINDS: dict[type, tuple[str, str]] = {
    str: ("string", ""),
    bool: ("boolean", ""),
    int: ("integer", "int64"),
    float: ("number", "float64"),
    dict: ("object", ""),
    list: ("array", ""),
}


class _At(NamedTuple):
    """Position in the value: its name, the old value there, and the schema node that describes it."""

    name: str
    old: Any
    shape: Schema


class ValidationReport:
    """Errors of a value by their text, and the number of checks made.

    Of several failed alternatives, the one with the most checks is reported.
    """

    __slots__ = ("_base", "_characters", "count", "errors")

    def __init__(self, base: str) -> None:
        self._base = base
        self._characters = 0
        self.errors: dict[str, FieldError] = {}
        self.count = 0

    def add(self, type_: ErrorType, name: str, value: Any, detail: str, text: str) -> None:
        """Add an error at `name`, unless one has the same text. Raises `TooManyFaults`."""
        if text not in self.errors:
            self._put(text, FieldError(type_, self._place(name), value, detail))

    def _put(self, text: str, error: FieldError) -> None:
        self.errors[text] = error
        self._characters += len(text)
        if len(self.errors) >= FAULTS_MAX or self._characters > FAULTS_CHARACTERS_MAX:
            raise TooManyFaults(list(self.errors.values()))

    def invalid(self, name: str, value: Any, text: str) -> None:
        """Add an error for a value at `name` that breaks a rule."""
        self.add(ErrorType.INVALID, name, "" if value is None else value, text, text)

    def plain(self, text: str) -> None:
        """Add an error that contains its position only in its text."""
        self.add(ErrorType.INVALID, "", "", text, text)

    def merge(self, other: "ValidationReport") -> None:
        """Add the errors and checks of another result."""
        self.count += other.count
        if other.errors:
            spend(len(other.errors))
        for text, error in other.errors.items():
            if text not in self.errors:
                self._put(text, error)

    def _place(self, name: str) -> str:
        name = name.removeprefix(".")
        if not name:
            return self._base or NIL
        return f"{self._base}.{name}" if self._base else name


class Reporter:
    """Reporter of values below `base`, the path that prefixes the field of every error."""

    def __init__(self, base: str = "") -> None:
        self._base = base
        self._tentative = 0
        """Number of alternatives that enclose the current position. Errors found in an alternative may be dropped."""
        self._enums: dict[int, frozenset[Any]] = {}

    def report(self, schema: Schema, value: Any, old: Any = UNSET) -> list[FieldError]:
        """Return the errors of a value; `old` is the value it replaces. Raises `TooManyFaults`."""
        return list(self._value(schema, value, _At("", old, schema)).errors.values())

    def _value(self, schema: Schema, value: Any, at: _At) -> ValidationReport:
        if not self._tentative and at.old is not UNSET and same(at.shape, value, at.old):
            # All errors would be dropped. In alternatives, the number of checks is needed, too.
            return ValidationReport(self._base)
        result = self._node(schema, value, at)
        if result.errors and at.old is not UNSET and same(at.shape, value, at.old):
            result.errors = {}
        return result

    def _branch(self, schema: Schema, value: Any, at: _At) -> ValidationReport:
        """Return the result of one alternative; at the limit of errors, it contains only the errors found so far."""
        self._tentative += 1
        try:
            return self._node(schema, value, at)
        except TooManyFaults as error:
            result = ValidationReport(self._base)
            result.errors = {str(fault): fault for fault in error.faults}
            return result
        finally:
            self._tentative -= 1

    def _node(self, schema: Schema, value: Any, at: _At) -> ValidationReport:
        """Check one node.

        `schema` is the node at this position, or an alternative of it. Alternatives are not ratcheted separately.
        """
        if self._tentative:
            spend(REPORT_STEPS)
        result = ValidationReport(self._base)
        rules = schema.validations or _NO_RULES
        if schema.type or schema.int_or_string or predicate.known_format(schema):
            _type(result, schema, value, at.name)
        if value is not None:
            self._junctors(result, rules, value, at)
            if type(value) is str:
                _string(result, schema, rules, value, at.name)
            elif type(value) is int or type(value) is float:
                _number(result, schema, rules, value, at.name)
            elif type(value) is list:
                self._list(result, schema, rules, value, at)
        if rules.enum:
            self._enum(result, rules.enum, value, at.name)
        if type(value) is dict:
            self._object(result, schema, rules, value, at)
        result.count += 2
        return result

    def _list(
        self, result: ValidationReport, schema: Schema, rules: ValueValidations, value: list[Any], at: _At
    ) -> None:
        name = at.name
        if schema.items is not None:
            shape, olds = at.shape.items or schema.items, items_old(at.shape, at.old)
            for index, item in enumerate(value):
                place = _At(f"{name}[{index}]", item_old(at.shape, item, olds), shape)
                result.merge(self._value(schema.items, item, place))
        if rules.min_items is not None and len(value) < rules.min_items:
            result.invalid(name, len(value), f"{name} in body should have at least {rules.min_items} items")
        if rules.max_items is not None and len(value) > rules.max_items:
            _too_many(result, name, len(value), rules.max_items)
        result.count += 2

    def _object(
        self, result: ValidationReport, schema: Schema, rules: ValueValidations, value: Object, at: _At
    ) -> None:
        name = at.name
        if rules.min_properties is not None and len(value) < rules.min_properties:
            text = f"{name} in body should have at least {rules.min_properties} properties"
            result.invalid(name, len(value), text)
        if rules.max_properties is not None and len(value) > rules.max_properties:
            _too_many(result, name, len(value), rules.max_properties)
        for key, child in self._children(result, schema, value, name):
            shape, before = property_old(at.shape, at.old, key)
            if not name and key in ("apiVersion", "kind"):
                before = UNSET
            place = f"{name}.{key}" if name or key not in schema.properties else key
            result.merge(self._value(child, value[key], _At(place, before, shape or child)))
        for key in rules.required:
            if key not in value:
                result.add(ErrorType.REQUIRED, f"{name}.{key}", "", "", f"{name}.{key} in body is required")
        result.count += 2

    def _children(
        self, result: ValidationReport, schema: Schema, value: Object, name: str
    ) -> Iterator[tuple[str, Schema]]:
        additional = schema.additional_properties
        for key in value:
            if key in schema.properties:
                continue
            if additional is False:
                result.invalid(name, key, f"{name}.{key} in body is a forbidden property")
            elif isinstance(additional, Schema):
                yield key, additional
        for key, child in schema.properties.items():
            if key in value and not child.name:
                yield key, child

    def _junctors(self, result: ValidationReport, rules: ValueValidations, value: Any, at: _At) -> None:
        name = quote(at.name)
        if rules.any_of:
            best = _best([self._branch(child, value, at) for child in rules.any_of])
            if best.errors:
                result.plain(f"{name} must validate at least one schema (anyOf)")
            result.merge(best)
        if rules.one_of:
            _one_of(result, name, [self._branch(child, value, at) for child in rules.one_of])
        if rules.all_of:
            _all_of(result, name, [self._branch(child, value, at) for child in rules.all_of])
        if rules.not_ is not None and not self._branch(rules.not_, value, at).errors:
            result.plain(f"{name} must not validate the schema (not)")
        result.count += 2

    def _enum(self, result: ValidationReport, allowed: list[Any], value: Any, name: str) -> None:
        result.count += 1
        if type(value) is not str:
            spend(len(allowed))
        texts = self._enums.get(id(allowed))
        if texts is None:
            texts = self._enums[id(allowed)] = frozenset(item for item in allowed if type(item) is str)
        if not (value in texts if type(value) is str else predicate.in_enum(value, allowed)):
            shown = [item if isinstance(item, str) else orjson.dumps(item).decode() for item in allowed]
            detail = f"supported values: {', '.join(quote(item) for item in shown)}"
            result.add(ErrorType.NOT_SUPPORTED, name, value, detail, f"{name} in body should be one of {shown}")


_NO_RULES = ValueValidations()


def _best(found: list[ValidationReport]) -> ValidationReport:
    """Return the first valid result; otherwise the one with the most checks."""
    return next((each for each in found if not each.errors), None) or max(found, key=lambda each: each.count)


def _one_of(result: ValidationReport, name: str, found: list[ValidationReport]) -> None:
    valid = [each for each in found if not each.errors]
    if len(valid) == 1:
        result.merge(valid[0])
        return
    why = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
    result.plain(f"{name} must validate one and only one schema (oneOf). {why}")
    if not valid:
        result.merge(_best(found))


def _all_of(result: ValidationReport, name: str, found: list[ValidationReport]) -> None:
    for each in found:
        result.merge(each)
    failed = sum(bool(each.errors) for each in found)
    if failed:
        none = ". None validated" if failed == len(found) else ""
        result.plain(f"{name} must validate all the schemas (allOf){none}")


def _type(result: ValidationReport, schema: Schema, value: Any, name: str) -> None:
    types = ("integer", "string") if schema.int_or_string else ((schema.type,) if schema.type else ())
    if value is None:
        if types and not schema.nullable:
            _wrong_type(result, name, ",".join(types), "null")
        return
    kind, inferred = _KINDS[type(value)]
    format_ = predicate.known_format(schema)
    fits = kind in types or ("number" in types and kind == "integer") or _is_whole_float(value, types)
    is_flat = type(value) is not str and type(value) is not list
    if format_ and is_flat and not fits and inferred != format_:
        _wrong_type(result, name, format_, inferred)
    elif format_ and not is_flat and not ("number" in types or "integer" in types):
        result.count += 1
    elif not fits:
        _wrong_type(result, name, ",".join(types), kind)
    else:
        result.count += 1


def _is_whole_float(value: Any, types: tuple[str, ...]) -> bool:
    return type(value) is float and "integer" in types and predicate.is_integer(value)


def _wrong_type(result: ValidationReport, name: str, expected: str, found: str) -> None:
    text = f"{name} in body must be of type {expected}: {quote(found)}"
    result.add(ErrorType.TYPE_INVALID, name, found, text, text)


def _string(result: ValidationReport, schema: Schema, rules: ValueValidations, value: str, name: str) -> None:
    result.count += 1
    if rules.max_length is not None and len(value) > rules.max_length:
        detail = f"may not be more than {rules.max_length} bytes"
        text = f"{name} in body should be at most {rules.max_length} chars long"
        result.add(ErrorType.TOO_LONG, name, "", detail, text)
    elif rules.min_length is not None and len(value) < rules.min_length:
        result.invalid(name, value, f"{name} in body should be at least {rules.min_length} chars long")
    elif rules.pattern and (why := _pattern_fault(rules.pattern, value)) is not None:
        result.invalid(name, value, f"{name} in body should match '{why}'")
    format_ = rules.format if schema.type in ("", "string") else None
    known = string_format(format_) if format_ else None
    if known is not None and not known(value):
        _wrong_value(result, name, str(format_), value)


def _wrong_value(result: ValidationReport, name: str, format_: str, value: str) -> None:
    text = f"{name} in body must be of type {format_}: {quote(value)}"
    result.add(ErrorType.TYPE_INVALID, name, value, text, text)


def _pattern_fault(pattern: str, value: str) -> str | None:
    try:
        search = compile_pattern(pattern)
    except ValueError as error:
        return f"{pattern}, but pattern is invalid: {error}"
    return None if search(value) else pattern


def _number(result: ValidationReport, schema: Schema, rules: ValueValidations, value: float, name: str) -> None:
    _range(result, schema, rules, value, "Checked", name)
    if rules.multiple_of is not None:
        _range(result, schema, rules, rules.multiple_of, "MultipleOf", name)
        if not predicate.is_multiple(value, rules.multiple_of, schema.type):
            factor = _go_bound(value, rules.multiple_of)
            result.invalid(name, value, f"{name} in body should be a multiple of {factor}")
    if rules.minimum is not None:
        _range(result, schema, rules, rules.minimum, "Minimum boundary", name)
        if not predicate.above_minimum(value, rules.minimum, rules.exclusive_minimum):
            words = "greater than" if rules.exclusive_minimum else "greater than or equal to"
            result.invalid(name, value, f"{name} in body should be {words} {_go_bound(value, rules.minimum)}")
    if rules.maximum is not None:
        _range(result, schema, rules, rules.maximum, "Maximum boundary", name)
        if not predicate.below_maximum(value, rules.maximum, rules.exclusive_maximum):
            words = "less than" if rules.exclusive_maximum else "less than or equal to"
            result.invalid(name, value, f"{name} in body should be {words} {_go_bound(value, rules.maximum)}")
    result.count += 2


def _range(
    result: ValidationReport, schema: Schema, rules: ValueValidations, number: float, what: str, name: str
) -> None:
    if schema.type not in ("integer", "number") or predicate.fits_range(number, schema.type, rules.format):
        return
    format_ = predicate.known_format(schema)
    with_format = f" with format {format_}" if format_ else " (default format)"
    result.plain(f"{what} value must be of type {schema.type}{with_format} in {name}")


def _go_bound(value: float, bound: float) -> str:
    """Format a limit like Go: truncated to an integer for integers, else the shortest form of the float."""
    if type(value) is int:
        return str(int(bound))
    number = float(bound)
    if number.is_integer() and abs(number) < 1e21:
        return str(int(number))
    return repr(number)


def _too_many(result: ValidationReport, name: str, count: int, count_max: int) -> None:
    items = "item" if count_max == 1 else "items"
    detail = f"must have at most {count_max} {items}"
    result.add(ErrorType.TOO_MANY, name, count, detail, f"{name} in body {detail}")
