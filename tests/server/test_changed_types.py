"""A value that changes only its JSON type (true to 1) is a change: it is stored, and has a new generation."""

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest

from tests.server.cluster import Api, ApiResponse
from tests.server.custom_resources import CRDS, SHIRTS, crd, define, schema, shirt, version
from tests.server.verbs.conftest import api

__all__ = ["api"]

ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
OPEN = {"type": "object", "properties": {"spec": ANY, "status": ANY}}
DEVICE_CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions"
PAIRS = [(True, 1), (1, True), (False, 0), (0, False), ({"on": True}, {"on": 1}), ([1, 0], [True, False])]
Change = Callable[[Api, dict[str, Any], Any], Awaitable[ApiResponse]]


async def put(api: Api, obj: dict[str, Any], value: Any) -> ApiResponse:
    return await api.put(f"{SHIRTS}/x", {**obj, "spec": {"v": value}})


async def merge(api: Api, obj: dict[str, Any], value: Any) -> ApiResponse:
    return await api.patch(f"{SHIRTS}/x", {"spec": {"v": value}})


async def json_patch(api: Api, obj: dict[str, Any], value: Any) -> ApiResponse:
    return await api.patch(f"{SHIRTS}/x", [{"op": "replace", "path": "/spec/v", "value": value}], "json")


async def apply(api: Api, obj: dict[str, Any], value: Any) -> ApiResponse:
    return await api.apply(f"{SHIRTS}/x", shirt("x", {"v": value}), "fieldManager=tests&force=true")


def text_of(value: Any) -> bytes:
    return orjson.dumps(value)


@pytest.mark.parametrize("change", [put, merge, json_patch, apply])
@pytest.mark.parametrize(("old", "new"), PAIRS)
async def test_another_type_is_stored_with_a_new_generation(api: Api, change: Change, old: Any, new: Any) -> None:
    await define(api, OPEN, subresources={"status": {}})
    obj = await api.create(SHIRTS, shirt("x", {"v": old}))
    reply = await change(api, obj, new)
    stored = (await api.get(f"{SHIRTS}/x")).body
    assert (reply.code, text_of(stored["spec"]["v"])) == (200, text_of(new))
    assert stored["metadata"]["generation"] == 2
    assert stored["metadata"]["resourceVersion"] != obj["metadata"]["resourceVersion"]


@pytest.mark.parametrize(("old", "new"), PAIRS)
async def test_another_type_in_the_status_is_stored(api: Api, old: Any, new: Any) -> None:
    await define(api, OPEN, subresources={"status": {}})
    obj = await api.create(SHIRTS, shirt("x", {}))
    obj = (await api.put(f"{SHIRTS}/x/status", {**obj, "status": {"v": old}})).body
    await api.put(f"{SHIRTS}/x/status", {**obj, "status": {"v": new}})
    assert text_of((await api.get(f"{SHIRTS}/x")).body["status"]["v"]) == text_of(new)


@pytest.mark.parametrize(("old", "new"), PAIRS)
async def test_one_manager_applies_another_type(api: Api, old: Any, new: Any) -> None:
    await define(api, OPEN)
    await api.apply(f"{SHIRTS}/x", shirt("x", {"v": old}))
    await api.apply(f"{SHIRTS}/x", shirt("x", {"v": new}))
    stored = (await api.get(f"{SHIRTS}/x")).body
    assert (text_of(stored["spec"]["v"]), stored["metadata"]["generation"]) == (text_of(new), 2)


async def test_an_equal_value_with_another_order_of_keys_is_no_change(api: Api) -> None:
    await define(api, OPEN)
    obj = await api.create(SHIRTS, shirt("x", {"v": {"a": True, "b": 1}}))
    same = await put(api, obj, {"b": 1, "a": True})
    assert same.body == obj


async def test_parameters_of_a_device_class_change_their_type(api: Api) -> None:
    def device_class(value: Any) -> dict[str, Any]:
        parameters = {"driver": "x.io", "parameters": {"v": value}}
        return {"metadata": {"name": "a"}, "spec": {"config": [{"opaque": parameters}]}}

    await api.create(DEVICE_CLASSES, device_class(True))
    path = "/spec/config/0/opaque/parameters/v"
    await api.patch(f"{DEVICE_CLASSES}/a", [{"op": "replace", "path": path, "value": 1}], "json")
    stored = (await api.get(f"{DEVICE_CLASSES}/a")).body
    assert text_of(stored["spec"]) == text_of(device_class(1)["spec"])
    assert stored["metadata"]["generation"] == 2


async def test_the_default_of_a_definition_changes_its_type(api: Api) -> None:
    free = {"x-kubernetes-preserve-unknown-fields": True, "default": True}
    created = await api.create(CRDS, crd(version("v1", schema({"v": free}))))
    path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/v/default"
    changed = await api.patch(
        f"{CRDS}/{created['metadata']['name']}", [{"op": "replace", "path": path, "value": 1}], "json"
    )
    node = changed.body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["v"]
    assert text_of(node["default"]) == b"1"
    assert changed.metadata["generation"] == created["metadata"]["generation"] + 1


async def test_the_data_of_a_revision_must_not_change_its_type(api: Api) -> None:
    await api.create(REVISIONS, {"metadata": {"name": "a"}, "revision": 1, "data": {"spec": {"v": True}}})
    changed = await api.patch(f"{REVISIONS}/a", {"data": {"spec": {"v": 1}}})
    assert (changed.code, "field is immutable" in changed.message) == (422, True)


@pytest.mark.parametrize(
    ("allowed", "value", "code"), [([{"a": 1}], {"a": True}, 422), ([[True]], [1], 422), ([[1]], [1], 201)]
)
async def test_an_enum_of_objects_distinguishes_types(api: Api, allowed: list[Any], value: Any, code: int) -> None:
    kind = "object" if isinstance(value, dict) else "array"
    inner = {"items": {"x-kubernetes-preserve-unknown-fields": True}} if kind == "array" else {}
    free = {"x-kubernetes-preserve-unknown-fields": True} if kind == "object" else {}
    await define(api, schema({"v": {"type": kind, "enum": allowed, **inner, **free}}))
    assert (await api.post(SHIRTS, shirt("x", {"v": value}))).code == code


async def test_items_of_a_set_distinguish_types(api: Api) -> None:
    items = {"x-kubernetes-preserve-unknown-fields": True}
    await define(api, schema({"v": {"type": "array", "x-kubernetes-list-type": "set", "items": items}}))
    assert (await api.post(SHIRTS, shirt("x", {"v": [1, True, 0, False]}))).code == 201
    assert (await api.post(SHIRTS, shirt("y", {"v": [1, True, True]}))).code == 422


@pytest.mark.parametrize(
    "rule", ["self.v != dyn(true)", "!(dyn(true) in [self.v])", "{'a': self.v} != {'a': dyn(true)}"]
)
async def test_rules_distinguish_types(api: Api, rule: str) -> None:
    openapi = schema({"v": {"type": "integer"}})
    openapi["properties"]["spec"]["x-kubernetes-validations"] = [{"rule": rule}]
    await define(api, openapi)
    assert (await api.post(SHIRTS, shirt("x", {"v": 1}))).code == 201
