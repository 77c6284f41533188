"""Prune and default custom resources by their schema."""

import copy
from typing import Any

import pytest

from sampan.schema.compile import CompiledSchema, DecodeError, SchemaCompiler
from sampan.schema.definition.openapi import parse, to_openapi

Json = dict[str, Any]
COMPILER = SchemaCompiler()


def compiled(properties: Json, **keywords: Any) -> CompiledSchema:
    return COMPILER.compile(parse({"type": "object", "properties": properties, **keywords}))


def pruned(obj: Json, properties: Json, unknown: list[str] | None = None, **keywords: Any) -> Json:
    read = copy.deepcopy(obj)
    compiled(properties, **keywords).prune(read, unknown)
    return read


def defaulted(obj: Json, properties: Json) -> Json:
    read = copy.deepcopy(obj)
    compiled(properties).default(read)
    return read


TEXT = {"type": "string"}
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def test_unknown_fields_are_dropped_and_reported_in_order() -> None:
    unknown: list[str] = []
    items = {"type": "array", "items": {"type": "object", "properties": {"a": TEXT}}}
    obj: Json = {"z": 1, "list": [{"a": "x"}, {"b": 1}], "c": {}}
    assert pruned(obj, {"list": items}, unknown) == {"list": [{"a": "x"}, {}]}
    assert unknown == ["c", "list[1].b", "z"]


def test_schema_may_omit_api_version_kind_and_metadata() -> None:
    obj = {"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "a"}}
    assert pruned(obj, {}) == obj


def test_metadata_is_decoded_and_pruned() -> None:
    unknown: list[str] = []
    obj: Json = {"metadata": {"name": "a", "creationTimestamp": None, "labels": {}, "foo": 1}}
    assert pruned(obj, {}, unknown) == {"metadata": {"name": "a"}}
    assert unknown == ["metadata.foo"]


def test_metadata_of_a_wrong_type_is_rejected() -> None:
    with pytest.raises(DecodeError) as caught:
        pruned({"metadata": {"labels": {"a": 1}}}, {})
    assert str(caught.value) == "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"


def test_pruning_stops_where_unknown_fields_are_preserved() -> None:
    obj = {"open": {"a": {"b": 1}}}
    assert pruned(obj, {"open": OPEN}) == obj


def test_pruning_continues_below_specified_fields() -> None:
    node = {**OPEN, "properties": {"known": {"type": "object", "properties": {"a": TEXT}}}}
    obj = {"open": {"any": {"b": 1}, "known": {"a": "x", "b": 1}}}
    assert pruned(obj, {"open": node}) == {"open": {"any": {"b": 1}, "known": {"a": "x"}}}


def test_maps_keep_their_keys() -> None:
    node = {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": TEXT}}}
    assert pruned({"map": {"k": {"a": "x", "b": 1}}}, {"map": node}) == {"map": {"k": {"a": "x"}}}


def test_nulls_without_a_default_are_dropped() -> None:
    properties = {"a": TEXT, "b": {**TEXT, "nullable": True}, "c": {**TEXT, "default": "x"}}
    assert pruned({"a": None, "b": None, "c": None}, properties) == {"b": None, "c": None}


def test_embedded_resources_keep_their_own_metadata() -> None:
    node = {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": {"type": "object"}}}
    inner = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "foo": 1}, "spec": {"x": 1}, "y": 1}
    assert pruned({"pod": inner}, {"pod": node})["pod"] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {},
    }


def test_whole_floats_become_integers() -> None:
    properties = {
        "a": {"type": "integer"},
        "b": {"type": "array", "items": {"type": "number"}},
        "c": {"type": "number"},
    }
    read = pruned({"a": 3.0, "b": [1.0, 1.5], "c": 2.5}, properties)
    assert str(read) == str({"a": 3, "b": [1, 1.5], "c": 2.5})


def test_pruning_is_idempotent() -> None:
    properties = {"a": {"type": "array", "items": OPEN}, "b": {"type": "object", "properties": {"c": TEXT}}}
    once = pruned({"a": [{"x": 1}], "b": {"c": "1", "d": 2}}, properties)
    unknown: list[str] = []
    assert pruned(once, properties, unknown) == once
    assert unknown == []


@pytest.mark.parametrize(
    ("obj", "node", "expected"),
    [
        ({}, {**TEXT, "default": "x"}, {"a": "x"}),
        ({"a": "y"}, {**TEXT, "default": "x"}, {"a": "y"}),
        ({"a": None}, {**TEXT, "default": "x"}, {"a": "x"}),
        ({"a": None}, {**TEXT, "default": "x", "nullable": True}, {"a": None}),
        ({}, {"type": "boolean", "default": False}, {"a": False}),
        ({}, {"type": "object", "properties": {"b": {**TEXT, "default": "x"}}}, {}),
        ({"a": {}}, {"type": "object", "properties": {"b": {**TEXT, "default": "x"}}}, {"a": {"b": "x"}}),
        ({}, {"type": "object", "default": {}, "properties": {"b": {**TEXT, "default": "x"}}}, {"a": {"b": "x"}}),
        (
            {"a": [None, {}]},
            {"type": "array", "items": {"type": "object", "default": {"c": "y"}}},
            {"a": [{"c": "y"}, {}]},
        ),
        (
            {"a": {"k": {}}},
            {
                "type": "object",
                "additionalProperties": {"type": "object", "properties": {"b": {**TEXT, "default": "x"}}},
            },
            {"a": {"k": {"b": "x"}}},
        ),
    ],
    ids=[
        "absent",
        "present",
        "null",
        "nullable null",
        "false",
        "below what is absent",
        "below what is there",
        "below a default",
        "null item",
        "map",
    ],
)
def test_defaults_are_set(obj: Json, node: Json, expected: Json) -> None:
    assert defaulted(obj, {"a": node}) == expected


def test_defaults_are_not_shared_by_objects() -> None:
    schema = compiled({"a": {"type": "object", "default": {"b": []}, "x-kubernetes-preserve-unknown-fields": True}})
    first: Json = {}
    second: Json = {}
    schema.default(first)
    first["a"]["b"].append(1)
    schema.default(second)
    assert second == {"a": {"b": []}}


def test_every_keyword_round_trips() -> None:
    openapi = {
        "type": "object",
        "description": "d",
        "required": ["a"],
        "minProperties": 1,
        "x-kubernetes-map-type": "atomic",
        "x-kubernetes-validations": [{"rule": "self.a > 1", "message": "m", "optionalOldSelf": False}],
        "properties": {
            "a": {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "multipleOf": 2, "default": 0},
            "b": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": OPEN},
            "c": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            "d": {"type": "string", "nullable": True, "enum": ["x"], "not": {"pattern": "^y"}},
            "e": {"type": "object", "additionalProperties": {"type": "string", "format": "ipv4"}},
        },
    }
    assert to_openapi(parse(openapi)) == openapi
