"""Server-side apply. Spec rows E7-E11, E14, E16, E19-E25, E27, E28."""

import copy
from typing import Any

import orjson
import pytest
from hypothesis import given

from sampan.core.errors import StatusError
from sampan.core.object import Object
from sampan.patch.managed_fields.last_applied import LAST_APPLIED
from tests.patch.test_field_manager_update import (
    BOTH,
    MANAGER,
    PAUSED,
    REPLICAS,
    T0,
    T1,
    T2,
    V1,
    V2,
    app,
    entry,
)
from tests.patch.values import apps, without_empties


def config(**parts: Any) -> Object:
    return {"apiVersion": V1, "kind": "App", "metadata": {"name": "app", **parts.pop("metadata", {})}, **parts}


def apply(live: Object | None, desired: Object, manager: str = "a", **more: Any) -> Object:
    return MANAGER.apply(live, desired, manager=manager, api_version=V1, **{"now": T1, **more})


def entries(obj: Object) -> list[Any]:
    found: list[Any] = obj["metadata"].get("managedFields", [])
    return found


def containers(*names: str, **more: Any) -> list[Object]:
    return [{"name": name, **more} for name in names]


def test_apply_creates() -> None:
    result = apply(None, config(spec={"replicas": 1}))
    assert result["spec"] == {"replicas": 1}
    assert entries(result) == [entry("a", REPLICAS, operation="Apply", time=T1)]


def test_apply_sets_its_fields_and_keeps_the_rest() -> None:
    live = app([entry("b", PAUSED)], spec={"paused": True})
    result = apply(live, config(spec={"replicas": 2}))
    assert result["spec"] == {"paused": True, "replicas": 2}
    assert entries(result) == [entry("a", REPLICAS, operation="Apply", time=T1), entry("b", PAUSED)]


def test_omitted_field_is_removed() -> None:
    live = app([entry("a", BOTH, operation="Apply")], spec={"replicas": 1, "paused": True})
    result = apply(live, config(spec={"paused": True}))
    assert result["spec"] == {"paused": True}
    assert entries(result) == [entry("a", PAUSED, operation="Apply", time=T1)]


@pytest.mark.parametrize("operation", ["Apply", "Update"])
def test_omitted_field_stays_when_another_manager_owns_it(operation: str) -> None:
    rest = entry("b", REPLICAS, operation=operation)
    live = app([entry("a", BOTH, operation="Apply"), rest], spec={"replicas": 1, "paused": True})
    result = apply(live, config(spec={"paused": True}))
    assert result["spec"] == {"paused": True, "replicas": 1}
    assert rest in entries(result)


def test_empty_apply_gives_up_all_fields() -> None:
    live = app([entry("a", BOTH, operation="Apply")], spec={"replicas": 1, "paused": True})
    result = apply(live, config())
    assert not result.get("spec")
    assert "managedFields" not in result["metadata"]


def test_omitted_item_is_removed_and_items_of_other_managers_stay() -> None:
    item: Any = {".": {}, "f:image": {}, "f:name": {}}
    mine: Any = {"f:spec": {"f:containers": {'k:{"name":"x"}': item, 'k:{"name":"y"}': item}}}
    theirs: Any = {"f:spec": {"f:containers": {'k:{"name":"z"}': item}}}
    live = app(
        [entry("a", mine, operation="Apply"), entry("b", theirs)], spec={"containers": containers(*"xyz", image="i")}
    )
    result = apply(live, config(spec={"containers": containers("x", image="i")}))
    assert [item["name"] for item in result["spec"]["containers"]] == ["x", "z"]


def test_omitted_item_stays_when_another_manager_owns_it_with_a_field() -> None:
    mine: Any = {"f:spec": {"f:containers": {'k:{"name":"x"}': {".": {}, "f:image": {}, "f:name": {}}}}}
    theirs: Any = {"f:spec": {"f:containers": {'k:{"name":"x"}': {".": {}, "f:args": {}, "f:name": {}}}}}
    live = app(
        [entry("a", mine, operation="Apply"), entry("b", theirs, operation="Apply")],
        spec={"containers": containers("x", image="i", args=["1"])},
    )
    assert apply(live, config())["spec"]["containers"] == containers("x", args=["1"])


