"""Changes of a step."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.json.values import same
from sampan.patch import json_patch
from sampan.patch.copying import copy_json
from sampan.server.trace.changes import changes

_SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b"])
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b/c", "~d"]), inner, max_size=3),
    max_leaves=12,
)
_OBJECTS = st.dictionaries(st.sampled_from(["a", "b/c", "~d", "e"]), _VALUES, max_size=4)


@given(_OBJECTS, _OBJECTS)
def test_the_changes_make_the_later_object_of_the_earlier(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert same(json_patch.apply(copy_json(before), changes(before, after)), after)


@given(_OBJECTS)
def test_equal_objects_have_no_changes(obj: dict[str, Any]) -> None:
    assert changes(obj, copy_json(obj)) == []


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"a": 1}, {"a": True}, [{"op": "replace", "path": "/a", "value": True}]),
        ({"a": [1, 2, 3]}, {"a": [1]}, [{"op": "remove", "path": "/a/2"}, {"op": "remove", "path": "/a/1"}]),
        ({}, {"a/b": {}}, [{"op": "add", "path": "/a~1b", "value": {}}]),
    ],
    ids=["one is not true", "a shorter list", "a slash in a name"],
)
def test_single_changes(before: Any, after: Any, found: Any) -> None:
    assert changes(before, after) == found
