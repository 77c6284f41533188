"""Finalizers, against a server."""

from collections.abc import Awaitable, Callable

import pytest

from sampan.client.errors import Conflict, NotFound
from sampan.client.patch import MergePatch
from sampan.client.resource_client import ResourceClient
from sampan.operator.finalizers import (
    Finalizing,
    add_finalizer,
    finalizer,
    has_finalizer,
    patch_finalizer_in,
    patch_finalizer_out,
    remove_finalizer,
)
from sampan.operator.request import Result
from sampan.resource import Object
from tests.operator.cluster import CONFIG_MAPS, cluster_client

NAME = "example.com/clean"


def made(*finalizers: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "finalizers": list(finalizers)}}


class Steps:
    """Actions, with their finalizers."""

    def __init__(self, clean_up: Callable[[Object], Awaitable[Result | None]] | None = None) -> None:
        self.done: list[tuple[str, list[str]]] = []
        self._clean_up = clean_up

    def then(self) -> Finalizing[Object]:
        return Finalizing(self.apply, self.clean_up)

    async def apply(self, obj: Object) -> Result | None:
        self.done.append(("apply", obj["metadata"].get("finalizers", [])))
        return Result(requeue_after_s=60)

    async def clean_up(self, obj: Object) -> Result | None:
        self.done.append(("clean up", obj["metadata"].get("finalizers", [])))
        return await self._clean_up(obj) if self._clean_up else None


def test_in_memory_a_finalizer_is_put_on_once_and_taken_off() -> None:
    obj = made("other/one")
    assert add_finalizer(obj, NAME)
    assert not add_finalizer(obj, NAME)
    assert obj["metadata"]["finalizers"] == ["other/one", NAME]
    assert remove_finalizer(obj, NAME)
    assert not remove_finalizer(obj, NAME)
    assert obj["metadata"]["finalizers"] == ["other/one"]


async def test_the_finalizer_is_there_before_anything_is_applied() -> None:
    async with cluster_client() as client:
        maps, steps = client.resource(CONFIG_MAPS), Steps()
        obj = await maps.create(made())
        assert await finalizer(maps, obj, NAME, steps.then()) == Result(requeue_after_s=60)
        assert steps.done == [("apply", [NAME])]
        assert has_finalizer(await maps.get("a"), NAME)


async def test_a_deleted_object_is_cleaned_up_and_goes() -> None:
    async with cluster_client() as client:
        maps, steps = client.resource(CONFIG_MAPS), Steps()
        await maps.create(made(NAME))
        await maps.delete("a")
        assert await finalizer(maps, await maps.get("a"), NAME, steps.then()) is None
        assert steps.done == [("clean up", [NAME])]
        with pytest.raises(NotFound):
            await maps.get("a")


async def test_cleaning_up_that_has_not_finished_keeps_the_object() -> None:
    async def not_yet(obj: Object) -> Result | None:
        return Result(requeue_after_s=5)

    async with cluster_client() as client:
        maps, steps = client.resource(CONFIG_MAPS), Steps(not_yet)
        await maps.create(made(NAME))
        await maps.delete("a")
        assert await finalizer(maps, await maps.get("a"), NAME, steps.then()) == Result(requeue_after_s=5)
        assert has_finalizer(await maps.get("a"), NAME)


async def test_cleaning_up_that_raises_keeps_the_object() -> None:
    async def fail(obj: Object) -> Result | None:
        raise OSError("unreachable")

    async with cluster_client() as client:
        maps = client.resource(CONFIG_MAPS)
        await maps.create(made(NAME))
        await maps.delete("a")
        with pytest.raises(OSError, match="unreachable"):
            await finalizer(maps, await maps.get("a"), NAME, Steps(fail).then())
        assert has_finalizer(await maps.get("a"), NAME)


async def test_an_object_with_foreign_finalizers_only_is_not_cleaned_up() -> None:
    async with cluster_client() as client:
        maps, steps = client.resource(CONFIG_MAPS), Steps()
        await maps.create(made("other/one"))
        await maps.delete("a")
        assert await finalizer(maps, await maps.get("a"), NAME, steps.then()) is None
        assert steps.done == []


async def test_an_object_that_is_written_while_it_is_cleaned_up_still_goes() -> None:
    async with cluster_client() as client:
        maps = client.resource(CONFIG_MAPS)

        async def write(obj: Object) -> Result | None:
            await maps.patch("a", MergePatch({"data": {"state": "cleaning"}}))
            return None

        await maps.create(made("other/one", NAME))
        await maps.delete("a")
        await finalizer(maps, await maps.get("a"), NAME, Steps(write).then())
        assert (await maps.get("a"))["metadata"]["finalizers"] == ["other/one"]


async def test_to_put_a_finalizer_on_an_old_state_conflicts() -> None:
    async with cluster_client() as client:
        maps = client.resource(CONFIG_MAPS)
        old = await maps.create(made())
        await maps.patch("a", MergePatch({"metadata": {"finalizers": ["other/one"]}}))
        with pytest.raises(Conflict):
            await patch_finalizer_in(maps, old, NAME)
        assert (await maps.get("a"))["metadata"]["finalizers"] == ["other/one"]


async def test_removing_the_finalizer_of_a_deleted_object_does_nothing() -> None:
    async with cluster_client() as client:
        maps = client.resource(CONFIG_MAPS)
        old = await maps.create(made(NAME))
        await maps.patch("a", MergePatch({"metadata": {"finalizers": None}}))
        await maps.delete("a")
        assert await patch_finalizer_out(maps, old, NAME) is None
        await maps.create(made(NAME))
        assert await patch_finalizer_out(maps, old, NAME) is None
        assert has_finalizer(await maps.get("a"), NAME)


async def test_a_client_of_all_namespaces_patches_the_object_at_home() -> None:
    async with cluster_client() as client:
        everywhere: ResourceClient[Object] = client.resource(CONFIG_MAPS, namespace="")
        obj = await client.resource(CONFIG_MAPS).create(made())
        assert has_finalizer(await patch_finalizer_in(everywhere, obj, NAME), NAME)
