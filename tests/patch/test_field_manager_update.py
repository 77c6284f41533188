"""Field ownership after creates, updates and patches. Spec rows E10-E13, E15, E17, E18, E23, E24."""

import copy
from typing import Any

import orjson
import pytest
from hypothesis import given

from sampan.core.object import Object
from sampan.patch.managed_fields.field_manager import FieldManager
from sampan.schema.structural import Schema
from tests.patch.schemas import APP
from tests.patch.values import apps, without_empties

V1, V2 = "example.io/v1", "example.io/v2"
T0, T1, T2 = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"


def schema_for(api_version: str) -> Schema | None:
    return APP if api_version in (V1, V2) else None


def convert(obj: Object, api_version: str) -> Object:
    """Convert between version 1, which has `replicas`, and version 2, which has `paused` instead."""
    converted = copy.deepcopy(obj)
    spec = converted.get("spec", {})
    old, new = ("replicas", "paused") if api_version == V2 else ("paused", "replicas")
    if old in spec:
        spec[new] = spec.pop(old)
    converted["apiVersion"] = api_version
    return converted


MANAGER = FieldManager(
    schema_for=schema_for,
    convert=convert,
    reset_fields={"": {"f:status": {}}, "status": {"f:spec": {}}},
    kind="App",
)


def app(managed: Any = None, **parts: Any) -> Object:
    metadata = {"name": "app", "uid": "u", **parts.pop("metadata", {})}
    if managed is not None:
        metadata["managedFields"] = managed
    return {"apiVersion": V1, "kind": "App", "metadata": metadata, **parts}


def entry(manager: str, fields: Any, **more: Any) -> Any:
    entry = {
        "manager": manager,
        "operation": "Update",
        "apiVersion": V1,
        "time": T0,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    return {**entry, **more}


def updated(live: Object | None, new: Object, manager: str = "m", **more: Any) -> list[Any]:
    MANAGER.update(live, new, manager=manager, api_version=V1, **{"now": T1, **more})
    found: list[Any] = new["metadata"].get("managedFields", [])
    return found


def label(name: str) -> Any:
    return {"f:metadata": {"f:labels": {f"f:{name}": {}}}}


REPLICAS: Any = {"f:spec": {"f:replicas": {}}}
PAUSED: Any = {"f:spec": {"f:paused": {}}}
BOTH: Any = {"f:spec": {"f:paused": {}, "f:replicas": {}}}


def test_create_records_everything_that_is_set() -> None:
    new = app(metadata={"labels": {"a": "b"}}, spec={"replicas": 1, "containers": [{"name": "c", "image": "i"}]})
    assert updated(None, new) == [
        {
            "manager": "m",
            "operation": "Update",
            "apiVersion": V1,
            "time": T1,
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
                "f:spec": {
                    "f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:name": {}}},
                    "f:replicas": {},
                },
            },
        }
    ]


def test_entry_is_written_in_the_order_of_the_api() -> None:
    (found,) = updated(None, app(spec={"replicas": 1}), subresource="resize")
    assert list(found) == ["manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"]


def test_metadata_set_by_the_server_has_no_owner() -> None:
    server_side = {"namespace": "n", "resourceVersion": "1", "generation": 1, "creationTimestamp": T0}
    assert updated(None, app(metadata=server_side)) == []


def test_manager_without_a_name_is_unknown() -> None:
    assert updated(None, app(spec={"replicas": 1}), manager="")[0]["manager"] == "unknown"


def test_update_records_what_it_changed() -> None:
    live = app([entry("a", BOTH)], spec={"replicas": 1, "paused": True})
    assert updated(live, app(spec={"replicas": 2, "paused": True})) == [
        entry("a", PAUSED),
        entry("m", REPLICAS, time=T1),
    ]


def test_update_by_the_same_manager_adds_to_its_entry() -> None:
    live = app([entry("m", PAUSED)], spec={"paused": True})
    assert updated(live, app(spec={"paused": True, "replicas": 1})) == [entry("m", BOTH, time=T1)]


