"""Changed fields, and their managers."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sampan.cli.kubectl.field_changes import ABSENT, field_changes

Json = dict[str, Any]
FIRST, SECOND = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"


def _entry(manager: str, fields: Json, *, time: str = FIRST, operation: str = "Update", **more: str) -> Json:
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": "v1",
        "time": time,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        **more,
    }


def _object(entries: list[Json], **fields: Any) -> Json:
    return {"metadata": {"name": "a", "resourceVersion": str(len(entries)), "managedFields": entries}, **fields}


def _texts(before: Json, after: Json) -> list[tuple[str, Any, Any]]:
    return [(change.path, change.before, change.after) for change in field_changes(before, after)]


PORTS: Json = {"f:spec": {"f:ports": {'k:{"port":80,"protocol":"TCP"}': {"f:name": {}}}}}
FINALIZERS: Json = {"f:metadata": {"f:finalizers": {'v:"x"': {}}}}


def test_items_of_a_map_are_compared_by_their_keys() -> None:
    before = _object([_entry("m", PORTS)], spec={"ports": [{"port": 80, "protocol": "TCP", "name": "web"}]})
    added = {"port": 81, "protocol": "TCP"}
    after = _object([_entry("m", PORTS)], spec={"ports": [added, {"port": 80, "protocol": "TCP", "name": "other"}]})
    assert _texts(before, after) == [
        (".spec.ports[port=80,protocol=TCP].name", "web", "other"),
        (".spec.ports[port=81,protocol=TCP]", ABSENT, added),
    ]


def test_items_of_a_set_are_their_own_keys() -> None:
    before = _object([_entry("m", FINALIZERS)])
    before["metadata"]["finalizers"] = ["x", "y"]
    after = _object([_entry("m", FINALIZERS)])
    after["metadata"]["finalizers"] = ["y", "z"]
    assert _texts(before, after) == [
        (".metadata.finalizers[=x]", "x", ABSENT),
        (".metadata.finalizers[=z]", ABSENT, "z"),
    ]


def test_a_list_of_which_nothing_is_known_changes_as_a_whole() -> None:
    entries = [_entry("m", {"f:spec": {"f:args": {}}})]
    assert _texts(_object(entries, spec={"args": [1, 2]}), _object(entries, spec={"args": [1, 3]})) == [
        (".spec.args", [1, 2], [1, 3])
    ]


def test_a_new_generation_is_not_a_change() -> None:
    after = _object([_entry("m", {}), _entry("n", {})])
    after["metadata"]["generation"] = 2
    assert _texts(_object([]), after) == []


@pytest.mark.parametrize(
    ("name", "path"),
    [("app", ".data.app"), ("a-b_c", ".data.a-b_c"), ("a.b/c", '.data["a.b/c"]')],
    ids=["plain", "dashes", "dots and slashes"],
)
def test_names_are_written_so_that_they_can_be_read(name: str, path: str) -> None:
    assert _texts(_object([], data={}), _object([], data={name: 1})) == [(path, ABSENT, 1)]


def _managers(before: Json, after: Json) -> list[tuple[str, ...]]:
    return [change.managers for change in field_changes(before, after)]


def test_the_writer_of_a_change_is_the_manager_with_a_new_time() -> None:
    data: Json = {"f:data": {"f:x": {}}}
    before = _object([_entry("one", data), _entry("two", {})], data={"x": 1})
    after = _object([_entry("one", data), _entry("two", data, time=SECOND)], data={"x": 2})
    assert _managers(before, after) == [("two (Update)",)]


def test_a_client_that_takes_a_field_away_is_named_though_another_owned_it() -> None:
    before = _object([_entry("one", {"f:data": {"f:x": {}}})], data={"x": 1})
    after = _object([_entry("one", {}), _entry("two", {"f:data": {}}, time=SECOND, operation="Apply")], data={})
    assert _managers(before, after) == [("two (Apply)",)]


def test_of_two_writers_each_is_named_for_what_it_owns() -> None:
    before = _object([], data={"x": 1, "y": 1})
    after = _object(
        [_entry("one", {"f:data": {"f:x": {}}}), _entry("two", {"f:data": {"f:y": {}}})], data={"x": 2, "y": 2}
    )
    assert _managers(before, after) == [("one (Update)",), ("two (Update)",)]


def test_twice_in_one_second_the_owner_is_named() -> None:
    entries = [_entry("one", {"f:data": {"f:x": {}}}), _entry("two", {"f:data": {"f:y": {}}})]
    assert _managers(_object(entries, data={"x": 1}), _object(entries, data={"x": 2})) == [("one (Update)",)]


def test_a_subresource_is_reported() -> None:
    after = _object([_entry("kubelet", {"f:status": {"f:phase": {}}}, subresource="status")], status={"phase": "Up"})
    assert _managers(_object([], status={}), after) == [("kubelet (Update of status)",)]


def test_no_client_is_named_where_no_client_is_known() -> None:
    assert _managers(_object([], data={}), _object([], data={"x": 1})) == [()]


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
_DATA = st.dictionaries(st.sampled_from("abc"), _VALUES, max_size=3)


@given(_DATA, _DATA)
@example({"a": True}, {"a": 1})
@example({"a": [True]}, {"a": [1]})
def test_there_are_changes_exactly_where_objects_differ(one: Json, other: Json) -> None:
    assert bool(_texts(_object([], data=one), _object([], data=other))) != _same(one, other)


def _same(one: Any, other: Any) -> bool:
    """As JSON has it: true is not 1."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
