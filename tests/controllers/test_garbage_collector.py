"""Tests of the garbage collector on a server: propagation policies, unusual owners, restarts."""

from collections.abc import Iterable
from typing import Any

import pytest

from sampan.client import Client, DeleteOptions
from sampan.client.options import Propagation
from sampan.component_base.resources import CLUSTER_ROLES, CONFIG_MAPS, EVENTS, NAMESPACES, PODS, SECRETS
from sampan.controllers import garbage_collector
from sampan.core.gvk import GroupVersionResource
from sampan.resource import ResourceInfo
from tests.client.connected import connected
from tests.controllers.cluster import Working, cluster, working
from tests.server.custom_resources import GROUP, crd, version

CRDS = ResourceInfo(
    GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions"), "CustomResourceDefinition", False
)
SHIRTS = ResourceInfo(GroupVersionResource(GROUP, "v1", "shirts"), "Shirt", namespaced=True)
OLD_SHIRTS = ResourceInfo(GroupVersionResource(GROUP, "v1beta1", "shirts"), "Shirt", namespaced=True)
set_up = garbage_collector.set_up


def reference(owner: Any, *, block: bool = False, **more: Any) -> Any:
    """A reference to an owner."""
    metadata = owner["metadata"]
    fields = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
    }
    return {**fields, "blockOwnerDeletion": block, **more}


def absent(kind: ResourceInfo = CONFIG_MAPS, name: str = "never", uid: str = "no-such-uid") -> Any:
    """A reference to an absent owner."""
    return {"apiVersion": kind.api_version, "kind": kind.kind, "name": name, "uid": uid}


def named(name: str, owners: Iterable[Any] = (), *, finalizers: Iterable[str] = (), **metadata: Any) -> Any:
    """An object with only metadata."""
    fields = {"name": name, "ownerReferences": list(owners), "finalizers": list(finalizers), **metadata}
    return {"metadata": {key: value for key, value in fields.items() if value}}


async def delete(client: Client, kind: ResourceInfo, name: str, policy: Propagation) -> None:
    """Delete an object with a propagation policy."""
    await client.resource(kind).delete(name, DeleteOptions(propagation_policy=policy))


async def chain(c: Working, *, block: bool = True) -> list[Any]:
    """Three objects: `a` owns `b`, which owns `c`."""
    made: list[Any] = []
    for name in "abc":
        owners = [reference(made[-1], block=block)] if made else []
        made.append(await c.create(CONFIG_MAPS, named(name, owners)))
    return made


def owners_of(obj: Any) -> list[str]:
    """The names of an object's owners."""
    return [each["name"] for each in obj["metadata"].get("ownerReferences") or ()]


# ---- background


async def test_indirect_dependents_are_deleted_after_their_owner() -> None:
    async with cluster(set_up) as c:
        await chain(c)
        await delete(c.client, CONFIG_MAPS, "a", "Background")
        for name in "bc":
            await c.until_gone(CONFIG_MAPS, name)


async def test_an_object_stays_with_its_last_owner_and_loses_absent_ones() -> None:
    async with cluster(set_up) as c:
        one, two = [await c.create(CONFIG_MAPS, named(name)) for name in ("one", "two")]
        await c.create(SECRETS, named("child", [reference(one), reference(two)]))
        await delete(c.client, CONFIG_MAPS, "one", "Background")
        child = await c.until(SECRETS, "child", lambda obj: owners_of(obj) == ["two"])
        assert "deletionTimestamp" not in child["metadata"]
        await delete(c.client, CONFIG_MAPS, "two", "Background")
        await c.until_gone(SECRETS, "child")


async def test_an_object_with_an_owner_that_never_existed_is_deleted() -> None:
    async with cluster(set_up) as c:
        await c.create(CONFIG_MAPS, named("child", [absent()]))
        await c.until_gone(CONFIG_MAPS, "child")


async def test_a_new_object_with_the_owners_name_is_not_the_owner() -> None:
    async with cluster(set_up) as c:
        await c.create(CONFIG_MAPS, named("owner"))
        await c.create(SECRETS, named("child", [absent(name="owner")]))
        await c.until_gone(SECRETS, "child")
        assert await c.exists(CONFIG_MAPS, "owner")


