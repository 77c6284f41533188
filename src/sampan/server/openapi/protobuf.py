"""The OpenAPI v2 document as a protobuf message, which kubectl asks for when OpenAPI v3 does not know a kind.

A table says which field of which message holds each key of the document; a small interpreter writes them. Keys that
OpenAPI v2 does not have are left out, extensions (`x-...`) and free values travel as text that is YAML as well as JSON.
Source: gnostic-models openapiv2/OpenAPIv2.proto (0.7), kube-openapi pkg/handler (1.36).
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

from sampan.wire.json import encode as encode_json
from sampan.wire.protobuf.varint import BYTES, FIXED64, VARINT, tag_of, write_varint

Json = Mapping[str, Any]
Write = Callable[[Any], bytes]
"""A value's bytes, without tag and length."""

_NAME: Final = 1
_VALUE: Final = 2


def encode_document(document: Json) -> bytes:
    """A whole OpenAPI v2 document. Raises `KeyError` for parameters of a place that no Kubernetes operation has."""
    return _message("Document", document)


def _field(number: int, content: bytes) -> bytes:
    return write_varint(tag_of(number, BYTES)) + write_varint(len(content)) + content


def _flag(number: int, value: Any) -> bytes:
    return write_varint(tag_of(number, VARINT)) + b"\x01" if value else b""


def _number(number: int, value: Any) -> bytes:
    return write_varint(tag_of(number, VARINT)) + write_varint(value) if value else b""


def _double(number: int, value: Any) -> bytes:
    return write_varint(tag_of(number, FIXED64)) + struct.pack("<d", value) if value else b""


def _text(number: int, value: Any) -> bytes:
    return _field(number, str(value).encode()) if value else b""


def _texts(number: int, value: Any) -> bytes:
    return b"".join(_field(number, str(item).encode()) for item in value)


def _any(number: int, value: Any) -> bytes:
    return _field(number, _any_content(value))


def _any_content(value: Any) -> bytes:
    return _field(_VALUE, encode_json(value))


def _anys(number: int, value: Any) -> bytes:
    return b"".join(_any(number, item) for item in value)


def _one(name: str) -> Callable[[int, Any], bytes]:
    return lambda number, value: _field(number, _message(name, value))


def _each(write: Write) -> Callable[[int, Any], bytes]:
    return lambda number, value: b"".join(_field(number, write(item)) for item in value)


def _named(inner: int, write: Write) -> Callable[[int, Any], bytes]:
    """A message whose only field repeats pairs of name and value."""

    def write_field(number: int, value: Json) -> bytes:
        return _field(number, _pairs(inner, value, write))

    return write_field


def _pairs(number: int, value: Json, write: Write) -> bytes:
    return b"".join(_field(number, _text(_NAME, name) + _field(_VALUE, write(item))) for name, item in value.items())


def _schema(value: Any) -> bytes:
    return _message("Schema", value)


def _type(number: int, value: Any) -> bytes:
    return _field(number, _texts(1, [value] if isinstance(value, str) else value))


def _items(number: int, value: Any) -> bytes:
    return _field(number, _each(_schema)(1, value if isinstance(value, list) else [value]))


def _additional(number: int, value: Any) -> bytes:
    return _field(number, _flag(2, value) if isinstance(value, bool) else _field(1, _schema(value)))


def _parameter(value: Json) -> bytes:
    if value["in"] == "body":
        return _field(1, _field(1, _message("BodyParameter", value)))
    place, name = {"query": (3, "QueryParameter"), "path": (4, "PathParameter")}[value["in"]]
    return _field(1, _field(2, _field(place, _message(name, value))))


def _response(value: Json) -> bytes:
    return _field(1, _message("Response", value))


def _security_definition(value: Json) -> bytes:
    return _field(2, _message("ApiKeySecurity", value))


def _requirement(value: Json) -> bytes:
    return _pairs(1, value, lambda scopes: _texts(1, scopes))


