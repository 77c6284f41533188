"""Validate custom resources, with the messages of kube-apiserver."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.field import Path
from sampan.schema.compile import SchemaCompiler, validation_errors
from sampan.schema.definition.openapi import parse
from sampan.schema.structural import UNSET
from sampan.schema.validation.check import compile_check

Json = dict[str, Any]
COMPILER = SchemaCompiler()


def faults(node: Json, value: Any, old: Any = UNSET) -> list[str]:
    """Return the errors of `spec.a`, whose schema is `node`."""
    schema = parse({"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": node}}}})
    before = old if old is UNSET else {"spec": {"a": old}}
    return [str(error) for error in COMPILER.compile(schema).validate({"spec": {"a": value}}, old=before)]


TEXT = {"type": "string"}
INT = {"type": "integer"}


def body(value: str, text: str) -> str:
    return f"spec.a: Invalid value: {value}: spec.a in body {text}"


@pytest.mark.parametrize(
    ("node", "value", "expected"),
    [
        (INT, "x", body('"string"', 'must be of type integer: "string"')),
        (INT, True, body('"boolean"', 'must be of type integer: "boolean"')),
        (TEXT, 1, body('"integer"', 'must be of type string: "integer"')),
        (TEXT, None, body('"null"', 'must be of type string: "null"')),
        ({"type": "object"}, [], body('"array"', 'must be of type object: "array"')),
        ({"type": "array", "items": INT}, {}, body('"object"', 'must be of type array: "object"')),
        ({"type": "boolean"}, "true", body('"string"', 'must be of type boolean: "string"')),
        ({"x-kubernetes-int-or-string": True}, [], body('"array"', 'must be of type integer,string: "array"')),
        ({**INT, "format": "int32"}, True, body('""', 'must be of type int32: ""')),
        ({**INT, "maximum": 3}, 4, body("4", "should be less than or equal to 3")),
        ({**INT, "maximum": 3, "exclusiveMaximum": True}, 3, body("3", "should be less than 3")),
        ({**INT, "minimum": 3}, 2, body("2", "should be greater than or equal to 3")),
        ({"type": "number", "minimum": 1.5, "exclusiveMinimum": True}, 1.5, body("1.5", "should be greater than 1.5")),
        ({**INT, "multipleOf": 3}, 4, body("4", "should be a multiple of 3")),
        ({"type": "number", "multipleOf": 0.1}, 0.25, body("0.25", "should be a multiple of 0.1")),
        ({**TEXT, "minLength": 2}, "x", body('"x"', "should be at least 2 chars long")),
        ({**TEXT, "maxLength": 2}, "xyz", "spec.a: Too long: may not be more than 2 bytes"),
        ({**TEXT, "pattern": "^[a-z]+$"}, "A", body('"A"', "should match '^[a-z]+$'")),
        ({**TEXT, "format": "ipv4"}, "x", body('"x"', 'must be of type ipv4: "x"')),
        ({**TEXT, "enum": ["y", "x"]}, "z", 'spec.a: Unsupported value: "z": supported values: "y", "x"'),
        ({**INT, "enum": [1, 2]}, 3, 'spec.a: Unsupported value: 3: supported values: "1", "2"'),
        ({"type": "array", "items": INT, "minItems": 1}, [], body("0", "should have at least 1 items")),
        ({"type": "array", "items": INT, "maxItems": 1}, [1, 2], "spec.a: Too many: 2: must have at most 1 item"),
        ({"type": "object", "minProperties": 1}, {}, body("0", "should have at least 1 properties")),
        ({"type": "object", "maxProperties": 1}, {"b": 1, "c": 2}, "spec.a: Too many: 2: must have at most 1 item"),
        ({"type": "object", "required": ["b"]}, {}, "spec.a.b: Required value"),
    ],
    ids=str,
)
def test_error_has_the_message_of_kube_apiserver(node: Json, value: Any, expected: str) -> None:
    assert faults(node, value) == [expected]


@pytest.mark.parametrize(
    ("node", "value"),
    [
        (INT, 3.0),
        (INT, 2**63 - 1),
        ({"type": "number"}, 1),
        ({**TEXT, "nullable": True}, None),
        ({"x-kubernetes-int-or-string": True}, "80%"),
        ({"x-kubernetes-preserve-unknown-fields": True}, None),
        ({**TEXT, "format": "unheard-of"}, "x"),
        ({**TEXT, "maxLength": 2}, "äö"),
        ({**INT, "enum": [1]}, 1.0),
        ({"type": "number", "multipleOf": 0.5}, 1.5),
        ({"type": "object", "additionalProperties": True}, {"x": [1]}),
    ],
    ids=str,
)
def test_valid_values_have_no_errors(node: Json, value: Any) -> None:
    assert faults(node, value) == []


@pytest.mark.parametrize(
    ("node", "value", "expected"),
    [
        (
            {**TEXT, "anyOf": [{"minLength": 3}, {"pattern": "^x"}]},
            "y",
            [
                '<nil>: Invalid value: "": "spec.a" must validate at least one schema (anyOf)',
                body('"y"', "should be at least 3 chars long"),
            ],
        ),
        (
            {**TEXT, "oneOf": [{"minLength": 1}, {"maxLength": 9}]},
            "y",
            [
                '<nil>: Invalid value: "": "spec.a" must validate one and only one schema (oneOf). '
                "Found 2 valid alternatives"
            ],
        ),
        (
            {**TEXT, "allOf": [{"minLength": 3}, {"maxLength": 9}]},
            "y",
            [
                body('"y"', "should be at least 3 chars long"),
                '<nil>: Invalid value: "": "spec.a" must validate all the schemas (allOf)',
            ],
        ),
        (
            {**TEXT, "not": {"pattern": "^y"}},
            "y",
            ['<nil>: Invalid value: "": "spec.a" must not validate the schema (not)'],
        ),
    ],
    ids=["anyOf", "oneOf", "allOf", "not"],
)
def test_junctors_report_their_errors(node: Json, value: Any, expected: list[str]) -> None:
    assert faults(node, value) == expected


def test_integer_out_of_range_has_its_path_only_in_the_message() -> None:
    text = "Checked value must be of type integer with format int32 in spec.a"
    assert faults({**INT, "format": "int32"}, 2**31) == [f'<nil>: Invalid value: "": {text}']


def test_fraction_in_an_integer_field_has_two_errors() -> None:
    text = "Checked value must be of type integer (default format) in spec.a"
    assert faults(INT, 1.5) == [
        body('"number"', 'must be of type integer: "number"'),
        f'<nil>: Invalid value: "": {text}',
    ]


def test_paths_contain_items_and_map_values() -> None:
    assert faults({"type": "array", "items": INT}, [1, "x"]) == [
        'spec.a[1]: Invalid value: "string": spec.a[1] in body must be of type integer: "string"'
    ]
    assert faults({"type": "object", "additionalProperties": INT}, {"k": "x"}) == [
        'spec.a.k: Invalid value: "string": spec.a.k in body must be of type integer: "string"'
    ]


def test_sets_have_no_duplicates() -> None:
    node = {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}
    assert faults(node, ["x", "y", "x", "x"]) == ['spec.a[2]: Duplicate value: "x"']


def test_map_lists_have_no_duplicate_keys() -> None:
    items = {"type": "object", "properties": {"k": TEXT, "p": INT}}
    node = {"type": "array", "items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "p"]}
    assert faults(node, [{"k": "x", "p": 1}, {"k": "x", "p": 2}]) == []
    assert faults(node, [{"k": "x", "p": 1}, {"k": "x", "p": 1}]) == ['spec.a[1]: Duplicate value: {"k":"x","p":1}']


def test_embedded_resources_require_a_type_and_valid_metadata() -> None:
    node = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    errors = faults(node, {"kind": "A_b", "metadata": {"name": "a/b"}})
    assert errors[0] == "spec.a.apiVersion: Required value"
    assert errors[1].startswith('spec.a.kind: Invalid value: "A_b": may have mixed case, but should otherwise match: ')
    assert errors[2] == "spec.a.metadata.name: Invalid value: \"a/b\": may not contain '/'"


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({"finalizers": ["a b"]}, 'finalizers: Invalid value: "a b"'),
        ({"labels": {"a b": "c"}}, 'labels: Invalid value: "a b"'),
        ({"labels": {"a": "b c"}}, 'labels: Invalid value: "b c"'),
        ({"annotations": {"a b": "c"}}, 'annotations: Invalid value: "a b"'),
        ({"namespace": "A"}, 'namespace: Invalid value: "A"'),
        ({"generation": -1}, "generation: Invalid value: -1"),
        ({"ownerReferences": [{"apiVersion": "v1", "kind": "A", "name": "a"}]}, "ownerReferences.uid: Invalid value"),
        ({"managedFields": [{"operation": "Eat"}]}, 'managedFields[0].operation: Invalid value: "Eat"'),
    ],
)
def test_metadata_of_embedded_resources_is_checked_like_that_of_objects(metadata: Any, error: str) -> None:
    node = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    errors = faults(node, {"apiVersion": "v1", "kind": "A", "metadata": metadata})
    assert errors[0].startswith(f"spec.a.metadata.{error}")


def test_status_is_validated_with_its_path() -> None:
    schema = parse({"type": "object", "properties": {"ready": {"type": "boolean"}}})
    errors = COMPILER.compile(schema).validate({"ready": 1}, Path("status"))
    text = 'ready in body must be of type boolean: "integer"'
    assert [str(error) for error in errors] == [f'status.ready: Invalid value: "integer": {text}']


def test_error_of_a_root_of_the_wrong_type_has_no_path() -> None:
    errors = COMPILER.compile(parse({"type": "object"})).validate([])
    assert [error.field for error in errors] == ["<nil>"]


LIST = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    "items": {"type": "object", "properties": {"k": TEXT, "v": {**INT, "maximum": 3}}},
}


@pytest.mark.parametrize(
    ("node", "value", "old", "count"),
    [
        ({**INT, "maximum": 3}, 9, 9, 0),
        ({**INT, "maximum": 3}, 9, 8, 1),
        ({**INT, "maximum": 3}, 9, 9.0, 1),
        ({"type": "array", "items": {**INT, "maximum": 3}}, [9], [9], 0),
        ({"type": "array", "items": {**INT, "maximum": 3}}, [9, 1], [9], 1),
        (LIST, [{"k": "a", "v": 1}, {"k": "b", "v": 9}], [{"k": "b", "v": 9}], 0),
        (LIST, [{"k": "b", "v": 9}], [{"k": "a", "v": 9}], 1),
        ({"type": "object", "required": ["b"], "properties": {"c": TEXT}}, {"c": "x"}, {"c": "x"}, 0),
        ({"type": "object", "required": ["b"], "properties": {"c": TEXT}}, {"c": "y"}, {"c": "x"}, 1),
        ({"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}, ["x", "x"], ["y", "y"], 0),
        ({"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}, ["x", "x"], ["x"], 1),
    ],
    ids=str,
)
def test_errors_in_unchanged_values_are_dropped(node: Json, value: Any, old: Any, count: int) -> None:
    assert len(faults(node, value, old)) == count


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, 2.0, "", "x", "xy", "1.2.3.4"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abk"), inner, max_size=3),
    max_leaves=5,
)
RULES = st.fixed_dictionaries(
    {},
    optional={
        "minimum": st.integers(-2, 2),
        "maximum": st.sampled_from([1, 1.5]),
        "exclusiveMaximum": st.booleans(),
        "multipleOf": st.sampled_from([2, 0.5]),
        "minLength": st.integers(0, 2),
        "pattern": st.sampled_from(["^x", "(", "y$"]),
        "format": st.sampled_from(["ipv4", "int32", "float", "unheard-of"]),
        "enum": st.lists(VALUES, min_size=1, max_size=2),
        "minItems": st.integers(0, 2),
        "maxProperties": st.integers(0, 2),
        "required": st.lists(st.sampled_from("ab"), min_size=1, max_size=2, unique=True),
    },
)
TYPES = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "number", "boolean", "object", "array"]),
        "nullable": st.booleans(),
        "x-kubernetes-int-or-string": st.booleans(),
        "x-kubernetes-list-type": st.sampled_from(["set", "map", "atomic"]),
        "x-kubernetes-list-map-keys": st.just(["k"]),
    },
)


def _merged(*parts: Json) -> Json:
    merged = {key: value for part in parts for key, value in part.items()}
    if merged.get("x-kubernetes-int-or-string"):
        merged.pop("type", None)
    return merged


LEAVES = st.builds(_merged, RULES, TYPES)
TYPE = st.fixed_dictionaries({}, optional={"type": st.sampled_from(["string", "integer", "object", "array"])})
ALTERNATIVES = st.recursive(
    st.builds(_merged, RULES, TYPE),
    lambda inner: st.builds(_merged, RULES, st.fixed_dictionaries({"not": inner}, optional={"items": inner})),
    max_leaves=2,
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        _merged,
        LEAVES,
        st.fixed_dictionaries(
            {},
            optional={
                "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
                "additionalProperties": inner | st.booleans(),
                "items": inner,
                "anyOf": st.lists(ALTERNATIVES, min_size=1, max_size=2),
                "allOf": st.lists(ALTERNATIVES, min_size=1, max_size=2),
                "oneOf": st.lists(ALTERNATIVES, min_size=1, max_size=2),
                "not": ALTERNATIVES,
            },
        ),
    ),
    max_leaves=5,
)


@given(SCHEMAS, VALUES)
def test_check_and_report_agree(openapi: Json, value: Any) -> None:
    schema = parse(openapi)
    check = compile_check(schema)
    assert (check is None or check(value)) == (not validation_errors(schema, value))
