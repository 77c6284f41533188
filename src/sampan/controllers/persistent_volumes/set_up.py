"""Registration of both controllers: of claims and of volumes."""

from collections.abc import Iterable
from typing import Any, Final

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from sampan.controllers.persistent_volumes.claims import ClaimBinder
from sampan.controllers.persistent_volumes.volumes import VolumeReclaimer
from sampan.informer.ref import Ref
from sampan.operator.builder import Builder
from sampan.operator.request import Request

NAME: Final = "persistentvolume-binder-controller"
RESYNC_S: Final = 15.0


def set_up(context: ControllerContext) -> None:
    """Register both controllers with the manager."""
    claims = context.informer(PERSISTENT_VOLUME_CLAIMS).indexer

    def unbound(_: Ref[Any]) -> Iterable[Request]:
        return [Request.of_key(ref.key) for ref in claims.refs() if b'"volumeName"' not in ref.raw]

    def claims_of_volume(ref: Ref[Any]) -> Iterable[Request]:
        """Return the claim that the volume references, or else all claims to which it could be bound."""
        reference = ref.decode()["spec"].get("claimRef")
        if not reference:
            return [*unbound(ref), *_named(ref)]
        return (Request(reference["namespace"], reference["name"]),)

    def _named(volume: Ref[Any]) -> Iterable[Request]:
        name = f'"{volume.name}"'.encode()
        return [Request.of_key(ref.key) for ref in claims.refs() if name in ref.raw]

    (
        Builder(context.manager)
        .named(NAME)
        .for_(PERSISTENT_VOLUME_CLAIMS)
        .watches(PERSISTENT_VOLUMES, claims_of_volume)
        .watches(STORAGE_CLASSES, unbound)
        .recheck_every(RESYNC_S)
        .complete(ClaimBinder(context))
    )
    (
        Builder(context.manager)
        .named("persistentvolume-reclaimer")
        .for_(PERSISTENT_VOLUMES)
        .watches(PERSISTENT_VOLUME_CLAIMS, _volume_of_claim)
        .recheck_every(RESYNC_S)
        .complete(VolumeReclaimer(context))
    )


def _volume_of_claim(ref: Ref[Any]) -> Iterable[Request]:
    name = ref.decode()["spec"].get("volumeName")
    return (Request("", name),) if name else ()
