"""OpenAPI v2 in protobuf: read back field by field, with the numbers of the published message."""

from typing import Any

from sampan.server.openapi.protobuf import encode_document
from sampan.wire.protobuf.varint import BYTES, read_varint, scan

DOCUMENT: dict[str, Any] = {
    "swagger": "2.0",
    "info": {"title": "Kubernetes", "version": "v1"},
    "paths": {
        "/api/v1/pods": {
            "get": {
                "operationId": "listPods",
                "produces": ["application/json"],
                "parameters": [
                    {"name": "limit", "in": "query", "type": "integer", "uniqueItems": True},
                    {"name": "body", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pod"}},
                ],
                "responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/Pod"}}},
                "x-kubernetes-action": "list",
            }
        }
    },
    "definitions": {
        "Pod": {
            "type": "object",
            "required": ["spec"],
            "properties": {
                "spec": {"type": "object", "additionalProperties": {"type": "string"}},
                "ports": {"type": "array", "items": {"type": "integer", "minimum": 0.5}},
            },
            "x-kubernetes-group-version-kind": [{"group": "", "kind": "Pod", "version": "v1"}],
        }
    },
    "security": [{"BearerToken": []}],
}


def at(content: bytes, *numbers: int) -> list[bytes]:
    """The contents found on a path of field numbers."""
    for number in numbers[:1]:
        found = [
            content[start:stop] for tag, start, stop in scan(content, 0, len(content)) if tag == number << 3 | BYTES
        ]
        return [inner for each in found for inner in at(each, *numbers[1:])]
    return [content]


def definition(*numbers: int) -> list[bytes]:
    """Return the contents on a path below the schema of the definition."""
    return at(encode_document(DOCUMENT), 9, 1, 2, *numbers)


def test_the_document_has_version_and_info() -> None:
    body = encode_document(DOCUMENT)
    assert at(body, 1) == [b"2.0"]
    assert at(body, 2, 1) == [b"Kubernetes"]
    assert at(body, 12, 1, 1) == [b"BearerToken"]


def test_operations_are_found_by_their_path() -> None:
    body = encode_document(DOCUMENT)
    assert at(body, 8, 2, 1) == [b"/api/v1/pods"]
    assert at(body, 8, 2, 2, 2, 5) == [b"listPods"]
    assert at(body, 8, 2, 2, 2, 9, 1, 1) == [b"200"]
    assert at(body, 8, 2, 2, 2, 9, 1, 2, 1, 2, 1, 1) == [b"#/definitions/Pod"]


def test_parameters_are_of_their_place() -> None:
    parameters = (8, 2, 2, 2, 8, 1)
    body = encode_document(DOCUMENT)
    assert at(body, *parameters, 2, 3, 4) == [b"limit"]
    assert at(body, *parameters, 1, 5, 1) == [b"#/definitions/Pod"]


def test_schemas_keep_types_properties_and_what_is_required() -> None:
    assert definition(22, 1) == [b"object"]
    assert definition(19) == [b"spec"]
    assert definition(25, 1, 1) == [b"spec", b"ports"]
    assert definition(25, 1, 2, 21, 1, 22, 1) == [b"string"]
    assert definition(25, 1, 2, 23, 1, 22, 1) == [b"integer"]


def test_extensions_are_yaml_as_go_writes_it() -> None:
    assert definition(31, 1) == [b"x-kubernetes-group-version-kind"]
    assert definition(31, 2, 2) == [b'- group: ""\n  kind: Pod\n  version: v1\n']


def test_numbers_with_fractions_take_eight_bytes() -> None:
    (items,) = definition(25, 1, 2, 23, 1)
    tag, position = read_varint(items, 0)
    assert (tag >> 3, tag & 7) == (9, 1)
    assert items[position : position + 8] == b"\x00\x00\x00\x00\x00\x00\xe0\x3f"
