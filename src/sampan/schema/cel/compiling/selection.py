"""Field selection: closures for operands of known types, functions for all others."""

from collections.abc import Callable
from typing import Any

from sampan.schema.cel import operators
from sampan.schema.cel.compiling.code import COST, Code, Frame
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.types import CelType
from sampan.schema.cel.values import ABSENT, NONE, FieldMap, ObjectValue, OptionalValue, find_key


def _no_such_key(name: str) -> CelRuntimeError:
    return CelRuntimeError(f"no such key: {name}")


def plain_field(operand: Code, key: str, wrap: Callable[[Any], Any] | None, name: str) -> Callable[[Frame], Any]:
    """Select a field of an object whose values have the form of JSON. Null counts as absent."""
    if operand.slot >= 0 and wrap is None:
        return _variable_field(operand.slot, key, name)
    parent = operand.run

    def run(frame: Frame) -> Any:
        try:
            value = parent(frame)[key]
        except KeyError:
            raise _no_such_key(name) from None
        if value is None:
            raise _no_such_key(name)
        return value if wrap is None else wrap(value)

    return run


def _variable_field(slot: int, key: str, name: str) -> Callable[[Frame], Any]:
    """Select a field of a variable, which is the most frequent case."""

    def run(frame: Frame) -> Any:
        try:
            value = frame[slot][key]
        except KeyError:
            raise _no_such_key(name) from None
        if value is None:
            raise _no_such_key(name)
        return value

    return run


def object_field(
    operand: Callable[[Frame], Any], key: str, wrap: Callable[[Any], Any] | None, name: str
) -> Callable[[Frame], Any]:
    """Select a field of an object with converted fields."""

    def run(frame: Frame) -> Any:
        value = operand(frame).raw.get(key)
        if value is None:
            raise _no_such_key(name)
        return value

    def run_converted(frame: Frame) -> Any:
        value = operand(frame).find(key)
        if value is ABSENT:
            raise _no_such_key(name)
        return value

    return run if wrap is None else run_converted


def entry(operand: Callable[[Frame], Any], key: str) -> Callable[[Frame], Any]:
    """Select a value of a map with string keys."""

    def run(frame: Frame) -> Any:
        value = operand(frame).get(key, ABSENT)
        if value is ABSENT:
            raise _no_such_key(key)
        return value

    return run


def find_field(value: Any, key: str, *, declared: bool) -> Any:
    """Return the field's value, or ABSENT for a missing field or a value without fields.

    Null counts as absent in objects with declared fields.
    """
    kind = type(value)
    if kind is dict or kind is ObjectValue or kind is FieldMap:
        found = find_key(value, key)
        return ABSENT if declared and found is None else found
    if isinstance(value, list):
        operators.list_position(key)
    return ABSENT


def any_field(operand: Callable[[Frame], Any], key: str) -> Callable[[Frame], Any]:
    """Select a field of a value of any type."""

    def run(frame: Frame) -> Any:
        value = operand(frame)
        if type(value) is OptionalValue:
            return present(frame, optional_field(value, key, declared=False))
        found = find_field(value, key, declared=False)
        if found is ABSENT:
            raise _no_such_key(key)
        return found

    return run


def any_index(operand: Callable[[Frame], Any], key: Code, *, optional: bool) -> Callable[[Frame], Any]:
    """Select `value[key]`, or `value[?key]` if `optional`, of a value of any type. `optional.none()` needs no key."""
    key_run, key_cost = key.run, key.cost if key.attribute else key.cost + 1

    def run(frame: Frame) -> Any:
        value = operand(frame)
        if type(value) is OptionalValue:
            if value.value is ABSENT:
                frame[COST] -= key_cost
                return NONE
        elif not optional:
            return operators.index(value, key_run(frame))
        return present(frame, operators.optional_index(value, key_run(frame)))

    return run


def present(frame: Frame, found: OptionalValue) -> OptionalValue:
    """Return the result of an optional selection, which costs nothing if it is absent: take its cost back."""
    if found is NONE:
        frame[COST] -= 1
    return found


def optional_field(value: Any, key: str, *, declared: bool) -> OptionalValue:
    """Return `value.?key`; the value may be an optional."""
    if type(value) is OptionalValue:
        if value.value is ABSENT:
            return NONE
        value = value.value
    found = find_field(value, key, declared=declared)
    return NONE if found is ABSENT else OptionalValue(found)


def optional_field_code(operand: Callable[[Frame], Any], key: str, *, declared: bool) -> Callable[[Frame], Any]:
    """Select `value.?key`."""
    return lambda frame: present(frame, optional_field(operand(frame), key, declared=declared))


def wrapped_optional(run: Callable[[Frame], Any], key: str, field: CelType) -> Callable[[Frame], Any]:
    """Select `value.?key`, where the values of the field are converted."""

    def read(frame: Frame) -> OptionalValue:
        found = present(frame, optional_field(run(frame), key, declared=True))
        if found.value is ABSENT:
            return found
        assert field.wrap is not None
        return OptionalValue(field.wrap(found.value))

    return read
