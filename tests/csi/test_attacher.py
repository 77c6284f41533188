"""Tests of the attacher on a driver process."""

import signal

import pytest

pytest.importorskip("grpc", reason="needs the extra cri")

from sampan.client import DeleteOptions
from sampan.component_base.resources import CSI_NODES, NODES, PERSISTENT_VOLUMES, PODS, VOLUME_ATTACHMENTS
from sampan.csi.names import attachment_name, unique_volume_name
from sampan.resource import Object, meta
from tests.client.connected import connected
from tests.controllers.cluster import Working
from tests.csi.storage import (
    NAME,
    NODE,
    bound,
    claim,
    controllers,
    node,
    pod,
    requests_of,
    running_driver,
    sidecars,
    storage,
    storage_class,
)

FINALIZER = "external-attacher/test-csi-sampan-dev"


async def used_volume(c: Working) -> Object:
    """Create a volume and a Pod that uses it, and return the volume."""
    await node(c)
    await storage_class(c)
    await claim(c)
    volume = await c.get(PERSISTENT_VOLUMES, (await bound(c))["spec"]["volumeName"])
    await pod(c)
    return volume


def attachment_of(volume: Object) -> str:
    """Return the name of the volume's attachment."""
    return attachment_name(NAME, volume["spec"]["csi"]["volumeHandle"], NODE)


def is_attached(attachment: Object) -> bool:
    """Return True if the attacher has succeeded."""
    return bool((attachment.get("status") or {}).get("attached"))


async def test_a_volume_is_attached_and_detached() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            volume = await used_volume(c)
            found = await c.until(VOLUME_ATTACHMENTS, attachment_of(volume), is_attached)
            assert found["status"]["attachmentMetadata"] == {"attached-to": NODE}
            assert meta(found).finalizers == [FINALIZER]
            assert meta(found).annotations["csi.alpha.kubernetes.io/node-id"] == NODE
            unique = unique_volume_name(NAME, volume["spec"]["csi"]["volumeHandle"])
            await c.until(NODES, NODE, lambda n: str(n["status"].get("volumesAttached")).find(unique) > 0)
            await c.until(PERSISTENT_VOLUMES, meta(volume).name, lambda v: FINALIZER in meta(v).finalizers)
            await c.client.resource(PODS).delete("p", DeleteOptions(grace_period_seconds=0))
            await c.until_gone(VOLUME_ATTACHMENTS, attachment_of(volume))
        [request] = requests_of(running, "ControllerPublishVolume")
        assert request["volume_capability"]["access_mode"] == {"mode": "SINGLE_NODE_WRITER"}
        assert request["volume_context"]["made-by"] == "test-driver"
        assert requests_of(running, "ControllerUnpublishVolume")[0]["node_id"] == NODE


async def test_a_driver_without_attachment_calls_is_attached_at_once() -> None:
    with running_driver(controller=("CREATE_DELETE_VOLUME",)) as running:
        async with connected() as (client, _), storage(client, running) as c:
            volume = await used_volume(c)
            found = await c.until(VOLUME_ATTACHMENTS, attachment_of(volume), is_attached)
            assert not meta(found).finalizers


async def test_a_failed_attachment_is_in_the_status_and_is_repeated() -> None:
    with running_driver() as running:
        running.fail(ControllerPublishVolume={"code": "INTERNAL", "message": "no port", "times": 1})
        async with connected() as (client, _), storage(client, running) as c:
            volume = await used_volume(c)
            [event] = await c.events("FailedAttachVolume")
            assert event["message"].endswith("rpc error: code = Internal desc = no port")
            found = await c.until(VOLUME_ATTACHMENTS, attachment_of(volume), is_attached)
            assert "attachError" not in found["status"]
        assert len(running.calls("ControllerPublishVolume")) == 2


