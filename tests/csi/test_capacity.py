"""Tests of CSIStorageCapacity objects, with a driver process."""

from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("grpc", reason="needs the extra cri")

from sampan.client import MergePatch
from sampan.component_base.resources import (
    CSI_DRIVERS,
    CSI_NODES,
    CSI_STORAGE_CAPACITIES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    STORAGE_CLASSES,
)
from sampan.csi.sidecar.provisioning.capacity import DRIVER_LABEL, MANAGER, MANAGER_LABEL
from sampan.csi.sidecar.provisioning.segments import segments, segments_of_volume
from sampan.resource import Object, meta
from sampan.scheduler.set_up import set_up as set_up_scheduler
from tests.client.connected import connected
from tests.controllers.cluster import Working, working
from tests.csi.storage import (
    FAST,
    NAME,
    bound,
    claim,
    node,
    requests_of,
    running_driver,
    sidecars,
    storage,
    storage_class,
)
from tests.scheduler.objects import node_object
from tests.scheduler.test_scheduler import make_nodes, make_pods
from tests.scheduler.test_volumes import with_claim

GIB = 1 << 30
ZONE = "topology.test/zone"
LABELS = {DRIVER_LABEL: NAME, MANAGER_LABEL: MANAGER}
PUBLISH = replace(FAST, enable_capacity=True, capacity_namespace="default", capacity_poll_interval_s=0.1)
RARE = replace(PUBLISH, capacity_poll_interval_s=3600.0)
"""No periodic refresh within a test."""
LATE: dict[str, Any] = {"volumeBindingMode": "WaitForFirstConsumer"}


async def zoned_node(c: Working, name: str, zone: str) -> None:
    """Create a node with the driver in a zone."""
    await node(c, name, labels={ZONE: zone}, keys=(ZONE,))


def figures(found: list[Object]) -> list[tuple[str, str, str]]:
    """Return class, zone and capacity of each object."""
    return sorted(
        (each["storageClassName"], each["nodeTopology"].get("matchLabels", {}).get(ZONE, ""), each["capacity"])
        for each in found
    )


async def until(c: Working, *expected: tuple[str, str, str]) -> list[Object]:
    """Wait until there are exactly these objects."""
    return await c.until_all(CSI_STORAGE_CAPACITIES, lambda found: figures(found) == sorted(expected))


async def test_each_class_and_zone_has_an_object() -> None:
    with running_driver() as running:
        running.set_capacity(10 * GIB, largest=4 * GIB)
        async with connected() as (client, _), sidecars(client, running, RARE) as c:
            for name, zone in (("n1", "a"), ("n2", "a"), ("n3", "b")):
                await zoned_node(c, name, zone)
            await storage_class(c, **LATE, parameters={"tier": "gold"})
            await storage_class(c, **LATE, metadata={"name": "slow"})
            await storage_class(c, metadata={"name": "immediate"})
            await storage_class(c, **LATE, metadata={"name": "foreign"}, provisioner="other.example.com")
            found = await until(c, *((name, zone, "10Gi") for name in ("fast", "slow") for zone in "ab"))
        assert {each["maximumVolumeSize"] for each in found} == {"4Gi"}
        assert all(meta(each).labels == LABELS for each in found)
        requested = [each for each in requests_of(running, "GetCapacity") if each.get("parameters") == {"tier": "gold"}]
        assert {each["accessible_topology"]["segments"][ZONE] for each in requested} == {"a", "b"}


async def test_a_driver_without_topology_has_one_object_for_all_nodes() -> None:
    with running_driver() as running:
        async with connected() as (client, _), sidecars(client, running, RARE) as c:
            await node(c)
            await storage_class(c, **LATE)
            [found] = await until(c, ("fast", "", "100Gi"))
    assert found["nodeTopology"] == {}


async def test_classes_with_immediate_binding_have_objects_if_desired() -> None:
    with running_driver() as running:
        settings = replace(RARE, capacity_for_immediate_binding=True)
        async with connected() as (client, _), sidecars(client, running, settings) as c:
            await node(c)
            await storage_class(c)
            await until(c, ("fast", "", "100Gi"))


