"""Encode the JSON form of an object as a protobuf message, byte for byte as Kubernetes does.

For each message a function is compiled on first use. It copies the message's zero form, a list with one slot per
field, and fills the slots of the members that the object has. So the cost depends only on the members present.

Go writes every field that is not a pointer, list or map, even if it is zero. Members unknown to the message are
ignored.
Source: apimachinery's and api's generated.pb.go (1.36).
"""

import functools
from collections.abc import Callable
from typing import Any, Final

from sampan.wire.protobuf.encode_values import WRITERS, Writer, delimited, write_double, write_text
from sampan.wire.protobuf.table import Field, table
from sampan.wire.protobuf.varint import FIXED64, VARINT, length_prefixes, tag_of, write_varint

Json = dict[str, Any]
Encode = Callable[[Json | None], bytes]
Slots = dict[str, tuple[int, Writer | None]]
"""Slot and writer of each member; members of embedded messages have no writer."""

_INTS: Final = ("int32", "int64", "bool")
_KEY: Final = length_prefixes(1)
_VALUE: Final = length_prefixes(2)
_encoders: dict[str, Encode] = {}


def encode_message(message: str, obj: Json) -> bytes:
    """Return the bytes of one message. A value of a wrong type raises `TypeError` or a similar error."""
    return _encoder(message)(obj)


def _encoder(message: str) -> Encode:
    """Return the encode function of a message.

    It is registered before its fields are added, because a message may contain itself.
    """
    known = _encoders.get(message)
    if known is not None:
        return known
    slots: Slots = {}
    template = _template(message)
    inlined = [(slot, field) for slot, field in enumerate(table().fields(message)) if field.inline]
    loop = _loop(slots, template)
    if inlined:
        loop = _loop_with_inlined(slots, template, {slot: _writer_of_message(field) for slot, field in inlined})
    _encoders[message] = loop
    for slot, field in enumerate(table().fields(message)):
        if field.inline:
            slots.update(dict.fromkeys(_members(field.type), (slot, None)))
        else:
            slots[field.name] = (slot, _field_writer(field))
    return loop


def _loop(slots: Slots, template: list[bytes]) -> Encode:
    zero = b"".join(template)

    def encode(obj: Json | None) -> bytes:
        if not obj:
            return zero
        parts = template.copy()
        for name, value in obj.items():
            if value is not None:
                slot = slots.get(name)
                if slot is not None:
                    parts[slot[0]] = slot[1](value)  # type: ignore[misc]  # without inlined messages all have one
        return b"".join(parts)

    return encode


def _loop_with_inlined(slots: Slots, template: list[bytes], inlined: dict[int, Writer]) -> Encode:
    zero = b"".join(template)

    def encode(obj: Json | None) -> bytes:
        if not obj:
            return zero
        parts = template.copy()
        embedded: dict[int, Json] = {}
        for name, value in obj.items():
            if value is None or name not in slots:
                continue
            slot, write = slots[name]
            if write is not None:
                parts[slot] = write(value)
            elif slot in embedded:
                embedded[slot][name] = value
            else:
                embedded[slot] = {name: value}
        for slot, members in embedded.items():
            parts[slot] = inlined[slot](members)
        return b"".join(parts)

    return encode


def _members(message: str) -> list[str]:
    """Return the JSON names of an embedded message."""
    found: list[str] = []
    for field in table().fields(message):
        found += _members(field.type) if field.inline else [field.name]
    return found


@functools.cache
def _template(message: str) -> list[bytes]:
    """Return the bytes of each field that is absent in the object."""
    return [_zero(field) for field in table().fields(message)]


def _zero(field: Field) -> bytes:
    if field.pointer or field.shape or field.type in ("bytes", "meta.v1.Verbs"):
        return b""
    if field.type in _INTS:
        return write_varint(tag_of(field.number, VARINT)) + b"\0"
    if field.type == "double":
        return write_varint(tag_of(field.number, FIXED64)) + bytes(8)
    return delimited(length_prefixes(field.number), _zero_body(field.type))


def _zero_body(type_: str) -> bytes:
    if type_ in WRITERS:
        return WRITERS[type_](None)
    return b"" if type_ in _UNIONS else b"".join(_template(type_))


