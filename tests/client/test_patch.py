"""Patches."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.client import ApplyPatch, JsonPatch, MergePatch, Patch, StrategicMergePatch, merge_patch_between
from sampan.patch import merge_patch
from sampan.wire import json

PATCHES: list[tuple[Patch, str, bytes]] = [
    (JsonPatch([{"op": "remove", "path": "/a"}]), "json-patch+json", b'[{"op":"remove","path":"/a"}]'),
    (MergePatch({"a": None}), "merge-patch+json", b'{"a":null}'),
    (StrategicMergePatch({"a": 1}), "strategic-merge-patch+json", b'{"a":1}'),
    (ApplyPatch({"a": 1}), "apply-patch+yaml", b'{"a":1}'),
]


@pytest.mark.parametrize(("patch", "kind", "body"), PATCHES, ids=[kind for _, kind, _ in PATCHES])
def test_a_patch_reports_how_it_is_meant(patch: Patch, kind: str, body: bytes) -> None:
    assert (patch.content_type, patch.body()) == (f"application/{kind}", body)


LEAVES = st.booleans() | st.integers(0, 2) | st.text("ab", max_size=2)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)


@given(OBJECTS, OBJECTS)
def test_the_patch_between_two_objects_makes_one_of_the_other(old: dict[str, Any], new: dict[str, Any]) -> None:
    patch = merge_patch_between(old, new)
    # Compared as JSON: there, true is not 1.
    assert json.encode_sorted(merge_patch.apply(old, patch.fields)) == json.encode_sorted(new)


@given(OBJECTS)
def test_between_an_object_and_itself_there_is_nothing(obj: dict[str, Any]) -> None:
    assert merge_patch_between(obj, obj).fields == {}


def test_inside_of_lists_too_true_is_not_one() -> None:
    assert merge_patch_between({"a": [1]}, {"a": [True]}).fields == {"a": [True]}


def test_none_counts_as_absent() -> None:
    assert merge_patch_between({"a": None, "b": 1}, {"b": 1, "c": None}).fields == {}
    assert merge_patch_between({"a": 1}, {"a": None}).fields == {"a": None}


def test_an_optimistic_lock_states_the_old_version() -> None:
    old = {"metadata": {"name": "a", "resourceVersion": "5", "labels": {"x": "y"}}}
    new = {"metadata": {"name": "a", "resourceVersion": "5"}}
    fields = merge_patch_between(old, new, optimistic_lock=True).fields
    assert fields == {"metadata": {"labels": None, "resourceVersion": "5"}}


def test_an_optimistic_lock_needs_a_version() -> None:
    with pytest.raises(ValueError, match="resourceVersion"):
        merge_patch_between({"metadata": {"name": "a"}}, {}, optimistic_lock=True)