def test_manager_keeps_its_entry_when_it_changes_the_value_it_owns() -> None:
    live = app([entry("m", REPLICAS)], spec={"replicas": 1})
    assert updated(live, app(spec={"replicas": 2})) == [entry("m", REPLICAS, time=T1)]


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"manager": "other"}, id="manager"),
        pytest.param({"operation": "Apply"}, id="operation"),
        pytest.param({"apiVersion": V2}, id="apiVersion"),
        pytest.param({"subresource": "status"}, id="subresource"),
    ],
)
def test_entries_differ_by(more: Any) -> None:
    labels: Any = {"f:metadata": {"f:labels": {"f:a": {}}}}
    known = {**entry("m", labels), **more}
    live = app([known], metadata={"labels": {"a": "b"}})
    found = updated(live, app(metadata={"labels": {"a": "b"}}, spec={"replicas": 1}))
    assert len(found) == 2
    assert known in found


def test_removed_fields_are_dropped_from_all_entries() -> None:
    live = app([entry("a", BOTH), entry("b", REPLICAS)], spec={"replicas": 1, "paused": True})
    assert updated(live, app(spec={"paused": True})) == [entry("a", PAUSED)]


def test_update_that_changes_nothing_changes_no_entry() -> None:
    live = app([entry("a", REPLICAS)], spec={"replicas": 1})
    assert updated(live, copy.deepcopy(live)) == live["metadata"]["managedFields"]


def test_untracked_object_stays_untracked_on_update() -> None:
    new = app(spec={"replicas": 2})
    assert updated(app(spec={"replicas": 1}), new) == []
    assert "managedFields" not in new["metadata"]


def test_entries_of_unserved_versions_are_dropped() -> None:
    live = app([entry("a", REPLICAS, apiVersion="example.io/v0"), entry("b", PAUSED)], spec={"replicas": 1})
    assert updated(live, app(spec={"replicas": 1, "paused": True})) == [entry("m", PAUSED, time=T1)]


def test_entries_of_other_versions_are_compared_in_their_version() -> None:
    live = app([entry("a", PAUSED, apiVersion=V2)], spec={"replicas": 1})
    assert updated(live, app(spec={"replicas": 2})) == [entry("m", REPLICAS, time=T1)]


@pytest.mark.parametrize(
    ("subresource", "expected"), [("", REPLICAS), ("status", {"f:status": {"f:ready": {}}})], ids=["main", "status"]
)
def test_write_does_not_own_fields_that_it_cannot_change(subresource: str, expected: Any) -> None:
    live = app([entry("a", PAUSED)], spec={"paused": True})
    new = app(spec={"paused": True, "replicas": 1}, status={"ready": 1})
    found = updated(live, new, subresource=subresource)
    assert [item["fieldsV1"] for item in found if item["manager"] == "m"] == [expected]


@pytest.mark.parametrize("given_entries", [[], [{}]], ids=["empty list", "one empty entry"])
def test_client_can_clear_all_entries(given_entries: Any) -> None:
    live = app([entry("a", REPLICAS)], spec={"replicas": 1})
    new = app(given_entries, spec={"replicas": 2})
    assert updated(live, new) == []
    assert "managedFields" not in new["metadata"]


def test_client_that_sends_no_entries_keeps_them() -> None:
    live = app([entry("a", REPLICAS)], spec={"replicas": 1})
    assert updated(live, app(spec={"replicas": 1})) == [entry("a", REPLICAS)]


@pytest.mark.parametrize(
    "bad",
    [
        {"operation": "Frob"},
        {"apiVersion": ""},
        {"fieldsType": ""},
        {"fieldsType": "FieldsV2"},
        {"fieldsV1": {"bad": {}}},
    ],
)
def test_invalid_entries_are_ignored(bad: Any) -> None:
    live = app([entry("a", REPLICAS)], spec={"replicas": 1})
    new = app([{**entry("b", REPLICAS), **bad}], spec={"replicas": 1})
    assert updated(live, new) == [entry("a", REPLICAS)]


