"""Validate that a CRD's schema is structural."""

from typing import Any

import pytest

from sampan.core.field import Path
from sampan.schema.definition.structural_validation import structural_errors, validate_structural
from sampan.schema.validation.pattern import compile_pattern

Json = dict[str, Any]
TEXT = {"type": "string"}


def faults(properties: Json, **keywords: Any) -> list[str]:
    schema = {"type": "object", "properties": properties, **keywords}
    return [str(error) for error in validate_structural(schema, Path("s"))]


def of_field(node: Json) -> list[str]:
    """Return the errors of field `a`, without its path."""
    return [error.removeprefix("s.properties[a]") for error in faults({"a": node})]


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({}, ".type: Required value: must not be empty for specified object fields"),
        ({"type": "array"}, ".items: Required value: must be specified"),
        ({"type": "array", "items": {}}, ".items.type: Required value: must not be empty for specified array items"),
        (
            {**TEXT, "anyOf": [{"type": "string"}]},
            ".anyOf[0].type: Forbidden: must be empty to be structural",
        ),
        ({**TEXT, "not": {"default": ""}}, ".not.default: Forbidden: must be undefined to be structural"),
        ({**TEXT, "allOf": [{"nullable": True}]}, ".allOf[0].nullable: Forbidden: must be false to be structural"),
        (
            {"type": "object", "oneOf": [{"properties": {"metadata": {}}}]},
            ".oneOf[0].properties[metadata]: Forbidden: must not be specified in a nested context",
        ),
        (
            {**TEXT, "pattern": "("},
            '.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: '
            "error parsing regexp: missing closing ): `(`",
        ),
        (
            {"type": "object", "x-kubernetes-embedded-resource": True},
            ".properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without "
            "x-kubernetes-preserve-unknown-fields",
        ),
        (
            {"x-kubernetes-int-or-string": True, "x-kubernetes-preserve-unknown-fields": True},
            ".x-kubernetes-preserve-unknown-fields: Invalid value: true: "
            "must be false if x-kubernetes-int-or-string is true",
        ),
        ({**TEXT, "$ref": "x"}, ".$ref: Forbidden: $ref is not supported"),
        ({**TEXT, "definitions": {"x": TEXT}}, ".definitions: Forbidden: definitions is not supported"),
        (
            {"type": "array", "items": [TEXT]},
            ".items: Forbidden: items must be a schema object and not an array",
        ),
        (
            {"type": "array", "items": TEXT, "uniqueItems": True},
            ".uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        ),
        (
            {"type": "object", "properties": {"b": TEXT}, "additionalProperties": TEXT},
            ".additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
        ),
        (
            {"type": "foo"},
            '.type: Unsupported value: "foo": supported values: '
            '"array", "boolean", "integer", "number", "object", "string"',
        ),
        (
            {"type": "object", "x-kubernetes-preserve-unknown-fields": False},
            ".x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined",
        ),
        (
            {**TEXT, "x-kubernetes-list-type": "set"},
            '.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified',
        ),
        (
            {**TEXT, "x-kubernetes-map-type": "atomic"},
            '.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified',
        ),
        (
            {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"},
            ".items.x-kubernetes-map-type: Invalid value: null: "
            "must be atomic as item of a list with x-kubernetes-list-type=set",
        ),
        (
            {"type": "array", "items": {**TEXT, "nullable": True}, "x-kubernetes-list-type": "set"},
            ".items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set",
        ),
        (
            {"type": "array", "items": TEXT, "x-kubernetes-list-map-keys": ["k"]},
            ".x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty",
        ),
        (
            {**TEXT, "x-kubernetes-validations": [{"rule": " "}]},
            ".x-kubernetes-validations[0].rule: Required value: rule is not specified",
        ),
        (
            {**TEXT, "default": 1},
            '.default: Invalid value: "integer": .default in body must be of type string: "integer"',
        ),
        (
            {"type": "object", "default": {"b": 1}},
            '.default: Invalid value: {"b":1}: must not have unknown fields',
        ),
    ],
    ids=str,
)
def test_invalid_schema_is_rejected(node: Json, expected: str) -> None:
    expected = expected.replace('"integer": .default in body', '"integer":  in body')
    assert of_field(node) == [expected]


