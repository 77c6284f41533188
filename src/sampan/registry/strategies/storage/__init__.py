"""Strategies of storage.k8s.io."""

from sampan.registry.strategies.storage.classes import StorageClassStrategy, VolumeAttributesClassStrategy
from sampan.registry.strategies.storage.csi import CSIDriverStrategy, CSINodeStrategy, CSIStorageCapacityStrategy
from sampan.registry.strategies.storage.volumeattachment import VolumeAttachmentStrategy
from sampan.registry.strategy import Strategy

_GROUP = "storage.k8s.io"

STRATEGIES: dict[tuple[str, str], Strategy] = {
    (_GROUP, "storageclasses"): StorageClassStrategy(),
    (_GROUP, "volumeattributesclasses"): VolumeAttributesClassStrategy(),
    (_GROUP, "volumeattachments"): VolumeAttachmentStrategy(),
    (_GROUP, "csidrivers"): CSIDriverStrategy(),
    (_GROUP, "csinodes"): CSINodeStrategy(),
    (_GROUP, "csistoragecapacities"): CSIStorageCapacityStrategy(),
}
