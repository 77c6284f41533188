"""Fields of protobuf messages, encoded from JSON values. Used for both versions of OpenAPI.

Each function takes the field number and the value. Free values are encoded as YAML.

Source: gnostic-models openapiv{2,3}/OpenAPIv{2,3}.proto, compiler/helpers.go Marshal (0.7).
"""

import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from sampan.wire.json import decode as decode_json
from sampan.wire.json import encode as encode_json
from sampan.wire.protobuf.varint import BYTES, FIXED64, VARINT, tag_of, write_varint
from sampan.wire.yaml_emit import encode as encode_yaml

Json = Mapping[str, Any]
Write = Callable[[Any], bytes]
"""Encodes a value without tag and length."""
WriteField = Callable[[int, Any], bytes]
Fields = tuple[tuple[str, int, WriteField], ...]
"""Fields of a message in output order: (key in JSON, number, encoder)."""

_NAME: Final = 1
_VALUE: Final = 2
_SHORT_BYTES: Final = 256
"""Longest JSON text whose YAML is cached."""


def field(number: int, content: bytes) -> bytes:
    """Encode a length-delimited field: a message or a text."""
    return write_varint(tag_of(number, BYTES)) + write_varint(len(content)) + content


def flag(number: int, value: Any) -> bytes:
    """Encode a boolean, if it is true."""
    return write_varint(tag_of(number, VARINT)) + b"\x01" if value else b""


def integer(number: int, value: Any) -> bytes:
    """Encode an integer, if it is not 0."""
    return write_varint(tag_of(number, VARINT)) + write_varint(value) if value else b""


def double(number: int, value: Any) -> bytes:
    """Encode a floating-point number, if it is not 0."""
    return write_varint(tag_of(number, FIXED64)) + struct.pack("<d", value) if value else b""


def text(number: int, value: Any) -> bytes:
    """Encode a text, if it is not empty."""
    return field(number, str(value).encode()) if value else b""


def texts(number: int, value: Any) -> bytes:
    """Encode several texts."""
    return b"".join(field(number, str(item).encode()) for item in value)


def any_value(number: int, value: Any) -> bytes:
    """Encode a free value as a field."""
    return field(number, any_content(value))


def any_content(value: Any) -> bytes:
    """Encode the message of a free value."""
    content = encode_json(value)
    return field(_VALUE, _short_yaml(content) if len(content) <= _SHORT_BYTES else encode_yaml(value))


@lru_cache(4096)
def _short_yaml(content: bytes) -> bytes:
    """Return JSON as YAML. A document repeats few values many times."""
    return encode_yaml(decode_json(content))


def any_values(number: int, value: Any) -> bytes:
    """Encode several free values."""
    return b"".join(any_value(number, item) for item in value)


def each(write: Write) -> WriteField:
    """Return the encoder of a repeated message."""
    return lambda number, value: b"".join(field(number, write(item)) for item in value)


def named(inner: int, write: Write) -> WriteField:
    """Return the encoder of a message with one field of repeated name-value pairs."""

    def write_field(number: int, value: Json) -> bytes:
        return field(number, pairs(inner, value, write))

    return write_field


def pairs(number: int, value: Json, write: Write) -> bytes:
    """Encode messages of a name and a value."""
    return b"".join(field(number, text(_NAME, name) + field(_VALUE, write(item))) for name, item in value.items())


def message(fields: Fields, extensions: int, value: Json) -> bytes:
    """Encode fields in order, then extensions under their number; 0 means no extensions."""
    parts = [write(number, value[key]) for key, number, write in fields if value.get(key) is not None]
    if extensions:
        found = {key: item for key, item in value.items() if key.startswith("x-")}
        parts.append(pairs(extensions, found, any_content))
    return b"".join(parts)
