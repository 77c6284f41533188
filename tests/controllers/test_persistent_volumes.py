"""PersistentVolumes and their claims: matching, binding, provisioning, release, protection."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from sampan.client import DeleteOptions, MergePatch
from sampan.component_base.resources import (
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
    VOLUME_ATTRIBUTES_CLASSES,
)
from sampan.controllers import persistent_volumes
from sampan.controllers.persistent_volumes.host_path import volume_for
from sampan.controllers.persistent_volumes.matching import best_match, is_bound_to, mismatch
from sampan.controllers.volumes import (
    attributes_class_protection,
    ephemeral_volumes,
    volume_expander,
    volume_protection,
)
from sampan.resource import Object, meta
from tests.controllers.cluster import WAIT_S, Working, cluster


def claim(size: str = "1Gi", **spec: object) -> Any:
    """A claim."""
    fields = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, "storageClassName": ""}
    return {"metadata": {"name": "c", "namespace": "default", "uid": "u"}, "spec": {**fields, **spec}}


def volume(name: str = "v", size: str = "1Gi", **spec: object) -> Any:
    """A free volume."""
    fields = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": size},
        "hostPath": {"path": "/tmp/x"},
        "persistentVolumeReclaimPolicy": "Retain",
        **spec,
    }
    return {"metadata": {"name": name, "labels": {"v": name}}, "spec": fields, "status": {"phase": "Available"}}


def to_create(obj: Object, **metadata: object) -> Object:
    """Return the object as a client writes it."""
    return {"metadata": {"name": meta(obj).name, **metadata}, "spec": obj["spec"]}


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (volume(), ""),
        (volume(size="2Gi"), ""),
        (volume(size="1Mi"), "requested PV is too small"),
        (volume(storageClassName="x"), "storageClassName does not match"),
        (volume(volumeMode="Block"), "incompatible volumeMode"),
        (volume(accessModes=["ReadOnlyMany"]), "incompatible accessMode"),
        (volume(volumeAttributesClassName="x"), "volumeAttributesClassName does not match"),
    ],
)
def test_mismatches_of_volume_and_claim(found: Any, why: str) -> None:
    assert mismatch(found, claim()) == why


def name_of(found: Any) -> str:
    """A name."""
    return meta(found).name if found is not None else ""


MINE = {"namespace": "default", "name": "c"}


@pytest.mark.parametrize(
    ("volumes", "selector", "wait", "expected"),
    [
        ([volume("b", "3Gi"), volume("s", "2Gi")], None, False, "s"),
        ([volume("b", "3Gi", claimRef=MINE), volume("s", "2Gi")], None, False, "b"),
        ([volume("s", claimRef={**MINE, "uid": "other"})], None, False, ""),
        ([volume("b", "3Gi"), volume("s")], {"matchLabels": {"v": "b"}}, False, "b"),
        ([volume("s")], None, True, ""),
        ([volume("s", claimRef={**MINE, "uid": "u"})], None, True, "s"),
        ([{**volume("s"), "status": {"phase": "Released"}}], None, False, ""),
    ],
    ids=["smallest", "reserved", "of another", "selected", "waits", "reserved, waits", "not available"],
)
def test_the_best_volume_for_a_claim(volumes: list[Any], selector: Object | None, wait: bool, expected: str) -> None:
    assert name_of(best_match(volumes, claim(selector=selector), wait=wait)) == expected


def test_a_volume_is_bound_to_one_claim() -> None:
    assert is_bound_to(volume(claimRef={**MINE, "uid": "u"}), claim())
    assert not is_bound_to(volume(claimRef={**MINE, "uid": "v"}), claim())
    assert not is_bound_to(volume(claimRef={**MINE, "name": "d"}), claim())


def test_a_host_path_volume_is_bound_to_the_selected_node() -> None:
    storage_class: Any = {"metadata": {"name": "local"}, "parameters": {"path": "/data/"}, "reclaimPolicy": "Retain"}
    made = volume_for(claim(), storage_class, "host")["spec"]
    assert made["hostPath"] == {"path": "/data/pvc-u", "type": "DirectoryOrCreate"}
    [term] = made["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["host"]
    assert (made["persistentVolumeReclaimPolicy"], made["capacity"]) == ("Retain", {"storage": "1Gi"})


def in_phase(phase: str) -> Callable[[Object], bool]:
    """Return True if an object is in a phase."""
    return lambda obj: bool((obj.get("status") or {}).get("phase") == phase)


async def test_a_claim_gets_and_keeps_a_matching_volume() -> None:
    async with cluster(persistent_volumes.set_up) as c:
        await c.create(PERSISTENT_VOLUMES, to_create(volume("large", "5Gi")))
        await c.create(PERSISTENT_VOLUMES, to_create(volume("small", "2Gi")))
        for name in ("large", "small"):
            await c.until(PERSISTENT_VOLUMES, name, in_phase("Available"))
        await c.create(PERSISTENT_VOLUME_CLAIMS, to_create(claim()))
        bound = await c.until(PERSISTENT_VOLUME_CLAIMS, "c", in_phase("Bound"))
        assert bound["spec"]["volumeName"] == "small"
        assert bound["status"]["capacity"] == {"storage": "2Gi"}
        assert set(meta(bound).annotations) == {
            "pv.kubernetes.io/bind-completed",
            "pv.kubernetes.io/bound-by-controller",
        }
        found = await c.until(PERSISTENT_VOLUMES, "small", in_phase("Bound"))
        assert found["spec"]["claimRef"]["uid"] == meta(bound).uid


async def test_a_claim_waits_for_a_matching_volume() -> None:
    async with cluster(persistent_volumes.set_up) as c:
        await c.create(PERSISTENT_VOLUME_CLAIMS, to_create(claim()))
        await c.events("FailedBinding")
        await c.create(PERSISTENT_VOLUMES, to_create(volume()))
        await c.until(PERSISTENT_VOLUME_CLAIMS, "c", in_phase("Bound"))


async def test_a_claim_can_name_a_matching_volume() -> None:
    async with cluster(persistent_volumes.set_up) as c:
        await c.create(PERSISTENT_VOLUMES, to_create(volume("tiny", "1Mi")))
        await c.create(PERSISTENT_VOLUME_CLAIMS, to_create(claim(volumeName="tiny")))
        [event] = await c.events("VolumeMismatch")
        assert event["message"] == 'Cannot bind to requested volume "tiny": requested PV is too small'
        await c.patch(PERSISTENT_VOLUMES, "tiny", {"spec": {"capacity": {"storage": "1Gi"}}})
        bound = await c.until(PERSISTENT_VOLUME_CLAIMS, "c", in_phase("Bound"))
        assert set(meta(bound).annotations) == {"pv.kubernetes.io/bind-completed"}


async def test_a_retained_volume_is_released_with_its_claim() -> None:
    async with cluster(persistent_volumes.set_up) as c:
        await c.create(PERSISTENT_VOLUMES, to_create(volume()))
        await c.create(PERSISTENT_VOLUME_CLAIMS, to_create(claim()))
        await c.until(PERSISTENT_VOLUMES, "v", in_phase("Bound"))
        await c.until(PERSISTENT_VOLUME_CLAIMS, "c", in_phase("Bound"))
        await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
        await c.until(PERSISTENT_VOLUMES, "v", in_phase("Released"))


async def test_a_claim_whose_volume_is_deleted_is_lost() -> None:
    async with cluster(persistent_volumes.set_up) as c:
        await c.create(PERSISTENT_VOLUMES, to_create(volume()))
        await c.create(PERSISTENT_VOLUME_CLAIMS, to_create(claim()))
        await c.until(PERSISTENT_VOLUME_CLAIMS, "c", in_phase("Bound"))
        await c.delete(PERSISTENT_VOLUMES, "v")
        await c.until(PERSISTENT_VOLUME_CLAIMS, "c", in_phase("Lost"))
        await c.events("ClaimLost")


CLASS = {"metadata": {"name": "local"}, "provisioner": "sampan.dev/host-path", "volumeBindingMode": "Immediate"}


async def test_the_host_path_provisioner_creates_and_deletes_volumes() -> None:
    async with cluster(persistent_volumes.set_up) as c:
        await c.create(STORAGE_CLASSES, CLASS)
        await c.create(PERSISTENT_VOLUME_CLAIMS, to_create(claim(storageClassName="local")))
        bound = await c.until(PERSISTENT_VOLUME_CLAIMS, "c", in_phase("Bound"))
        name = bound["spec"]["volumeName"]
        assert name == f"pvc-{meta(bound).uid}"
        await c.events("ProvisioningSucceeded")
        await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
        await c.until_gone(PERSISTENT_VOLUMES, name)


async def test_a_claim_of_another_provisioner_names_it() -> None:
    async with cluster(persistent_volumes.set_up) as c:
        await c.create(STORAGE_CLASSES, {**CLASS, "provisioner": "disk.example.com"})
        await c.create(PERSISTENT_VOLUME_CLAIMS, to_create(claim(storageClassName="local")))
        await c.events("ExternalProvisioning")
        found = await c.get(PERSISTENT_VOLUME_CLAIMS, "c")
        name = "disk.example.com"
        assert meta(found).annotations == {
            "volume.kubernetes.io/storage-provisioner": name,
            "volume.beta.kubernetes.io/storage-provisioner": name,
        }


async def test_a_claim_that_grows_waits_for_the_resizer_of_its_driver() -> None:
    async with cluster(persistent_volumes.set_up, volume_expander.set_up) as c:
        await c.create(STORAGE_CLASSES, {**CLASS, "allowVolumeExpansion": True})
        await c.create(PERSISTENT_VOLUME_CLAIMS, to_create(claim(storageClassName="local")))
        await c.until(PERSISTENT_VOLUME_CLAIMS, "c", in_phase("Bound"))
        await c.patch(PERSISTENT_VOLUME_CLAIMS, "c", {"spec": {"resources": {"requests": {"storage": "2Gi"}}}})
        [event] = await c.events("ExternalExpanding")
        assert event["message"] == "waiting for an external controller to expand this PVC"


async def test_a_claim_without_class_gets_a_later_default_class() -> None:
    silent = to_create(claim())
    del silent["spec"]["storageClassName"]
    marked = {"name": "local", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    async with cluster(persistent_volumes.set_up) as c:
        await c.create(PERSISTENT_VOLUME_CLAIMS, silent)
        await c.create(PERSISTENT_VOLUME_CLAIMS, {**to_create(claim()), "metadata": {"name": "wants-none"}})
        await c.events("FailedBinding")
        await c.create(STORAGE_CLASSES, {**CLASS, "metadata": marked})
        bound = await c.until(PERSISTENT_VOLUME_CLAIMS, "c", in_phase("Bound"))
        assert bound["spec"]["storageClassName"] == "local"
        assert (await c.get(PERSISTENT_VOLUME_CLAIMS, "wants-none"))["spec"]["storageClassName"] == ""


async def test_wait_for_first_consumer_provisions_after_node_selection() -> None:
    async with cluster(persistent_volumes.set_up) as c:
        await c.create(NODES, {"metadata": {"name": "n", "labels": {"kubernetes.io/hostname": "host"}}})
        await c.create(STORAGE_CLASSES, {**CLASS, "volumeBindingMode": "WaitForFirstConsumer"})
        await c.create(PERSISTENT_VOLUME_CLAIMS, to_create(claim(storageClassName="local")))
        await c.events("WaitForFirstConsumer")
        assert not await c.all(PERSISTENT_VOLUMES)
        annotations = {"volume.kubernetes.io/selected-node": "n"}
        await c.patch(PERSISTENT_VOLUME_CLAIMS, "c", {"metadata": {"annotations": annotations}})
        await c.until(PERSISTENT_VOLUME_CLAIMS, "c", in_phase("Bound"))
        [made] = await c.all(PERSISTENT_VOLUMES)
        [term] = made["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
        assert term["matchExpressions"][0]["values"] == ["host"]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("c", {"persistentVolumeClaim": {"claimName": "c"}}),
        ("p-v", {"ephemeral": {"volumeClaimTemplate": {"spec": claim()["spec"]}}}),
    ],
    ids=["named", "ephemeral"],
)
async def test_a_claim_in_use_is_protected(name: str, source: Object, caplog: pytest.LogCaptureFixture) -> None:
    async with cluster(volume_protection.set_up_claims) as c:
        await c.create(PERSISTENT_VOLUME_CLAIMS, {"metadata": {"name": name}, "spec": claim()["spec"]})
        await c.until(PERSISTENT_VOLUME_CLAIMS, name, lambda p: meta(p).finalizers == ["kubernetes.io/pvc-protection"])
        volumes = [{"name": "v", **source}]
        spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "n", "volumes": volumes}
        await c.create(PODS, {"metadata": {"name": "p"}, "spec": spec})
        await c.delete(PERSISTENT_VOLUME_CLAIMS, name)
        stays = await c.until(PERSISTENT_VOLUME_CLAIMS, name, lambda p: meta(p).deletion_timestamp)
        assert meta(stays).finalizers
        await c.client.resource(PODS).delete("p", DeleteOptions(grace_period_seconds=0))
        await c.until_gone(PERSISTENT_VOLUME_CLAIMS, name)
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING]


def pod_with_ephemeral_volume() -> Object:
    template = {"metadata": {"labels": {"x": "y"}, "annotations": {"n": "m"}}, "spec": claim()["spec"]}
    volumes = [{"name": "v", "ephemeral": {"volumeClaimTemplate": template}}, {"name": "w", "emptyDir": {}}]
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}], "volumes": volumes}}


async def test_an_ephemeral_volume_gets_a_claim_owned_by_its_pod() -> None:
    async with cluster(ephemeral_volumes.set_up) as c:
        pod = await c.create(PODS, pod_with_ephemeral_volume())
        made = await c.until(PERSISTENT_VOLUME_CLAIMS, "p-v", lambda p: p)
        [owner] = meta(made).owner_references
        assert (owner.kind, owner.uid, owner.controller, owner.block_owner_deletion) == (
            "Pod",
            meta(pod).uid,
            True,
            True,
        )
        assert (meta(made).labels, meta(made).annotations) == ({"x": "y"}, {"n": "m"})
        assert made["spec"]["resources"] == claim()["spec"]["resources"]
        await c.delete(PERSISTENT_VOLUME_CLAIMS, "p-v")
        await c.until(PERSISTENT_VOLUME_CLAIMS, "p-v", lambda p: meta(p).uid != meta(made).uid)


async def test_a_claim_of_another_owner_is_not_used_for_an_ephemeral_volume() -> None:
    async with cluster(ephemeral_volumes.set_up) as c:
        await c.create(PERSISTENT_VOLUME_CLAIMS, {"metadata": {"name": "p-v"}, "spec": claim()["spec"]})
        await c.create(PODS, pod_with_ephemeral_volume())
        found = await c.events("FailedBinding")
        text = "ephemeral volume v: PVC default/p-v was not created for pod default/p (pod is not owner)"
        assert found[0]["message"] == text


async def test_a_bound_volume_is_protected() -> None:
    async with cluster(volume_protection.set_up_volumes) as c:
        await c.create(PERSISTENT_VOLUMES, to_create(volume()))
        await c.until(PERSISTENT_VOLUMES, "v", lambda v: meta(v).finalizers == ["kubernetes.io/pv-protection"])
        await c.client.resource(PERSISTENT_VOLUMES).status.patch("v", MergePatch({"status": {"phase": "Bound"}}))
        await c.delete(PERSISTENT_VOLUMES, "v")
        other = to_create(volume())
        await c.create(PERSISTENT_VOLUMES, {**other, "metadata": {**other["metadata"], "name": "free"}})
        await c.until(PERSISTENT_VOLUMES, "free", lambda v: meta(v).finalizers)
        await c.delete(PERSISTENT_VOLUMES, "free")
        await c.until_gone(PERSISTENT_VOLUMES, "free")  # The controller has also processed the deletion before.
        assert meta(await c.get(PERSISTENT_VOLUMES, "v")).deletion_timestamp
        await c.patch_status(PERSISTENT_VOLUMES, "v", {"phase": "Released"})
        await c.until_gone(PERSISTENT_VOLUMES, "v")


async def references_gold(c: Working) -> None:
    """Wait until the controller's cache has a claim that references the class `gold`."""
    claims = c.manager.client.resource(PERSISTENT_VOLUME_CLAIMS, namespace="")
    async with asyncio.timeout(WAIT_S):
        while not await claims.by_index(attributes_class_protection.INDEX, "gold"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def unused_class_is_gone(c: Working) -> None:
    """Delete a class that no claim uses: then the controller has also processed the changes before it."""
    spec = {"driverName": "d", "parameters": {"a": "b"}}
    await c.create(VOLUME_ATTRIBUTES_CLASSES, {"metadata": {"name": "unused"}, **spec})
    await c.until(VOLUME_ATTRIBUTES_CLASSES, "unused", lambda found: meta(found).finalizers)
    await c.delete(VOLUME_ATTRIBUTES_CLASSES, "unused")
    await c.until_gone(VOLUME_ATTRIBUTES_CLASSES, "unused")


async def test_an_attributes_class_of_a_claim_is_protected() -> None:
    async with cluster(attributes_class_protection.set_up) as c:
        await c.create(
            VOLUME_ATTRIBUTES_CLASSES, {"metadata": {"name": "gold"}, "driverName": "d", "parameters": {"a": "b"}}
        )
        finalizers = ["kubernetes.io/vac-protection"]
        await c.until(VOLUME_ATTRIBUTES_CLASSES, "gold", lambda found: meta(found).finalizers == finalizers)
        await c.create(PERSISTENT_VOLUME_CLAIMS, to_create(claim(volumeAttributesClassName="gold")))
        await references_gold(c)
        await c.delete(VOLUME_ATTRIBUTES_CLASSES, "gold")
        await unused_class_is_gone(c)
        assert meta(await c.get(VOLUME_ATTRIBUTES_CLASSES, "gold")).finalizers == finalizers
        await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
        await c.until_gone(VOLUME_ATTRIBUTES_CLASSES, "gold")


@pytest.mark.parametrize(
    "status",
    [
        {"currentVolumeAttributesClassName": "gold"},
        {"modifyVolumeStatus": {"targetVolumeAttributesClassName": "gold", "status": "Pending"}},
    ],
    ids=["current class", "target class"],
)
async def test_an_attributes_class_in_the_status_of_a_claim_is_protected(status: Object) -> None:
    async with cluster(attributes_class_protection.set_up) as c:
        await c.create(
            VOLUME_ATTRIBUTES_CLASSES, {"metadata": {"name": "gold"}, "driverName": "d", "parameters": {"a": "b"}}
        )
        await c.until(VOLUME_ATTRIBUTES_CLASSES, "gold", lambda found: meta(found).finalizers)
        await c.create(PERSISTENT_VOLUME_CLAIMS, to_create(claim(volumeAttributesClassName="silver")))
        await c.patch_status(PERSISTENT_VOLUME_CLAIMS, "c", status)
        await references_gold(c)
        await c.delete(VOLUME_ATTRIBUTES_CLASSES, "gold")
        await unused_class_is_gone(c)
        assert await c.exists(VOLUME_ATTRIBUTES_CLASSES, "gold")
        await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
        await c.until_gone(VOLUME_ATTRIBUTES_CLASSES, "gold")
