"""Setters for fields that are not messages: they store a decoded field in an object.

A setter of length-delimited values takes the object, the body, the start and end of the value, and the budget.
"""

from collections.abc import Callable
from typing import Any, Final

from sampan.wire.protobuf.decode_budget import DecodeBudget
from sampan.wire.protobuf.decode_values import VALUES, Reader, read_double
from sampan.wire.protobuf.varint import BYTES, read_varint, scan, tag_of, truncated

Json = dict[str, Any]
Setter = Callable[[Json, bytes, int, int, DecodeBudget], None]

_KEY: Final = tag_of(1, BYTES)
_VALUE: Final = tag_of(2, BYTES)


def int_setter(name: str, convert: Callable[[int], Any], keep: bool) -> Callable[[Json, int], None]:
    """Return a setter for a number or bool."""

    def set_int(obj: Json, value: int) -> None:
        if value or keep:
            obj[name] = convert(value)
        else:
            obj.pop(name, None)

    return set_int


def int_adder(name: str, convert: Callable[[int], Any]) -> Callable[[Json, int], None]:
    """Return a setter that appends a number to a list."""

    def add_int(obj: Json, value: int) -> None:
        _list_of(obj, name).append(convert(value))

    return add_int


def packed_adder(name: str, convert: Callable[[int], Any]) -> Setter:
    """Return a setter that appends packed numbers to a list."""

    def add_packed(obj: Json, body: bytes, start: int, stop: int, _budget: DecodeBudget) -> None:
        values = _list_of(obj, name)
        while start < stop:
            value, start = read_varint(body, start)
            values.append(convert(value))
        if start != stop:
            truncated()

    return add_packed


def double_setter(name: str) -> Callable[[Json, bytes], None]:
    """Return a setter for a float."""

    def set_double(obj: Json, raw: bytes) -> None:
        obj[name] = read_double(raw)

    return set_double


def _list_of(obj: Json, name: str) -> list[Any]:
    values = obj.get(name)
    if values is None:
        values = obj[name] = []
    found: list[Any] = values
    return found


def value_setter(name: str, reader: Reader) -> Setter:
    """Return a setter that stores the value decoded by `reader`."""

    def set_value(obj: Json, body: bytes, start: int, stop: int, budget: DecodeBudget) -> None:
        obj[name] = reader(body, start, stop, budget)

    return set_value


def value_setter_unless_zero(name: str, reader: Reader) -> Setter:
    """Return a setter like `value_setter` that omits empty values."""

    def set_value(obj: Json, body: bytes, start: int, stop: int, budget: DecodeBudget) -> None:
        value = reader(body, start, stop, budget)
        if value:
            obj[name] = value
        else:
            obj.pop(name, None)

    return set_value


def bytes_setter(name: str, keep: bool) -> Setter:
    """Return a setter for bytes; empty ones are omitted unless `keep`."""

    reader = VALUES["bytes"][0]

    def set_bytes(obj: Json, body: bytes, start: int, stop: int, budget: DecodeBudget) -> None:
        if start != stop or keep:
            obj[name] = reader(body, start, stop, budget)
        else:
            obj.pop(name, None)

    return set_bytes


def value_adder(name: str, reader: Reader) -> Setter:
    """Return a setter that appends the value decoded by `reader` to a list."""

    def add_value(obj: Json, body: bytes, start: int, stop: int, budget: DecodeBudget) -> None:
        value = reader(body, start, stop, budget)
        values = obj.get(name)
        if values is None:
            obj[name] = [value]
        else:
            values.append(value)

    return add_value


def entry_setter(name: str, read: Reader, zero: Callable[[], Any]) -> Setter:
    """Return a setter that adds an entry to a map; entries are messages with a key and a value."""

    def set_entry(obj: Json, body: bytes, start: int, stop: int, budget: DecodeBudget) -> None:
        budget.count()
        entries = obj.get(name)
        if entries is None:
            entries = obj[name] = {}
        value_at = _short_entry(body, start, stop)
        if value_at:
            entries[body[start + 2 : value_at - 2].decode()] = read(body, value_at, stop, budget)
            return
        key, value, found = "", None, False
        for tag, first, last in scan(body, start, stop):
            if tag == _KEY:
                key = body[first:last].decode()
            elif tag == _VALUE:
                value, found = read(body, first, last, budget), True
        entries[key] = value if found else zero()

    return set_entry


def _short_entry(body: bytes, start: int, stop: int) -> int:
    """Return the position of the value in an entry of the usual form, else 0.

    The usual form is key, then value, both shorter than 128 bytes.
    """
    if stop - start < 4 or body[start] != _KEY or body[start + 1] > 127:
        return 0
    value_at = start + body[start + 1] + 4
    if value_at > stop or body[value_at - 2] != _VALUE or body[value_at - 1] > 127:
        return 0
    return value_at if value_at + body[value_at - 1] == stop else 0
