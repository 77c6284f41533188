"""Which volume fits a claim: pure functions.

Source: kube-controller-manager pkg/controller/volume/persistentvolume/{index,pv_controller}.go; component-helpers
storage/volume/pv_helpers.go (1.36).
"""

from collections.abc import Iterable
from typing import Any, Final

from sampan.core.default_class import STORAGE_CLASS_ANNOTATION
from sampan.core.label_selectors import selector_from_label_selector
from sampan.core.quantity import Quantity, canonical, parse
from sampan.resource import Object, meta

BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"


def class_of(obj: Object) -> str:
    """The storage class of a claim or a volume."""
    annotated = meta(obj).annotations.get(STORAGE_CLASS_ANNOTATION)
    found: str = annotated if annotated is not None else (obj["spec"].get("storageClassName") or "")
    return found


def names_class(claim: Object) -> bool:
    """Whether a claim says which class it wants, or that it wants none."""
    return STORAGE_CLASS_ANNOTATION in meta(claim).annotations or claim["spec"].get("storageClassName") is not None


def requested(claim: Object) -> Quantity:
    """The size that a claim asks for."""
    return _amount(((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage"))


def capacity(volume: Object) -> Quantity:
    """The size of a volume."""
    return _amount((volume["spec"].get("capacity") or {}).get("storage"))


def is_bound_to(volume: Object, claim: Object) -> bool:
    """Whether a volume is reserved for this very claim, perhaps before that had a uid."""
    reference = volume["spec"].get("claimRef") or {}
    named = (reference.get("namespace"), reference.get("name")) == (meta(claim).namespace, meta(claim).name)
    return named and reference.get("uid") in (None, "", meta(claim).uid)


def mismatch(volume: Object, claim: Object) -> str:
    """Why a volume does not do for a claim; empty when it does."""
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


def best_match(volumes: Iterable[Object], claim: Object, *, wait: bool) -> Object | None:
    """The volume that is reserved for a claim, or else the smallest free one that does.

    With `wait` only a reserved one: which of the others is right will be known with the first Pod.
    """
    selector = claim["spec"].get("selector")
    matches = None if selector is None else selector_from_label_selector(selector).matches
    free: list[Object] = []
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


def reference_to(claim: Object) -> dict[str, Any]:
    """What a volume says of the claim that has it."""
    metadata = meta(claim)
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": metadata.namespace,
        "name": metadata.name,
        "uid": metadata.uid,
        "resourceVersion": metadata.resource_version,
    }


def _amount(said: Any) -> Quantity:
    return parse(canonical(said)) if said is not None else Quantity(0)


def _mode(obj: Object) -> str:
    return obj["spec"].get("volumeMode") or "Filesystem"
