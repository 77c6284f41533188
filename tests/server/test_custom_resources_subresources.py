"""/status and /scale of custom resources (F22, F23, C17)."""

from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.custom_resources import SHIRTS, define, messages, schema, shirt
from tests.server.verbs.conftest import api

__all__ = ["api"]

INTEGER = {"type": "integer"}
STRING = {"type": "string"}
WITH_STATUS = schema(
    {"size": INTEGER}, {"seen": {"type": "integer", "maximum": 5}, "selector": STRING, "replicas": INTEGER}
)
SCALE = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.replicas",
    "labelSelectorPath": ".status.selector",
}


async def with_status(api: Api, openapi: Any = WITH_STATUS) -> Any:
    """A shirt of a CRD with /status."""
    await define(api, openapi, subresources={"status": {}})
    return await api.create(SHIRTS, shirt("a", {"size": 1}, status={"seen": 1}))


async def test_a_create_brings_no_status(api: Api) -> None:
    assert "status" not in await with_status(api)


async def test_the_main_endpoint_leaves_the_status_alone(api: Api) -> None:
    await with_status(api)
    await api.patch(f"{SHIRTS}/a/status", {"status": {"seen": 2}})
    response = await api.patch(f"{SHIRTS}/a", {"spec": {"size": 2}, "status": {"seen": 3}})
    assert (response.body["spec"], response.body["status"]) == ({"size": 2}, {"seen": 2})


async def test_status_changes_nothing_but_the_status(api: Api) -> None:
    created = await with_status(api)
    body = {"status": {"seen": 2}, "spec": {"size": 9}, "metadata": {"labels": {"a": "b"}}}
    response = await api.patch(f"{SHIRTS}/a/status", body)
    assert (response.body["spec"], response.body["status"]) == ({"size": 1}, {"seen": 2})
    assert "labels" not in response.metadata
    assert response.metadata["generation"] == created["metadata"]["generation"] == 1


async def test_status_is_validated_by_its_own_schema_alone(api: Api) -> None:
    await with_status(api)
    response = await api.patch(f"{SHIRTS}/a/status", {"status": {"seen": 6}})
    assert messages(response) == ["status.seen: Invalid value: 6: seen in body should be less than or equal to 5"]
    assert (await api.patch(f"{SHIRTS}/a/status", {"status": {"seen": 5}, "spec": {"size": "x"}})).code == 200


async def test_rules_of_the_whole_object_are_run_for_the_status(api: Api) -> None:
    openapi = schema({"size": INTEGER}, {"seen": INTEGER})
    openapi["x-kubernetes-validations"] = [
        {"rule": "!has(self.status) || self.status.seen <= self.spec.size", "message": "seen more than there is"}
    ]
    await with_status(api, openapi)
    response = await api.patch(f"{SHIRTS}/a/status", {"status": {"seen": 2}})
    assert messages(response) == ["<nil>: Invalid value: seen more than there is"]


async def test_without_the_subresource_status_is_an_ordinary_field(api: Api) -> None:
    await define(api, WITH_STATUS)
    created = await api.create(SHIRTS, shirt("a", {"size": 1}, status={"seen": 1}))
    assert created["status"] == {"seen": 1}
    changed = await api.patch(f"{SHIRTS}/a", {"status": {"seen": 2}})
    assert (changed.body["status"], changed.metadata["generation"]) == ({"seen": 2}, 2)


async def scaled(api: Api, spec: Any, status: Any = None) -> Any:
    """A shirt of a CRD with /status and /scale."""
    openapi = schema({"replicas": INTEGER}, {"replicas": INTEGER, "selector": STRING})
    await define(api, openapi, subresources={"status": {}, "scale": SCALE})
    await api.create(SHIRTS, shirt("a", spec))
    if status is not None:
        assert (await api.patch(f"{SHIRTS}/a/status", {"status": status})).code == 200
    return (await api.get(f"{SHIRTS}/a/scale")).body


async def test_scale_shows_replicas_and_selector(api: Api) -> None:
    found = await scaled(api, {"replicas": 3}, {"replicas": 2, "selector": "a=b"})
    assert (found["kind"], found["apiVersion"], found["metadata"]["name"]) == ("Scale", "autoscaling/v1", "a")
    assert (found["spec"], found["status"]) == ({"replicas": 3}, {"replicas": 2, "selector": "a=b"})


async def test_absent_replicas_cannot_be_read(api: Api) -> None:
    """As in kube-apiserver, 500 too: an autoscaler must not read an absent value as zero."""
    await scaled(api, {})
    response = await api.get(f"{SHIRTS}/a/scale")
    text = 'Internal error occurred: the spec replicas field ".spec.replicas" does not exist'
    assert (response.code, response.reason, response.message) == (500, "InternalError", text)