def conflict(live: Object, desired: Object, **more: Any) -> Object:
    with pytest.raises(StatusError) as caught:
        apply(live, desired, **more)
    status: Object = caught.value.to_status()
    assert (status["code"], status["reason"]) == (409, "Conflict")
    return status


def test_changing_a_field_of_another_manager_conflicts() -> None:
    live = app([entry("mgr", REPLICAS)], spec={"replicas": 1})
    status = conflict(live, config(spec={"replicas": 2}))
    assert status["message"] == (
        'Apply failed with 1 conflict: conflict with "mgr" using example.io/v1: .spec.replicas'
    )
    assert status["details"] == {
        "causes": [
            {
                "reason": "FieldManagerConflict",
                "message": 'conflict with "mgr" using example.io/v1',
                "field": ".spec.replicas",
            }
        ]
    }


def test_several_conflicts_are_grouped_by_manager() -> None:
    name: Any = {"f:metadata": {"f:labels": {"f:x": {}}}}
    live = app(
        [entry("b", BOTH), entry("a", name, operation="Apply"), entry("c", REPLICAS, subresource="scale")],
        metadata={"labels": {"x": "1"}},
        spec={"replicas": 1, "paused": True},
    )
    desired = config(metadata={"labels": {"x": "2"}}, spec={"replicas": 2, "paused": False})
    assert conflict(live, desired, manager="m")["message"] == (
        'Apply failed with 4 conflicts: conflicts with "a":\n'
        "- .metadata.labels.x\n"
        'conflicts with "b" using example.io/v1:\n'
        "- .spec.paused\n"
        "- .spec.replicas\n"
        'conflicts with "c" with subresource "scale" using example.io/v1:\n'
        "- .spec.replicas"
    )


def test_same_value_is_shared() -> None:
    live = app([entry("b", REPLICAS)], spec={"replicas": 1})
    result = apply(live, config(spec={"replicas": 1}))
    assert result["spec"] == {"replicas": 1}
    assert [item["fieldsV1"] for item in entries(result)] == [REPLICAS, REPLICAS]


def test_force_takes_the_field() -> None:
    live = app([entry("b", BOTH)], spec={"replicas": 1, "paused": True})
    result = apply(live, config(spec={"replicas": 2}), force=True)
    assert result["spec"] == {"replicas": 2, "paused": True}
    assert entries(result) == [entry("a", REPLICAS, operation="Apply", time=T1), entry("b", PAUSED)]


def test_updater_and_applier_of_one_name_conflict() -> None:
    live = app([entry("a", REPLICAS)], spec={"replicas": 1})
    conflict(live, config(spec={"replicas": 2}), manager="a")


def test_applier_keeps_one_entry_for_all_versions() -> None:
    live = app([entry("a", PAUSED, operation="Apply", apiVersion=V2)], spec={"replicas": 1})
    result = apply(live, config(spec={"replicas": 1}))
    assert entries(result)[0] == entry("a", REPLICAS, operation="Apply")


def test_field_applied_in_another_version_and_omitted_now_is_removed() -> None:
    live = app([entry("a", PAUSED, operation="Apply", apiVersion=V2)], spec={"replicas": 1})
    result = apply(live, config(metadata={"labels": {"a": "b"}}))
    assert not result.get("spec")
    assert result["apiVersion"] == V1


def test_field_owned_in_another_version_is_a_conflict_there() -> None:
    live = app([entry("b", PAUSED, apiVersion=V2)], spec={"replicas": 1})
    status = conflict(live, config(spec={"replicas": 2}))
    assert status["details"]["causes"][0]["field"] == ".spec.paused"


