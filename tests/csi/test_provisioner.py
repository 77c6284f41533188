"""Tests of the provisioner on a driver process."""

import os
import signal

import pytest

pytest.importorskip("grpc", reason="needs the extra cri")

from sampan.client import DeleteOptions
from sampan.component_base.resources import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    SECRETS,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
)
from sampan.resource import Object, meta
from tests.client.connected import connected
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
    volumes_of,
)
from tests.e2e.csi.driver import Driver


async def test_a_claim_gets_a_volume() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            parameters = {"tier": "gold", "csi.storage.k8s.io/fstype": "ext4"}
            await storage_class(c, parameters=parameters, mountOptions=["noatime"])
            await claim(c)
            found = await bound(c)
            name = f"pvc-{meta(found).uid}"
            volume = await c.get(PERSISTENT_VOLUMES, name)
        [request] = requests_of(running, "CreateVolume")
    assert request["name"] == name
    assert request["capacity_range"] == {"required_bytes": str(1 << 30)}
    assert request["parameters"] == {
        "tier": "gold",
        "csi.storage.k8s.io/pvc/name": "c",
        "csi.storage.k8s.io/pvc/namespace": "default",
        "csi.storage.k8s.io/pv/name": name,
    }
    [capability] = request["volume_capabilities"]
    assert capability["mount"] == {"fs_type": "ext4", "mount_flags": ["noatime"]}
    assert capability["access_mode"] == {"mode": "SINGLE_NODE_WRITER"}
    source = volume["spec"]["csi"]
    assert (source["driver"], source["fsType"]) == (NAME, "ext4")
    assert source["volumeAttributes"]["made-by"] == "test-driver"
    assert volume["spec"]["capacity"] == {"storage": "1Gi"}
    assert volume["spec"]["mountOptions"] == ["noatime"]
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
    assert meta(volume).annotations["pv.kubernetes.io/provisioned-by"] == NAME
    assert set(meta(volume).finalizers) >= {"external-provisioner.volume.kubernetes.io/finalizer"}


async def test_events_of_a_claim_report_the_progress() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            await storage_class(c)
            await claim(c)
            found = await bound(c)
            [event] = await c.events("Provisioning")
            assert event["message"] == 'External provisioner is provisioning volume for claim "default/c"'
            [event] = await c.events("ProvisioningSucceeded")
            assert event["message"] == f"Successfully provisioned volume pvc-{meta(found).uid}"


async def test_a_deleted_claim_takes_its_volume_with_it() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            await storage_class(c)
            await claim(c)
            name = (await bound(c))["spec"]["volumeName"]
            assert len(volumes_of(running)) == 1
            await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
            await c.until_gone(PERSISTENT_VOLUMES, name)
        assert volumes_of(running) == []


async def test_a_retained_volume_stays() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            await storage_class(c, reclaimPolicy="Retain")
            await claim(c)
            name = (await bound(c))["spec"]["volumeName"]
            await c.until(PERSISTENT_VOLUMES, name, lambda v: "external-prov" not in str(meta(v).finalizers))
            await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
            await c.until(PERSISTENT_VOLUMES, name, lambda v: v["status"]["phase"] == "Released")
            await c.delete(PERSISTENT_VOLUMES, name)
            await c.until_gone(PERSISTENT_VOLUMES, name)
        assert len(volumes_of(running)) == 1


async def test_an_attached_volume_is_deleted_only_after_its_detachment() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            await node(c)
            await storage_class(c)
            await claim(c)
            name = (await bound(c))["spec"]["volumeName"]
            await pod(c)
            await c.until_all(VOLUME_ATTACHMENTS, lambda all: all and all[0].get("status", {}).get("attached"))
            await c.client.resource(PODS).delete("p", DeleteOptions(grace_period_seconds=0))
            await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
            await c.until_gone(PERSISTENT_VOLUMES, name)
        calls = running.methods("Controller") + running.methods("DeleteVolume")
    assert calls[-2:] == ["ControllerUnpublishVolume", "DeleteVolume"]


async def test_a_failed_creation_is_an_event_and_is_repeated() -> None:
    with running_driver() as running:
        running.fail(CreateVolume={"code": "INTERNAL", "message": "no disk", "times": 2})
        async with connected() as (client, _), storage(client, running) as c:
            await storage_class(c)
            await claim(c)
            await bound(c)
            events = await c.events("ProvisioningFailed")
            assert events[0]["message"] == "rpc error: code = Internal desc = no disk"
        assert len(volumes_of(running)) == 1


