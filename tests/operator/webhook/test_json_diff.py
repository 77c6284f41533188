"""The difference of JSON values as a patch, and changes carried over."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.json.values import same
from sampan.operator.webhook.admission.json_diff import carried_over, json_patch_between
from sampan.patch.json_patch import apply

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0]) | st.text("a/~é", max_size=3)
KEYS = st.text("ab/~0", max_size=2)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


@given(OBJECTS, OBJECTS)
def test_the_patch_between_two_objects_makes_one_of_the_other(before: Any, after: Any) -> None:
    assert same(apply(before, json_patch_between(before, after)), after)


@given(OBJECTS)
def test_there_is_no_patch_between_an_object_and_itself(obj: Any) -> None:
    assert json_patch_between(obj, obj) == []


@given(OBJECTS, OBJECTS)
def test_a_fully_decoded_object_is_changed_completely(before: Any, after: Any) -> None:
    assert same(carried_over(before, before, after), after)


@given(OBJECTS, OBJECTS, st.dictionaries(KEYS.map("unknown {}".format), VALUES, max_size=3))
def test_fields_that_were_not_understood_survive_any_change(before: Any, after: Any, unknown: Any) -> None:
    assert same(carried_over({**before, **unknown}, before, after), {**after, **unknown})


@pytest.mark.parametrize(
    ("actual", "before", "after", "expected"),
    [
        ([{"a": 1, "x": 1}, {"a": 2, "x": 2}], [{"a": 1}, {"a": 2}], [{"a": 2}], [{"a": 2, "x": 2}]),
        ([{"a": 1, "x": 1}, {"a": 2, "x": 2}], [{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}], None),
        ([{"a": 1, "x": 1}], [{"a": 1}], [{"a": 3}], [{"a": 3, "x": 1}]),
        ([{"a": 1, "x": 1}], [{"a": 1}], [{"a": 0}, {"a": 1}], [{"a": 0}, {"a": 1, "x": 1}]),
        ({"a": 1}, {}, {}, {"a": 1}),
        ({"a": 1}, {}, {"a": 2}, {"a": 2}),
        ({"a": 2}, {"a": 2}, {}, {}),
        ({"a": {"x": 1}}, {}, {"a": {"b": 2}}, {"a": {"x": 1, "b": 2}}),
    ],
    ids=["removed item", "moved", "changed item", "new item", "unwritten", "default changed", "removed", "below"],
)
def test_changes_are_carried_over_to_what_was_not_understood(
    actual: Any, before: Any, after: Any, expected: Any
) -> None:
    assert carried_over(actual, before, after) == (actual[::-1] if expected is None else expected)


def test_a_patch_reports_no_more_than_it_must() -> None:
    before = {"spec": {"list": [1, 2, 3, 4], "same": {"x": 1}}, "gone": 1}
    after = {"spec": {"list": [1, 3, 4], "same": {"x": 1}, "new/field": True}}
    assert json_patch_between(before, after) == [
        {"op": "remove", "path": "/gone"},
        {"op": "remove", "path": "/spec/list/1"},
        {"op": "add", "path": "/spec/new~1field", "value": True},
    ]