async def test_garbage_waits_for_other_finalizers() -> None:
    async with cluster(set_up) as c:
        owner = await c.create(CONFIG_MAPS, named("owner"))
        child = await c.create(SECRETS, named("child", [reference(owner)], finalizers=["example.com/held"]))
        await c.create(CONFIG_MAPS, named("grandchild", [reference(child)]))
        await delete(c.client, CONFIG_MAPS, "owner", "Background")
        await c.until(SECRETS, "child", lambda obj: "deletionTimestamp" in obj["metadata"])
        assert await c.exists(CONFIG_MAPS, "grandchild")
        await c.patch(SECRETS, "child", {"metadata": {"finalizers": None}})
        await c.until_gone(SECRETS, "child")
        await c.until_gone(CONFIG_MAPS, "grandchild")


async def test_the_orphan_finalizer_of_garbage_is_honoured() -> None:
    async with cluster(set_up) as c:
        owner = await c.create(CONFIG_MAPS, named("owner"))
        child = await c.create(CONFIG_MAPS, named("child", [reference(owner)], finalizers=["orphan"]))
        await c.create(SECRETS, named("grandchild", [reference(child)]))
        await delete(c.client, CONFIG_MAPS, "owner", "Background")
        await c.until_gone(CONFIG_MAPS, "child")
        assert owners_of(await c.get(SECRETS, "grandchild")) == []


async def test_an_object_that_gets_an_absent_owner_is_deleted() -> None:
    async with cluster(set_up) as c:
        await c.create(CONFIG_MAPS, named("child"))
        await c.patch(CONFIG_MAPS, "child", {"metadata": {"ownerReferences": [absent()]}})
        await c.until_gone(CONFIG_MAPS, "child")


async def test_dependents_of_a_cluster_scoped_owner_are_deleted_in_all_namespaces() -> None:
    async with cluster(set_up) as c:
        owner = await c.create(CLUSTER_ROLES, named("owner"))
        await c.create(NAMESPACES, named("other"))
        here: Any = await c.create(CONFIG_MAPS, named("child", [reference(owner)]))
        there = c.client.resource(CONFIG_MAPS, namespace="other")
        here["metadata"] = {"name": "child", "ownerReferences": [reference(owner)]}
        await there.create(here)
        await delete(c.client, CLUSTER_ROLES, "owner", "Background")
        await c.until_gone(CONFIG_MAPS, "child")
        await Working(c.client.with_defaults(namespace="other"), c.manager).until_gone(CONFIG_MAPS, "child")


# ---- foreground


async def test_foreground_deletion_deletes_the_owner_last() -> None:
    async with cluster(set_up) as c:
        await chain(c)
        held = {"metadata": {"finalizers": ["example.com/held"]}}
        await c.patch(CONFIG_MAPS, "c", held)
        await delete(c.client, CONFIG_MAPS, "a", "Foreground")
        for name in "abc":
            await c.until(CONFIG_MAPS, name, lambda obj: "deletionTimestamp" in obj["metadata"])
        assert (await c.get(CONFIG_MAPS, "b"))["metadata"]["finalizers"] == ["foregroundDeletion"]
        await c.patch(CONFIG_MAPS, "c", {"metadata": {"finalizers": None}})
        for name in "cba":
            await c.until_gone(CONFIG_MAPS, name)


async def test_foreground_deletion_does_not_wait_for_non_blocking_dependents() -> None:
    async with cluster(set_up) as c:
        owner = await c.create(CONFIG_MAPS, named("owner"))
        await c.create(SECRETS, named("child", [reference(owner)], finalizers=["example.com/held"]))
        await delete(c.client, CONFIG_MAPS, "owner", "Foreground")
        await c.until_gone(CONFIG_MAPS, "owner")
        await c.until(SECRETS, "child", lambda obj: "deletionTimestamp" in obj["metadata"])


