"""Matching of volumes and claims, as pure functions.

Source: kube-controller-manager pkg/controller/volume/persistentvolume/{index,pv_controller}.go; component-helpers
storage/volume/pv_helpers.go (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sampan.core.default_class import STORAGE_CLASS_ANNOTATION
from sampan.core.label_selectors import selector_from_label_selector
from sampan.core.numbers.quantity import Quantity, canonical, parse
from sampan.kinds import core_v1
from sampan.resource import meta

BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
PROVISIONER_ANNOTATIONS: Final = (
    "volume.kubernetes.io/storage-provisioner",
    "volume.beta.kubernetes.io/storage-provisioner",
)
"""Annotations of a claim that name its external provisioner."""
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"


def class_of(obj: core_v1.PersistentVolume | core_v1.PersistentVolumeClaim) -> str:
    """Return the storage class of a claim or a volume."""
    annotated = meta(obj).annotations.get(STORAGE_CLASS_ANNOTATION)
    found: str = annotated if annotated is not None else (obj["spec"].get("storageClassName") or "")
    return found


def names_class(claim: core_v1.PersistentVolumeClaim) -> bool:
    """Return True if a claim names a class, including the empty one."""
    return STORAGE_CLASS_ANNOTATION in meta(claim).annotations or claim["spec"].get("storageClassName") is not None


def requested(claim: core_v1.PersistentVolumeClaim) -> Quantity:
    """Return the size that a claim requests."""
    return _amount(((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage"))


def capacity(volume: core_v1.PersistentVolume) -> Quantity:
    """Return the size of a volume."""
    return _amount((volume["spec"].get("capacity") or {}).get("storage"))


def is_bound_to(volume: core_v1.PersistentVolume, claim: core_v1.PersistentVolumeClaim) -> bool:
    """Return True if a volume is reserved for this claim; a reservation by a user may have no UID."""
    reference = volume["spec"].get("claimRef") or {}
    named = (reference.get("namespace"), reference.get("name")) == (meta(claim).namespace, meta(claim).name)
    return named and reference.get("uid") in (None, "", meta(claim).uid)


def mismatch(volume: core_v1.PersistentVolume, claim: core_v1.PersistentVolumeClaim) -> str:
    """Return the reason why a volume does not match a claim; empty if it does."""
    if requested(claim) > capacity(volume):
        return "requested PV is too small"
    if class_of(volume) != class_of(claim):
        return "storageClassName does not match"
    if _mode(volume) != _mode(claim):
        return "incompatible volumeMode"
    if not set(claim["spec"].get("accessModes") or ()) <= set(volume["spec"].get("accessModes") or ()):
        return "incompatible accessMode"
    if (claim["spec"].get("volumeAttributesClassName") or "") != (
        volume["spec"].get("volumeAttributesClassName") or ""
    ):
        return "volumeAttributesClassName does not match"
    return ""


def best_match(
    volumes: Iterable[core_v1.PersistentVolume], claim: core_v1.PersistentVolumeClaim, *, wait: bool
) -> core_v1.PersistentVolume | None:
    """Return the volume reserved for a claim, or else the smallest free one that matches.

    With `wait` only a reserved volume is returned: the choice of a free volume depends on the node of the first Pod.
    """
    selector = claim["spec"].get("selector")
    matches = None if selector is None else selector_from_label_selector(selector).matches
    free: list[core_v1.PersistentVolume] = []
    for volume in volumes:
        if mismatch(volume, claim) or meta(volume).deletion_timestamp is not None:
            continue
        if volume["spec"].get("claimRef"):
            if is_bound_to(volume, claim):
                return volume
            continue
        available = (volume.get("status") or {}).get("phase") == "Available"
        if available and not wait and (matches is None or matches(meta(volume).labels)):
            free.append(volume)
    return min(free, key=lambda volume: (capacity(volume), meta(volume).name), default=None)


def reference_to(claim: core_v1.PersistentVolumeClaim) -> core_v1.ObjectReference:
    """Return the reference to a claim that its volume contains."""
    metadata = meta(claim)
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": metadata.namespace,
        "name": metadata.name,
        "uid": metadata.uid,
        "resourceVersion": metadata.resource_version,
    }


def _amount(quantity: Any) -> Quantity:
    return parse(canonical(quantity)) if quantity is not None else Quantity(0)


def _mode(obj: core_v1.PersistentVolume | core_v1.PersistentVolumeClaim) -> str:
    return obj["spec"].get("volumeMode") or "Filesystem"
