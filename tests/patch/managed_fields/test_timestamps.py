"""Spec rows C14, E20: a change of managedFields timestamps alone is not a change."""

from typing import Any

import pytest

from sampan.core.object import Object
from sampan.patch.managed_fields.timestamps import keep_timestamps


def obj(*times: str, data: Any = None, fields: Any = None) -> Object:
    entries = [{"manager": "m", "time": time, "fieldsV1": fields or {"f:data": {}}} for time in times]
    return {"metadata": {"name": "x", "managedFields": entries}, "data": data or {"a": "b"}}


def times_after(live: Object, new: Object) -> list[str]:
    keep_timestamps(live, new)
    return [entry["time"] for entry in new["metadata"]["managedFields"]]


def test_write_that_changes_only_the_time_keeps_the_old_time() -> None:
    live, new = obj("1", "2"), obj("1", "3")
    assert times_after(live, new) == ["1", "2"]
    assert new == live


@pytest.mark.parametrize(
    "new",
    [
        pytest.param(obj("3", data={"a": "c"}), id="content"),
        pytest.param(obj("3", fields={"f:x": {}}), id="fields"),
        pytest.param({**obj("3"), "more": 1}, id="another field"),
        pytest.param({**obj("3"), "data": {"a": True}}, id="another type"),
    ],
)
def test_time_stays_when_something_else_changed(new: Object) -> None:
    assert times_after(obj("1"), new) == ["3"]


def test_true_and_1_differ() -> None:
    assert times_after(obj("1", data={"a": 1}), obj("3", data={"a": True})) == ["3"]


def test_entries_of_different_number_are_a_change() -> None:
    assert times_after(obj("1"), obj("1", "3")) == ["1", "3"]


def test_objects_without_entries_are_unchanged() -> None:
    new: Object = {"metadata": {}}
    keep_timestamps({"metadata": {}}, new)
    assert new == {"metadata": {}}
