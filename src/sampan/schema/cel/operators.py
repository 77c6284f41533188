"""Arithmetic, conversions and indexing for values of any type. All functions raise CelRuntimeError on failure.

Source: cel-go common/types (0.26).
"""

import decimal
import math
from typing import Any

from sampan.schema.cel import times
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.values import (
    ABSENT,
    INT_MAX,
    INT_MIN,
    NO_OVERLOAD,
    NONE,
    UINT_MAX,
    Duration,
    FieldMap,
    MapList,
    ObjectValue,
    OptionalValue,
    SetList,
    TextList,
    Timestamp,
    UInt,
    class_name,
    contains,
    find_key,
    size_of,
    type_name,
)

_EXPONENT_MIN = 6
_LISTS = (list, SetList, MapList, TextList)
_MAPS = (dict, ObjectValue)
_KEYED = (dict, ObjectValue, FieldMap)


def no_overload() -> CelRuntimeError:
    """Return the error for operands that an operator does not support."""
    return CelRuntimeError(NO_OVERLOAD)


def int_of(number: int) -> int:
    """Return the number as an int. **Raises** CelRuntimeError if it does not fit."""
    if INT_MIN <= number <= INT_MAX:
        return number
    raise CelRuntimeError("integer overflow")


def uint_of(number: int) -> UInt:
    """Return the number as a uint. **Raises** CelRuntimeError if it does not fit."""
    if 0 <= number <= UINT_MAX:
        return UInt(number)
    raise CelRuntimeError("unsigned integer overflow")


def _joined(left: list[Any], right: list[Any]) -> list[Any]:
    if type(left) is SetList:
        return SetList([*left, *(item for item in right if not contains(left, item))])
    if type(left) is MapList:
        merged: dict[Any, Any] = {left.key_of(item): item for item in left}
        for item in right:
            merged[left.key_of(item)] = item
        return MapList(list(merged.values()), left.keys)
    return [*left, *right] if left and right else left or right


def add(left: Any, right: Any) -> Any:
    """Return `left + right`."""
    kind, other = type(left), type(right)
    if kind in _LISTS and other in _LISTS:
        return _joined(left, right)
    if kind is Duration and other is Timestamp:
        return times.timestamp_of(left.ns + right.ns, right.offset_s)
    if kind is Timestamp and other is Duration:
        return times.timestamp_of(left.ns + right.ns, left.offset_s)
    if kind is not other:
        raise no_overload()
    if kind is int:
        return int_of(left + right)
    if kind is UInt:
        return uint_of(int(left) + int(right))
    if kind is float or kind is str or kind is bytes:
        return left + right
    if kind is Duration:
        return times.duration_of(left.ns + right.ns)
    raise no_overload()


def subtract(left: Any, right: Any) -> Any:
    """Return `left - right`."""
    kind, other = type(left), type(right)
    if kind is Timestamp and other is Duration:
        return times.timestamp_of(left.ns - right.ns, left.offset_s)
    if kind is not other:
        raise no_overload()
    if kind is int:
        return int_of(left - right)
    if kind is UInt:
        return uint_of(int(left) - int(right))
    if kind is float:
        return left - right
    if kind is Duration or kind is Timestamp:
        return times.duration_of(left.ns - right.ns)
    raise no_overload()


def multiply(left: Any, right: Any) -> Any:
    """Return `left * right`."""
    kind = type(left)
    if kind is not type(right):
        raise no_overload()
    if kind is int:
        return int_of(left * right)
    if kind is UInt:
        return uint_of(int(left) * int(right))
    if kind is float:
        return left * right
    raise no_overload()


def _divide_floats(left: float, right: float) -> float:
    if right:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def divide(left: Any, right: Any) -> Any:
    """Return `left / right`; integers are truncated towards zero."""
    kind = type(left)
    if kind is not type(right):
        raise no_overload()
    if kind is float:
        return _divide_floats(left, right)
    if kind is not int and kind is not UInt:
        raise no_overload()
    if right == 0:
        raise CelRuntimeError("division by zero")
    quotient = abs(int(left)) // abs(int(right))
    if kind is UInt:
        return UInt(quotient)
    return int_of(quotient if (left < 0) == (right < 0) else -quotient)