async def test_a_lost_response_does_not_lead_to_a_second_volume() -> None:
    with running_driver() as running:
        running.fail(CreateVolume={"code": "DEADLINE_EXCEEDED", "message": "slow", "times": 2, "after": True})
        async with connected() as (client, _), storage(client, running) as c:
            await storage_class(c)
            await claim(c)
            await bound(c)
        names = {each["name"] for each in requests_of(running, "CreateVolume")}
        assert len(running.calls("CreateVolume")) == 3
        assert (len(names), len(volumes_of(running))) == (1, 1)


async def test_a_volume_of_a_claim_deleted_during_an_uncertain_creation_is_not_leaked() -> None:
    with running_driver() as running:
        running.fail(CreateVolume={"code": "ABORTED", "message": "pending", "after": True})
        async with connected() as (client, _), storage(client, running) as c:
            await storage_class(c)
            await claim(c)
            await c.events("ProvisioningFailed")
            assert len(volumes_of(running)) == 1
            await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
            await c.until_gone(PERSISTENT_VOLUME_CLAIMS, "c")
            running.fail()
            await c.until_all(PERSISTENT_VOLUMES, lambda found: not found and not volumes_of(running))


async def test_a_killed_driver_creates_one_volume() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            await storage_class(c)
            running.stop(signal.SIGKILL)
            await claim(c)
            await c.events("ProvisioningFailed")
            running.start()
            await bound(c)
        assert len(volumes_of(running)) == 1


async def test_a_driver_killed_during_the_call_creates_one_volume() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            await storage_class(c)
            freeze(running)
            await claim(c)
            await c.events("Provisioning")
            assert not running.calls("CreateVolume")
            running.stop(signal.SIGKILL)
            await c.events("ProvisioningFailed")
            running.start()
            await bound(c)
        assert len(volumes_of(running)) == 1


async def test_sidecars_that_end_during_the_call_leave_one_volume() -> None:
    with running_driver() as running:
        async with connected() as (client, _), controllers(client) as c:
            await storage_class(c)
            await claim(c)
            async with sidecars(client, running):
                freeze(running)
                await c.patch(PERSISTENT_VOLUME_CLAIMS, "c", {"metadata": {"labels": {"a": "b"}}})
            os.kill(pid_of(running), signal.SIGCONT)
            async with sidecars(client, running):
                await bound(c)
            assert len(await c.all(PERSISTENT_VOLUMES)) == 1
        assert len(volumes_of(running)) == 1


def pid_of(running: Driver) -> int:
    """Return the process of a driver."""
    assert running._process is not None
    return running._process.pid


def freeze(running: Driver) -> None:
    """Stop a driver, so that its calls do not end."""
    os.kill(pid_of(running), signal.SIGSTOP)


async def test_a_restart_between_creation_and_object_leads_to_one_volume() -> None:
    with running_driver() as running:
        running.fail(CreateVolume={"code": "UNAVAILABLE", "message": "lost", "after": True})
        async with connected() as (client, _), controllers(client) as c:
            await storage_class(c)
            await claim(c)
            async with sidecars(client, running):
                await c.events("ProvisioningFailed")
            assert not await c.all(PERSISTENT_VOLUMES)
            assert len(volumes_of(running)) == 1
            running.fail()
            async with sidecars(client, running):
                await bound(c)
                assert len(volumes_of(running)) == 1
                await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
                await c.until_all(PERSISTENT_VOLUMES, lambda found: not found)
        assert volumes_of(running) == []


async def test_a_failed_deletion_is_an_event_and_is_repeated() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            await storage_class(c)
            await claim(c)
            name = (await bound(c))["spec"]["volumeName"]
            running.fail(DeleteVolume={"code": "INTERNAL", "message": "busy", "times": 1})
            await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
            [event] = await c.events("VolumeFailedDelete")
            assert event["message"] == "rpc error: code = Internal desc = busy"
            await c.until_gone(PERSISTENT_VOLUMES, name)
        assert volumes_of(running) == []


async def test_a_late_class_waits_for_the_selected_node() -> None:
    zone = "topology.test/zone"
    with running_driver(topology={zone: "b"}) as running:
        async with connected() as (client, _), storage(client, running) as c:
            await node(c, "a", labels={zone: "a"}, keys=(zone,))
            await node(c, NODE, labels={zone: "b"}, keys=(zone,))
            await storage_class(c, volumeBindingMode="WaitForFirstConsumer")
            await claim(c)
            await c.events("WaitForFirstConsumer")
            assert not running.calls("CreateVolume")
            annotations = {"volume.kubernetes.io/selected-node": NODE}
            await c.patch(PERSISTENT_VOLUME_CLAIMS, "c", {"metadata": {"annotations": annotations}})
            volume = await c.get(PERSISTENT_VOLUMES, (await bound(c))["spec"]["volumeName"])
        [request] = requests_of(running, "CreateVolume")
    assert request["accessibility_requirements"]["requisite"] == [{"segments": {zone: z}} for z in "ab"]
    assert request["accessibility_requirements"]["preferred"] == [{"segments": {zone: z}} for z in "ba"]
    [term] = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term == {"matchExpressions": [{"key": zone, "operator": "In", "values": ["b"]}]}


