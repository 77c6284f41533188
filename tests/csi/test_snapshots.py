"""Tests of snapshots on a driver process."""

import pytest

pytest.importorskip("grpc", reason="needs the extra cri")

from sampan.client import Client
from sampan.component_base.resources import PERSISTENT_VOLUMES
from sampan.core.gvk import GroupVersionResource
from sampan.csi.sidecar.snapshots.kinds import (
    VOLUME_SNAPSHOT_CLASSES,
    VOLUME_SNAPSHOT_CONTENTS,
    VOLUME_SNAPSHOTS,
    snapshot_parameters,
    snapshot_secret,
)
from sampan.resource import Object, ResourceInfo, meta
from tests.client.connected import connected
from tests.controllers.cluster import Working
from tests.csi.storage import (
    NAME,
    bound,
    claim,
    controllers,
    requests_of,
    running_driver,
    sidecars,
    storage,
    storage_class,
)
from tests.e2e.csi.driver import Driver

DEFINITIONS = ResourceInfo(
    GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions"), "CustomResourceDefinition", False
)
ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


async def define_snapshots(client: Client) -> None:
    """Create the kinds of snapshots, without their schemas."""
    for kind in (VOLUME_SNAPSHOT_CLASSES, VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOTS):
        plural = kind.gvr.resource
        version = {
            "name": "v1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": ANY},
            "subresources": {"status": {}} if kind is not VOLUME_SNAPSHOT_CLASSES else {},
        }
        spec = {
            "group": kind.gvr.group,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "names": {"plural": plural, "singular": kind.kind.lower(), "kind": kind.kind},
            "versions": [version],
        }
        name = f"{plural}.{kind.gvr.group}"
        annotations = {"api-approved.kubernetes.io": "https://example.com"}
        obj = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
        await client.resource(DEFINITIONS).create(
            {**obj, "metadata": {"name": name, "annotations": annotations}, "spec": spec}
        )
    c = Working(client, None)  # type: ignore[arg-type]  # the manager is not used
    for kind in (VOLUME_SNAPSHOT_CLASSES, VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOTS):
        name = f"{kind.gvr.resource}.{kind.gvr.group}"
        await c.until(DEFINITIONS, name, is_established)


def is_established(definition: Object) -> bool:
    """Return True if a kind is served."""
    found = (definition.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Established" and each["status"] == "True" for each in found)


async def snapshot(c: Working, *, policy: str = "Delete") -> Object:
    """Create a bound claim and a snapshot of it."""
    await storage_class(c)
    await claim(c)
    volume = await c.get(PERSISTENT_VOLUMES, (await bound(c))["spec"]["volumeName"])
    await c.create(VOLUME_SNAPSHOT_CLASSES, {"metadata": {"name": "copies"}, "driver": NAME, "deletionPolicy": policy})
    source = {"persistentVolumeClaimName": "c"}
    spec = {"volumeSnapshotClassName": "copies", "source": source}
    await c.create(VOLUME_SNAPSHOTS, {"metadata": {"name": "s"}, "spec": spec})
    return volume


def is_ready(obj: Object) -> bool:
    """Return True if a snapshot can be restored."""
    return bool((obj.get("status") or {}).get("readyToUse"))


def copies_of(running: Driver) -> list[str]:
    """Return the snapshots that the driver has."""
    directory = running.settings.data / "snapshots"
    return sorted(each.name for each in directory.iterdir()) if directory.is_dir() else []


async def test_a_snapshot_is_taken_restored_and_deleted() -> None:
    with running_driver() as running:
        async with connected() as (client, _):
            await define_snapshots(client)
            async with storage(client, running) as c:
                volume = await snapshot(c)
                found = await c.until(VOLUME_SNAPSHOTS, "s", is_ready)
                status = found["status"]
                assert status["boundVolumeSnapshotContentName"] == f"snapcontent-{meta(found).uid}"
                assert status["restoreSize"] == "1Gi"
                [event] = await c.events("SnapshotReady")
                assert event["message"] == "Snapshot default/s is ready to use."
                source = {"kind": "VolumeSnapshot", "name": "s", "apiGroup": "snapshot.storage.k8s.io"}
                await claim(c, "restored", dataSource=source)
                await bound(c, "restored")
                await c.delete(VOLUME_SNAPSHOTS, "s")
                await c.until_gone(VOLUME_SNAPSHOTS, "s")
                await c.until_gone(VOLUME_SNAPSHOT_CONTENTS, status["boundVolumeSnapshotContentName"])
        [taken] = requests_of(running, "CreateSnapshot")
        assert taken["source_volume_id"] == volume["spec"]["csi"]["volumeHandle"]
        assert taken["name"] == f"snapshot-{meta(found).uid}"
        restored = requests_of(running, "CreateVolume")[-1]["volume_content_source"]
        assert restored["snapshot"]["snapshot_id"].startswith("snap-")
        assert copies_of(running) == []


async def test_a_retained_content_keeps_its_snapshot() -> None:
    with running_driver() as running:
        async with connected() as (client, _):
            await define_snapshots(client)
            async with storage(client, running) as c:
                await snapshot(c, policy="Retain")
                await c.until(VOLUME_SNAPSHOTS, "s", is_ready)
                await c.delete(VOLUME_SNAPSHOTS, "s")
                await c.until_gone(VOLUME_SNAPSHOTS, "s")
                assert len(await c.all(VOLUME_SNAPSHOT_CONTENTS)) == 1
        assert len(copies_of(running)) == 1


async def test_a_failed_snapshot_is_in_the_status_and_is_repeated() -> None:
    with running_driver() as running:
        running.fail(CreateSnapshot={"code": "INTERNAL", "message": "full"})
        async with connected() as (client, _):
            await define_snapshots(client)
            async with storage(client, running) as c:
                await snapshot(c)
                found = await c.until(VOLUME_SNAPSHOTS, "s", lambda s: (s.get("status") or {}).get("error"))
                assert found["status"]["error"]["message"].endswith("code = Internal desc = full")
                running.fail()
                found = await c.until(VOLUME_SNAPSHOTS, "s", is_ready)
                assert "error" not in found["status"]


async def test_a_snapshot_deleted_during_an_uncertain_call_is_not_leaked() -> None:
    with running_driver() as running:
        running.fail(CreateSnapshot={"code": "UNAVAILABLE", "message": "lost", "after": True})
        async with connected() as (client, _):
            await define_snapshots(client)
            async with controllers(client) as c:
                async with sidecars(client, running):
                    await snapshot(c)
                    await c.events("SnapshotCreationFailed")
                assert len(copies_of(running)) == 1
                running.fail()
                await c.delete(VOLUME_SNAPSHOTS, "s")
                async with sidecars(client, running):
                    await c.until_gone(VOLUME_SNAPSHOTS, "s")
                    await c.until_all(VOLUME_SNAPSHOT_CONTENTS, lambda found: not found)
        assert copies_of(running) == []


def test_the_secret_of_a_snapshot_is_made_from_templates() -> None:
    prefix = "csi.storage.k8s.io/snapshotter-secret"
    parameters = {f"{prefix}-name": "${volumesnapshot.name}", f"{prefix}-namespace": "${volumesnapshot.namespace}"}
    reference = {"namespace": "ns", "name": "s"}
    assert snapshot_secret(parameters, "content", reference) == {"namespace": "ns", "name": "s"}
    assert snapshot_parameters({**parameters, "tier": "x"}) == {"tier": "x"}
