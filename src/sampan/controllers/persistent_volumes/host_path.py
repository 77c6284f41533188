"""The provisioner of host directories, for development and for clusters with one node.

A class with the provisioner `sampan.dev/host-path` gives its claims volumes below `parameters.path`. The node creates
the directory when the first Pod uses it. When the volume is deleted, the directory stays on the node.
"""

from typing import Any, Final

from sampan.controllers.persistent_volumes.matching import (
    BOUND_BY_CONTROLLER,
    PROVISIONED_BY,
    reference_to,
    requested,
)
from sampan.resource import Object, meta

PROVISIONER: Final = "sampan.dev/host-path"
DEFAULT_PATH: Final = "/var/lib/sampan/volumes"


def volume_name(claim: Object) -> str:
    """Return the name of a claim's volume. It is deterministic, so the volume is created only once."""
    return f"pvc-{meta(claim).uid}"


def volume_for(claim: Object, storage_class: Object, hostname: str) -> Object:
    """Return the volume for a claim. With a host name, only Pods on that host can use it."""
    name = volume_name(claim)
    path = (storage_class.get("parameters") or {}).get("path", DEFAULT_PATH).rstrip("/")
    spec: dict[str, Any] = {
        "accessModes": claim["spec"].get("accessModes") or [],
        "capacity": {"storage": str(requested(claim))},
        "claimRef": reference_to(claim),
        "hostPath": {"path": f"{path}/{name}", "type": "DirectoryOrCreate"},
        "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
        "storageClassName": meta(storage_class).name,
    }
    if storage_class.get("mountOptions"):
        spec["mountOptions"] = storage_class["mountOptions"]
    if hostname:
        expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": [hostname]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    annotations = {PROVISIONED_BY: PROVISIONER, BOUND_BY_CONTROLLER: "yes"}
    metadata = {"name": name, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}
