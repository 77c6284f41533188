"""JSON values: one comparison for all parts of the server and of the clients, and the numbers of Go's decoder.

Python's `==` is not the equality of JSON: `True == 1` and `1 == 1.0`, also inside of dicts and lists. Compare objects,
and parts of them that may contain any JSON, with `same`.
"""

import decimal
from collections.abc import Iterable
from typing import Any, Final

import orjson

_INT64_MIN: Final = -(1 << 63)
_INT64_MAX: Final = (1 << 63) - 1
_PLAIN_MAX: Final = 1e21
"""Go writes floats from here on with an exponent."""
_EXACT_MAX: Final = 1 << 53
"""Largest number up to which all integers are floats."""


def same(left: Any, right: Any) -> bool:
    """Return True if two JSON values are equal; 1, 1.0 and true differ. The order of keys does not matter.

    Unequal values cost one comparison in C. Equal ones are encoded in addition, because only the texts show the types.
    Source: apimachinery third_party/forked/golang/reflect/deep_equal.go (1.36).
    """
    if left is right:
        return True
    if left != right:
        return False
    kind = left.__class__
    if kind is not dict and kind is not list:
        return kind is right.__class__
    try:
        if orjson.dumps(left) == orjson.dumps(right):
            return True
    except orjson.JSONEncodeError:
        pass  # Integers beyond 64 bits and lone surrogates have no text here.
    return _same_types(left, right)


def _same_types(left: Any, right: Any) -> bool:
    """Return True if two values that are equal in Python have the same types everywhere."""
    waiting = [(left, right)]
    while waiting:
        one, other = waiting.pop()
        kind = one.__class__
        if kind is not other.__class__:
            return False
        if kind is dict:
            waiting.extend((item, other[key]) for key, item in one.items())
        elif kind is list:
            waiting.extend(zip(one, other, strict=True))
    return True


def same_by_number(left: Any, right: Any) -> bool:
    """Return True if two JSON values are equal, where numbers are equal by value: 1 equals 1.0, but not true.

    Source: structured-merge-diff value/value.go Equals (v6).
    """
    if left is right:
        return True
    if left != right:
        return False
    if left.__class__ is right.__class__ and left.__class__ not in (dict, list):
        return True
    waiting = [(left, right)]
    while waiting:
        one, other = waiting.pop()
        if isinstance(one, dict):
            waiting.extend((item, other[key]) for key, item in one.items())
        elif isinstance(one, list):
            waiting.extend(zip(one, other, strict=True))
        elif (one.__class__ is bool) is not (other.__class__ is bool):
            return False
    return True


def contains(values: list[Any], value: Any) -> bool:
    """Return True if a list has an item that is `same` as `value`."""
    return any(same(item, value) for item in values)


def whole_number(value: float) -> float:
    """Return a number as Go writes it to JSON and reads it again: 2.0 is the integer 2, and so is 1e6 an integer.

    Go decodes integers beyond int64 as floats, so they have the digits of one: 18446744073709551615 becomes
    18446744073709552000. Booleans are no numbers and stay.
    Source: sigs.k8s.io/json decode.go convertNumber; Go's encoding/json floatEncoder.
    """
    kind = value.__class__
    if kind is float:
        if not (value.is_integer() and -_PLAIN_MAX < value < _PLAIN_MAX):
            return value
    elif kind is not int or _INT64_MIN <= value <= _INT64_MAX:
        return value
    number = float(value)
    if not -_PLAIN_MAX < number < _PLAIN_MAX:
        return number
    return int(number) if -_EXACT_MAX <= number <= _EXACT_MAX else int(decimal.Decimal(repr(number)))


def with_whole_numbers(value: Any) -> Any:
    """Return a JSON value with all its numbers as of `whole_number`. Changes its lists and dicts in place."""
    kind = value.__class__
    if kind is float or kind is int:
        return whole_number(value)
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one.__class__ is dict:
            pairs: Iterable[tuple[Any, Any]] = one.items()
        elif one.__class__ is list:
            pairs = enumerate(one)
        else:
            continue
        for key, item in pairs:
            kind = item.__class__
            if kind is str:
                continue
            if kind is dict or kind is list:
                waiting.append(item)
            elif kind is float or kind is int:
                one[key] = whole_number(item)
    return value
