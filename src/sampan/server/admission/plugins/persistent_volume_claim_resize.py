"""PersistentVolumeClaimResize: claims grow only if their class allows volume expansion.

Source: kubernetes plugin/pkg/admission/storage/persistentvolume/resize/admission.go (1.36).
"""

from typing import ClassVar, Final

from sampan.core.numbers.quantity import Quantity
from sampan.core.object import Object
from sampan.core.quota.usage import ZERO, amounts
from sampan.registry.reader import CacheReader
from sampan.server.admission.chain import Attributes
from sampan.server.admission.derived_cache import DerivedCache
from sampan.server.admission.pods import annotations_of
from sampan.server.admission.refusal import refusal

_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
_UNBOUND: Final = "Only bound persistent volume claims can be expanded"
_FIXED: Final = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)


class PersistentVolumeClaimResize:
    """Checks claims that request more storage than before."""

    name: ClassVar[str] = "PersistentVolumeClaimResize"
    operations: ClassVar[frozenset[str]] = frozenset({"UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = frozenset({("", "persistentvolumeclaims")})

    def __init__(self, reader: CacheReader) -> None:
        self._expands = DerivedCache(reader, "storage.k8s.io", "storageclasses", _expands)

    async def validate(self, attributes: Attributes) -> None:
        """Check the class of a claim that grows. **Raises** 403."""
        claim, old = attributes.obj, attributes.old
        if attributes.subresource or claim is None or old is None or _size(claim) <= _size(old):
            return
        if (old.get("status") or {}).get("phase") != "Bound":
            raise refusal(attributes, _UNBOUND)
        storage_class = _class_of(claim)
        if not storage_class or storage_class != _class_of(old) or not self._expands.get(storage_class):
            raise refusal(attributes, _FIXED)


def _expands(storage_class: Object) -> bool:
    return storage_class.get("allowVolumeExpansion") is True


def _size(claim: Object) -> Quantity:
    resources = (claim.get("spec") or {}).get("resources") or {}
    return amounts(resources.get("requests")).get("storage", ZERO)


def _class_of(claim: Object) -> str:
    annotated = annotations_of(claim).get(_CLASS_ANNOTATION)
    return annotated if annotated is not None else (claim.get("spec") or {}).get("storageClassName") or ""