@pytest.mark.parametrize("change", [{"blockOwnerDeletion": False}, None], ids=["unblocked", "reference removed"])
async def test_a_dependent_that_stops_blocking_releases_the_owner(change: Any | None) -> None:
    async with cluster(set_up) as c:
        owner, other = [await c.create(CONFIG_MAPS, named(name)) for name in ("owner", "other")]
        references = [reference(owner, block=True), reference(other)]
        await c.create(SECRETS, named("child", references, finalizers=["example.com/held"]))
        await c.client.resource(SECRETS).delete("child")
        await delete(c.client, CONFIG_MAPS, "owner", "Foreground")
        await c.until(CONFIG_MAPS, "owner", lambda obj: "deletionTimestamp" in obj["metadata"])
        left = [{**references[0], **change}, references[1]] if change else references[1:]
        await c.patch(SECRETS, "child", {"metadata": {"ownerReferences": left}})
        await c.until_gone(CONFIG_MAPS, "owner")


async def test_foreground_deletion_keeps_dependents_with_another_owner() -> None:
    async with cluster(set_up) as c:
        owner, other = [await c.create(CONFIG_MAPS, named(name)) for name in ("owner", "other")]
        await c.create(SECRETS, named("child", [reference(owner, block=True), reference(other)]))
        await delete(c.client, CONFIG_MAPS, "owner", "Foreground")
        await c.until_gone(CONFIG_MAPS, "owner")
        assert owners_of(await c.get(SECRETS, "child")) == ["other"]


async def test_a_late_dependent_is_deleted_before_the_owner() -> None:
    async with cluster(set_up) as c:
        owner = await c.create(CONFIG_MAPS, named("owner"))
        await c.create(SECRETS, named("held", [reference(owner, block=True)], finalizers=["example.com/held"]))
        await delete(c.client, CONFIG_MAPS, "owner", "Foreground")
        await c.until(SECRETS, "held", lambda obj: "deletionTimestamp" in obj["metadata"])
        await c.create(SECRETS, named("late", [reference(owner, block=True)]))
        await c.until_gone(SECRETS, "late")
        assert await c.exists(CONFIG_MAPS, "owner")


async def test_an_ownership_cycle_does_not_block_forever() -> None:
    async with cluster(set_up) as c:
        one = await c.create(CONFIG_MAPS, named("one"))
        two = await c.create(CONFIG_MAPS, named("two", [reference(one, block=True)]))
        await c.patch(CONFIG_MAPS, "one", {"metadata": {"ownerReferences": [reference(two, block=True)]}})
        await delete(c.client, CONFIG_MAPS, "one", "Foreground")
        for name in ("one", "two"):
            await c.until_gone(CONFIG_MAPS, name)


# ---- orphan


async def test_orphaned_dependents_stay() -> None:
    async with cluster(set_up) as c:
        owner, other = [await c.create(CONFIG_MAPS, named(name)) for name in ("owner", "other")]
        for index in range(30):
            await c.create(SECRETS, named(f"child-{index}", [reference(owner), reference(other)]))
        await delete(c.client, CONFIG_MAPS, "owner", "Orphan")
        await c.until_gone(CONFIG_MAPS, "owner")
        children = await c.all(SECRETS)
        assert [owners_of(child) for child in children] == [["other"]] * 30


async def test_dependents_of_a_recently_defined_kind_are_orphaned() -> None:
    async with cluster(set_up) as c:
        owner = await c.create(CONFIG_MAPS, named("owner"))
        await c.create(CRDS, crd())
        await c.create(SHIRTS, named("child", [reference(owner)]))
        await delete(c.client, CONFIG_MAPS, "owner", "Orphan")
        await c.until_gone(CONFIG_MAPS, "owner")
        assert owners_of(await c.get(SHIRTS, "child")) == []


# ---- invalid owners


