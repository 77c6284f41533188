"""Names that the controllers, the nodes and the attachers of storage drivers share. This module does not import gRPC.

Source: kubernetes pkg/volume/csi/csi_attacher.go `getAttachmentName`, pkg/volume/util/util.go
`GetUniqueVolumeName`; external-attacher pkg/controller/util.go (1.36).
"""

import hashlib
import re


def attachment_name(driver: str, volume_handle: str, node_name: str) -> str:
    """Return a name that identifies the attachment of a volume to a node: `csi-` and a hash."""
    return "csi-" + hashlib.sha256(f"{volume_handle}{driver}{node_name}".encode()).hexdigest()


def unique_volume_name(driver: str, volume_handle: str) -> str:
    """Return the name of a volume in `volumesAttached` and `volumesInUse` of a Node's status."""
    return f"kubernetes.io/csi/{driver}^{volume_handle}"


def attacher_finalizer(driver: str) -> str:
    """Return the finalizer that an attacher adds to VolumeAttachments and PersistentVolumes."""
    return "external-attacher/" + sanitized(driver)


def sanitized(driver: str) -> str:
    """Return the name of a driver for finalizers and Leases.

    It contains only letters, digits and `-`, and does not end with `-`.
    """
    name = re.sub(r"[^a-zA-Z0-9-]", "-", driver)
    return name + "X" if name.endswith("-") else name
