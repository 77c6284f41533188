"""A body that names another namespace or another object than its path is refused, whatever the verb and the kind."""

from typing import Any

import pytest

from sampan.core.object import Object
from tests.server.cluster import Api, ApiResponse
from tests.server.smallest import ABSENT, NAMES, Served, served_resources

OTHER_NAMESPACE = "the namespace of the provided object does not match the namespace sent on the request"
_EXTRA: dict[str, Object] = {
    "Binding": {"target": {"kind": "Node", "name": "n"}},
    "Scale": {"spec": {"replicas": 1}},
    "TokenRequest": {"spec": {}},
    "LocalSubjectAccessReview": {"spec": {"user": "u", "resourceAttributes": {"verb": "get", "resource": "pods"}}},
}
_VERSIONS = {
    "Scale": "autoscaling/v1",
    "Eviction": "policy/v1",
    "TokenRequest": "authentication.k8s.io/v1",
}


async def _everything(api: Api) -> list[Served]:
    """All namespaced resources and subresources; the objects are there."""
    found = [each async for each in served_resources(api) if each.namespaced and not each.kind.endswith("Options")]
    for each in found:
        if not each.subresource and "patch" in each.verbs and each.group != "events.k8s.io":
            await api.apply(each.path, each.smallest(), "fieldManager=tests&force=true")
    return found


def _body(each: Served, **metadata: Any) -> Object:
    """Return a body that would be accepted at the path, but for the metadata."""
    body = {"metadata": {}} if each.subresource and each.kind in _VERSIONS else each.smallest()
    body |= {"kind": each.kind, "apiVersion": _VERSIONS.get(each.kind, each.api_version), **_EXTRA.get(each.kind, {})}
    name = NAMES.get(each.key, ABSENT)
    return {**body, "metadata": {**body["metadata"], "name": name, **metadata}}


async def _write(api: Api, how: str, each: Served, body: Object) -> ApiResponse | None:
    """None: discovery does not list the verb."""
    if how == "post":
        path = each.path if each.subresource else each.collection
        return await api.post(path, body) if "create" in each.verbs else None
    if how == "put":
        return await api.put(each.path, body) if "update" in each.verbs else None
    query = "?fieldManager=tests&force=true" if how == "apply" else ""
    return await api.patch(each.path + query, body, how) if "patch" in each.verbs else None


@pytest.mark.parametrize("how", ["post", "put", "apply", "merge"])
async def test_another_namespace_is_refused(api: Api, how: str) -> None:
    wrong, requested = {}, 0
    for each in await _everything(api):
        response = await _write(api, how, each, _body(each, namespace="kube-system"))
        requested += response is not None
        if each.subresource == "token":
            continue  # this server issues none
        if response is not None and (response.code, response.body.get("message")) != (400, OTHER_NAMESPACE):
            wrong[each.root, each.resource, each.subresource] = response.code, response.body.get("message")
    assert wrong == {}
    assert requested > 20


@pytest.mark.parametrize("how", ["put", "apply", "merge"])
async def test_another_name_is_refused(api: Api, how: str) -> None:
    wrong, requested = {}, 0
    for each in await _everything(api):
        response = await _write(api, how, each, _body(each, name="another"))
        requested += response is not None
        if response is not None and (
            response.code != 400 or "does not match the name on the URL" not in response.message
        ):
            wrong[each.root, each.resource, each.subresource] = response.code, response.body.get("message")
    assert wrong == {}
    assert requested > 20


async def test_another_name_in_a_posted_subresource_is_refused(api: Api) -> None:
    requested = set()
    for each in await _everything(api):
        response = await _write(api, "post", each, _body(each, name="another")) if each.subresource else None
        if response is not None and each.subresource != "token":  # this server issues none
            requested.add(each.subresource)
            assert response.code == 400, (each, response.body)
    assert requested == {"binding", "eviction"}