async def test_an_exhausted_node_is_given_back_to_the_scheduler() -> None:
    zone = "topology.test/zone"
    with running_driver(topology={zone: "b"}) as running:
        running.fail(CreateVolume={"code": "RESOURCE_EXHAUSTED", "message": "full"})
        async with connected() as (client, _), storage(client, running) as c:
            await node(c, NODE, labels={zone: "b"}, keys=(zone,))
            await storage_class(c, volumeBindingMode="WaitForFirstConsumer")
            await claim(c)
            annotations = {"volume.kubernetes.io/selected-node": NODE}
            await c.patch(PERSISTENT_VOLUME_CLAIMS, "c", {"metadata": {"annotations": annotations}})
            await c.events("ProvisioningFailed")
            await c.until(
                PERSISTENT_VOLUME_CLAIMS, "c", lambda found: not annotations.keys() & meta(found).annotations.keys()
            )


async def test_secrets_are_sent_to_the_driver_and_named_in_the_volume() -> None:
    prefix = "csi.storage.k8s.io"
    parameters = {
        f"{prefix}/provisioner-secret-name": "${pvc.name}-key",
        f"{prefix}/provisioner-secret-namespace": "${pvc.namespace}",
        f"{prefix}/node-stage-secret-name": "stage",
        f"{prefix}/node-stage-secret-namespace": "default",
    }
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            await c.create(SECRETS, {"metadata": {"name": "c-key"}, "stringData": {"token": "t"}})
            await storage_class(c, parameters=parameters)
            await claim(c)
            name = (await bound(c))["spec"]["volumeName"]
            volume = await c.get(PERSISTENT_VOLUMES, name)
            await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
            await c.until_gone(PERSISTENT_VOLUMES, name)
        assert requests_of(running, "CreateVolume")[0]["secrets"] == {"token": "t"}
        assert requests_of(running, "DeleteVolume")[0]["secrets"] == {"token": "t"}
    assert volume["spec"]["csi"]["nodeStageSecretRef"] == {"name": "stage", "namespace": "default"}
    assert meta(volume).annotations["volume.kubernetes.io/provisioner-deletion-secret-name"] == "c-key"


async def test_a_claim_can_be_cloned() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            await storage_class(c)
            await claim(c)
            volume = await c.get(PERSISTENT_VOLUMES, (await bound(c))["spec"]["volumeName"])
            await claim(c, "copy", dataSource={"kind": "PersistentVolumeClaim", "name": "c"})
            await bound(c, "copy")
        source = requests_of(running, "CreateVolume")[-1]["volume_content_source"]
        assert source == {"volume": {"volume_id": volume["spec"]["csi"]["volumeHandle"]}}


SOURCES = [
    ({"kind": "PersistentVolumeClaim", "name": "x"}, "CSI driver does not support clone operations"),
    (
        {"kind": "VolumeSnapshot", "name": "x", "apiGroup": "snapshot.storage.k8s.io"},
        "CSI driver does not support snapshot restore",
    ),
]


@pytest.mark.parametrize(("source", "text"), SOURCES, ids=["clone", "snapshot"])
async def test_a_source_that_the_driver_cannot_copy_is_an_event(source: Object, text: str) -> None:
    with running_driver(controller=("CREATE_DELETE_VOLUME",)) as running:
        async with connected() as (client, _), storage(client, running) as c:
            await storage_class(c)
            await claim(c, dataSource=source)
            events = await c.events("ProvisioningFailed")
            assert events[0]["message"].startswith(text)
        assert not running.calls("CreateVolume")


async def test_a_corrected_class_lets_its_claims_continue() -> None:
    with running_driver() as running:
        async with connected() as (client, _), storage(client, running) as c:
            await storage_class(c, parameters={"csi.storage.k8s.io/typo": "x"})
            await claim(c)
            events = await c.events("ProvisioningFailed")
            assert 'unknown parameter key "csi.storage.k8s.io/typo"' in events[0]["message"]
            await c.delete(STORAGE_CLASSES, "fast")
            await storage_class(c)
            await bound(c)
