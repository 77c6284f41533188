"""StorageObjectInUseProtection: storage in use is not removed when it is deleted.

Source: kubernetes plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go (1.36).
"""

from typing import ClassVar, Final

from sampan.server.admission.chain import Attributes

_FINALIZERS: Final = {
    ("", "persistentvolumes"): "kubernetes.io/pv-protection",
    ("", "persistentvolumeclaims"): "kubernetes.io/pvc-protection",
    ("storage.k8s.io", "volumeattributesclasses"): "kubernetes.io/vac-protection",
}


class StorageObjectInUseProtection:
    """Adds the finalizers that the protection controllers remove."""

    name: ClassVar[str] = "StorageObjectInUseProtection"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = frozenset(_FINALIZERS)

    async def admit(self, attributes: Attributes) -> None:
        """Add the finalizer. Never refuses."""
        if attributes.subresource or attributes.obj is None:
            return
        finalizer = _FINALIZERS[attributes.gvr.group, attributes.gvr.resource]
        metadata = attributes.obj["metadata"]
        finalizers = metadata.get("finalizers") or []
        if finalizer not in finalizers:
            metadata["finalizers"] = [*finalizers, finalizer]