async def test_an_owner_in_another_namespace_is_absent_and_causes_an_event() -> None:
    async with cluster(set_up) as c:
        owner = await c.create(CONFIG_MAPS, named("owner"))
        await c.create(NAMESPACES, named("other"))
        there = Working(c.client.with_defaults(namespace="other"), c.manager)
        await there.create(SECRETS, named("child", [reference(owner)]))
        await there.until_gone(SECRETS, "child")
        [event] = await there.events("OwnerRefInvalidNamespace")
        uid = owner["metadata"]["uid"]
        identity = f"[v1/ConfigMap, namespace: other, name: owner, uid: {uid}]"
        assert event["message"] == f'ownerRef {identity} does not exist in namespace "other"'
        assert (event["type"], event["involvedObject"]["name"]) == ("Warning", "child")
        assert event["reportingComponent"] == "garbage-collector-controller"
        assert await c.exists(CONFIG_MAPS, "owner")


async def test_a_cluster_scoped_object_with_a_namespaced_owner_stays() -> None:
    async with cluster(set_up) as c:
        owner = await c.create(CONFIG_MAPS, named("owner"))
        await c.create(CLUSTER_ROLES, named("child", [reference(owner)]))
        await delete(c.client, CONFIG_MAPS, "owner", "Background")
        await c.create(CONFIG_MAPS, named("later", [absent(uid="other")]))
        await c.until_gone(CONFIG_MAPS, "later")
        assert await c.exists(CLUSTER_ROLES, "child")


async def test_an_owner_of_an_unknown_kind_causes_no_deletion() -> None:
    async with cluster(set_up) as c:
        await c.create(CONFIG_MAPS, named("child", [absent(SHIRTS)]))
        await c.create(CONFIG_MAPS, named("later", [absent()]))
        await c.until_gone(CONFIG_MAPS, "later")
        assert await c.exists(CONFIG_MAPS, "child")


async def test_wrong_and_right_references_to_one_uid_are_distinguished() -> None:
    async with cluster(set_up) as c:
        owner = await c.create(CONFIG_MAPS, named("owner"))
        wrong = reference(owner, name="other")
        await c.create(SECRETS, named("wrong", [wrong]))
        await c.create(SECRETS, named("right", [reference(owner)]))
        await c.until_gone(SECRETS, "wrong")
        assert await c.exists(SECRETS, "right")


# ---- custom resources


async def test_custom_resources_are_collected_as_soon_as_they_are_defined() -> None:
    async with cluster(set_up) as c:
        await c.create(CRDS, crd())
        owner = await c.create(SHIRTS, named("owner"))
        await c.create(SHIRTS, named("child", [reference(owner)]))
        await c.create(
            PODS, {**named("pod", [reference(owner)]), "spec": {"containers": [{"name": "c", "image": "i"}]}}
        )
        await delete(c.client, SHIRTS, "owner", "Background")
        await c.until_gone(SHIRTS, "child")
        await c.until_gone(PODS, "pod")


async def test_custom_resources_are_orphaned_and_deleted_in_the_foreground() -> None:
    async with cluster(set_up) as c:
        await c.create(CRDS, crd())
        one, two = [await c.create(SHIRTS, named(name)) for name in ("one", "two")]
        references = [reference(one), reference(two, block=True)]
        await c.create(SHIRTS, named("child", references, finalizers=["example.com/held"]))
        await c.until(SHIRTS, "child", lambda obj: owners_of(obj) == ["one", "two"])
        await _known(c, 3)
        await delete(c.client, SHIRTS, "one", "Orphan")
        await c.until(SHIRTS, "child", lambda obj: owners_of(obj) == ["two"])
        await delete(c.client, SHIRTS, "two", "Foreground")
        await c.until(SHIRTS, "child", lambda obj: "deletionTimestamp" in obj["metadata"])
        await c.patch(SHIRTS, "child", {"metadata": {"finalizers": None}})
        for name in ("one", "two", "child"):
            await c.until_gone(SHIRTS, name)


async def _known(c: Working, count: int) -> None:
    """Wait until the collector watches shirts, which then are collected without an owner."""
    await c.create(SHIRTS, named("garbage", [absent()]))
    await c.until_gone(SHIRTS, "garbage")
    assert len(await c.all(SHIRTS)) == count


