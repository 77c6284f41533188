"""The OpenAPI v3 document of a group version as a protobuf message, which client-go's cached clients request.

As for v2, a table maps each key of the document to a message field.

Source: gnostic-models openapiv3/OpenAPIv3.proto (0.7), kube-openapi pkg/handler3 (1.36).
"""

import struct
from typing import Any, Final

from sampan.server.openapi.message_fields import (
    Fields,
    Json,
    Write,
    WriteField,
    any_value,
    any_values,
    double,
    each,
    field,
    flag,
    integer,
    message,
    named,
    pairs,
    text,
    texts,
)
from sampan.wire.protobuf.varint import FIXED64, VARINT, tag_of, write_varint

_ITSELF: Final = 1
_REFERENCE: Final = 2


def encode_document(document: Json) -> bytes:
    """Encode an OpenAPI v3 document."""
    return _message("Document", document)


def _message(name: str, value: Json) -> bytes:
    extensions, fields = _MESSAGES[name]
    return message(fields, extensions, value)


def _one(name: str) -> WriteField:
    return lambda number, value: field(number, _message(name, value))


def _or_reference(name: str) -> Write:
    def write(value: Json) -> bytes:
        if "$ref" in value:
            return field(_REFERENCE, _message("Reference", value))
        return field(_ITSELF, _message(name, value))

    return write


def _choice(name: str) -> WriteField:
    write = _or_reference(name)
    return lambda number, value: field(number, write(value))


def _content(number: int, value: Json) -> bytes:
    return named(1, lambda item: _message("MediaType", item))(number, value)


def _responses(number: int, value: Json) -> bytes:
    write = _or_reference("Response")
    others = {code: item for code, item in value.items() if code != "default"}
    default = field(1, write(value["default"])) if "default" in value else b""
    return field(number, default + pairs(2, others, write))


def _items(number: int, value: Any) -> bytes:
    return field(number, each(_or_reference("Schema"))(1, value if isinstance(value, list) else [value]))


def _additional(number: int, value: Any) -> bytes:
    if isinstance(value, bool):
        return field(number, _boolean(2, value))
    return field(number, field(1, _or_reference("Schema")(value)))


def _default(number: int, value: Any) -> bytes:
    """Encode a default. The message supports only scalars; for other values it is present but empty."""
    if isinstance(value, bool):
        return field(number, _boolean(2, value))
    if isinstance(value, int | float):
        return field(number, write_varint(tag_of(1, FIXED64)) + struct.pack("<d", value))
    return field(number, field(3, value.encode()) if isinstance(value, str) else b"")


def _boolean(number: int, value: bool) -> bytes:
    return write_varint(tag_of(number, VARINT)) + (b"\x01" if value else b"\x00")


_SCHEMAS: Final = each(_or_reference("Schema"))
_PARAMETERS: Final = each(_or_reference("Parameter"))
_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch")
_MESSAGES: Final[dict[str, tuple[int, Fields]]] = {
    "Document": (
        9,
        (
            ("openapi", 1, text),
            ("info", 2, _one("Info")),
            ("paths", 4, named(1, lambda item: _message("PathItem", item))),
            ("components", 5, _one("Components")),
        ),
    ),
    "Info": (7, (("title", 1, text), ("description", 2, text), ("version", 6, text))),
    "Components": (
        10,
        (
            ("schemas", 1, named(1, _or_reference("Schema"))),
            ("securitySchemes", 7, named(1, _or_reference("SecurityScheme"))),
        ),
    ),
    "PathItem": (
        14,
        (
            *((method, number, _one("Operation")) for number, method in enumerate(_METHODS, 4)),
            ("parameters", 13, _PARAMETERS),
        ),
    ),
    "Operation": (
        13,
        (
            ("tags", 1, texts),
            ("description", 3, text),
            ("operationId", 5, text),
            ("parameters", 6, _PARAMETERS),
            ("requestBody", 7, _choice("RequestBody")),
            ("responses", 8, _responses),
            ("deprecated", 10, flag),
        ),
    ),
    "Parameter": (
        14,
        (
            ("name", 1, text),
            ("in", 2, text),
            ("description", 3, text),
            ("required", 4, flag),
            ("schema", 10, _choice("Schema")),
        ),
    ),
    "RequestBody": (4, (("description", 1, text), ("content", 2, _content), ("required", 3, flag))),
    "Response": (5, (("description", 1, text), ("content", 3, _content))),
    "MediaType": (5, (("schema", 1, _choice("Schema")),)),
    "Reference": (0, (("$ref", 1, text),)),
    "SecurityScheme": (9, (("type", 1, text), ("description", 2, text), ("name", 3, text), ("in", 4, text))),
    "Schema": (
        36,
        (
            ("nullable", 1, flag),
            ("example", 7, any_value),
            ("title", 9, text),
            ("multipleOf", 10, double),
            ("maximum", 11, double),
            ("exclusiveMaximum", 12, flag),
            ("minimum", 13, double),
            ("exclusiveMinimum", 14, flag),
            ("maxLength", 15, integer),
            ("minLength", 16, integer),
            ("pattern", 17, text),
            ("maxItems", 18, integer),
            ("minItems", 19, integer),
            ("uniqueItems", 20, flag),
            ("maxProperties", 21, integer),
            ("minProperties", 22, integer),
            ("required", 23, texts),
            ("enum", 24, any_values),
            ("type", 25, text),
            ("allOf", 26, _SCHEMAS),
            ("oneOf", 27, _SCHEMAS),
            ("anyOf", 28, _SCHEMAS),
            ("not", 29, _one("Schema")),
            ("items", 30, _items),
            ("properties", 31, named(1, _or_reference("Schema"))),
            ("additionalProperties", 32, _additional),
            ("default", 33, _default),
            ("description", 34, text),
            ("format", 35, text),
        ),
    ),
}
"""By message: the field number of extensions, and the fields."""