def _message(name: str, value: Json) -> bytes:
    """The fields in the order of the table, then the extensions."""
    extensions, fields = _MESSAGES[name]
    parts = [write(number, value[key]) for key, number, write in fields if value.get(key) is not None]
    if extensions:
        found = {key: item for key, item in value.items() if key.startswith("x-")}
        parts.append(_pairs(extensions, found, _any_content))
    return b"".join(parts)


_SCHEMA_FIELDS: Final = (
    ("$ref", 1, _text),
    ("format", 2, _text),
    ("title", 3, _text),
    ("description", 4, _text),
    ("default", 5, _any),
    ("multipleOf", 6, _double),
    ("maximum", 7, _double),
    ("exclusiveMaximum", 8, _flag),
    ("minimum", 9, _double),
    ("exclusiveMinimum", 10, _flag),
    ("maxLength", 11, _number),
    ("minLength", 12, _number),
    ("pattern", 13, _text),
    ("maxItems", 14, _number),
    ("minItems", 15, _number),
    ("uniqueItems", 16, _flag),
    ("maxProperties", 17, _number),
    ("minProperties", 18, _number),
    ("required", 19, _texts),
    ("enum", 20, _anys),
    ("additionalProperties", 21, _additional),
    ("type", 22, _type),
    ("items", 23, _items),
    ("allOf", 24, _each(_schema)),
    ("properties", 25, _named(1, _schema)),
    ("example", 30, _any),
)
_OPERATION_FIELDS: Final = (
    ("tags", 1, _texts),
    ("description", 3, _text),
    ("operationId", 5, _text),
    ("produces", 6, _texts),
    ("consumes", 7, _texts),
    ("parameters", 8, _each(_parameter)),
    ("responses", 9, _named(1, _response)),
    ("schemes", 10, _texts),
    ("deprecated", 11, _flag),
)
_DOCUMENT_FIELDS: Final = (
    ("swagger", 1, _text),
    ("info", 2, _one("Info")),
    ("paths", 8, _named(2, lambda item: _message("PathItem", item))),
    ("definitions", 9, _named(1, _schema)),
    ("security", 12, _each(_requirement)),
    ("securityDefinitions", 13, _named(1, _security_definition)),
)
_PATH_FIELDS: Final = (
    *((method, number, _one("Operation")) for number, method in enumerate(("get", "put", "post", "delete"), 2)),
    ("patch", 8, _one("Operation")),
    ("parameters", 9, _each(_parameter)),
)
_MESSAGES: Final[dict[str, tuple[int, tuple[tuple[str, int, Callable[[int, Any], bytes]], ...]]]] = {
    "Document": (16, _DOCUMENT_FIELDS),
    "Info": (7, (("title", 1, _text), ("version", 2, _text))),
    "PathItem": (10, _PATH_FIELDS),
    "Operation": (13, _OPERATION_FIELDS),
    "Response": (5, (("description", 1, _text), ("schema", 2, lambda n, value: _field(n, _field(1, _schema(value)))))),
    "BodyParameter": (
        6,
        (
            ("description", 1, _text),
            ("name", 2, _text),
            ("in", 3, _text),
            ("required", 4, _flag),
            ("schema", 5, _one("Schema")),
        ),
    ),
    "QueryParameter": (
        23,
        (
            ("required", 1, _flag),
            ("in", 2, _text),
            ("description", 3, _text),
            ("name", 4, _text),
            ("type", 6, _text),
            ("uniqueItems", 20, _flag),
        ),
    ),
    "PathParameter": (
        22,
        (
            ("required", 1, _flag),
            ("in", 2, _text),
            ("description", 3, _text),
            ("name", 4, _text),
            ("type", 5, _text),
            ("uniqueItems", 19, _flag),
        ),
    ),
    "ApiKeySecurity": (5, (("type", 1, _text), ("name", 2, _text), ("in", 3, _text), ("description", 4, _text))),
    "Schema": (31, _SCHEMA_FIELDS),
}
"""By message: the number of its extensions, and (key in JSON, number, how the value is written) in order."""