def test_edited_entries_are_accepted_and_made_canonical() -> None:
    live = app([entry("kubectl-client-side-apply", BOTH)], spec={"replicas": 1, "paused": True})
    edited = entry("kubectl", {"f:spec": {"f:replicas": {}, "f:paused": {}}}, operation="Apply")
    found = updated(live, app([edited], spec={"replicas": 1, "paused": True}))
    assert orjson.dumps(found) == orjson.dumps([entry("kubectl", BOTH, operation="Apply")])


def test_subresource_cannot_edit_entries() -> None:
    live = app([entry("a", REPLICAS)], spec={"replicas": 1})
    new = app([entry("b", REPLICAS)], spec={"replicas": 1})
    assert updated(live, new, subresource="status") == [entry("a", REPLICAS)]


def test_entries_are_sorted_by_operation_time_and_manager() -> None:
    known = [entry("z", PAUSED, time=T2), entry("b", PAUSED), entry("c", PAUSED, operation="Apply", time=T2)]
    live = app(known, spec={"paused": True})
    found = updated(live, app(spec={"paused": True, "replicas": 1}))
    assert [item["manager"] for item in found] == ["c", "b", "m", "z"]


def test_more_than_ten_updaters_fold_the_oldest_into_ancient_changes() -> None:
    labels = {f"l{index:02}": "x" for index in range(10)}
    known = [entry(f"m{index:02}", label(f"l{index:02}"), time=f"2026-01-01T00:00:{index:02}Z") for index in range(10)]
    live = app(known, metadata={"labels": labels})
    found = updated(live, app(metadata={"labels": labels}, spec={"replicas": 1}), now="2026-01-01T00:01:00Z")
    assert len(found) == 10
    assert found[0] == entry(
        "ancient-changes", {"f:metadata": {"f:labels": {"f:l00": {}, "f:l01": {}}}}, time="2026-01-01T00:00:01Z"
    )
    assert found[-1]["manager"] == "m"


def test_ten_updaters_are_kept_next_to_any_number_of_appliers() -> None:
    labels = {f"l{index}": "x" for index in range(12)}
    known = [entry(f"a{index}", label(f"l{index}"), operation="Apply") for index in range(12)]
    live = app(known, metadata={"labels": labels})
    assert len(updated(live, app(metadata={"labels": labels}, spec={"replicas": 1}))) == 13


def test_object_whose_items_have_no_identity_is_stored_untracked() -> None:
    new = app(spec={"containers": [{"image": "x"}]})
    assert updated(None, new) == []


def test_update_does_not_change_the_live_object() -> None:
    live = app([entry("a", BOTH)], spec={"replicas": 1, "paused": True})
    before = copy.deepcopy(live)
    updated(live, app(spec={"replicas": 2}))
    assert live == before


@given(apps, apps)
def test_every_field_has_an_owner_after_an_update(live: Object, new: Object) -> None:
    live, new = without_empties(live), without_empties(new)
    MANAGER.update(None, live, manager="a", api_version=V1, now=T0)
    MANAGER.update(live, new, manager="b", api_version=V1, now=T1)
    if "managedFields" not in live["metadata"]:
        return
    owned = [item["fieldsV1"] for item in new["metadata"].get("managedFields", [])]
    untracked = copy.deepcopy(new)
    untracked["metadata"].pop("managedFields", None)
    fresh = copy.deepcopy(untracked)
    MANAGER.update(None, fresh, manager="x", api_version=V1, now=T1)
    desired = _leaves(fresh["metadata"].get("managedFields", [{"fieldsV1": {}}])[0]["fieldsV1"])
    assert desired <= set().union(*(_members(fields) for fields in owned))


def _members(fields: Any, prefix: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    found = {prefix} if not fields or "." in fields else set()
    for key, child in fields.items():
        if key != ".":
            found |= _members(child, (*prefix, key))
    return found


def _leaves(fields: Any, prefix: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    if not fields:
        return {prefix} if prefix else set()
    return {leaf for key, child in fields.items() if key != "." for leaf in _leaves(child, (*prefix, key))}
