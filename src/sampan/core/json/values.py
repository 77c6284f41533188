"""JSON values: one comparison for all parts of the server and of the clients, and the numbers of Go's decoder.

Python's `==` is not the equality of JSON: `True == 1` and `1 == 1.0`, also inside of dicts and lists. Compare objects,
and parts of them that may contain any JSON, with `same`.
"""

import decimal
from collections.abc import Iterable
from typing import Any, Final

import orjson

from sampan.core.numbers.integers import INT64_MAX, INT64_MIN

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
    """Return a number as Go has it after it has written and read it: an integer if it fits in int64, else a float.

    2.0 and 1e3 are 2 and 1000; 2**63 is a float. Booleans are no numbers and stay.
    Source: sigs.k8s.io/json decode.go convertNumber; Go's encoding/json floatEncoder.
    """
    kind = value.__class__
    if kind is float:
        if not (value.is_integer() and INT64_MIN < value < INT64_MAX):
            return value
        if -_EXACT_MAX <= value <= _EXACT_MAX:
            return int(value)
        # Go writes the shortest digits that identify the float, filled up with zeros.
        return int(decimal.Decimal(repr(value)))
    return value if kind is not int or INT64_MIN <= value <= INT64_MAX else _float(value)


def _float(value: float) -> float:
    """Return an integer as a float. One that is too large for a float cannot come from JSON, and stays."""
    try:
        return float(value)
    except OverflowError:
        return value


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