async def test_a_failing_attachment_is_not_repeated_in_a_hurry() -> None:
    with running_driver() as running:
        running.fail(ControllerPublishVolume={"code": "INTERNAL", "message": "no port"})
        async with connected() as (client, _), storage(client, running) as c:
            volume = await used_volume(c)
            await c.events("FailedAttachVolume")
            await c.until(
                VOLUME_ATTACHMENTS, attachment_of(volume), lambda a: a["status"]["attachError"]["errorCode"] == 13
            )
            first = len(running.calls("ControllerPublishVolume"))
            await c.patch(VOLUME_ATTACHMENTS, attachment_of(volume), {"metadata": {"labels": {"a": "b"}}})
            await c.until(VOLUME_ATTACHMENTS, attachment_of(volume), lambda a: meta(a).labels)
            assert len(running.calls("ControllerPublishVolume")) - first <= 2


async def test_a_failed_detachment_is_in_the_status_and_is_repeated() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            volume = await used_volume(c)
            await c.until(VOLUME_ATTACHMENTS, attachment_of(volume), is_attached)
            running.fail(ControllerUnpublishVolume={"code": "INTERNAL", "message": "stuck"})
            await c.client.resource(PODS).delete("p", DeleteOptions(grace_period_seconds=0))
            found = await c.until(VOLUME_ATTACHMENTS, attachment_of(volume), lambda a: a["status"].get("detachError"))
            assert found["status"]["detachError"]["message"] == "rpc error: code = Internal desc = stuck"
            running.fail()
            await c.until_gone(VOLUME_ATTACHMENTS, attachment_of(volume))


async def test_a_node_without_the_driver_is_detached_by_the_stored_id() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            volume = await used_volume(c)
            await c.until(VOLUME_ATTACHMENTS, attachment_of(volume), is_attached)
            await c.delete(CSI_NODES, NODE)
            await c.client.resource(PODS).delete("p", DeleteOptions(grace_period_seconds=0))
            await c.until_gone(VOLUME_ATTACHMENTS, attachment_of(volume))
        assert requests_of(running, "ControllerUnpublishVolume")[0]["node_id"] == NODE


async def test_a_killed_driver_attaches_after_its_restart() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            await node(c)
            await storage_class(c)
            await claim(c)
            volume = await c.get(PERSISTENT_VOLUMES, (await bound(c))["spec"]["volumeName"])
            running.stop(signal.SIGKILL)
            await pod(c)
            await c.events("FailedAttachVolume")
            running.start()
            await c.until(VOLUME_ATTACHMENTS, attachment_of(volume), is_attached)


async def test_a_restarted_attacher_completes_a_detachment() -> None:
    with running_driver() as running:
        async with connected() as (client, _), controllers(client) as c:
            async with sidecars(client, running):
                volume = await used_volume(c)
                await c.until(VOLUME_ATTACHMENTS, attachment_of(volume), is_attached)
            await c.client.resource(PODS).delete("p", DeleteOptions(grace_period_seconds=0))
            await c.until(VOLUME_ATTACHMENTS, attachment_of(volume), lambda a: meta(a).deletion_timestamp)
            async with sidecars(client, running):
                await c.until_gone(VOLUME_ATTACHMENTS, attachment_of(volume))
        assert running.methods("ControllerUnpublish") == ["ControllerUnpublishVolume"]


async def test_a_deleted_volume_waits_for_its_detachment() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            volume = await used_volume(c)
            await c.until(VOLUME_ATTACHMENTS, attachment_of(volume), is_attached)
            await c.delete(PERSISTENT_VOLUMES, meta(volume).name)
            found = await c.until(PERSISTENT_VOLUMES, meta(volume).name, lambda v: meta(v).deletion_timestamp)
            assert FINALIZER in meta(found).finalizers
            await c.client.resource(PODS).delete("p", DeleteOptions(grace_period_seconds=0))
            await c.until(PERSISTENT_VOLUMES, meta(volume).name, lambda v: FINALIZER not in meta(v).finalizers)
