"""Functions that read claims and classes for the sidecars, without I/O.

Source: sig-storage-lib-external-provisioner controller/controller.go; component-helpers storage/volume/pv_helpers.go.
"""

from __future__ import annotations

from typing import Any, Final

from sampan.core.default_class import STORAGE_CLASS_ANNOTATION
from sampan.core.numbers.quantity import Format, Quantity, canonical, parse
from sampan.kinds import core_v1
from sampan.resource import meta

PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
_PROVISIONER: Final = "volume.kubernetes.io/storage-provisioner"
_BETA_PROVISIONER: Final = "volume.beta.kubernetes.io/storage-provisioner"


def provisioner_of(claim: core_v1.PersistentVolumeClaim) -> str:
    """Return the provisioner for which a claim waits."""
    annotations = meta(claim).annotations
    return annotations.get(_PROVISIONER, annotations.get(_BETA_PROVISIONER, ""))


def class_name(claim: core_v1.PersistentVolumeClaim) -> str:
    """Return the storage class of a claim; the annotation of old clients comes first. Empty: no class."""
    annotated = meta(claim).annotations.get(STORAGE_CLASS_ANNOTATION)
    return annotated if annotated is not None else claim["spec"].get("storageClassName") or ""


def volume_name(claim: core_v1.PersistentVolumeClaim) -> str:
    """Return the name of a claim's volume. It is the same at each attempt, so there is only one volume."""
    return f"pvc-{meta(claim).uid}"


def requested(claim: core_v1.PersistentVolumeClaim) -> Quantity:
    """Return the size that a claim requests."""
    return amount((claim["spec"].get("resources") or {}).get("requests"))


def amount(resources: Any) -> Quantity:
    """Return the amount of storage in a list of resources."""
    text = (resources or {}).get("storage")
    return Quantity(0) if text is None else parse(canonical(text))


def bytes_quantity(size: int) -> str:
    """Return a number of bytes as a quantity."""
    return str(Quantity(size, format=Format.BINARY_SI))


def is_same_volume(volume: core_v1.PersistentVolume, claim: core_v1.PersistentVolumeClaim) -> bool:
    """Return True if a volume is bound to this claim."""
    reference = volume["spec"].get("claimRef") or {}
    return bool(reference.get("uid") == meta(claim).uid and reference.get("namespace") == meta(claim).namespace)