def modulo(left: Any, right: Any) -> Any:
    """Return `left % right`, with the sign of `left`."""
    kind = type(left)
    if kind is not type(right) or (kind is not int and kind is not UInt):
        raise no_overload()
    if right == 0:
        raise CelRuntimeError("modulus by zero")
    if left == INT_MIN and right == -1:
        raise CelRuntimeError("integer overflow")
    rest = abs(int(left)) % abs(int(right))
    return UInt(rest) if kind is UInt else (-rest if left < 0 else rest)


def negate(value: Any) -> Any:
    """Return `-value`."""
    if type(value) is int:
        return int_of(-value)
    if type(value) is float:
        return -value
    raise no_overload()


def show(value: Any) -> str:
    """Format a value for error messages."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return format_double(value)
    return str(value)


_QUALIFIERS = frozenset((str, int, UInt, float, bool))


def check_key(key: Any) -> None:
    """Check that a value may be in brackets. **Raises** CelRuntimeError."""
    if type(key) not in _QUALIFIERS:
        raise CelRuntimeError(f"invalid qualifier type: {class_name(key)}")


def index(container: Any, key: Any) -> Any:
    """Return `container[key]`."""
    check_key(key)
    kind = type(container)
    if kind in _KEYED:
        found = find_key(container, key)
        if found is ABSENT:
            raise CelRuntimeError(f"no such key: {show(key)}")
        return found
    if kind in _LISTS:
        position = list_position(key)
        if 0 <= position < len(container):
            return container[position]
        raise CelRuntimeError(f"index out of bounds: {position}")
    if kind is OptionalValue:
        return optional_index(container, key)
    raise CelRuntimeError(f"no such key: {show(key)}")


def list_position(key: Any) -> int:
    """Return a number as a list index."""
    if type(key) is int or type(key) is UInt:
        return int(key)
    if type(key) is float and key.is_integer():
        return int(key)
    if type(key) is float:
        raise CelRuntimeError(f"unsupported index value {format_double(key)} in list")
    raise CelRuntimeError(f"unsupported index type '{type_name(key)}' in list")


def optional_index(container: Any, key: Any) -> OptionalValue:
    """Return `container[?key]`; the container may be an optional."""
    if type(container) is OptionalValue:
        if container.value is ABSENT:
            return NONE
        container = container.value
    check_key(key)
    if type(container) in _KEYED:
        found = find_key(container, key)
        return NONE if found is ABSENT else OptionalValue(found)
    if type(container) in _LISTS:
        position = list_position(key)
        return OptionalValue(container[position]) if 0 <= position < len(container) else NONE
    return NONE


def is_in(value: Any, container: Any) -> bool:
    """Return `value in container`."""
    if type(container) in _LISTS:
        return contains(container, value)
    if type(container) in _MAPS:
        return find_key(container, value) is not ABSENT
    raise no_overload()


def size(value: Any) -> int:
    """Return `size(value)`."""
    if type(value) in (str, bytes) or type(value) in _LISTS or type(value) in _MAPS:
        return size_of(value)
    raise CelRuntimeError("no such overload: size")


def format_double(value: float) -> str:
    """Format a double like Go's %g: the shortest digits, with an exponent below 1e-4 and from 1e6 on."""
    if value != value:
        return "NaN"
    if value in (math.inf, -math.inf):
        return "+Inf" if value > 0 else "-Inf"
    sign, digits, exponent = decimal.Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(digits) + int(exponent) if value else 1
    if not -4 <= point - 1 < _EXPONENT_MIN:
        fraction = f".{text[1:]}" if len(text) > 1 else ""
        text = f"{text[0]}{fraction}e{'-' if point <= 0 else '+'}{abs(point - 1):02d}"
    elif point <= 0:
        text = "0." + "0" * -point + text
    elif point >= len(text):
        text += "0" * (point - len(text))
    else:
        text = f"{text[:point]}.{text[point:]}"
    return "-" + text if sign else text
