"""Server-side apply. Source: apiserver pkg/endpoints/handlers/patch.go, apimachinery util/managedfields (1.36)."""

import re
from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.verbs.objects import CONFIG_MAPS, DEPLOYMENTS, WIDGETS, config_map, deployment, widget, with_widgets

HERE = f"{CONFIG_MAPS}/a"


def data(**values: Any) -> dict[str, Any]:
    """A ConfigMap with this data."""
    return {**config_map(), "data": values}


async def test_apply_creates(api: Api) -> None:
    response = await api.apply(HERE, config_map())
    assert response.code == 201
    entry = response.metadata["managedFields"][0]
    assert entry | {"time": ""} == {
        "manager": "tests",
        "operation": "Apply",
        "apiVersion": "v1",
        "time": "",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {"f:k": {}}},
    }
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry["time"])


async def test_apply_sets_and_removes_what_it_owns(api: Api) -> None:
    await api.apply(HERE, data(a="1", b="2"))
    await api.patch(HERE, {"data": {"other": "x"}})
    response = await api.apply(HERE, data(a="3"))
    assert (response.code, response.body["data"]) == (200, {"a": "3", "other": "x"})


async def test_a_shared_field_stays(api: Api) -> None:
    await api.apply(HERE, data(a="1", b="2"), "fieldManager=one")
    await api.apply(HERE, data(a="1"), "fieldManager=two")
    response = await api.apply(HERE, data(b="2"), "fieldManager=one")
    assert response.body["data"] == {"a": "1", "b": "2"}


async def test_a_conflict_names_field_and_manager(api: Api) -> None:
    await api.apply(HERE, data(a="1", b="1"), "fieldManager=one")
    response = await api.apply(HERE, data(a="2", b="2"), "fieldManager=two")
    assert (response.code, response.reason) == (409, "Conflict")
    assert response.message.startswith('Apply failed with 2 conflicts: conflicts with "one":')
    assert [(c["reason"], c["field"]) for c in response.causes] == [
        ("FieldManagerConflict", ".data.a"),
        ("FieldManagerConflict", ".data.b"),
    ]
    assert response.causes[0]["message"] == 'conflict with "one"'


async def test_a_conflict_with_an_update_names_its_version_and_time(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment())
    response = await api.apply(f"{DEPLOYMENTS}/d", deployment("d", 3), "fieldManager=two")
    assert response.code == 409
    assert re.fullmatch(
        r'Apply failed with 1 conflict: conflict with "tests" using apps/v1: \.spec\.replicas', response.message
    )
    assert response.causes[0]["field"] == ".spec.replicas"


async def test_force_takes_over(api: Api) -> None:
    await api.apply(HERE, data(a="1"), "fieldManager=one")
    response = await api.apply(HERE, data(a="2"), "fieldManager=two&force=true")
    assert (response.code, response.body["data"]) == (200, {"a": "2"})
    owners = [e["manager"] for e in response.metadata["managedFields"] if "f:data" in e["fieldsV1"]]
    assert owners == ["two"]


async def test_a_manager_is_required(api: Api) -> None:
    response = await api.patch(HERE, config_map(), "apply")
    assert (response.code, response.reason) == (422, "Invalid")
    assert response.message == (
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'
    )


async def test_managed_fields_are_not_applied(api: Api) -> None:
    response = await api.apply(HERE, config_map(managedFields=[]) | {"metadata": {"name": "a", "managedFields": [{}]}})
    assert (response.code, response.message) == (400, "metadata.managedFields must be nil")


async def test_the_version_must_fit(api: Api) -> None:
    response = await api.apply(HERE, config_map() | {"apiVersion": "v2"})
    assert response.code == 400
    assert response.message == "invalid object type: /v2, Kind=ConfigMap"


@pytest.mark.parametrize("exists", [True, False])
async def test_the_kind_must_fit(api: Api, exists: bool) -> None:
    if exists:
        await api.create(CONFIG_MAPS, config_map())
    response = await api.apply(HERE, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}})
    assert (response.code, response.message) == (400, "invalid object type: /v1, Kind=Secret")
    assert len((await api.get(CONFIG_MAPS)).body["items"]) == exists


async def test_the_name_must_fit(api: Api) -> None:
    response = await api.apply(HERE, config_map("b"))
    assert response.code == 400
    assert (await api.get(f"{CONFIG_MAPS}/b")).code == 404


async def test_another_uid_conflicts(api: Api) -> None:
    response = await api.apply(HERE, config_map(uid="x"))
    assert (response.code, response.reason) == (409, "Conflict")


async def test_yaml(api: Api) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: 'y'\n"
    response = await api.apply(HERE, body)
    assert (response.code, response.body["data"]) == (201, {"x": "y"})