async def test_the_capacity_is_refreshed_periodically() -> None:
    with running_driver() as running:
        running.set_capacity(2 * GIB, largest=GIB)
        async with connected() as (client, _), sidecars(client, running, PUBLISH) as c:
            await node(c)
            await storage_class(c, **LATE)
            await until(c, ("fast", "", "2Gi"))
            running.set_capacity(3 * GIB)
            found = await until(c, ("fast", "", "3Gi"))
    assert "maximumVolumeSize" not in found[0]


async def test_equal_figures_are_not_written_again() -> None:
    with running_driver() as running:
        async with connected() as (client, _), sidecars(client, running, PUBLISH) as c:
            await node(c)
            await storage_class(c, **LATE)
            before = await until(c, ("fast", "", "100Gi"))
            calls = len(running.calls("GetCapacity"))
            await c.until_all(NODES, lambda _: len(running.calls("GetCapacity")) > calls + 3)
            assert await c.all(CSI_STORAGE_CAPACITIES) == before


async def test_the_objects_of_a_new_volume_are_refreshed_at_once() -> None:
    with running_driver(topology={ZONE: "b"}) as running:
        async with connected() as (client, _), storage(client, running, RARE) as c:
            for zone in "ab":
                await zoned_node(c, f"node-{zone}", zone)
            await storage_class(c, **LATE)
            await until(c, ("fast", "a", "100Gi"), ("fast", "b", "100Gi"))
            await claim(c)
            annotations = {"volume.kubernetes.io/selected-node": "node-b"}
            await c.patch(PERSISTENT_VOLUME_CLAIMS, "c", {"metadata": {"annotations": annotations}})
            await bound(c)
            await until(c, ("fast", "a", "100Gi"), ("fast", "b", "99Gi"))
            await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
            await until(c, ("fast", "a", "100Gi"), ("fast", "b", "100Gi"))


async def test_the_objects_of_a_class_are_refreshed_after_a_failed_creation() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running, RARE) as c:
            await node(c)
            await storage_class(c, **LATE)
            await until(c, ("fast", "", "100Gi"))
            running.set_capacity(0)
            running.fail(CreateVolume={"code": "RESOURCE_EXHAUSTED", "message": "full"})
            await claim(c)
            annotations = {"volume.kubernetes.io/selected-node": "node-1"}
            await c.patch(PERSISTENT_VOLUME_CLAIMS, "c", {"metadata": {"annotations": annotations}})
            await until(c, ("fast", "", "0"))


async def test_objects_of_former_classes_zones_and_nodes_are_deleted() -> None:
    with running_driver() as running:
        async with connected() as (client, _), sidecars(client, running, RARE) as c:
            for zone in "abc":
                await zoned_node(c, zone, zone)
            await storage_class(c, **LATE)
            await storage_class(c, **LATE, metadata={"name": "slow"})
            await until(c, *((name, zone, "100Gi") for name in ("fast", "slow") for zone in "abc"))
            await c.delete(STORAGE_CLASSES, "slow")
            await until(c, *(("fast", zone, "100Gi") for zone in "abc"))
            await c.delete(NODES, "a")
            await c.delete(CSI_NODES, "b")
            await c.patch(NODES, "c", {"metadata": {"labels": {ZONE: "d"}}})
            await until(c, ("fast", "d", "100Gi"))


async def test_obsolete_objects_of_an_earlier_process_are_deleted_and_foreign_ones_stay() -> None:
    with running_driver() as running:
        async with connected() as (client, _), sidecars(client, running, RARE) as c:
            await c.create(CSI_STORAGE_CAPACITIES, _stored("old", LABELS))
            await c.until_gone(CSI_STORAGE_CAPACITIES, "old")
            await c.create(CSI_STORAGE_CAPACITIES, _stored("foreign", {**LABELS, DRIVER_LABEL: "other"}))
            await node(c)
            await storage_class(c, **LATE)
            await until(c, ("fast", "", "100Gi"), ("gone", "", "1Gi"))


def _stored(name: str, labels: dict[str, str]) -> Object:
    return {
        "metadata": {"name": name, "labels": labels},
        "storageClassName": "gone",
        "nodeTopology": {},
        "capacity": "1Gi",
    }