def _field_writer(field: Field) -> Writer:
    """Return a function that writes a value of a field that is present, including its tag."""
    if field.shape == "map":
        return _map_writer(field)
    if field.type in _INTS:
        return _int_list_writer(field) if field.shape else _int_writer(field)
    if field.type == "double":
        tag = write_varint(tag_of(field.number, FIXED64))
        return lambda value: tag + write_double(value)
    if field.shape == "list":
        return _list_writer(field)
    if field.type == "string":
        return _text_writer(field)
    if field.type in WRITERS or field.type in _UNIONS:
        prefixes, write = length_prefixes(field.number), _element_writer(field.type)
        return lambda value: delimited(prefixes, write(value))
    return _writer_of_message(field)


def _element_writer(type_: str) -> Writer:
    """Return a function that writes the body of one length-delimited value."""
    return WRITERS.get(type_) or _UNIONS.get(type_) or _encoder(type_)


def _text_writer(field: Field) -> Writer:
    prefixes = length_prefixes(field.number)

    def write(value: str) -> bytes:
        body = value.encode()
        size = len(body)
        return prefixes[size] + body if size < 128 else delimited(prefixes, body)

    return write


def _writer_of_message(field: Field) -> Writer:
    prefixes, encode = length_prefixes(field.number), _encoder(field.type)

    def write(value: Json) -> bytes:
        body = encode(value)
        size = len(body)
        return prefixes[size] + body if size < 128 else delimited(prefixes, body)

    return write


def _int_writer(field: Field) -> Writer:
    tag = write_varint(tag_of(field.number, VARINT))
    small = tuple(tag + bytes((value,)) for value in range(128))

    def write(value: int) -> bytes:
        return small[value] if 0 <= value < 128 else tag + write_varint(int(value))

    return write


def _int_list_writer(field: Field) -> Writer:
    write = _int_writer(field)
    return lambda values: b"".join([write(value or 0) for value in values])


def _list_writer(field: Field) -> Writer:
    prefixes, encode = length_prefixes(field.number), _element_writer(field.type)

    def write(values: list[Any]) -> bytes:
        return b"".join([delimited(prefixes, encode(value)) for value in values])

    return write


def _map_writer(field: Field) -> Writer:
    """Return a function that writes entries sorted by key. Null bytes are omitted, other nulls become zero values."""
    prefixes, encode = length_prefixes(field.number), _element_writer(field.type)
    nullable = field.type == "bytes"

    def write(values: Json) -> bytes:
        parts = []
        for key in sorted(values):
            value = values[key]
            body = delimited(_KEY, key.encode())
            if value is not None or not nullable:
                body += delimited(_VALUE, encode(value))
            parts.append(delimited(prefixes, body))
        return b"".join(parts)

    return write


def _schema_or_array(message: str) -> Writer:
    """Write JSONSchemaPropsOrArray: a schema or a list of schemas."""

    def write(value: Any) -> bytes:
        encode = _encoder(message)
        if isinstance(value, list):
            return b"".join([delimited(_VALUE, encode(item)) for item in value])
        return delimited(_KEY, encode(value)) if value is not None else b""

    return write


def _schema_or_bool(message: str) -> Writer:
    """Write JSONSchemaPropsOrBool: a schema (values that it allows are allowed) or a bool."""

    def write(value: Any) -> bytes:
        if isinstance(value, dict):
            return b"\x08\x01" + delimited(_VALUE, _encoder(message)(value))
        return b"\x08\x01" if value else b"\x08\x00"

    return write


def _schema_or_texts(message: str) -> Writer:
    """Write JSONSchemaPropsOrStringArray: a schema or a list of property names."""

    def write(value: Any) -> bytes:
        if isinstance(value, list):
            return b"".join([delimited(_VALUE, write_text(item)) for item in value])
        return delimited(_KEY, _encoder(message)(value)) if value is not None else b""

    return write


_UNIONS: Final[dict[str, Writer]] = {}
for _package in ("apiextensions.v1", "apiextensions.v1beta1"):
    _UNIONS[f"{_package}.JSONSchemaPropsOrArray"] = _schema_or_array(f"{_package}.JSONSchemaProps")
    _UNIONS[f"{_package}.JSONSchemaPropsOrBool"] = _schema_or_bool(f"{_package}.JSONSchemaProps")
    _UNIONS[f"{_package}.JSONSchemaPropsOrStringArray"] = _schema_or_texts(f"{_package}.JSONSchemaProps")