def test_entries_of_unserved_versions_are_dropped() -> None:
    live = app([entry("b", PAUSED, apiVersion="example.io/v0")], spec={"paused": True})
    result = apply(live, config(spec={"paused": False}))
    assert [item["manager"] for item in entries(result)] == ["a"]


def test_untracked_fields_belong_to_before_first_apply() -> None:
    live = app(spec={"replicas": 1, "paused": True})
    result = apply(live, config(spec={"replicas": 1}))
    assert entries(result) == [
        {key: value for key, value in entry("a", REPLICAS, operation="Apply").items() if key != "time"},
        entry("before-first-apply", BOTH, time=T1),
    ]


def test_untracked_fields_conflict_too() -> None:
    assert "before-first-apply" in conflict(app(spec={"replicas": 1}), config(spec={"replicas": 2}))["message"]


def test_identical_apply_changes_neither_time_nor_object() -> None:
    first = apply(app([entry("b", PAUSED)], spec={"paused": True}), config(spec={"replicas": 1}))
    assert apply(first, config(spec={"replicas": 1}), now=T2) == first


def test_time_changes_with_the_object() -> None:
    first = apply(None, config(spec={"replicas": 1}), now=T0)
    assert entries(apply(first, config(spec={"replicas": 2}), now=T2))[0]["time"] == T2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"apiVersion": V2}, "invalid object type: example.io/v2, Kind=App"),
        ({"apiVersion": "v1"}, "invalid object type: /v1, Kind=App"),
        ({"kind": "Other"}, "invalid object type: example.io/v1, Kind=Other"),
        ({"metadata": {"name": "app", "managedFields": []}}, "metadata.managedFields must be nil"),
    ],
    ids=["version", "core version", "kind", "managedFields"],
)
def test_configuration_for_another_endpoint_gives_400(change: Any, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        apply(None, {**config(), **change})
    assert (caught.value.code, caught.value.message) == (400, message)


def test_null_managed_fields_are_allowed() -> None:
    assert entries(apply(None, config(metadata={"managedFields": None}, spec={"replicas": 1})))


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"zz": 1}, ".spec.zz: field not declared in schema"),
        ({"replicas": "1"}, ".spec.replicas: expected numeric (int or float), got string"),
        ({"paused": "x"}, ".spec.paused: expected boolean, got &{x}"),
        ({"strategy": {"type": 1}}, ".spec.strategy.type: expected string, got &value.valueUnstructured{Value:1}"),
        ({"strategy": [1]}, ".spec.strategy: expected map, got &{[1]}"),
        ({"tolerations": {"a": 1}}, ".spec.tolerations: expected list, got &{map[a:1]}"),
        (
            {"tolerations": [{"key": 1}]},
            ".spec.tolerations[0].key: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (
            {"containers": containers("a", "a")},
            '.spec.containers: duplicate entries for key [name="a"]',
        ),
        (
            {"containers": [{"image": "x"}]},
            '.spec.containers: element 0: associative list with keys has an element that omits all key fields ["name"] '
            "(and doesn't have default values for any key fields)",
        ),
        (
            {"containers": containers("a", ports=[{"containerPort": 1}, {"containerPort": 1, "protocol": "TCP"}])},
            '.spec.containers[name="a"].ports: duplicate entries for key [containerPort=1,protocol="TCP"]',
        ),
        ({"zz": 1, "replicas": "1"}, ".spec.zz: field not declared in schema"),
        (
            {"replicas": "1", "paused": "x"},
            "errors:\n  .spec.replicas: expected numeric (int or float), got string\n"
            "  .spec.paused: expected boolean, got &{x}",
        ),
    ],
)
def test_configuration_that_does_not_fit_the_schema_gives_500(spec: Any, text: str) -> None:
    with pytest.raises(StatusError) as caught:
        apply(None, config(metadata={"namespace": "n"}, spec=spec))
    assert caught.value.code == 500
    assert caught.value.message == f"failed to create typed patch object (n/app; example.io/v1, Kind=App): {text}"


