"""Protection of VolumeAttributesClasses: a finalizer blocks deletion while a claim or a volume references the class.

Source: kube-controller-manager pkg/controller/volume/vacprotection/vac_protection_controller.go (1.36).
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, VOLUME_ATTRIBUTES_CLASSES
from sampan.controllers.volumes.volume_protection import set_finalizer
from sampan.informer.ref import Ref
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import meta
from sampan.resource.view import view_decoder

FINALIZER: Final = "kubernetes.io/vac-protection"
INDEX: Final = "attributes-class"
"""Index of claims and volumes by the classes they reference."""


def set_up(context: ControllerContext) -> None:
    """Register the controller that protects referenced classes."""
    for kind in (PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES):
        informer = context.informer(kind)
        if INDEX not in informer.indexer.index_names:
            informer.indexer.add_indexer(INDEX, classes_of)
    (
        Builder(context.manager)
        .named("volumeattributesclass-protection-controller")
        .for_(VOLUME_ATTRIBUTES_CLASSES)
        .watches(PERSISTENT_VOLUME_CLAIMS, _requests)
        .watches(PERSISTENT_VOLUMES, _requests)
        .complete(AttributesClassProtection(context))
    )


class AttributesClassProtection:
    """Adds the finalizer to each class, and removes it from a class that is being deleted and no longer referenced."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._classes = client.resource(VOLUME_ATTRIBUTES_CLASSES)
        self._claims = client.resource(PERSISTENT_VOLUME_CLAIMS, namespace="")
        self._volumes = client.resource(PERSISTENT_VOLUMES)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one class. Raises `ApiError`, `TransportError`."""
        found = await self._classes.find(request)
        if found is None:
            return None
        deleting = meta(found).deletion_timestamp is not None
        if deleting and FINALIZER in meta(found).finalizers and await self._is_used(request.name):
            return None
        await set_finalizer(self._classes, found, FINALIZER)
        return None

    async def _is_used(self, name: str) -> bool:
        return bool(await self._volumes.by_index(INDEX, name) or await self._claims.by_index(INDEX, name))


class _Spec(msgspec.Struct, rename="camel"):
    volume_attributes_class_name: str | None = None


class _Modification(msgspec.Struct, rename="camel"):
    target_volume_attributes_class_name: str | None = None


class _Status(msgspec.Struct, rename="camel"):
    current_volume_attributes_class_name: str | None = None
    modify_volume_status: _Modification | None = None


class _Named(msgspec.Struct):
    spec: _Spec
    status: _Status = msgspec.field(default_factory=_Status)


_named = view_decoder(_Named)


def classes_of(ref: Ref[Any]) -> Iterable[str]:
    """Index function: return the class a claim requests, the class it has, and the class it is changing to."""
    # A cheap test of the raw bytes. The `v` is left out, because the three field names have it in upper or lower case.
    if b"olumeAttributesClassName" not in ref.raw:
        return ()
    found = _named(ref.raw)
    target = found.status.modify_volume_status
    names = (
        found.spec.volume_attributes_class_name,
        found.status.current_volume_attributes_class_name,
        target.target_volume_attributes_class_name if target is not None else None,
    )
    return list(dict.fromkeys(name for name in names if name))


def _requests(ref: Ref[Any]) -> Iterable[Request]:
    return [Request("", name) for name in classes_of(ref)]