async def test_an_owner_reference_may_use_another_version() -> None:
    async with cluster(set_up) as c:
        await c.create(CRDS, crd(version(), version("v1beta1", storage=False)))
        owner = await c.create(OLD_SHIRTS, named("owner"))
        child = reference(owner, block=True)
        assert child["apiVersion"] == OLD_SHIRTS.api_version
        await c.create(SECRETS, named("child", [child]))
        await c.create(SECRETS, named("garbage", [absent(OLD_SHIRTS)]))
        await c.until_gone(SECRETS, "garbage")
        assert await c.exists(SECRETS, "child")
        await delete(c.client, SHIRTS, "owner", "Foreground")
        await c.until_gone(SHIRTS, "owner")
        await c.until_gone(SECRETS, "child")


async def test_a_version_that_is_no_longer_served_causes_no_deletion() -> None:
    async with cluster(set_up) as c:
        await c.create(CRDS, crd(version(), version("v1beta1", storage=False)))
        owner = await c.create(OLD_SHIRTS, named("owner"))
        await c.create(SECRETS, named("garbage", [absent(OLD_SHIRTS)]))
        await c.until_gone(SECRETS, "garbage")
        served = {"versions": [version(), version("v1beta1", storage=False, served=False)]}
        await c.patch(CRDS, f"shirts.{GROUP}", {"spec": served})
        await c.create(SECRETS, named("child", [reference(owner)]))
        await c.create(SECRETS, named("garbage", [absent()]))
        await c.until_gone(SECRETS, "garbage")
        assert await c.exists(SECRETS, "child")


async def test_dependents_of_a_removed_kind_do_not_block() -> None:
    async with cluster(set_up) as c:
        await c.create(CRDS, crd())
        owner = await c.create(CONFIG_MAPS, named("owner"))
        await c.create(SHIRTS, named("child", [reference(owner, block=True)], finalizers=["example.com/held"]))
        await _known(c, 1)
        await delete(c.client, CONFIG_MAPS, "owner", "Foreground")
        await c.until(SHIRTS, "child", lambda obj: "deletionTimestamp" in obj["metadata"])
        await c.delete(CRDS, f"shirts.{GROUP}")
        await c.patch(SHIRTS, "child", {"metadata": {"finalizers": None}})
        await c.until_gone(CONFIG_MAPS, "owner")


# ---- restarts


@pytest.mark.parametrize("policy", ["Background", "Foreground", "Orphan"])
async def test_changes_during_downtime_are_handled_after_a_restart(policy: Propagation) -> None:
    async with connected() as (client, _):
        async with working(client, set_up) as c:
            await chain(c)
        await delete(client, CONFIG_MAPS, "a", policy)
        async with working(client, set_up) as c:
            await c.until_gone(CONFIG_MAPS, "a")
            if policy == "Orphan":
                assert owners_of(await c.get(CONFIG_MAPS, "b")) == []
                assert owners_of(await c.get(CONFIG_MAPS, "c")) == ["b"]
            else:
                for name in "bc":
                    await c.until_gone(CONFIG_MAPS, name)


@pytest.mark.parametrize("policy", ["Background", "Foreground", "Orphan"])
async def test_work_of_a_killed_collector_is_completed_by_the_next(
    policy: Propagation,
) -> None:
    async with connected() as (client, _):
        async with working(client, set_up) as c:
            owner = await c.create(CONFIG_MAPS, named("owner"))
            for index in range(40):
                await c.create(SECRETS, named(f"child-{index}", [reference(owner, block=True)]))
            await delete(client, CONFIG_MAPS, "owner", policy)
            await c.until_all(SECRETS, lambda all: len([each for each in all if owners_of(each)]) < 30)
        async with working(client, set_up) as c:
            await c.until_gone(CONFIG_MAPS, "owner")
            if policy == "Orphan":
                assert [owners_of(child) for child in await c.all(SECRETS)] == [[]] * 40
            else:
                await c.until_all(SECRETS, lambda all: not all)


async def test_events_are_not_collected() -> None:
    async with cluster(set_up) as c:
        event = {"involvedObject": {"namespace": "default"}, **named("event", [absent()])}
        await c.create(EVENTS, event)
        await c.create(CONFIG_MAPS, named("garbage", [absent()]))
        await c.until_gone(CONFIG_MAPS, "garbage")
        assert await c.exists(EVENTS, "event")
