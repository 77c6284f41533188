"""Types of storage/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import core_v1, meta_v1


class CSIDriver(TypedDict, total=False):
    """Object of the resource `csidrivers`."""

    apiVersion: Required[Literal["storage.k8s.io/v1"]]
    kind: Required[Literal["CSIDriver"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[CSIDriverSpec]


class CSIDriverList(TypedDict, total=False):
    """Response with a list of `CSIDriver`."""

    apiVersion: Required[Literal["storage.k8s.io/v1"]]
    items: Required[list[CSIDriver]]
    kind: Required[Literal["CSIDriverList"]]
    metadata: Required[meta_v1.ListMeta]


class CSIDriverSpec(TypedDict, total=False):
    """Type of `CSIDriver.spec`."""

    attachRequired: bool
    fsGroupPolicy: str
    nodeAllocatableUpdatePeriodSeconds: int
    podInfoOnMount: bool
    preventPodSchedulingIfMissing: bool
    requiresRepublish: bool
    seLinuxMount: bool
    serviceAccountTokenInSecrets: bool
    storageCapacity: bool
    tokenRequests: list[TokenRequest]
    volumeLifecycleModes: list[str]


class CSINode(TypedDict, total=False):
    """Object of the resource `csinodes`."""

    apiVersion: Required[Literal["storage.k8s.io/v1"]]
    kind: Required[Literal["CSINode"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[CSINodeSpec]


class CSINodeDriver(TypedDict, total=False):
    """Type of `CSINodeSpec.drivers`."""

    allocatable: VolumeNodeResources
    name: Required[str]
    nodeID: Required[str]
    topologyKeys: list[str]


class CSINodeList(TypedDict, total=False):
    """Response with a list of `CSINode`."""

    apiVersion: Required[Literal["storage.k8s.io/v1"]]
    items: Required[list[CSINode]]
    kind: Required[Literal["CSINodeList"]]
    metadata: Required[meta_v1.ListMeta]


class CSINodeSpec(TypedDict, total=False):
    """Type of `CSINode.spec`."""

    drivers: Required[list[CSINodeDriver]]


class CSIStorageCapacity(TypedDict, total=False):
    """Object of the resource `csistoragecapacities` in a namespace."""

    apiVersion: Required[Literal["storage.k8s.io/v1"]]
    capacity: meta_v1.Quantity
    kind: Required[Literal["CSIStorageCapacity"]]
    maximumVolumeSize: meta_v1.Quantity
    metadata: Required[meta_v1.ObjectMeta]
    nodeTopology: meta_v1.LabelSelector
    storageClassName: Required[str]


class CSIStorageCapacityList(TypedDict, total=False):
    """Response with a list of `CSIStorageCapacity`."""

    apiVersion: Required[Literal["storage.k8s.io/v1"]]
    items: Required[list[CSIStorageCapacity]]
    kind: Required[Literal["CSIStorageCapacityList"]]
    metadata: Required[meta_v1.ListMeta]


class StorageClass(TypedDict, total=False):
    """Object of the resource `storageclasses`."""

    allowVolumeExpansion: bool
    allowedTopologies: list[core_v1.TopologySelectorTerm]
    apiVersion: Required[Literal["storage.k8s.io/v1"]]
    kind: Required[Literal["StorageClass"]]
    metadata: Required[meta_v1.ObjectMeta]
    mountOptions: list[str]
    parameters: dict[str, str]
    provisioner: Required[str]
    reclaimPolicy: str
    volumeBindingMode: str


class StorageClassList(TypedDict, total=False):
    """Response with a list of `StorageClass`."""

    apiVersion: Required[Literal["storage.k8s.io/v1"]]
    items: Required[list[StorageClass]]
    kind: Required[Literal["StorageClassList"]]
    metadata: Required[meta_v1.ListMeta]


class TokenRequest(TypedDict, total=False):
    """Type of `CSIDriverSpec.tokenRequests`."""

    audience: Required[str]
    expirationSeconds: int


class VolumeAttachment(TypedDict, total=False):
    """Object of the resource `volumeattachments`."""

    apiVersion: Required[Literal["storage.k8s.io/v1"]]
    kind: Required[Literal["VolumeAttachment"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[VolumeAttachmentSpec]
    status: VolumeAttachmentStatus


class VolumeAttachmentList(TypedDict, total=False):
    """Response with a list of `VolumeAttachment`."""

    apiVersion: Required[Literal["storage.k8s.io/v1"]]
    items: Required[list[VolumeAttachment]]
    kind: Required[Literal["VolumeAttachmentList"]]
    metadata: Required[meta_v1.ListMeta]


class VolumeAttachmentSource(TypedDict, total=False):
    """Type of `VolumeAttachmentSpec.source`."""

    inlineVolumeSpec: core_v1.PersistentVolumeSpec
    persistentVolumeName: str


class VolumeAttachmentSpec(TypedDict, total=False):
    """Type of `VolumeAttachment.spec`."""

    attacher: Required[str]
    nodeName: Required[str]
    source: Required[VolumeAttachmentSource]


class VolumeAttachmentStatus(TypedDict, total=False):
    """Type of `VolumeAttachment.status`."""

    attachError: VolumeError
    attached: Required[bool]
    attachmentMetadata: dict[str, str]
    detachError: VolumeError


class VolumeAttributesClass(TypedDict, total=False):
    """Object of the resource `volumeattributesclasses`."""

    apiVersion: Required[Literal["storage.k8s.io/v1"]]
    driverName: Required[str]
    kind: Required[Literal["VolumeAttributesClass"]]
    metadata: Required[meta_v1.ObjectMeta]
    parameters: dict[str, str]


class VolumeAttributesClassList(TypedDict, total=False):
    """Response with a list of `VolumeAttributesClass`."""

    apiVersion: Required[Literal["storage.k8s.io/v1"]]
    items: Required[list[VolumeAttributesClass]]
    kind: Required[Literal["VolumeAttributesClassList"]]
    metadata: Required[meta_v1.ListMeta]


class VolumeError(TypedDict, total=False):
    """Type of `VolumeAttachmentStatus.attachError`, `VolumeAttachmentStatus.detachError`."""

    errorCode: int
    message: str
    time: meta_v1.Time


class VolumeNodeResources(TypedDict, total=False):
    """Type of `CSINodeDriver.allocatable`."""

    count: int


GROUP_VERSION: Final = GroupVersion("storage.k8s.io", "v1")

RESOURCES: Final = {
    "CSIDriver": ("csidrivers", False),
    "CSINode": ("csinodes", False),
    "CSIStorageCapacity": ("csistoragecapacities", True),
    "StorageClass": ("storageclasses", False),
    "VolumeAttachment": ("volumeattachments", False),
    "VolumeAttributesClass": ("volumeattributesclasses", False),
}
"""Resources by their kinds, and True if they are in namespaces."""
