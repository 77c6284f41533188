"""Common columns of PersistentVolumes and PersistentVolumeClaims."""

from collections.abc import Iterable
from typing import Final

from sampan.core.object import Object
from sampan.registry.columns.cells import EMPTY, UNSET, at, column

_ACCESS_MODES = (
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
)
_STORAGE_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


def access_modes(modes: Iterable[str]) -> str:
    """Return the short names of access modes."""
    known = set(modes)
    return ",".join(short for mode, short in _ACCESS_MODES if mode in known)


def phase(obj: Object) -> str:
    """Return the phase, or `Terminating`."""
    if "deletionTimestamp" in obj["metadata"]:
        return "Terminating"
    return str(obj.get("status", EMPTY).get("phase", ""))


def _storage_class(obj: Object) -> str:
    annotated = obj["metadata"].get("annotations", EMPTY).get(_STORAGE_CLASS_ANNOTATION)
    return str(obj.get("spec", EMPTY).get("storageClassName", "") if annotated is None else annotated)


STORAGE_CLASS: Final = column("StorageClass", _storage_class)
VOLUME_MODE: Final = column("VolumeMode", at("spec", "volumeMode", default=UNSET), wide=True)
ATTRIBUTES_CLASS: Final = column("VolumeAttributesClass", at("spec", "volumeAttributesClassName", default=UNSET))
