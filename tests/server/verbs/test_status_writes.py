"""Writes to /status change the status alone: no spec, no finalizers of the spec's kind, no identity."""

from typing import Any

import pytest

from sampan.core.object import Object
from tests.server.cluster import Api, ApiResponse
from tests.server.custom_resources import CRDS, crd, schema, version
from tests.server.smallest import Served, served_resources


def forged(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    if isinstance(value, list):
        return [forged(each) for each in value]
    if isinstance(value, dict):
        return {name: forged(each) for name, each in value.items()}
    return value


def without_status(obj: Object) -> Object:
    """Return an object without its metadata and status."""
    return {name: value for name, value in obj.items() if name not in ("metadata", "status")}


async def write(api: Api, how: str, each: Served, found: Object, desired: Object) -> ApiResponse:
    head = {"kind": found["kind"], "apiVersion": found["apiVersion"], "metadata": {"name": found["metadata"]["name"]}}
    if how == "put":
        return await api.put(f"{each.path}/status", {**found, **desired})
    query = "?fieldManager=forger&force=true" if how == "apply" else ""
    return await api.patch(f"{each.path}/status{query}", {**head, **desired}, how)


async def with_status(api: Api) -> list[Served]:
    """Every kind that has a status subresource; the objects are there."""
    spec = schema({"color": {"type": "string"}, "size": {"type": "integer"}}, {"phase": {"type": "string"}})
    part: Object = {"subresources": {"status": {}}}
    await api.create(CRDS, crd(version("v1", spec, **part), version("v2", spec, storage=False, **part)))
    found = [each async for each in served_resources(api)]
    names = {(each.root, each.resource) for each in found if each.subresource == "status"}
    kinds = [each for each in found if not each.subresource and (each.root, each.resource) in names]
    for each in kinds:
        body = each.smallest()
        if each.resource == "shirts":
            body["spec"] = {"color": "red"}
        response = await api.apply(each.path, body, "fieldManager=tests&force=true")
        assert response.code in (200, 201), (each, response.body)
    return kinds


@pytest.mark.parametrize("how", ["put", "merge", "apply"])
async def test_no_write_to_a_status_changes_what_is_outside(api: Api, how: str) -> None:
    kinds = await with_status(api)
    taken = 0
    for each in kinds:
        before = (await api.get(each.path)).body
        desired = {
            name: forged(value) for name, value in without_status(before).items() if name not in ("kind", "apiVersion")
        }
        response = await write(api, how, each, before, desired)
        assert response.code < 500, (each, response.body)
        taken += response.code == 200
        after = (await api.get(each.path)).body
        assert without_status(after) == without_status(before), each
        assert after["metadata"].get("generation") == before["metadata"].get("generation"), each
        for name in ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"):
            assert after["metadata"].get(name) == before["metadata"].get(name), (each, name)
    assert taken > 15


async def test_the_status_of_a_pod_takes_no_owners_and_no_node(api: Api) -> None:
    path = "/api/v1/namespaces/default/pods"
    spec = {"containers": [{"name": "c", "image": "i"}]}
    made = await api.create(path, {"metadata": {"name": "p"}, "spec": spec})
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "controller": True}
    metadata = {"ownerReferences": [owner], "deletionTimestamp": "2001-01-01T00:00:00Z"}
    forged_spec = {"nodeName": "n", "serviceAccountName": "root", "hostNetwork": True}
    response = await api.patch(f"{path}/p/status", {"metadata": metadata, "spec": forged_spec})
    assert response.code < 500
    found = (await api.get(f"{path}/p")).body
    assert found["spec"] == made["spec"]
    assert not found["metadata"].keys() & {"ownerReferences", "deletionTimestamp"}


async def test_the_status_of_a_custom_resource_takes_no_metadata(api: Api) -> None:
    await with_status(api)
    path = "/apis/stable.example.com/v1/namespaces/default/shirts/absent"
    before = (await api.get(path)).metadata
    forged_metadata = {"labels": {"a": "b"}, "annotations": {"a": "b"}, "finalizers": ["a.example.org/b"]}
    assert (await api.patch(f"{path}/status", {"metadata": forged_metadata, "status": {"phase": "x"}})).code == 200
    after = (await api.get(path)).metadata
    ignored = ("resourceVersion", "managedFields")
    assert {k: v for k, v in after.items() if k not in ignored} == {k: v for k, v in before.items() if k not in ignored}
