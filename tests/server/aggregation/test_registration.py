"""APIServices of what the server answers itself."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from sampan.storage.memory import MemoryStore
from tests.server.aggregation.cell import API_SERVICES
from tests.server.cluster import Api, served
from tests.server.custom_resources import CRD, CRDS, GROUP, crd, version

AUTOMANAGED = "kube-aggregator.kubernetes.io/automanaged"


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with served() as api:
        yield api


async def wait_for(api: Api, name: str, *, present: bool = True, without_uid: str = "") -> Any:
    """The APIService, as soon as it is there (or another one than that with the uid); None as soon as it has gone."""
    async with asyncio.timeout(60), api.watch(f"{API_SERVICES}?watch=1") as watch:
        response = await api.get(f"{API_SERVICES}/{name}")
        while (response.code == 200) is not present or (present and response.metadata["uid"] == without_uid):
            await watch.event()
            response = await api.get(f"{API_SERVICES}/{name}")
    return response.body if present else None


@pytest.mark.parametrize(
    ("name", "group_priority", "version_priority"),
    [
        ("v1.", 18000, 1),
        ("v1.apps", 17800, 15),
        ("v2.autoscaling", 17500, 30),
        ("v1.autoscaling", 17500, 15),
        ("v1.flowcontrol.apiserver.k8s.io", 16100, 21),
        ("v1.rbac.authorization.k8s.io", 17000, 15),
        ("v1beta1.batch", 17400, 9),
        ("v1.resource.k8s.io", 16200, 21),
    ],
)
async def test_built_in_group_versions_have_one(
    api: Api, name: str, group_priority: int, version_priority: int
) -> None:
    found = (await api.get(f"{API_SERVICES}/{name}")).body
    assert found["metadata"]["labels"] == {AUTOMANAGED: "onstart"}
    assert (found["spec"]["groupPriorityMinimum"], found["spec"]["versionPriority"]) == (
        group_priority,
        version_priority,
    )
    condition = found["status"]["conditions"][0]
    assert (condition["status"], condition["reason"]) == ("True", "Local")
    assert condition["message"] == "Local APIServices are always available"


async def test_the_api_service_of_conversions_is_managed_from_startup(
    api: Api,
) -> None:
    found = await wait_for(api, "v1alpha1.conversion.sampan.dev")
    assert found["metadata"]["labels"] == {AUTOMANAGED: "onstart"}


async def test_their_own_group_has_none(api: Api) -> None:
    names = [item["metadata"]["name"] for item in (await api.get(API_SERVICES)).body["items"]]
    assert not any("apiregistration" in name for name in names)


async def test_a_group_version_of_custom_resources_has_one_while_it_is_served(api: Api) -> None:
    await api.create(CRDS, crd(version("v1"), version("v2", storage=False)))
    found = await wait_for(api, f"v2.{GROUP}")
    assert found["metadata"]["labels"] == {AUTOMANAGED: "true"}
    assert (found["spec"]["groupPriorityMinimum"], found["spec"]["versionPriority"]) == (1000, 100)
    unserved = {**version("v2", storage=False), "served": False}
    assert (await api.patch(CRD, {"spec": {"versions": [version("v1"), unserved]}})).code == 200
    await wait_for(api, f"v2.{GROUP}", present=False)
    await wait_for(api, f"v1.{GROUP}")
    await api.delete(CRD)
    await wait_for(api, f"v1.{GROUP}", present=False)


@pytest.mark.parametrize("name", ["v1.apps", f"v1.{GROUP}"], ids=["built-in", "custom"])
async def test_it_is_made_again_when_a_client_deletes_it(api: Api, name: str) -> None:
    await api.create(CRDS, crd())
    before = await wait_for(api, name)
    assert (await api.delete(f"{API_SERVICES}/{name}")).code == 200
    await wait_for(api, name, without_uid=before["metadata"]["uid"])


async def test_one_of_custom_resources_is_put_right_when_a_client_changes_it(api: Api) -> None:
    await api.create(CRDS, crd())
    await wait_for(api, f"v1.{GROUP}")
    path = f"{API_SERVICES}/v1.{GROUP}"
    async with (
        asyncio.timeout(60),
        api.watch(f"{API_SERVICES}?watch=1&fieldSelector=metadata.name=v1.{GROUP}") as watch,
    ):
        assert (await api.patch(path, {"spec": {"versionPriority": 7}})).code == 200
        observed: list[int] = []
        while observed[-2:] != [7, 100]:
            observed.append((await watch.event())["object"]["spec"]["versionPriority"])


async def test_one_of_built_ins_stays_as_a_client_changes_it_until_the_next_start() -> None:
    store = MemoryStore()
    async with served(store) as api:
        path = f"{API_SERVICES}/v1.apps"
        assert (await api.patch(path, {"spec": {"versionPriority": 7}})).code == 200
        await api.create(CRDS, crd())
        await wait_for(api, f"v1.{GROUP}")
        assert (await api.get(path)).body["spec"]["versionPriority"] == 7
    async with served(store) as api:
        assert (await api.get(path)).body["spec"]["versionPriority"] == 15


async def test_one_without_the_label_is_its_makers(api: Api) -> None:
    spec = {"group": GROUP, "version": "v1", "groupPriorityMinimum": 5, "versionPriority": 6}
    await api.create(API_SERVICES, {"metadata": {"name": f"v1.{GROUP}"}, "spec": spec})
    await api.create(CRDS, crd(version("v1"), version("v2", storage=False)))
    await wait_for(api, f"v2.{GROUP}")
    assert (await api.get(f"{API_SERVICES}/v1.{GROUP}")).body["spec"]["versionPriority"] == 6


async def test_a_new_version_comes_with_the_order_that_its_priority_gives_it(api: Api) -> None:
    await api.create(CRDS, crd(version("v1"), version("v2", storage=False)))
    await wait_for(api, f"v2.{GROUP}")
    for name, priority in (("v1", 30), ("v2", 20)):
        spec = {"group": "b.example.com", "version": name, "groupPriorityMinimum": 19000, "versionPriority": priority}
        await api.create(API_SERVICES, {"metadata": {"name": f"{name}.b.example.com"}, "spec": spec})
    await api.create(CRDS, crd(version("v1"), version("v2", storage=False), group="b.example.com"))
    groups = (await api.get("/apis")).body["groups"]
    assert groups[0]["name"] == "apiregistration.k8s.io"
    assert groups[1]["name"] == "b.example.com"
    assert groups[1]["preferredVersion"]["version"] == "v1"
    assert next(group for group in groups if group["name"] == GROUP)["preferredVersion"]["version"] == "v2"