async def test_strict_yaml(api: Api) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: a, x: b}\n"
    response = await api.apply(HERE, body, "fieldManager=m&fieldValidation=Strict")
    assert (response.code, response.reason) == (400, "BadRequest")
    assert response.message.startswith("error strict decoding YAML: ")


async def test_an_unknown_field_is_refused(api: Api) -> None:
    response = await api.apply(HERE, config_map() | {"odd": 1})
    assert response.code == 500
    assert response.message.endswith(".odd: field not declared in schema")


async def test_a_dry_run(api: Api) -> None:
    response = await api.apply(HERE, config_map(), "fieldManager=m&dryRun=All")
    assert (response.code, response.metadata["name"]) == (201, "a")
    assert (await api.get(HERE)).code == 404


async def test_the_first_apply_leaves_older_fields_to_another(api: Api) -> None:
    await api.create(CONFIG_MAPS, data(a="1", b="2"))
    await api.patch(HERE, {"metadata": {"managedFields": [{}]}})
    response = await api.apply(HERE, data(a="1"))
    assert {e["manager"] for e in response.metadata["managedFields"]} == {"before-first-apply", "tests"}
    assert response.body["data"] == {"a": "1", "b": "2"}


async def test_status_has_separate_owners(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment())
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "status": {"replicas": 2}}
    response = await api.apply(f"{DEPLOYMENTS}/d/status", body)
    assert (response.code, response.body["status"]["replicas"]) == (200, 2)
    assert [e for e in response.metadata["managedFields"] if e.get("subresource") == "status"]
    main = await api.apply(f"{DEPLOYMENTS}/d", body, "fieldManager=other")
    assert not [e for e in main.metadata["managedFields"] if e["manager"] == "other" and "f:status" in e["fieldsV1"]]


async def test_apply_to_the_status_of_nothing(api: Api) -> None:
    assert (await api.apply(f"{DEPLOYMENTS}/d/status", deployment())).code == 404


async def test_many_updates_are_joined(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    for i in range(15):
        await api.patch(f"{HERE}?fieldManager=m{i:02}", {"data": {f"k{i:02}": "x"}})
    entries = (await api.get(HERE)).metadata["managedFields"]
    assert len([e for e in entries if e["operation"] == "Update"]) <= 11
    assert "ancient-changes" in {e["manager"] for e in entries}


async def test_lists_by_key(api: Api) -> None:
    def containers(*names: str) -> Any:
        body = deployment()
        body["spec"]["template"]["spec"]["containers"] = [{"name": n, "image": "i"} for n in names]
        return body

    await api.apply(f"{DEPLOYMENTS}/d", containers("a", "b"))
    response = await api.apply(f"{DEPLOYMENTS}/d", containers("b", "c"))
    assert [c["name"] for c in response.body["spec"]["template"]["spec"]["containers"]] == ["b", "c"]


async def test_custom_resources(api: Api) -> None:
    await with_widgets(api)
    made = await api.apply(f"{WIDGETS}/w", widget() | {"spec": {"size": 1, "tags": ["a"]}})
    again = await api.apply(f"{WIDGETS}/w", widget() | {"spec": {"size": 2}})
    assert (made.code, again.code) == (201, 200)
    assert again.body["spec"] == {"size": 2}


SCALE = f"{DEPLOYMENTS}/d/scale"


def scale(replicas: int) -> dict[str, Any]:
    """Return a body to apply to /scale."""
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": replicas}}


async def test_an_applied_scale_conflicts_with_the_owner_of_the_replicas(api: Api) -> None:
    await api.apply(f"{DEPLOYMENTS}/d", deployment(name="d", replicas=1), "fieldManager=one")
    response = await api.apply(SCALE, scale(5), "fieldManager=two")
    assert (response.code, [c["field"] for c in response.causes]) == (409, [".spec.replicas"])
    assert (await api.get(SCALE)).body["spec"] == {"replicas": 1}


async def test_an_applied_scale_is_owned_through_the_subresource(api: Api) -> None:
    await api.apply(f"{DEPLOYMENTS}/d", deployment(name="d", replicas=1), "fieldManager=one")
    response = await api.apply(SCALE, scale(5), "fieldManager=two&force=true")
    assert (response.code, response.body["spec"]) == (200, {"replicas": 5})
    entries = (await api.get(f"{DEPLOYMENTS}/d")).metadata["managedFields"]
    owned = [(e["manager"], e["operation"], e["subresource"], e["fieldsV1"]) for e in entries if "subresource" in e]
    assert owned == [("two", "Apply", "scale", {"f:spec": {"f:replicas": {}}})]


async def test_only_a_scale_is_applied_to_scale(api: Api) -> None:
    await api.apply(f"{DEPLOYMENTS}/d", deployment(name="d", replicas=1))
    assert (await api.apply(SCALE, deployment(name="d", replicas=2))).code == 400
