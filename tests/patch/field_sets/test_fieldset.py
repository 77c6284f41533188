"""Spec row E10: FieldsV1 and its algebra."""

from typing import Any

import orjson
import pytest
from hypothesis import given

from sampan.patch.field_sets.fieldset import (
    FieldSet,
    difference,
    has,
    intersection,
    leaves,
    parse,
    path_text,
    paths,
    recursive_difference,
    union,
)
from tests.patch.values import field_sets

Path = tuple[str, ...]


def members(fields: FieldSet) -> set[Path]:
    return set(paths(fields))


def of_path(*path: str) -> FieldSet:
    """The set of one field."""
    fields: FieldSet = {}
    for element in reversed(path):
        fields = {element: fields}
    return fields


def from_members(desired: set[Path]) -> FieldSet:
    result: FieldSet = {}
    for path in desired:
        result = union(result, of_path(*path))
    return result


@given(field_sets, field_sets)
def test_union_has_the_members_of_both(left: FieldSet, right: FieldSet) -> None:
    assert members(union(left, right)) == members(left) | members(right)


@given(field_sets, field_sets)
def test_intersection_has_the_shared_members(left: FieldSet, right: FieldSet) -> None:
    assert members(intersection(left, right)) == members(left) & members(right)


@given(field_sets, field_sets)
def test_difference_has_the_members_of_the_first_only(left: FieldSet, right: FieldSet) -> None:
    assert members(difference(left, right)) == members(left) - members(right)


@given(field_sets, field_sets)
def test_recursive_difference_removes_children_too(left: FieldSet, right: FieldSet) -> None:
    gone = members(right)
    expected = {path for path in members(left) if not any(path[:size] in gone for size in range(len(path) + 1))}
    assert members(recursive_difference(left, right)) == expected


@given(field_sets)
def test_leaves_have_no_members_below_them(fields: FieldSet) -> None:
    all_members = members(fields)
    expected = {
        path for path in all_members if not any(other != path and other[: len(path)] == path for other in all_members)
    }
    assert members(leaves(fields)) == expected


@given(field_sets, field_sets)
def test_results_are_in_canonical_form(left: FieldSet, right: FieldSet) -> None:
    for operation in (union, intersection, difference, recursive_difference):
        result = operation(left, right)
        assert orjson.dumps(result) == orjson.dumps(parse(result))
        assert result == from_members(members(result))


@given(field_sets, field_sets)
def test_operations_do_not_change_their_arguments(left: FieldSet, right: FieldSet) -> None:
    before = orjson.dumps([left, right])
    for operation in (union, intersection, difference, recursive_difference):
        operation(left, right)
    assert orjson.dumps([left, right]) == before


@given(field_sets)
def test_serialisation_round_trips(fields: FieldSet) -> None:
    text = orjson.dumps(fields)
    assert orjson.dumps(parse(orjson.loads(text))) == text


@given(field_sets, field_sets)
def test_union_that_adds_nothing_returns_the_same_set(left: FieldSet, right: FieldSet) -> None:
    both = union(left, right)
    assert union(both, right) is both
    assert difference(left, difference(right, left)) is left or members(left) & members(difference(right, left))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param({"f:b": {}, "f:a": {}}, '{"f:a":{},"f:b":{}}', id="fields are sorted"),
        pytest.param(
            {'k:{"port":443}': {}, 'k:{"port":80}': {}},
            '{"k:{\\"port\\":80}":{},"k:{\\"port\\":443}":{}}',
            id="numbers sort as numbers",
        ),
        pytest.param(
            {'k:{"b":1,"a":"x"}': {}}, '{"k:{\\"a\\":\\"x\\",\\"b\\":1}":{}}', id="keys within a key are sorted"
        ),
        pytest.param({"v:2": {}, "v:1": {}, 'v:"a"': {}}, '{"v:1":{},"v:2":{},"v:\\"a\\"":{}}', id="values are sorted"),
        pytest.param({"f:a": {"f:b": {}, ".": {}}}, '{"f:a":{".":{},"f:b":{}}}', id="the holder comes first"),
        pytest.param({"f:a": {".": {}}}, '{"f:a":{}}', id="a lone holder is left out"),
        pytest.param({"f:a": None}, '{"f:a":{}}', id="null is a leaf"),
        pytest.param({"x:a": {}, "f:b": {}}, '{"f:b":{}}', id="unknown kinds are dropped"),
        pytest.param({".": {}, "f:b": {}}, '{"f:b":{}}', id="nobody owns the whole object"),
        pytest.param({"i:1": {}, "i:0": {}}, '{"i:0":{},"i:1":{}}', id="indices"),
        pytest.param({"v:1.0": {}}, '{"v:1":{}}', id="whole floats are written as integers"),
        pytest.param({'v:"a<b"': {}}, '{"v:\\"a\\\\u003cb\\"":{}}', id="HTML is escaped"),
    ],
)
def test_fields_from_clients_become_canonical(raw: Any, expected: str) -> None:
    assert orjson.dumps(parse(raw)).decode() == expected


@pytest.mark.parametrize(
    "raw", [[], "x", {"f": {}}, {"fa": {}}, {"k:x": {}}, {"k:1": {}}, {"v:": {}}, {"i:x": {}}, {"f:a": 1}, {"": {}}]
)
def test_malformed_fields_raise(raw: Any) -> None:
    with pytest.raises(ValueError):
        parse(raw)


def test_null_is_the_empty_set() -> None:
    assert parse(None) == {}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("f:spec", "f:replicas"), ".spec.replicas"),
        (("f:spec", "f:containers", 'k:{"name":"a"}', "f:image"), '.spec.containers[name="a"].image'),
        (("f:ports", 'k:{"containerPort":80,"protocol":"TCP"}'), '.ports[containerPort=80,protocol="TCP"]'),
        (("f:finalizers", 'v:"x"'), '.finalizers[="x"]'),
        (("f:flags", "v:true"), ".flags[=true]"),
        (("f:list", "i:3"), ".list[3]"),
    ],
)
def test_paths_are_shown_as_kubernetes_shows_them(path: Path, text: str) -> None:
    assert path_text(path) == text


def test_members_precede_their_children() -> None:
    fields = parse({"f:a": {"f:x": {}, ".": {}}, "f:b": {}})
    assert list(paths(fields)) == [("f:a",), ("f:b",), ("f:a", "f:x")]


def test_parent_of_members_is_a_member_only_with_a_dot() -> None:
    fields = parse({"f:a": {"f:b": {}}, "f:c": {".": {}, "f:d": {}}})
    assert not has(fields, "f:a")
    assert has(fields, "f:a", "f:b")
    assert has(fields, "f:c")
    assert not has(fields)
    assert not has(fields, "f:zz", "f:b")