async def test_absent_replicas_can_be_set(api: Api) -> None:
    await scaled(api, {})
    response = await api.patch(f"{SHIRTS}/a/scale", {"spec": {"replicas": 2}})
    assert (response.code, response.body["spec"]) == (200, {"replicas": 2})


async def test_a_patch_must_set_absent_replicas(api: Api) -> None:
    await scaled(api, {})
    response = await api.patch(f"{SHIRTS}/a/scale", {"metadata": {"labels": {"a": "b"}}})
    assert (response.code, response.message) == (400, 'the spec replicas field ".spec.replicas" cannot be empty')
    assert (await api.get(f"{SHIRTS}/a")).body["spec"] == {}


@pytest.mark.parametrize("method", ["patch", "put"])
async def test_replicas_that_the_schema_lacks_are_not_stored(api: Api, method: str) -> None:
    await define(api, schema({"color": STRING}, {"seen": INTEGER}), subresources={"status": {}, "scale": SCALE})
    await api.create(SHIRTS, shirt("a", {"color": "red"}))
    scale = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "a"}, "spec": {"replicas": 2}}
    response = await getattr(api, method)(f"{SHIRTS}/a/scale", scale)
    assert (response.code, response.body["spec"]) == (200, {})
    assert (await api.get(f"{SHIRTS}/a")).body["spec"] == {"color": "red"}


async def test_scale_changes_the_desired_replicas(api: Api) -> None:
    found = await scaled(api, {"replicas": 3})
    found["spec"]["replicas"] = 5
    response = await api.put(f"{SHIRTS}/a/scale", found)
    assert (response.code, response.body["spec"]) == (200, {"replicas": 5})
    patched = await api.patch(f"{SHIRTS}/a/scale", {"spec": {"replicas": 6}})
    assert (patched.code, patched.body["spec"]) == (200, {"replicas": 6})
    assert (await api.get(f"{SHIRTS}/a")).body["spec"] == {"replicas": 6}


async def test_scale_refuses_negative_replicas(api: Api) -> None:
    found = await scaled(api, {"replicas": 3})
    found["spec"]["replicas"] = -1
    response = await api.put(f"{SHIRTS}/a/scale", found)
    assert (response.code, response.body["details"]["kind"]) == (422, "Shirt")
    assert messages(response) == [".spec.replicas: Invalid value: -1: should be a non-negative integer"]
    assert (await api.get(f"{SHIRTS}/a")).body["spec"] == {"replicas": 3}


async def test_scaling_fills_in_the_defaults_of_the_schema(api: Api) -> None:
    openapi = schema({"replicas": INTEGER, "color": {"type": "string", "default": "blue"}}, {"replicas": INTEGER})
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    await define(api, openapi, subresources={"status": {}, "scale": scale})
    await api.create(SHIRTS, shirt("a", None))
    await api.patch(f"{SHIRTS}/a/scale", {"spec": {"replicas": 2}})
    assert (await api.get(f"{SHIRTS}/a")).body["spec"] == {"replicas": 2, "color": "blue"}


async def test_scaling_to_zero_may_leave_the_number_out(api: Api) -> None:
    found = await scaled(api, {"replicas": 3})
    response = await api.put(f"{SHIRTS}/a/scale", {**found, "spec": {}})
    assert response.code == 200
    assert (await api.get(f"{SHIRTS}/a")).body["spec"] == {"replicas": 0}


async def test_a_stale_scale_conflicts(api: Api) -> None:
    found = await scaled(api, {"replicas": 3})
    await api.patch(f"{SHIRTS}/a", {"metadata": {"labels": {"a": "b"}}})
    response = await api.put(f"{SHIRTS}/a/scale", found)
    assert (response.code, response.reason) == (409, "Conflict")


async def test_negative_replicas_are_refused_on_the_main_endpoint_too(api: Api) -> None:
    await scaled(api, {"replicas": 3})
    response = await api.patch(f"{SHIRTS}/a", {"spec": {"replicas": -1}})
    assert messages(response) == [".spec.replicas: Invalid value: -1: should be a non-negative integer"]


async def test_discovery_reports_status_before_scale(api: Api) -> None:
    await define(api, WITH_STATUS, subresources={"scale": SCALE, "status": {}})
    found = await api.get(SHIRTS.partition("/namespaces/")[0])
    assert [each["name"] for each in found.body["resources"]] == ["shirts", "shirts/status", "shirts/scale"]


async def test_managers_of_scale_have_no_time_and_come_first(api: Api) -> None:
    await scaled(api, {"replicas": 3})
    for value in (4, 5):
        await api.patch(f"{SHIRTS}/a/scale?fieldManager=scaler", {"spec": {"replicas": value}})
    entries = (await api.get(f"{SHIRTS}/a")).metadata["managedFields"]
    found = [(entry["manager"], entry.get("subresource"), "time" in entry) for entry in entries]
    assert found[0] == ("scaler", "scale", False)
    assert all(timed for _, subresource, timed in found if subresource != "scale")