@pytest.mark.parametrize(
    "node",
    [
        TEXT,
        {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        {
            "x-kubernetes-int-or-string": True,
            "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"pattern": "^1"}],
        },
        {"x-kubernetes-preserve-unknown-fields": True},
        {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
        {"type": "object", "additionalProperties": TEXT},
        {"type": "object", "properties": {"b": TEXT}, "oneOf": [{"required": ["b"]}], "default": {"b": "x"}},
        {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
    ],
    ids=str,
)
def test_structural_schema_has_no_errors(node: Json) -> None:
    assert of_field(node) == []


def test_keys_of_map_lists_are_properties_that_always_have_a_value() -> None:
    items = {"type": "object", "properties": {"k": TEXT, "o": {"type": "object"}}}
    node = {"type": "array", "items": items, "x-kubernetes-list-type": "map"}
    keys = ".x-kubernetes-list-map-keys"
    assert of_field(node) == [f"{keys}: Required value: must not be empty if x-kubernetes-list-type is map"]
    assert of_field({**node, keys[1:]: ["k"]}) == [
        ".items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, "
        "so it must have a default or be a required property"
    ]
    needed = {**node, "items": {**items, "required": ["k", "o"]}}
    assert of_field({**needed, keys[1:]: ["k"]}) == []
    assert of_field({**needed, keys[1:]: ["o"]}) == [
        '.items.properties[o].type: Invalid value: "object": must be a scalar type '
        "if parent array's x-kubernetes-list-type is map"
    ]
    assert of_field({**needed, keys[1:]: ["x"]}) == [
        f'{keys}: Invalid value: ["x"]: entries must all be names of item properties'
    ]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"properties": {}}, "s.type: Required value: must not be empty at the root"),
        ({"type": "string"}, 's.type: Invalid value: "string": must be object at the root'),
        (
            {"type": "object", "additionalProperties": TEXT},
            "s.additionalProperties: Forbidden: must not be used at the root",
        ),
        (
            {"type": "object", "properties": {"metadata": {"type": "object", "description": "d"}}},
            "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, "
            "but metadata is implicitly specified",
        ),
        (
            {"type": "object", "properties": {"kind": {"type": "integer"}}},
            's.properties[kind].type: Invalid value: "integer": must be string',
        ),
        (
            {"type": "object", "oneOf": [{"properties": {"b": {"minLength": 1}}}]},
            "s.properties[b]: Required value: because it is defined in s.oneOf[0].properties[b]",
        ),
    ],
    ids=["no type", "no object", "map", "metadata", "kind", "incomplete"],
)
def test_root_has_additional_rules(schema: Json, expected: str) -> None:
    assert [str(error) for error in structural_errors(schema, Path("s"))] == [expected]


def test_metadata_may_restrict_names() -> None:
    name = {"type": "string", "maxLength": 5}
    assert faults({"metadata": {"type": "object", "properties": {"name": name}}}) == []


def test_metadata_may_not_have_defaults() -> None:
    name = {"type": "string", "default": "x"}
    assert faults({"metadata": {"type": "object", "properties": {"name": name}}}) == [
        "s.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata"
    ]


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("[a", "missing closing ]: `[a`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("a{2000}", "invalid repeat count: `{2000}`"),
    ],
)
def test_invalid_patterns_are_rejected_with_the_messages_of_go(pattern: str, fault: str) -> None:
    with pytest.raises(ValueError) as caught:
        compile_pattern(pattern)
    assert str(caught.value) == f"error parsing regexp: {fault}"


def test_patterns_search_and_dollar_matches_only_the_end() -> None:
    assert compile_pattern("b")("abc")
    assert not compile_pattern("a$")("a\n")
