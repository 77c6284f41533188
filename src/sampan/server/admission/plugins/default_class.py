"""Plug-ins that set a default class: DefaultStorageClass and DefaultIngressClass.

Source: kubernetes plugin/pkg/admission/storage/storageclass/setdefault/admission.go,
plugin/pkg/admission/network/defaultingressclass/admission.go (1.36).
"""

from typing import ClassVar, Final

from sampan.core.default_class import DEFAULT_INGRESS, DEFAULT_STORAGE, STORAGE_CLASS_ANNOTATION, newest_default
from sampan.core.object import Object
from sampan.registry.reader import CacheReader
from sampan.server.admission.chain import Attributes
from sampan.server.admission.derived_cache import DerivedValue
from sampan.server.admission.pods import annotations_of

_INGRESS_CLASS_ANNOTATION: Final = "kubernetes.io/ingress.class"


class DefaultStorageClass:
    """Sets the class of PersistentVolumeClaims."""

    name: ClassVar[str] = "DefaultStorageClass"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = frozenset({("", "persistentvolumeclaims")})

    def __init__(self, reader: CacheReader) -> None:
        self._default = DerivedValue(
            reader, ("storage.k8s.io", "storageclasses"), lambda found: newest_default(found, DEFAULT_STORAGE)
        )

    async def admit(self, attributes: Attributes) -> None:
        """Set the default class. Never refuses."""
        claim = attributes.obj
        if attributes.subresource or claim is None or STORAGE_CLASS_ANNOTATION in annotations_of(claim):
            return
        _name_class(claim, "storageClassName", self._default)


class DefaultIngressClass:
    """Sets the class of Ingresses."""

    name: ClassVar[str] = "DefaultIngressClass"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = frozenset({("networking.k8s.io", "ingresses")})

    def __init__(self, reader: CacheReader) -> None:
        self._default = DerivedValue(
            reader, ("networking.k8s.io", "ingressclasses"), lambda found: newest_default(found, DEFAULT_INGRESS)
        )

    async def admit(self, attributes: Attributes) -> None:
        """Set the default class. Never refuses."""
        ingress = attributes.obj
        if attributes.subresource or ingress is None or _INGRESS_CLASS_ANNOTATION in annotations_of(ingress):
            return
        _name_class(ingress, "ingressClassName", self._default)


def _name_class(obj: Object, field: str, default: DerivedValue[str]) -> None:
    spec = obj.get("spec") or {}
    if spec.get(field) is not None:
        return
    name = default.get()
    if name is not None:
        obj["spec"] = {**spec, field: name}
