"""Tests of Pods whose volumes need free storage, on a server in this process."""

from typing import Any

import pytest

from sampan.component_base.resources import (
    CSI_DRIVERS,
    CSI_STORAGE_CAPACITIES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    STORAGE_CLASSES,
)
from sampan.resource import Object
from sampan.scheduler.set_up import set_up
from sampan.scheduler.volumes.capacity import StorageCapacity, with_room
from tests.controllers.cluster import Working, cluster
from tests.scheduler.objects import node_object
from tests.scheduler.test_scheduler import make_nodes, make_pods, not_scheduled
from tests.scheduler.test_volumes import claim, with_claim

DRIVER = "disk.example.com"
ZONE = "topology.kubernetes.io/zone"
NO_SPACE = "node(s) did not have enough free storage"
SELECTED = "volume.kubernetes.io/selected-node"


def capacity(name: str, zone: str, size: str = "10Gi", **fields: Any) -> Object:
    """Free storage in a zone."""
    topology = {"matchLabels": {ZONE: zone}}
    fixed = {"storageClassName": "late", "nodeTopology": topology, "capacity": size}
    return {"metadata": {"name": name}, **fixed, **fields}


async def pod_with_late_claim(work: Working, *, tracked: bool = True) -> None:
    """Create two nodes in the zones a and b, and a Pod whose claim of 1Gi waits for it."""
    await make_nodes(work, *(node_object(f"node-{zone}", labels={ZONE: zone}) for zone in ("a", "b")))
    await work.create(CSI_DRIVERS, {"metadata": {"name": DRIVER}, "spec": {"storageCapacity": tracked}})
    late = {"provisioner": DRIVER, "volumeBindingMode": "WaitForFirstConsumer"}
    await work.create(STORAGE_CLASSES, {"metadata": {"name": "late"}, **late})
    await work.create(PERSISTENT_VOLUME_CLAIMS, claim("data", "late"))
    await make_pods(work, with_claim("data"))


async def selected_node(work: Working) -> str:
    """Wait until a node is selected for the claim, and return it."""
    found = await work.until(
        PERSISTENT_VOLUME_CLAIMS, "data", lambda one: SELECTED in one["metadata"].get("annotations", {})
    )
    return str(found["metadata"]["annotations"][SELECTED])


async def test_a_pod_waits_until_there_is_capacity() -> None:
    async with cluster(set_up) as work:
        await pod_with_late_claim(work)
        message = not_scheduled(await work.until(PODS, "web", not_scheduled))
        assert message.startswith(f"0/2 nodes are available: 2 {NO_SPACE}.")
        await work.create(CSI_STORAGE_CAPACITIES, capacity("one", "b"))
        assert await selected_node(work) == "node-b"


async def test_a_pod_waits_until_the_capacity_grows() -> None:
    async with cluster(set_up) as work:
        await work.create(CSI_STORAGE_CAPACITIES, capacity("one", "a", "1023Mi"))
        await pod_with_late_claim(work)
        assert NO_SPACE in not_scheduled(await work.until(PODS, "web", not_scheduled))
        await work.patch(CSI_STORAGE_CAPACITIES, "one", {"capacity": "1Gi"})
        assert await selected_node(work) == "node-a"


async def test_a_pod_waits_until_its_driver_no_longer_reports_capacity() -> None:
    async with cluster(set_up) as work:
        await pod_with_late_claim(work)
        assert NO_SPACE in not_scheduled(await work.until(PODS, "web", not_scheduled))
        await work.patch(CSI_DRIVERS, DRIVER, {"spec": {"storageCapacity": False}})
        assert await selected_node(work) in ("node-a", "node-b")


async def test_capacity_of_a_driver_that_does_not_report_it_is_unlimited() -> None:
    async with cluster(set_up) as work:
        await work.create(CSI_STORAGE_CAPACITIES, capacity("one", "a", "0"))
        await pod_with_late_claim(work, tracked=False)
        assert await selected_node(work) in ("node-a", "node-b")


FITS = {
    "capacity": ({"capacity": "1Gi"}, True),
    "too little capacity": ({"capacity": "1073741823"}, False),
    "maximum size": ({"capacity": "9Gi", "maximum_volume_size": "1Gi"}, True),
    "too small a maximum size": ({"capacity": "9Gi", "maximum_volume_size": "512Mi"}, False),
    "a maximum size above the capacity": ({"capacity": "1Mi", "maximum_volume_size": "2Gi"}, True),
    "no figure": ({}, False),
    "no nodes": ({"capacity": "1Gi", "node_topology": None}, False),
    "all nodes": ({"capacity": "1Gi", "node_topology": {}}, True),
    "another zone": ({"capacity": "1Gi", "node_topology": {"matchLabels": {ZONE: "b"}}}, False),
    "another class": ({"capacity": "1Gi", "storage_class_name": "early"}, False),
    "a wrong selector": ({"capacity": "1Gi", "node_topology": {"matchExpressions": [{"operator": "?"}]}}, False),
}


@pytest.mark.parametrize(("fields", "fits"), FITS.values(), ids=FITS)
def test_a_volume_fits_where_enough_of_its_class_is_reachable(fields: dict[str, Any], fits: bool) -> None:
    found = StorageCapacity(**{"storage_class_name": "late", "node_topology": {"matchLabels": {ZONE: "a"}}, **fields})
    assert any(nodes.matches({ZONE: "a"}) for nodes in with_room([found], "late", 1 << 30)) == fits
