"""The right to a subresource is no right to the rest of the object: table-driven over all built-in resources."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.server.cluster import Api, served
from tests.server.smallest import FIELDS, Served, served_resources

STATUS = {"conditions": [], "phase": "Failed", "observedGeneration": 77, "replicas": 7, "message": "taken"}


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with served() as api:
        yield api


async def parts(api: Api, *subresources: str) -> list[tuple[Served, str]]:
    """Return the resources that have one of these subresources, each with the path of an object that was created."""
    listed = [one async for one in served_resources(api)]
    found = []
    for whole in [one for one in listed if not one.subresource and "create" in one.verbs]:
        below = [one for one in listed if (one.root, one.resource) == (whole.root, whole.resource)]
        for part in [one for one in below if one.subresource in subresources and "patch" in one.verbs]:
            if whole.key in FIELDS or whole.key == "namespaces":
                await api.post(whole.collection, whole.smallest())
                if (await api.get(whole.path)).code == 200:
                    found.append((part, whole.path))
    assert found
    return found


def without_system(obj: dict[str, Any]) -> dict[str, Any]:
    """Return an object without the metadata that each write changes."""
    metadata = {
        key: value
        for key, value in obj["metadata"].items()
        if key in ("name", "namespace", "uid", "labels", "ownerReferences", "generateName")
    }
    return {**{key: value for key, value in obj.items() if key != "status"}, "metadata": metadata}


async def test_a_status_changes_nothing_but_the_status(api: Api) -> None:
    found = []
    for part, path in await parts(api, "status"):
        before = (await api.get(path)).body
        fields = [key for key in before if key not in ("kind", "apiVersion", "metadata", "status")]
        for change in (dict.fromkeys(fields), {key: before[key] for key in fields} | {"spec": {"extra": 1}}):
            await api.patch(f"{path}/status", {**change, "metadata": {"name": before["metadata"]["name"]}})
            after = (await api.get(path)).body
            if without_system(after) != without_system(before):
                found.append((part.key, change))
    assert found == []


async def test_an_object_changes_nothing_of_its_status(api: Api) -> None:
    found = []
    for part, path in await parts(api, "status"):
        before = (await api.get(path)).body.get("status")
        await api.patch(path, {"status": STATUS})
        await api.patch(path, {"status": None})
        after = (await api.get(path)).body.get("status")
        if after != before:
            found.append((part.key, before, after))
    assert found == []


@pytest.mark.parametrize("subresource", ["ephemeralcontainers", "resize", "approval"])
async def test_a_subresource_changes_nothing_but_its_part(api: Api, subresource: str) -> None:
    for _, path in await parts(api, subresource):
        before = (await api.get(path)).body
        spec = dict.fromkeys(before["spec"]) | {"nodeName": "n1", "serviceAccountName": "taken"}
        metadata = {"labels": {"taken": "1"}, "ownerReferences": [], "finalizers": ["example.com/taken"]}
        changes = [{"spec": spec}, {"spec": {"hostNetwork": True, "signerName": "a/b"}}]
        # As in Kubernetes, an approval may have labels.
        for change in changes if subresource == "approval" else [*changes, {"metadata": metadata}]:
            await api.patch(f"{path}/{subresource}", change)
            assert without_system((await api.get(path)).body) == without_system(before)


async def test_a_scale_changes_nothing_but_the_replicas(api: Api) -> None:
    for _, path in await parts(api, "scale"):
        before = without_system((await api.get(path)).body)
        change = {"metadata": {"labels": {"taken": "1"}}, "spec": {"replicas": 3, "selector": {"a": "b"}}}
        await api.patch(f"{path}/scale", change)
        after = without_system((await api.get(path)).body)
        before["spec"]["replicas"] = after["spec"]["replicas"]
        assert after == before
