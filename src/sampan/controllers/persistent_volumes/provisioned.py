"""`provisioned_volume`: the PersistentVolume that a built-in provisioner creates for a claim."""

from typing import Any

from sampan.controllers.persistent_volumes.matching import (
    BOUND_BY_CONTROLLER,
    PROVISIONED_BY,
    reference_to,
    requested,
)
from sampan.resource import Object, meta


def volume_name(claim: Object) -> str:
    """Return the name of a claim's volume. It is deterministic, so the volume is created only once."""
    return f"pvc-{meta(claim).uid}"


def provisioned_volume(
    claim: Object, storage_class: Object, source: Object, *, hostname: str, finalizers: tuple[str, ...] = ()
) -> Object:
    """Return the volume for a claim. With a host name, only Pods on that host can use it.

    `source`: the field of the spec that describes the volume: `{"hostPath": {…}}`.
    """
    spec: dict[str, Any] = {
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
        expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": [hostname]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    annotations = {PROVISIONED_BY: storage_class.get("provisioner", ""), BOUND_BY_CONTROLLER: "yes"}
    metadata: dict[str, Any] = {"name": volume_name(claim), "annotations": annotations}
    if finalizers:
        metadata["finalizers"] = list(finalizers)
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}