async def test_a_deleted_object_is_created_again() -> None:
    with running_driver() as running:
        async with connected() as (client, _), sidecars(client, running, RARE) as c:
            await node(c)
            await storage_class(c, **LATE)
            [first] = await until(c, ("fast", "", "100Gi"))
            await c.delete(CSI_STORAGE_CAPACITIES, meta(first).name)
            [second] = await c.until_all(
                CSI_STORAGE_CAPACITIES, lambda found: found and meta(found[0]).uid != meta(first).uid
            )
    assert figures([second]) == figures([first])


async def test_changed_labels_and_figures_are_restored() -> None:
    with running_driver() as running:
        async with connected() as (client, _), sidecars(client, running, PUBLISH) as c:
            await node(c)
            await storage_class(c, **LATE)
            [found] = await until(c, ("fast", "", "100Gi"))
            change = MergePatch({"metadata": {"labels": None}, "capacity": "1Ti"})
            await c.client.resource(CSI_STORAGE_CAPACITIES).patch(meta(found).name, change)
            await c.until(CSI_STORAGE_CAPACITIES, meta(found).name, lambda one: meta(one).labels == LABELS)
            await until(c, ("fast", "", "100Gi"))


async def test_a_failed_call_is_repeated() -> None:
    with running_driver() as running:
        running.fail(GetCapacity={"code": "INTERNAL", "message": "busy", "times": 2})
        async with connected() as (client, _), sidecars(client, running, RARE) as c:
            await node(c)
            await storage_class(c, **LATE)
            await until(c, ("fast", "", "100Gi"))


async def test_nothing_is_published_by_a_driver_without_the_capability(caplog: pytest.LogCaptureFixture) -> None:
    with running_driver(controller=("CREATE_DELETE_VOLUME",)) as running:
        async with connected() as (client, _), storage(client, running, PUBLISH) as c:
            await storage_class(c)
            await claim(c)
            await bound(c)
            assert await c.all(CSI_STORAGE_CAPACITIES) == []
        assert "the driver lacks GET_CAPACITY" in caplog.text
        assert running.calls("CreateVolume")
        assert not running.calls("GetCapacity")


async def test_a_pod_gets_a_node_once_its_driver_has_room() -> None:
    with running_driver(topology={ZONE: "b"}) as running:
        running.set_capacity(GIB // 2)
        async with (
            connected() as (client, _),
            storage(client, running, PUBLISH) as c,
            working(client, set_up_scheduler),
        ):
            await make_nodes(c, node_object("node-b", labels={ZONE: "b"}))
            drivers = [{"name": NAME, "nodeID": "node-1", "topologyKeys": [ZONE]}]
            await c.create(CSI_NODES, {"metadata": {"name": "node-b"}, "spec": {"drivers": drivers}})
            await c.create(CSI_DRIVERS, {"metadata": {"name": NAME}, "spec": {"storageCapacity": True}})
            await storage_class(c, **LATE)
            await until(c, ("fast", "b", "512Mi"))
            await claim(c, "data")
            await make_pods(c, with_claim("data"))
            events = await c.events("FailedScheduling")
            assert "node(s) did not have enough free storage" in events[0]["message"]
            running.set_capacity(2 * GIB)
            await bound(c, "data")


def _csi_node(name: str, *keys: str, driver: str = NAME) -> Any:
    return {"metadata": {"name": name}, "spec": {"drivers": [{"name": driver, "topologyKeys": list(keys)}]}}


def test_nodes_without_the_driver_its_labels_or_a_node_object_are_no_segment() -> None:
    labels = {"n1": {ZONE: "a", "x": "y"}, "n2": {ZONE: "a"}, "n3": {"x": "y"}, "n4": {ZONE: "b"}}
    csi_nodes = [_csi_node(f"n{number}", ZONE) for number in (1, 2, 3, 5)]
    assert segments(NAME, [*csi_nodes, _csi_node("n4", ZONE, driver="other")], labels) == {((ZONE, "a"),)}


def test_a_volume_without_affinity_has_no_segment() -> None:
    volume: Any = {"spec": {}}
    assert segments_of_volume(volume) == set()
