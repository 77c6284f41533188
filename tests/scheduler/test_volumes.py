"""Tests of Pods with claims, on a server in this process."""

from typing import Any

import pytest

from sampan.component_base.resources import (
    CSI_NODES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
)
from sampan.resource import Object
from sampan.scheduler.set_up import set_up
from sampan.scheduler.volumes.storage import fits
from sampan.scheduler.volumes.views import decode_claim, decode_volume
from sampan.wire import json
from tests.controllers.cluster import Working, cluster
from tests.scheduler.objects import node_object, pod_object
from tests.scheduler.test_scheduler import bound, make_nodes, make_pods, not_scheduled

QUICK = {"volumeAttributesClassName": "quick"}
NO_ATTRIBUTES = {"volumeAttributesClassName": ""}
_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"


def volume(name: str, host: str, **spec: Any) -> Object:
    """A volume that only one Node can access."""
    requirement = {"key": "kubernetes.io/hostname", "operator": "In", "values": [host]}
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}}
    fields = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "local": {"path": "/data"},
        "nodeAffinity": affinity,
    }
    return {"metadata": {"name": name}, "spec": {**fields, **spec}}


def claim(name: str, storage_class: str = "", **spec: Any) -> Object:
    desired = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": name}, "spec": {**desired, "storageClassName": storage_class, **spec}}


