"""The provisioner of host directories, for development and for clusters with one node.

A class with the provisioner `sampan.dev/host-path` gives its claims volumes below `parameters.path`. The node creates
the directory when the first Pod uses it. When the volume is deleted, the directory stays on the node.
"""

from __future__ import annotations

from typing import Final

from sampan.controllers.persistent_volumes.provisioned import provisioned_volume, volume_name
from sampan.kinds import core_v1, storage_v1

PROVISIONER: Final = "sampan.dev/host-path"
DEFAULT_PATH: Final = "/var/lib/sampan/volumes"


def volume_for(
    claim: core_v1.PersistentVolumeClaim, storage_class: storage_v1.StorageClass, hostname: str
) -> core_v1.PersistentVolume:
    """Return the volume for a claim. With a host name, only Pods on that host can use it."""
    path = (storage_class.get("parameters") or {}).get("path", DEFAULT_PATH).rstrip("/")
    source: core_v1.PersistentVolumeSpec = {
        "hostPath": {"path": f"{path}/{volume_name(claim)}", "type": "DirectoryOrCreate"}
    }
    return provisioned_volume(claim, storage_class, source, hostname=hostname)
