"""OpenAPI v3 in protobuf: read back field by field, with the numbers of the published message."""

from typing import Any

import pytest

from sampan.server.openapi.protobuf_v3 import encode_document
from tests.server.cluster import Api
from tests.server.test_openapi_protobuf import at
from tests.server.verbs.conftest import api

__all__ = ["api"]

PROTOBUF = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
_REF = {"$ref": "#/components/schemas/Pod"}
_MEDIA = {"application/json": {"schema": _REF}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.0",
    "info": {"title": "Kubernetes", "version": "1.36"},
    "paths": {
        "/api/v1/pods": {
            "patch": {
                "operationId": "patchPod",
                "requestBody": {"content": _MEDIA, "required": True},
                "responses": {"200": {"description": "OK", "content": _MEDIA}, "default": {"description": "other"}},
                "x-kubernetes-action": "patch",
            },
            "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer", "uniqueItems": True}}],
        }
    },
    "components": {
        "schemas": {
            "Pod": {
                "type": "object",
                "properties": {
                    "spec": {"allOf": [_REF], "default": {}, "description": "what"},
                    "items": {"type": "array", "items": _REF},
                    "map": {"additionalProperties": {"type": "string", "default": "x"}},
                    "any": {"additionalProperties": True},
                    "none": {"additionalProperties": False, "default": False},
                    "number": {"default": 0, "minimum": 0.5},
                },
                "x-kubernetes-group-version-kind": [{"group": "", "kind": "Pod", "version": "v1"}],
            }
        },
        "securitySchemes": {"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}},
    },
}


def _property(name: str, *numbers: int) -> list[bytes]:
    """Return the contents on a path below a property of the schema."""
    schema = at(encode_document(DOCUMENT), 5, 1, 1, 2, 1)[0]
    found = [pair for pair in at(schema, 31, 1) if at(pair, 1) == [name.encode()]]
    return at(found[0], 2, 1, *numbers)


def test_the_document_has_version_and_info() -> None:
    body = encode_document(DOCUMENT)
    assert at(body, 1) == [b"3.0.0"]
    assert (at(body, 2, 1), at(body, 2, 6)) == ([b"Kubernetes"], [b"1.36"])
    assert at(body, 5, 7, 1, 2, 1, 3) == [b"authorization"]


def test_operations_are_found_by_their_path() -> None:
    item = at(encode_document(DOCUMENT), 4, 1)[0]
    assert at(item, 1) == [b"/api/v1/pods"]
    operation = at(item, 2, 10)[0]
    assert at(operation, 5) == [b"patchPod"]
    assert at(operation, 7, 1, 2, 1, 2, 1, 2, 1) == [_REF["$ref"].encode()]
    assert at(operation, 8, 1, 1, 1) == [b"other"]
    assert at(operation, 8, 2, 1) == [b"200"]
    assert at(operation, 8, 2, 2, 1, 3, 1, 1) == [b"application/json"]
    assert at(operation, 13, 2, 2) == [b"patch\n"]
    assert at(item, 2, 13, 1, 1) == [b"limit"]


def test_schemas_report_what_they_refer_to() -> None:
    reference = [_REF["$ref"].encode()]
    assert _property("spec", 26, 2, 1) == reference
    assert _property("items", 30, 1, 2, 1) == reference
    assert _property("map", 32, 1, 1, 25) == [b"string"]


def test_defaults_that_are_no_scalars_are_only_specified_to_be_there() -> None:
    assert _property("spec", 33) == [b""]
    assert _property("map", 32, 1, 1, 33, 3) == [b"x"]
    assert _property("number", 33) == [b"\x09" + bytes(8)]


def test_booleans_that_are_a_choice_are_written_when_they_are_false() -> None:
    assert _property("any", 32) == [b"\x10\x01"]
    assert _property("none", 32) == [b"\x10\x00"]
    assert _property("none", 33) == [b"\x10\x00"]


@pytest.mark.parametrize("accept", [PROTOBUF, "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"])
async def test_a_group_version_is_reported_in_protobuf(api: Api, accept: str) -> None:
    plain = await api.get("/openapi/v3/apis/batch/v1")
    response = await api.get("/openapi/v3/apis/batch/v1", accept=f"{accept};q=1, application/json;q=0.5")
    assert (response.code, response.response.content_type) == (200, PROTOBUF)
    assert response.response.body == encode_document(plain.body)


async def test_other_forms_of_a_group_version_are_not_acceptable(api: Api) -> None:
    assert (await api.get("/openapi/v3/apis/batch/v1", accept="text/html")).code == 406
