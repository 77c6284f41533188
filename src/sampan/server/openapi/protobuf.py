"""The OpenAPI v2 document as a protobuf message, which kubectl requests if OpenAPI v3 lacks a kind.

A table maps each key of the document to a message field, and a small interpreter encodes them. Keys outside OpenAPI v2
are dropped. Extensions (`x-...`) and free values are encoded as YAML.

Source: gnostic-models openapiv2/OpenAPIv2.proto (0.7), kube-openapi pkg/handler (1.36).
"""

from typing import Any, Final

from sampan.server.openapi.message_fields import (
    Fields,
    Json,
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


def encode_document(document: Json) -> bytes:
    """Encode an OpenAPI v2 document. **Raises** `KeyError` for a parameter location that Kubernetes does not use."""
    return _message("Document", document)


def _one(name: str) -> WriteField:
    return lambda number, value: field(number, _message(name, value))


def _schema(value: Any) -> bytes:
    return _message("Schema", value)


def _type(number: int, value: Any) -> bytes:
    return field(number, texts(1, [value] if isinstance(value, str) else value))


def _items(number: int, value: Any) -> bytes:
    return field(number, each(_schema)(1, value if isinstance(value, list) else [value]))


def _additional(number: int, value: Any) -> bytes:
    return field(number, flag(2, value) if isinstance(value, bool) else field(1, _schema(value)))


def _parameter_or_reference(value: Json) -> bytes:
    return field(2, text(1, value["$ref"])) if "$ref" in value else field(1, _parameter(value))


def _parameter(value: Json) -> bytes:
    if value["in"] == "body":
        return field(1, _message("BodyParameter", value))
    place, name = {"query": (3, "QueryParameter"), "path": (4, "PathParameter")}[value["in"]]
    return field(2, field(place, _message(name, value)))


def _response(value: Json) -> bytes:
    return field(1, _message("Response", value))


def _security_definition(value: Json) -> bytes:
    return field(2, _message("ApiKeySecurity", value))


def _requirement(value: Json) -> bytes:
    return pairs(1, value, lambda scopes: texts(1, scopes))


def _message(name: str, value: Json) -> bytes:
    extensions, fields = _MESSAGES[name]
    return message(fields, extensions, value)


_SCHEMA_FIELDS: Final = (
    ("$ref", 1, text),
    ("format", 2, text),
    ("title", 3, text),
    ("description", 4, text),
    ("default", 5, any_value),
    ("multipleOf", 6, double),
    ("maximum", 7, double),
    ("exclusiveMaximum", 8, flag),
    ("minimum", 9, double),
    ("exclusiveMinimum", 10, flag),
    ("maxLength", 11, integer),
    ("minLength", 12, integer),
    ("pattern", 13, text),
    ("maxItems", 14, integer),
    ("minItems", 15, integer),
    ("uniqueItems", 16, flag),
    ("maxProperties", 17, integer),
    ("minProperties", 18, integer),
    ("required", 19, texts),
    ("enum", 20, any_values),
    ("additionalProperties", 21, _additional),
    ("type", 22, _type),
    ("items", 23, _items),
    ("allOf", 24, each(_schema)),
    ("properties", 25, named(1, _schema)),
    ("example", 30, any_value),
)
_OPERATION_FIELDS: Final = (
    ("tags", 1, texts),
    ("description", 3, text),
    ("operationId", 5, text),
    ("produces", 6, texts),
    ("consumes", 7, texts),
    ("parameters", 8, each(_parameter_or_reference)),
    ("responses", 9, named(1, _response)),
    ("schemes", 10, texts),
    ("deprecated", 11, flag),
)
_DOCUMENT_FIELDS: Final = (
    ("swagger", 1, text),
    ("info", 2, _one("Info")),
    ("paths", 8, named(2, lambda item: _message("PathItem", item))),
    ("definitions", 9, named(1, _schema)),
    ("parameters", 10, named(1, _parameter)),
    ("security", 12, each(_requirement)),
    ("securityDefinitions", 13, named(1, _security_definition)),
)
_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch")
_PATH_FIELDS: Final = (
    *((method, number, _one("Operation")) for number, method in enumerate(_METHODS, 2)),
    ("parameters", 9, each(_parameter_or_reference)),
)
_MESSAGES: Final[dict[str, tuple[int, Fields]]] = {
    "Document": (16, _DOCUMENT_FIELDS),
    "Info": (7, (("title", 1, text), ("version", 2, text))),
    "PathItem": (10, _PATH_FIELDS),
    "Operation": (13, _OPERATION_FIELDS),
    "Response": (5, (("description", 1, text), ("schema", 2, lambda n, value: field(n, field(1, _schema(value)))))),
    "BodyParameter": (
        6,
        (
            ("description", 1, text),
            ("name", 2, text),
            ("in", 3, text),
            ("required", 4, flag),
            ("schema", 5, _one("Schema")),
        ),
    ),
    "QueryParameter": (
        23,
        (
            ("required", 1, flag),
            ("in", 2, text),
            ("description", 3, text),
            ("name", 4, text),
            ("type", 6, text),
            ("uniqueItems", 20, flag),
        ),
    ),
    "PathParameter": (
        22,
        (
            ("required", 1, flag),
            ("in", 2, text),
            ("description", 3, text),
            ("name", 4, text),
            ("type", 5, text),
            ("uniqueItems", 19, flag),
        ),
    ),
    "ApiKeySecurity": (5, (("type", 1, text), ("name", 2, text), ("in", 3, text), ("description", 4, text))),
    "Schema": (31, _SCHEMA_FIELDS),
}
"""By message: the field number of extensions, and the fields."""