def with_claim(name: str) -> Object:
    return pod_object("web", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": name}}])


async def two_nodes(work: Working) -> None:
    await make_nodes(work, node_object("node-1"), node_object("node-2"))


async def test_a_pod_waits_for_its_claim() -> None:
    async with cluster(set_up) as work:
        await two_nodes(work)
        await make_pods(work, with_claim("data"))
        message = not_scheduled(await work.until(PODS, "web", not_scheduled))
        assert message.startswith('0/2 nodes are available: persistentvolumeclaim "data" not found.')


async def test_a_pod_runs_where_its_volume_is_accessible() -> None:
    async with cluster(set_up) as work:
        await two_nodes(work)
        await work.create(PERSISTENT_VOLUMES, volume("data", "node-2"))
        await work.create(PERSISTENT_VOLUME_CLAIMS, claim("data", volumeName="data"))
        await work.patch(PERSISTENT_VOLUME_CLAIMS, "data", {"metadata": {"annotations": {_BIND_COMPLETED: "yes"}}})
        await make_pods(work, with_claim("data"))
        assert await bound(work, "web") == "node-2"


async def test_a_pod_waits_for_an_unbound_immediate_claim() -> None:
    async with cluster(set_up) as work:
        await two_nodes(work)
        await work.create(STORAGE_CLASSES, {"metadata": {"name": "fast"}, "provisioner": "example.com/disk"})
        await work.create(PERSISTENT_VOLUME_CLAIMS, claim("data", "fast"))
        await make_pods(work, with_claim("data"))
        message = not_scheduled(await work.until(PODS, "web", not_scheduled))
        assert "pod has unbound immediate PersistentVolumeClaims" in message


async def test_a_claim_that_waits_for_its_pod_gets_the_selected_node() -> None:
    late = {"provisioner": "example.com/disk", "volumeBindingMode": "WaitForFirstConsumer"}
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1"))
        await work.create(STORAGE_CLASSES, {"metadata": {"name": "late"}, **late})
        await work.create(PERSISTENT_VOLUME_CLAIMS, claim("data", "late"))
        await make_pods(work, with_claim("data"))
        selected = await work.until(
            PERSISTENT_VOLUME_CLAIMS,
            "data",
            lambda claim: "volume.kubernetes.io/selected-node" in claim["metadata"].get("annotations", {}),
        )
        assert selected["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] == "node-1"
        assert "nodeName" not in (await work.get(PODS, "web"))["spec"]
        await work.patch_status(PERSISTENT_VOLUME_CLAIMS, "data", {"phase": "Bound"})
        assert await bound(work, "web") == "node-1"


async def test_a_node_without_storage_drivers_takes_pods_with_claims() -> None:
    late = {"provisioner": "sampan.dev/host-path", "volumeBindingMode": "WaitForFirstConsumer"}
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1"))
        await work.create(CSI_NODES, {"metadata": {"name": "node-1"}, "spec": {"drivers": None}})
        await work.create(STORAGE_CLASSES, {"metadata": {"name": "late"}, **late})
        await work.create(PERSISTENT_VOLUME_CLAIMS, claim("data", "late"))
        await make_pods(work, with_claim("data"))
        await work.until(
            PERSISTENT_VOLUME_CLAIMS,
            "data",
            lambda claim: "volume.kubernetes.io/selected-node" in claim["metadata"].get("annotations", {}),
        )


async def test_a_static_volume_is_bound_where_it_is_accessible() -> None:
    local = {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
    async with cluster(set_up) as work:
        await two_nodes(work)
        await work.create(STORAGE_CLASSES, {"metadata": {"name": "local"}, **local})
        await work.create(PERSISTENT_VOLUMES, volume("data", "node-2", storageClassName="local"))
        await work.patch_status(PERSISTENT_VOLUMES, "data", {"phase": "Available"})
        await work.create(PERSISTENT_VOLUME_CLAIMS, claim("data", "local"))
        await make_pods(work, with_claim("data"))
        taken = await work.until(PERSISTENT_VOLUMES, "data", lambda volume: volume["spec"].get("claimRef"))
        assert taken["spec"]["claimRef"]["name"] == "data"
        await work.patch_status(PERSISTENT_VOLUME_CLAIMS, "data", {"phase": "Bound"})
        assert await bound(work, "web") == "node-2"


@pytest.mark.parametrize(
    ("of_volume", "of_claim", "expected"),
    [({}, {}, True), (QUICK, QUICK, True), (QUICK, {}, False), ({}, QUICK, False), ({}, NO_ATTRIBUTES, True)],
    ids=["neither", "both", "only the volume", "only the claim", "empty"],
)
def test_a_volume_fits_only_a_claim_with_its_attributes_class(
    of_volume: Object, of_claim: Object, expected: bool
) -> None:
    found = decode_volume(json.encode(volume("v", "node-1", **of_volume)))
    assert fits(found, decode_claim(json.encode(claim("c", **of_claim)))) == expected


async def test_zonal_volumes_are_used_only_in_their_zone() -> None:
    async with cluster(set_up) as work:
        zone = "topology.kubernetes.io/zone"
        await make_nodes(work, *(node_object(f"node-{name}", labels={zone: name}) for name in ("a", "b")))
        in_zone = volume("data", "", nodeAffinity=None)
        in_zone["metadata"]["labels"] = {zone: "b"}
        in_zone["spec"].pop("local")
        in_zone["spec"]["hostPath"] = {"path": "/data"}
        await work.create(PERSISTENT_VOLUMES, in_zone)
        bound_claim = claim("data", volumeName="data")
        bound_claim["metadata"]["annotations"] = {_BIND_COMPLETED: "yes"}
        await work.create(PERSISTENT_VOLUME_CLAIMS, bound_claim)
        await make_pods(work, with_claim("data"))
        assert await bound(work, "web") == "node-b"
        assert (await work.get(NODES, "node-b"))["metadata"]["labels"][zone] == "b"


async def test_a_node_has_no_more_volumes_than_its_driver_supports() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1"))
        driver = {"name": "example.com", "nodeID": "1", "allocatable": {"count": 1}}
        await work.create(CSI_NODES, {"metadata": {"name": "node-1"}, "spec": {"drivers": [driver]}})
        for number in range(2):
            csi = {"driver": "example.com", "volumeHandle": f"handle-{number}"}
            spec = volume(f"data-{number}", "node-1", csi=csi)
            spec["spec"].pop("local")
            await work.create(PERSISTENT_VOLUMES, spec)
            bound_claim = claim(f"data-{number}", volumeName=f"data-{number}")
            bound_claim["metadata"]["annotations"] = {_BIND_COMPLETED: "yes"}
            await work.create(PERSISTENT_VOLUME_CLAIMS, bound_claim)
        source = {"persistentVolumeClaim": {"claimName": "data-0"}}
        await make_pods(work, pod_object("first", volumes=[{"name": "data", **source}]))
        assert await bound(work, "first") == "node-1"
        await make_pods(work, with_claim("data-1"))
        message = not_scheduled(await work.until(PODS, "web", not_scheduled))
        assert "1 node(s) exceed max volume count" in message
        await make_pods(work, pod_object("the-same", volumes=[{"name": "data", **source}]))
        assert await bound(work, "the-same") == "node-1"
