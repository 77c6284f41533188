"""Capacity of storage drivers: finds the Nodes where a new volume of a class and a size fits.

Source: plugins/volumebinding/binder.go `hasEnoughCapacity`, volume_binding.go `volumeLimit` (1.36).
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from sampan.core.label_selectors import NOTHING, Selector, selector_from_label_selector
from sampan.informer.ref import Ref
from sampan.resource.view import view_decoder
from sampan.scheduler.amounts import amount

_Quantity = str | int | float


class _DriverSpec(msgspec.Struct, rename="camel", gc=False):
    storage_capacity: bool | None = None


class CsiDriver(msgspec.Struct, gc=False):
    """Fields of a CSIDriver that decide whether its free capacity counts."""

    spec: _DriverSpec = msgspec.field(default_factory=_DriverSpec)

    @property
    def has_capacity(self) -> bool:
        """True if the driver reports its capacity, and volumes are placed according to it."""
        return bool(self.spec.storage_capacity)


class StorageCapacity(msgspec.Struct, rename="camel", gc=False):
    """A CSIStorageCapacity: free space for volumes of a class, on some Nodes."""

    storage_class_name: str = ""
    capacity: _Quantity | None = None
    maximum_volume_size: _Quantity | None = None
    node_topology: dict[str, Any] | None = None

    @property
    def limit(self) -> int:
        """Size of the largest volume that fits, in bytes; -1 if unknown.

        `maximumVolumeSize` is preferred to `capacity`, because it is more precise.
        """
        found = self.capacity if self.maximum_volume_size is None else self.maximum_volume_size
        return -1 if found is None else amount("storage", found)

    @property
    def nodes(self) -> Selector:
        """Nodes that can access the volumes. Without a topology, or with an invalid one, no Node can."""
        try:
            return selector_from_label_selector(self.node_topology)
        except ValueError:
            return NOTHING


decode_driver = view_decoder(CsiDriver)
decode_capacity = view_decoder(StorageCapacity)


def with_room(capacities: Iterable[StorageCapacity], storage_class: str, size: int) -> list[Selector]:
    """Return the selectors of the Nodes where a volume of a class fits. `size`: in bytes."""
    return [each.nodes for each in capacities if each.storage_class_name == storage_class and each.limit >= size]


def has_grown(old: Ref[Any], new: Ref[Any]) -> bool:
    """Return True if larger volumes fit after a change of a CSIStorageCapacity."""
    return decode_capacity(new.raw).limit > decode_capacity(old.raw).limit


def is_unlimited_now(old: Ref[Any], new: Ref[Any]) -> bool:
    """Return True if a changed CSIDriver no longer limits where its volumes are placed."""
    return decode_driver(old.raw).has_capacity and not decode_driver(new.raw).has_capacity
