"""Writing the status, against a server."""

import copy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from sampan.client.conditions import condition_is
from sampan.client.errors import Conflict
from sampan.client.patch import MergePatch
from sampan.client.resource_client import ResourceClient
from sampan.client.wait import wait_for
from sampan.core.gvk import GroupVersionResource
from sampan.operator import Condition
from sampan.operator.status import patch_condition, patch_status
from sampan.resource import CustomResource, ObjectMeta, ResourceInfo, resource
from sampan.resource.crd import crd_of
from sampan.testing import Cluster
from tests.operator.cluster import cluster_client

CRDS = ResourceInfo(
    GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions"), "CustomResourceDefinition", False
)


class LampStatus(msgspec.Struct, rename="camel", omit_defaults=True):
    """Present state of a lamp."""

    is_on: bool = False
    watts: int = 0


@resource(group="lamps.example.com", version="v1")
class Lamp(CustomResource):
    """A declared kind with a status."""

    status: LampStatus | None = None


@asynccontextmanager
async def lamps() -> AsyncIterator[tuple[ResourceClient[Lamp], Lamp]]:
    """A client, and a lamp that is there."""
    async with cluster_client() as client:
        crd = await client.resource(CRDS).create(crd_of(Lamp))
        await wait_for(client.resource(CRDS), crd["metadata"]["name"], condition_is("Established"), timeout_s=60)
        made = client.resource(Lamp)
        yield made, await made.create(Lamp(metadata=ObjectMeta(name="l")))


async def test_only_what_differs_is_written() -> None:
    async with lamps() as (client, before):
        after = copy.deepcopy(before)
        after.status = LampStatus(is_on=True)
        written = await patch_status(client, before, after)
        await client.patch("l", MergePatch({"status": {"watts": 7}}), subresource="status")
        again = copy.deepcopy(written)
        assert again.status is not None
        again.status.is_on = False
        assert (await patch_status(client, written, again)).status == LampStatus(is_on=False, watts=7)


async def test_an_unchanged_status_is_not_written() -> None:
    async with lamps() as (client, before):
        assert await patch_status(client, before, copy.deepcopy(before)) is before
        assert (await client.get("l")).metadata.resource_version == before.metadata.resource_version


async def test_changes_outside_the_status_are_not_written() -> None:
    async with lamps() as (client, before):
        after = copy.deepcopy(before)
        after.metadata.labels = {"a": "b"}
        after.status = LampStatus(watts=1)
        assert (await patch_status(client, before, after)).metadata.labels == {}


async def test_with_a_lock_a_changed_status_is_not_overwritten() -> None:
    async with lamps() as (client, before):
        await client.patch("l", MergePatch({"status": {"watts": 7}}), subresource="status")
        after = copy.deepcopy(before)
        after.status = LampStatus(watts=1)
        with pytest.raises(Conflict):
            await patch_status(client, before, after, optimistic_lock=True)
        everywhere = client.in_namespace("")
        assert (await patch_status(everywhere, before, after)).status == LampStatus(watts=1)


class _Owned(msgspec.Struct, rename="camel", omit_defaults=True):
    is_on: bool = False
    conditions: list[Condition] = msgspec.field(default_factory=list)


@resource(group="lamps.example.com", version="v1")
class Lantern(CustomResource):
    """A declared kind with conditions."""

    status: _Owned | None = None


def ready(reason: str = "Lit") -> Condition:
    return Condition(type="Ready", status="True", reason=reason)


async def test_a_condition_is_written_with_the_generation_and_other_fields(cluster: Cluster) -> None:
    await cluster.crds(Lantern)
    client = cluster.admin().resource(Lantern)
    made = await client.create(Lantern(metadata=ObjectMeta(name="l")))
    assert await patch_condition(client, made, ready(), {"isOn": True})
    status = (await cluster.get("lanterns/l"))["status"]
    assert (status["isOn"], status["conditions"][0]["observedGeneration"]) == (True, 1)


async def test_a_condition_that_is_the_same_is_not_written(cluster: Cluster) -> None:
    await cluster.crds(Lantern)
    client = cluster.admin().resource(Lantern)
    await patch_condition(client, await client.create(Lantern(metadata=ObjectMeta(name="l"))), ready())
    before = await client.get("l")
    assert not await patch_condition(client, before, ready())
    assert await client.get("l") == before


async def test_a_condition_is_not_written_over_a_later_change(cluster: Cluster) -> None:
    await cluster.crds(Lantern)
    client = cluster.admin().resource(Lantern)
    made = await client.create(Lantern(metadata=ObjectMeta(name="l")))
    await patch_condition(client, made, ready())
    with pytest.raises(Conflict):
        await patch_condition(client, made, ready("Burning"))