def test_duplicate_items_in_the_live_object_are_tolerated() -> None:
    live = app([entry("b", PAUSED)], spec={"containers": containers("x", "x"), "paused": True})
    result = apply(live, config(spec={"replicas": 1}))
    assert result["spec"]["containers"] == containers("x", "x")


def test_items_follow_the_order_of_the_applied_list() -> None:
    live = app([entry("b", PAUSED)], spec={"containers": containers(*"abc")})
    result = apply(live, config(spec={"containers": containers(*"ca")}))
    assert [item["name"] for item in result["spec"]["containers"]] == ["b", "c", "a"]


def test_omitted_key_field_takes_its_default() -> None:
    ports = [{"containerPort": 80, "protocol": "TCP"}]
    first = apply(None, config(spec={"containers": containers("a", ports=ports)}))
    second = apply(first, config(spec={"containers": containers("a", ports=[{"containerPort": 80, "name": "http"}])}))
    assert second["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "name": "http"}]


def test_applied_null_is_owned_and_kept_for_the_kind_to_handle() -> None:
    live = app([entry("a", REPLICAS, operation="Apply")], spec={"replicas": 1})
    result = apply(live, config(spec={"replicas": None}))
    assert result["spec"]["replicas"] is None
    assert entries(result)[0]["fieldsV1"] == REPLICAS


def test_null_for_a_field_of_another_manager_conflicts() -> None:
    live = app([entry("b", REPLICAS)], spec={"replicas": 1})
    assert conflict(live, config(spec={"replicas": None}))["details"]["causes"][0]["field"] == ".spec.replicas"


@pytest.mark.parametrize(
    ("subresource", "owned"), [("", REPLICAS), ("status", {"f:status": {"f:ready": {}}})], ids=["main", "status"]
)
def test_apply_does_not_own_fields_that_it_cannot_change(subresource: str, owned: Any) -> None:
    result = apply(None, config(spec={"replicas": 1}, status={"ready": 1}), subresource=subresource)
    (found,) = entries(result)
    assert found["fieldsV1"] == owned
    assert found.get("subresource", "") == subresource


def test_apply_through_a_subresource_is_another_manager() -> None:
    live = apply(None, config(spec={"replicas": 1}))
    result = apply(live, config(status={"ready": 1}), subresource="status")
    assert result["spec"] == {"replicas": 1}
    assert len(entries(result)) == 2


def test_result_shares_nothing_with_live_or_configuration() -> None:
    live = app([entry("b", PAUSED)], spec={"containers": containers("x", args=["1"])})
    desired = config(spec={"containers": containers("y", args=["2"])})
    before = copy.deepcopy((live, desired))
    for container in apply(live, desired)["spec"]["containers"]:
        container["args"].append("3")
    assert (live, desired) == before


def last_applied(**parts: Any) -> Object:
    return {"annotations": {LAST_APPLIED: orjson.dumps(config(**parts)).decode()}}


def test_kubectl_takes_over_fields_that_it_applied_client_side() -> None:
    live = app(
        [entry("kubectl-client-side-apply", REPLICAS)],
        metadata=last_applied(spec={"replicas": 1}),
        spec={"replicas": 1},
    )
    result = apply(live, config(spec={"replicas": 2}), manager="kubectl")
    assert result["spec"] == {"replicas": 2}


@pytest.mark.parametrize(
    ("applied", "manager"),
    [
        pytest.param({"spec": {"replicas": 1}}, "other", id="another manager"),
        pytest.param({"spec": {"replicas": 7}}, "kubectl", id="changed since"),
        pytest.param({}, "kubectl", id="never applied"),
        pytest.param({"spec": {"replicas": 1, "zz": 1}}, "kubectl", id="annotation that does not fit the schema"),
    ],
)
def test_fields_not_applied_client_side_still_conflict(applied: Any, manager: str) -> None:
    live = app([entry("b", REPLICAS)], metadata=last_applied(**applied), spec={"replicas": 1})
    conflict(live, config(spec={"replicas": 2}), manager=manager)


def test_unreadable_annotation_allows_nothing() -> None:
    live = app([entry("b", REPLICAS)], metadata={"annotations": {LAST_APPLIED: "{"}}, spec={"replicas": 1})
    conflict(live, config(spec={"replicas": 2}), manager="kubectl")


def test_annotation_is_updated_when_kubectl_applies_server_side() -> None:
    live = app([entry("b", PAUSED)], metadata=last_applied(), spec={"paused": True})
    result = apply(live, config(spec={"strategy": {"type": "a<b"}}), manager="kubectl")
    assert result["metadata"]["annotations"][LAST_APPLIED] == (
        '{"apiVersion":"example.io/v1","kind":"App","metadata":{"name":"app"},'
        '"spec":{"strategy":{"type":"a\\u003cb"}}}\n'
    )


def test_annotation_is_not_added_if_absent() -> None:
    assert "annotations" not in apply(None, config(spec={"replicas": 1}), manager="kubectl")["metadata"]


def test_annotation_is_not_updated_for_managers_other_than_kubectl() -> None:
    live = app([entry("b", PAUSED)], metadata=last_applied(), spec={"paused": True})
    before = live["metadata"]["annotations"][LAST_APPLIED]
    assert apply(live, config(spec={"replicas": 1}))["metadata"]["annotations"][LAST_APPLIED] == before


def test_annotation_that_would_be_too_large_is_dropped() -> None:
    live = app([entry("b", PAUSED)], metadata=last_applied(), spec={"paused": True})
    result = apply(live, config(spec={"strategy": {"type": "x" * 256 * 1024}}), manager="kubectl")
    assert LAST_APPLIED not in result["metadata"]["annotations"]


def tracked(obj: Object, manager: str = "b") -> Object:
    """Return the object after a create, with a field that no test applies, so that it stays tracked."""
    obj = copy.deepcopy(obj)
    obj["metadata"].setdefault("labels", {})["base"] = "x"
    MANAGER.update(None, obj, manager=manager, api_version=V1, now=T0)
    return obj


@given(apps, apps)
def test_applying_twice_is_applying_once(live: Object, desired: Object) -> None:
    once = apply(tracked(live), desired, force=True)
    assert apply(once, desired, now=T2) == once


@given(apps, apps)
def test_applying_nothing_removes_the_fields_that_only_the_applier_owns(live: Object, desired: Object) -> None:
    live.get("spec", {}).pop("raw", None)
    desired.get("spec", {}).pop("raw", None)
    live, desired = without_empties(live), without_empties(desired)
    before = tracked(live)
    try:
        after = apply(before, desired)
    except StatusError:
        return
    undone = apply(after, config())
    retained = {key: value for key, value in undone["metadata"].items() if key != "managedFields"}
    live["metadata"].setdefault("labels", {})["base"] = "x"
    assert _sorted(without_empties({**undone, "metadata": retained})) == _sorted(live)


def _sorted(value: Any) -> Any:
    """Sort list items by their text: an apply may have moved them."""
    if isinstance(value, dict):
        return {key: _sorted(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted((_sorted(item) for item in value), key=str)
    return value


@given(apps, apps, apps)
def test_appliers_without_conflicts_commute(live: Object, first: Object, second: Object) -> None:
    live, first, second = (without_empties(obj) for obj in (live, first, second))
    start = tracked(live)
    try:
        one_way = apply(apply(start, first, manager="x"), second, manager="y")
        other_way = apply(apply(start, second, manager="y"), first, manager="x")
    except StatusError:
        return
    owned = [{item["manager"]: item["fieldsV1"] for item in entries(obj)} for obj in (one_way, other_way)]
    assert owned[0] == owned[1]
