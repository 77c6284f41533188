"""`persistent_volume`: creates the PersistentVolume of a volume that the driver has created.

Source: external-provisioner pkg/controller/controller.go `Provision`; sig-storage-lib-external-provisioner
controller/controller.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from sampan.csi.messages import AnyMessage
from sampan.csi.sidecar.claims import PROVISIONED_BY, bytes_quantity, class_name, requested, volume_name
from sampan.csi.sidecar.driver import Driver
from sampan.csi.sidecar.provisioning.plan import ProvisioningPlan
from sampan.csi.sidecar.provisioning.topology import node_affinity
from sampan.kinds import core_v1, meta_v1, storage_v1
from sampan.resource import meta

FINALIZER: Final = "external-provisioner.volume.kubernetes.io/finalizer"
DELETION_SECRET: Final = "volume.kubernetes.io/provisioner-deletion-secret"
"""Annotations with the Secret for the deletion: this, and `-name` or `-namespace`."""
MODIFY_SECRET: Final = "volume.kubernetes.io/controller-modify-secret"
IDENTITY: Final = "storage.kubernetes.io/csiProvisionerIdentity"
_SecretField = Literal[
    "controllerPublishSecretRef",
    "nodeStageSecretRef",
    "nodePublishSecretRef",
    "controllerExpandSecretRef",
    "nodeExpandSecretRef",
]
_SECRET_FIELDS: Final[Mapping[str, _SecretField]] = {
    "controller-publish": "controllerPublishSecretRef",
    "node-stage": "nodeStageSecretRef",
    "node-publish": "nodePublishSecretRef",
    "controller-expand": "controllerExpandSecretRef",
    "node-expand": "nodeExpandSecretRef",
}


def persistent_volume(
    claim: core_v1.PersistentVolumeClaim,
    storage_class: storage_v1.StorageClass,
    plan: ProvisioningPlan,
    created: AnyMessage,
    driver: Driver,
    identity: str,
) -> core_v1.PersistentVolume:
    """Return the PersistentVolume of a claim. `created`: the Volume in the driver's response."""
    spec: core_v1.PersistentVolumeSpec = {
        "accessModes": claim["spec"].get("accessModes") or [],
        "capacity": {"storage": bytes_quantity(created.capacity_bytes or requested(claim).value())},
        "claimRef": _reference(claim),
        "csi": _source(claim, plan, created, driver, identity),
        "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
        "storageClassName": class_name(claim),
        "volumeMode": claim["spec"].get("volumeMode") or "Filesystem",
    }
    if storage_class.get("mountOptions"):
        spec["mountOptions"] = storage_class["mountOptions"]
    if claim["spec"].get("volumeAttributesClassName"):
        spec["volumeAttributesClassName"] = claim["spec"]["volumeAttributesClassName"]
    affinity = (
        node_affinity(dict(each.segments) for each in created.accessible_topology) if driver.has_topology else None
    )
    if affinity is not None:
        spec["nodeAffinity"] = affinity
    metadata: meta_v1.ObjectMeta = {
        "name": volume_name(claim),
        "annotations": _annotations(plan, driver),
        "finalizers": [FINALIZER],
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}


def _source(
    claim: core_v1.PersistentVolumeClaim, plan: ProvisioningPlan, created: AnyMessage, driver: Driver, identity: str
) -> core_v1.CSIPersistentVolumeSource:
    source: core_v1.CSIPersistentVolumeSource = {
        "driver": driver.name,
        "volumeHandle": created.volume_id,
        "volumeAttributes": {IDENTITY: identity, **created.volume_context},
    }
    for use, field in _SECRET_FIELDS.items():
        reference = plan.secrets.get(use)
        if reference:
            source[field] = reference
    if plan.fs_type and claim["spec"].get("volumeMode") != "Block":
        source["fsType"] = plan.fs_type
    if claim["spec"].get("accessModes") == ["ReadOnlyMany"] and "PUBLISH_READONLY" in driver.controller:
        source["readOnly"] = True
    return source


def _annotations(plan: ProvisioningPlan, driver: Driver) -> dict[str, str]:
    found = {PROVISIONED_BY: driver.name}
    for prefix, use, always in ((DELETION_SECRET, "provisioner", True), (MODIFY_SECRET, "controller-modify", False)):
        reference = plan.secrets.get(use) or {}
        if reference or always:
            found[f"{prefix}-name"] = reference.get("name", "")
            found[f"{prefix}-namespace"] = reference.get("namespace", "")
    return found


def _reference(claim: core_v1.PersistentVolumeClaim) -> core_v1.ObjectReference:
    metadata = meta(claim)
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": metadata.namespace,
        "name": metadata.name,
        "uid": metadata.uid,
        "resourceVersion": metadata.resource_version,
    }
