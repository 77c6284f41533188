"""Two clusters in one process share no mutable state: what happens in one does not show in the other."""

import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from sampan.server.apiserver import ApiServerSettings
from tests.server.cluster import Api, served
from tests.server.custom_resources import COLOR, CRD, CRDS, SHIRTS, crd, eventually, schema, shirt, version

SIZES = schema({"color": {"type": "string"}, "sizes": {"type": "array", "items": {"type": "integer"}}})
SET_OF_SIZES = schema(
    {"sizes": {"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": "set"}},
)


@pytest.fixture
async def pair() -> AsyncIterator[tuple[Api, Api]]:
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(served()), await stack.enter_async_context(served())


async def shown(api: Api) -> dict[str, Any]:
    """Everything of the resource that a client of the cluster sees."""
    paths = (
        CRD,
        f"{SHIRTS}/a",
        "/apis",
        "/apis/stable.example.com/v1",
        "/openapi/v3",
        "/openapi/v3/apis/stable.example.com/v1",
    )
    return {path: (await api.get(path)).body for path in paths}


async def churn(api: Api) -> None:
    """Create, use, change and delete the CRD."""
    await api.create(CRDS, crd(version(openapi=SET_OF_SIZES), scope="Namespaced"))
    await api.create(SHIRTS, shirt(spec={"sizes": [1, 2]}))
    found = (await api.get(CRD)).body
    found["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = COLOR
    assert (await api.put(CRD, found)).code == 200
    await api.delete(CRD)
    await eventually(lambda: api.get(CRD), lambda response: response.code == 404)


async def test_changes_of_a_crd_in_one_cluster_do_not_show_in_another(pair: tuple[Api, Api]) -> None:
    one, other = pair
    await other.create(CRDS, crd(version(openapi=SIZES)))
    await other.create(SHIRTS, shirt(spec={"color": "red", "sizes": [3, 3]}))
    before = await shown(other)
    await churn(one)
    assert await shown(other) == before


async def test_an_apply_follows_the_schema_of_the_same_cluster(pair: tuple[Api, Api]) -> None:
    as_set, as_atomic = pair
    for api, openapi in ((as_set, SET_OF_SIZES), (as_atomic, SIZES)):
        await api.create(CRDS, crd(version(openapi=openapi)))
        for manager, sizes in (("one", [1, 2]), ("two", [3])):
            body = shirt(spec={"sizes": sizes})
            path = f"{SHIRTS}/a?fieldManager={manager}&force=true"
            assert (await api.patch(path, body, "apply")).code in (200, 201)
    assert (await as_set.get(f"{SHIRTS}/a")).body["spec"]["sizes"] == [1, 2, 3]
    assert (await as_atomic.get(f"{SHIRTS}/a")).body["spec"]["sizes"] == [3]


def module_level_sizes() -> dict[str, int]:
    """Sizes of all mutable collections at module level."""
    return {
        f"{name}.{attribute}": len(value)
        for name, module in sorted(sys.modules.items())
        if name.partition(".")[0] == "sampan"
        for attribute, value in vars(module).items()
        if isinstance(value, dict | list | set) and not attribute.startswith("__")
    }


async def test_a_crd_that_is_used_and_deleted_leaves_nothing_at_module_level(pair: tuple[Api, Api]) -> None:
    one, other = pair
    await churn(one)
    before = module_level_sizes()
    await churn(other)
    await churn(one)
    assert module_level_sizes() == before


async def test_pods_that_one_cluster_has_validated_are_not_known_to_another(pair: tuple[Api, Api]) -> None:
    one, other = (api.cluster.endpoint("", "v1", "pods") for api in pair)
    assert one is not None
    assert other is not None
    assert one.store.strategy is not other.store.strategy


def test_servers_count_their_tokens_by_themselves() -> None:
    assert ApiServerSettings().identity.counts is not ApiServerSettings().identity.counts
