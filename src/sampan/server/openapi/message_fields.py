"""Fields of protobuf messages, written from values of JSON: what both versions of OpenAPI have in common.

Each takes the number of the field and the value. Free values travel as text that is YAML as well as JSON.
Source: gnostic-models openapiv{2,3}/OpenAPIv{2,3}.proto (0.7).
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

from sampan.wire.json import encode as encode_json
from sampan.wire.protobuf.varint import BYTES, FIXED64, VARINT, tag_of, write_varint

Json = Mapping[str, Any]
Write = Callable[[Any], bytes]
"""A value's bytes, without tag and length."""
WriteField = Callable[[int, Any], bytes]
Fields = tuple[tuple[str, int, WriteField], ...]
"""Of one message: (key in JSON, number, how the value is written), in the order in which they are written."""

_NAME: Final = 1
_VALUE: Final = 2


def field(number: int, content: bytes) -> bytes:
    """One field with a length: a message, a text."""
    return write_varint(tag_of(number, BYTES)) + write_varint(len(content)) + content


def flag(number: int, value: Any) -> bytes:
    """A boolean, if it is true."""
    return write_varint(tag_of(number, VARINT)) + b"\x01" if value else b""


def integer(number: int, value: Any) -> bytes:
    """A whole number that is not 0."""
    return write_varint(tag_of(number, VARINT)) + write_varint(value) if value else b""


def double(number: int, value: Any) -> bytes:
    """A floating number that is not 0."""
    return write_varint(tag_of(number, FIXED64)) + struct.pack("<d", value) if value else b""


def text(number: int, value: Any) -> bytes:
    """A text that is not empty."""
    return field(number, str(value).encode()) if value else b""


def texts(number: int, value: Any) -> bytes:
    """Several texts."""
    return b"".join(field(number, str(item).encode()) for item in value)


def any_value(number: int, value: Any) -> bytes:
    """A free value."""
    return field(number, any_content(value))


def any_content(value: Any) -> bytes:
    """The message of a free value."""
    return field(_VALUE, encode_json(value))


def any_values(number: int, value: Any) -> bytes:
    """Several free values."""
    return b"".join(any_value(number, item) for item in value)


def each(write: Write) -> WriteField:
    """Several messages."""
    return lambda number, value: b"".join(field(number, write(item)) for item in value)


def named(inner: int, write: Write) -> WriteField:
    """A message whose only field repeats pairs of name and value."""

    def write_field(number: int, value: Json) -> bytes:
        return field(number, pairs(inner, value, write))

    return write_field


def pairs(number: int, value: Json, write: Write) -> bytes:
    """Messages of a name and a value each."""
    return b"".join(field(number, text(_NAME, name) + field(_VALUE, write(item))) for name, item in value.items())


def message(fields: Fields, extensions: int, value: Json) -> bytes:
    """The fields in their order, then the extensions under their number, 0 for none."""
    parts = [write(number, value[key]) for key, number, write in fields if value.get(key) is not None]
    if extensions:
        found = {key: item for key, item in value.items() if key.startswith("x-")}
        parts.append(pairs(extensions, found, any_content))
    return b"".join(parts)
