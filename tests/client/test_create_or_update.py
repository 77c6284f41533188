"""Making an object what it should be, against a real server; and trying again."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from sampan.client import (
    Backoff,
    Client,
    Conflict,
    MergePatch,
    NotFound,
    OperationResult,
    ResourceClient,
    api_error,
    create_or_patch,
    create_or_update,
    retry_on_conflict,
)
from sampan.resource import Object
from sampan.testing import elapsed, virtual_time
from tests.client.connected import connected

CONFLICT = api_error({"code": 409, "reason": "Conflict"})
Mutate = Callable[[Object | None], Object]
Make = Callable[[ResourceClient[Object], str, Mutate], Awaitable[tuple[Object, OperationResult]]]


def data(**fields: str) -> Mutate:
    """The config map with these fields besides those that it has."""

    def mutate(present: Object | None) -> Object:
        obj = present or {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
        obj.setdefault("data", {}).update(fields)
        return obj

    return mutate


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with connected() as (connected_client, _):
        yield connected_client


@pytest.fixture
async def config_maps(client: Client) -> ResourceClient[Object]:
    return await client.resource_for("configmaps")


@pytest.mark.parametrize("make", [create_or_update, create_or_patch], ids=["update", "patch"])
async def test_it_is_created_then_updated_then_left_alone(
    config_maps: ResourceClient[Object],
    make: Make,
) -> None:
    _, first = await make(config_maps, "a", data(x="1"))
    obj, second = await make(config_maps, "a", data(y="2"))
    same, third = await make(config_maps, "a", data(y="2"))
    assert [first, second, third] == [OperationResult.CREATED, OperationResult.UPDATED, OperationResult.NONE]
    assert obj["data"] == {"x": "1", "y": "2"}
    assert same == obj


@pytest.mark.parametrize("make", [create_or_update, create_or_patch], ids=["update", "patch"])
async def test_another_type_of_a_value_is_written(client: Client, make: Make) -> None:
    classes = await client.resource_for("deviceclasses")

    def mutate(value: object) -> Mutate:
        config = {"opaque": {"driver": "x.io", "parameters": {"v": value}}}
        named = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "a"}}
        return lambda present: {**(present or named), "spec": {"config": [config]}}

    await make(classes, "a", mutate(True))
    obj, result = await make(classes, "a", mutate(1))
    assert (result, obj["spec"]["config"][0]["opaque"]["parameters"]["v"] is True) == (OperationResult.UPDATED, False)


@pytest.mark.parametrize("make", [create_or_update, create_or_patch], ids=["update", "patch"])
async def test_a_name_cannot_be_changed(config_maps: ResourceClient[Object], make: Make) -> None:
    with pytest.raises(ValueError, match="from 'b' to 'a'"):
        await make(config_maps, "b", data())


async def test_an_update_that_comes_too_late_reads_again(config_maps: ResourceClient[Object]) -> None:
    await create_or_update(config_maps, "a", data(x="1"))
    calls = 0

    async def interfere() -> None:
        await config_maps.patch("a", MergePatch({"data": {"other": str(calls)}}))

    class Interfered(ResourceClient[Object]):
        """Another client writes between its first read and its first write."""

        async def get(self, name: str, *, resource_version: str | None = None) -> Object:
            nonlocal calls
            found = await super().get(name, resource_version=resource_version)
            if calls == 0:
                calls += 1
                await interfere()
            return found

    client = Interfered(config_maps._endpoint, config_maps.object_type)
    obj, result = await create_or_update(client, "a", data(y="2"))
    assert result == OperationResult.UPDATED
    assert obj["data"] == {"x": "1", "y": "2", "other": "1"}


async def test_a_create_that_comes_too_late_updates(config_maps: ResourceClient[Object]) -> None:
    class Late(ResourceClient[Object]):
        """Another client creates the object after its first read."""

        async def get(self, name: str, *, resource_version: str | None = None) -> Object:
            try:
                return await super().get(name, resource_version=resource_version)
            except NotFound:
                await config_maps.create(data(x="1")(None))
                raise

    client = Late(config_maps._endpoint, config_maps.object_type)
    obj, result = await create_or_update(client, "a", data(y="2"))
    assert (obj["data"], result) == ({"x": "1", "y": "2"}, OperationResult.UPDATED)


@pytest.mark.parametrize("make", [create_or_update, create_or_patch], ids=["update", "patch"])
async def test_an_object_deleted_between_read_and_write_is_created_again(
    config_maps: ResourceClient[Object], make: Make
) -> None:
    await config_maps.create(data(x="1")(None))

    class Deleted(ResourceClient[Object]):
        """Another client deletes the object after each read."""

        async def get(self, name: str, *, resource_version: str | None = None) -> Object:
            found = await super().get(name, resource_version=resource_version)
            await config_maps.delete(name)
            return found

    obj, result = await make(Deleted(config_maps._endpoint, config_maps.object_type), "a", data(y="2"))
    assert (obj["data"], result) == ({"y": "2"}, OperationResult.CREATED)


async def test_a_patch_writes_the_status_apart(client: Client) -> None:
    namespaces = await client.resource_for("deployments")
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}

    def desired(present: Object | None) -> Object:
        if present is None:
            return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec}
        present["status"] = {**present.get("status", {}), "observedGeneration": 1}
        return present

    def more(present: Object | None) -> Object:
        obj = desired(present)
        obj["spec"]["paused"] = True
        obj["status"]["replicas"] = 3
        return obj

    results = [(await create_or_patch(namespaces, "a", each))[1] for each in (desired, desired, desired, more)]
    assert [str(result) for result in results] == ["created", "updatedStatusOnly", "unchanged", "updatedStatus"]
    assert (await namespaces.get("a"))["status"]["replicas"] == 3


@virtual_time
async def test_a_conflict_is_tried_again_five_times_in_all() -> None:
    attempts = 0

    async def attempt() -> None:
        nonlocal attempts
        attempts += 1
        raise CONFLICT

    async def hopeless() -> None:
        with pytest.raises(Conflict):
            await retry_on_conflict(attempt)

    assert 0.04 <= await elapsed(hopeless()) <= 0.044
    assert attempts == 5


@virtual_time
async def test_other_errors_are_raised_at_once() -> None:
    async def attempt() -> None:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        await retry_on_conflict(attempt)


def test_delays_grow_up_to_the_cap_and_are_lengthened_at_random() -> None:
    backoff = Backoff(1.0, factor=2.0, jitter=0.5, steps=6, cap_s=5.0)
    assert list(backoff.delays(lambda: 0.0)) == [1, 2, 4, 5, 5]
    assert list(backoff.delays(lambda: 1.0)) == [1.5, 3, 6, 7.5, 7.5]


def test_a_back_off_of_one_step_has_no_delays() -> None:
    assert list(Backoff(1.0, steps=1).delays()) == []
