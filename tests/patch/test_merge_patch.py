"""Spec rows E3, C25."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.errors import StatusError
from sampan.patch import merge_patch
from tests.patch.values import NAMES, SCALARS, json_objects

patches: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    NAMES,
    st.recursive(
        st.one_of(st.none(), SCALARS, st.lists(SCALARS, max_size=2)),
        lambda inner: st.dictionaries(NAMES, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)


def rfc_7386(target: Any, patch: Any) -> Any:
    """Merge by the pseudocode of the RFC."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = rfc_7386(result.get(key), value)
    return result


@pytest.mark.parametrize(
    ("doc", "patch", "expected"),
    [
        pytest.param({"a": "b"}, {"a": "c"}, {"a": "c"}, id="replace"),
        pytest.param({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}, id="add"),
        pytest.param({"a": "b"}, {"a": None}, {}, id="null deletes"),
        pytest.param({"a": "b"}, {"zz": None}, {"a": "b"}, id="null of nothing"),
        pytest.param({"a": ["b"]}, {"a": ["c", "d"]}, {"a": ["c", "d"]}, id="lists are replaced"),
        pytest.param({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}, id="maps are merged"),
        pytest.param({"a": 1}, {"a": {"b": {"c": None}}}, {"a": {"b": {}}}, id="nulls of new maps are dropped"),
        pytest.param({"a": {"b": 1}}, {"a": [1]}, {"a": [1]}, id="map becomes list"),
    ],
)
def test_patch_is_merged(doc: Any, patch: Any, expected: Any) -> None:
    assert merge_patch.apply(doc, patch) == expected


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (None, "Invalid JSON Patch"),
        ([1], "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ("x", "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}"),
    ],
)
def test_patch_that_is_not_an_object_gives_400(patch: Any, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        merge_patch.apply({}, patch)
    assert (caught.value.code, caught.value.message) == (400, message)


def test_result_shares_nothing_with_document_or_patch() -> None:
    doc: dict[str, Any] = {"kept": {"x": 1}}
    patch: dict[str, Any] = {"new": {"y": [1]}}
    result = merge_patch.apply(doc, patch)
    result["kept"]["x"] = 2
    result["new"]["y"].append(2)
    assert (doc, patch) == ({"kept": {"x": 1}}, {"new": {"y": [1]}})


@given(json_objects, patches)
def test_result_equals_that_of_the_rfc(doc: dict[str, Any], patch: dict[str, Any]) -> None:
    assert merge_patch.apply(doc, patch) == rfc_7386(doc, patch)


@given(json_objects, patches)
def test_merging_twice_is_merging_once(doc: dict[str, Any], patch: dict[str, Any]) -> None:
    once = merge_patch.apply(doc, patch)
    assert merge_patch.apply(once, patch) == once


@given(json_objects)
def test_empty_patch_changes_nothing(doc: dict[str, Any]) -> None:
    assert merge_patch.apply(doc, {}) == doc
