"""Decode a protobuf message into the JSON form of the object: a dict as a client would send it.

For each message a function is compiled on first use: a loop over the tags, with a dictionary from tag to field. The
functions of all nested messages are compiled with it.

An object starts with the fields that Go always writes to JSON (no `omitempty`), with Go's zero values. Unknown fields
are skipped. `DecodeBudget` bounds the recursion.
Source: apimachinery's and api's generated.pb.go (1.36).
"""

import functools
from collections.abc import Callable
from typing import Any, Final

from sampan.wire.json import DecodeError
from sampan.wire.protobuf.decode_budget import DecodeBudget
from sampan.wire.protobuf.decode_unions import union_readers
from sampan.wire.protobuf.decode_values import VALUES, Reader
from sampan.wire.protobuf.setters import (
    Setter,
    bytes_setter,
    double_setter,
    entry_setter,
    int_adder,
    int_setter,
    packed_adder,
    value_adder,
    value_setter,
    value_setter_unless_zero,
)
from sampan.wire.protobuf.table import Field, table
from sampan.wire.protobuf.varint import (
    BYTES,
    FIXED64,
    VARINT,
    read_varint,
    signed32,
    signed64,
    skip,
    tag_of,
    truncated,
)

Json = dict[str, Any]
Decode = Callable[[Json, bytes, int, int, DecodeBudget], None]
"""Function that adds the fields in body[start:stop] to an object."""

Entry = tuple[str, Any, bool]
"""JSON name of a field; its setter (None for a plain string); whether its zero value is kept."""

_INTS: Final[dict[str, Callable[[int], Any]]] = {"int32": signed32, "int64": signed64, "bool": bool}
_decoders: dict[str, Decode] = {}


def decode_message(message: str, body: bytes, start: int, stop: int, budget: DecodeBudget) -> Json:
    """Return the JSON form of one message, without kind and apiVersion. Raises `DecodeError`."""
    obj = _template(message).copy()
    _decoder(message)(obj, body, start, stop, budget)
    return obj


def _decoder(message: str) -> Decode:
    """Return the decode function of a message.

    It is registered before its fields are added, because a message may contain itself.
    """
    known = _decoders.get(message)
    if known is not None:
        return known
    fields: dict[int, Entry] = {}
    structs: list[tuple[str, Callable[[], Json]]] = []
    decode = _decoders[message] = _loop(message, fields, structs)
    structs.extend(_structs(message))
    for field in table().fields(message):
        _add(fields, field)
    return decode


def _loop(message: str, fields: dict[int, Entry], structs: list[tuple[str, Callable[[], Json]]]) -> Decode:
    """Build the loop over the fields of a message. Two-byte tags are common, so they are read inline."""

    def decode(obj: Json, body: bytes, position: int, end: int, budget: DecodeBudget) -> None:
        budget.enter()
        while position < end:
            tag = body[position]
            position += 1
            if tag > 127:
                high = body[position]
                if high < 128:
                    tag += (high << 7) - 128
                    position += 1
                else:
                    tag, position = read_varint(body, position - 1)
            field = fields.get(tag)
            if field is None or tag & 7 == FIXED64:
                position = _uncommon_field(message, fields, tag, obj, body, position, end)
                continue
            name, setter, keep = field
            if tag & 7 == BYTES:
                size = body[position]
                position += 1
                if size > 127:
                    size, position = read_varint(body, position - 1)
                stop = position + size
                if stop > end:
                    truncated()
                if setter is not None:
                    setter(obj, body, position, stop, budget)
                elif size or keep:
                    obj[name] = body[position:stop].decode()
                elif name in obj:
                    del obj[name]
                position = stop
            else:
                value = body[position]
                position += 1
                if value > 127:
                    value, position = read_varint(body, position - 1)
                setter(obj, value)
        if position != end:
            truncated()
        for name, zero in structs:
            if name not in obj:
                obj[name] = zero()
        budget.levels += 1

    return decode


def _uncommon_field(
    message: str, fields: dict[int, Entry], tag: int, obj: Json, body: bytes, position: int, end: int
) -> int:
    """Handle an unknown field or a float; return the position after it."""
    field = fields.get(tag)
    if field is None:
        _check_unknown(message, fields, tag)
        return skip(body, position, end, tag)
    if position + 8 > end:
        truncated()
    field[1](obj, body[position : position + 8])
    return position + 8


def _check_unknown(message: str, fields: dict[int, Entry], tag: int) -> None:
    for wire_type in (VARINT, FIXED64, BYTES):
        known = fields.get(tag_of(tag >> 3, wire_type))
        if known is not None:
            raise DecodeError(f"proto: wrong wireType = {tag & 7} for field {known[0] or message}")


@functools.cache
def _template(message: str) -> Json:
    """Return the initial object of a message, before any field is decoded."""
    found: Json = {}
    for field in table().fields(message):
        if field.inline:
            found |= _template(field.type)
        elif not field.omit_empty and (field.pointer or field.shape):
            found[field.name] = None
        elif not field.pointer and not field.shape:
            found |= _zero(field)
    return found


