"""`provisioned_volume`: the PersistentVolume that a built-in provisioner creates for a claim."""

from __future__ import annotations

from sampan.controllers.persistent_volumes.matching import (
    BOUND_BY_CONTROLLER,
    PROVISIONED_BY,
    reference_to,
    requested,
)
from sampan.kinds import core_v1, meta_v1, storage_v1
from sampan.resource import meta


def volume_name(claim: core_v1.PersistentVolumeClaim) -> str:
    """Return the name of a claim's volume. It is deterministic, so the volume is created only once."""
    return f"pvc-{meta(claim).uid}"


def provisioned_volume(
    claim: core_v1.PersistentVolumeClaim,
    storage_class: storage_v1.StorageClass,
    source: core_v1.PersistentVolumeSpec,
    *,
    hostname: str,
    finalizers: tuple[str, ...] = (),
) -> core_v1.PersistentVolume:
    """Return the volume for a claim. With a host name, only Pods on that host can use it.

    `source`: the field of the spec that describes the volume: `{"hostPath": {…}}`.
    """
    spec: core_v1.PersistentVolumeSpec = {
        "accessModes": claim["spec"].get("accessModes") or [],
        "capacity": {"storage": str(requested(claim))},
        "claimRef": reference_to(claim),
        "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
        "storageClassName": meta(storage_class).name,
        **source,
    }
    if storage_class.get("mountOptions"):
        spec["mountOptions"] = storage_class["mountOptions"]
    if hostname:
        expression: core_v1.NodeSelectorRequirement = {
            "key": "kubernetes.io/hostname",
            "operator": "In",
            "values": [hostname],
        }
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    annotations = {PROVISIONED_BY: storage_class.get("provisioner", ""), BOUND_BY_CONTROLLER: "yes"}
    metadata: meta_v1.ObjectMeta = {"name": volume_name(claim), "annotations": annotations}
    if finalizers:
        metadata["finalizers"] = list(finalizers)
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}