def _zero(field: Field) -> Json:
    """Return a plain field's zero value, if JSON shows it: scalars without omitempty, structs without omitzero."""
    if field.type in ("string", "bytes", "bool", "int32", "int64", "double"):
        zero = {"string": "", "bytes": None, "bool": False}.get(field.type, 0)
        return {} if field.omit_empty else {field.name: zero}
    if field.type not in VALUES or field.omit_zero:
        return {}
    if _is_wrapped_list(field.type) and field.omit_empty:
        return {}
    return {field.name: VALUES[field.type][1]}


def _structs(message: str) -> list[tuple[str, Callable[[], Json]]]:
    """Return the struct fields that Go always writes, each with a function that returns its zero value."""
    found: list[tuple[str, Callable[[], Json]]] = []
    for field in table().fields(message):
        if field.inline:
            found += _structs(field.type)
        elif not field.pointer and not field.shape and _is_struct(field.type) and not field.omit_zero:
            found.append((field.name, functools.partial(_zero_object, field.type)))
    return found


def _zero_object(message: str) -> Json:
    return decode_message(message, b"", 0, 0, DecodeBudget())


def _is_struct(type_: str) -> bool:
    return "." in type_ and type_ not in VALUES and type_ not in _UNIONS


def _is_wrapped_list(type_: str) -> bool:
    return type_.endswith((".ExtraValue", ".Verbs"))


def _add(fields: dict[int, Entry], field: Field) -> None:
    """Register a field under each tag it may have."""
    keep = field.pointer or not field.omit_empty
    if field.inline:
        fields[tag_of(field.number, BYTES)] = ("", _inline(field.type), keep)
    elif field.type in _INTS:
        _add_int(fields, field, keep)
    elif field.type == "double":
        fields[tag_of(field.number, FIXED64)] = (field.name, double_setter(field.name), keep)
    else:
        fields[tag_of(field.number, BYTES)] = (field.name, _setter(field, keep), keep)


def _add_int(fields: dict[int, Entry], field: Field, keep: bool) -> None:
    convert = _INTS[field.type]
    if field.shape:
        fields[tag_of(field.number, VARINT)] = (field.name, int_adder(field.name, convert), keep)
        fields[tag_of(field.number, BYTES)] = (field.name, packed_adder(field.name, convert), keep)
    else:
        fields[tag_of(field.number, VARINT)] = (field.name, int_setter(field.name, convert, keep), keep)


def _setter(field: Field, keep: bool) -> Setter | None:
    if field.shape == "map":
        return entry_setter(field.name, *_map_value(field.type))
    reader = VALUES[field.type][0] if field.type in VALUES else _UNIONS.get(field.type)
    if field.shape == "list":
        return _message_adder(field) if reader is None else value_adder(field.name, reader)
    if reader is None:
        return _message_setter(field)
    if field.type == "string":
        return None
    if field.type == "bytes":
        return bytes_setter(field.name, keep)
    if field.omit_zero or (_is_wrapped_list(field.type) and field.omit_empty and not field.pointer):
        return value_setter_unless_zero(field.name, reader)
    return value_setter(field.name, reader)


def _inline(message: str) -> Setter:
    decode = _decoder(message)

    def set_inline(obj: Json, body: bytes, start: int, stop: int, budget: DecodeBudget) -> None:
        decode(obj, body, start, stop, budget)

    return set_inline


def _message_setter(field: Field) -> Setter:
    name, message, decode = field.name, field.type, _decoder(field.type)
    new = _template(message).copy

    def set_message(obj: Json, body: bytes, start: int, stop: int, budget: DecodeBudget) -> None:
        value = obj.get(name)
        if value is None:
            value = obj[name] = new()
        decode(value, body, start, stop, budget)

    return set_message


def _message_adder(field: Field) -> Setter:
    name, message, decode = field.name, field.type, _decoder(field.type)
    new = _template(message).copy

    def add_message(obj: Json, body: bytes, start: int, stop: int, budget: DecodeBudget) -> None:
        item = new()
        values = obj.get(name)
        if values is None:
            obj[name] = [item]
        else:
            values.append(item)
        decode(item, body, start, stop, budget)

    return add_message


def _map_value(type_: str) -> tuple[Reader, Callable[[], Any]]:
    if type_ == "bytes":
        return VALUES["bytes"][0], str
    if type_ in VALUES:
        zero = VALUES[type_][1]
        return VALUES[type_][0], lambda: zero
    if type_ in _UNIONS:
        return _UNIONS[type_], lambda: None
    _decoder(type_)

    def read(body: bytes, start: int, stop: int, budget: DecodeBudget) -> Json:
        return decode_message(type_, body, start, stop, budget)

    return read, functools.partial(_zero_object, type_)


_UNIONS: Final = union_readers(decode_message)
