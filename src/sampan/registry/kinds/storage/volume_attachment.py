"""Volume attachments. Source: pkg/registry/storage/volumeattachment, pkg/apis/storage/validation (1.36)."""

from __future__ import annotations

from typing import ClassVar, Final

from sampan.core.field import Path, forbidden, invalid, required, too_long
from sampan.core.validation.names import dns1123_subdomain_errors
from sampan.kinds import core_v1, storage_v1
from sampan.registry.columns.cells import NAME, at, boolean, column
from sampan.registry.kind import Kind
from sampan.registry.kinds.pod_spec.persistent_volume_claim_spec import check_access_modes
from sampan.registry.kinds.pod_spec.volume_sources import check_csi_driver_name
from sampan.registry.rules.fields import Errors, check_immutable
from sampan.registry.strategy import OBJECT_METADATA, Context, Strategy

_SPEC = Path("spec")
_STATUS = Path("status")
_METADATA_BYTES_MAX = 256 * 1024
_MESSAGE_LENGTH_MAX = 1024
_NOT_INLINE = "may not be specified in the context of inline volumes"
_ONE_SOURCE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


def _check_inline(spec: core_v1.PersistentVolumeSpec, path: Path, errors: Errors) -> None:
    for name in ("claimRef", "capacity"):
        if spec.get(name):
            errors.append(forbidden(path.child(name), _NOT_INLINE))
    if "csi" not in spec:
        errors.append(required(path.child("csi"), "has to be specified in the context of inline volumes"))
    if not spec.get("accessModes"):
        errors.append(required(path.child("accessModes")))
    check_access_modes(spec.get("accessModes") or [], path, errors)
    if spec.get("persistentVolumeReclaimPolicy", "Retain") != "Retain":
        detail = "may only be Retain in the context of inline volumes"
        errors.append(forbidden(path.child("persistentVolumeReclaimPolicy"), detail))
    if "nodeAffinity" in spec:
        errors.append(forbidden(path.child("nodeAffinity"), _NOT_INLINE))


def _check_source(source: storage_v1.VolumeAttachmentSource, errors: Errors) -> None:
    path, name, inline = _SPEC.child("source"), source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if name is None and inline is None:
        errors.append(required(path, _ONE_SOURCE))
    elif name is not None and inline is not None:
        errors.append(forbidden(path, _ONE_SOURCE))
    elif name == "":
        errors.append(required(path.child("persistentVolumeName"), "must specify non empty persistentVolumeName"))
    elif inline is not None:
        _check_inline(inline, path.child("inlineVolumeSpec"), errors)


def _check_status(status: storage_v1.VolumeAttachmentStatus, errors: Errors) -> None:
    metadata = status.get("attachmentMetadata") or {}
    if sum(len(key.encode()) + len(value.encode()) for key, value in metadata.items()) > _METADATA_BYTES_MAX:
        errors.append(too_long(_STATUS.child("attachmentMetadata"), "", _METADATA_BYTES_MAX))
    for name in ("attachError", "detachError"):
        error = status.get(name) or {}
        if len(error.get("message", "").encode()) > _MESSAGE_LENGTH_MAX:
            errors.append(too_long(_STATUS.child(name, "message"), "", _METADATA_BYTES_MAX))
        code = error.get("errorCode", 0)
        if code < 0:
            detail = "must be between 0 and 2147483647, inclusive"
            errors.append(invalid(_STATUS.child(name, "errorCode"), code, detail))


class VolumeAttachmentStrategy(Strategy):
    """Rules of attachments. The spec is immutable."""

    kept_metadata = OBJECT_METADATA
    reset_metadata: ClassVar = {}
    has_generation = False
    allow_unconditional_update = False
    returns_deleted_object = True

    def check(self, ctx: Context, obj: storage_v1.VolumeAttachment, errors: Errors) -> None:
        spec = obj.get("spec", {})
        check_csi_driver_name(spec.get("attacher", ""), _SPEC.child("attacher"), errors)
        source, node = spec.get("source", {}), spec.get("nodeName", "")
        _check_source(source, errors)
        errors.extend(invalid(_SPEC.child("nodeName"), node, text) for text in dns1123_subdomain_errors(node))
        status = obj.get("status")
        if status:
            _check_status(status, errors)
        volume = source.get("persistentVolumeName")
        if volume is not None:
            path = Path("spec.source.persistentVolumeName")
            errors.extend(invalid(path, volume, text) for text in dns1123_subdomain_errors(volume))

    def check_update(
        self, ctx: Context, obj: storage_v1.VolumeAttachment, old: storage_v1.VolumeAttachment, errors: Errors
    ) -> None:
        """Check an update: the spec is immutable."""
        self.check(ctx, obj, errors)
        check_immutable(obj.get("spec"), old.get("spec"), _SPEC, errors)

    def check_status_update(
        self, ctx: Context, obj: storage_v1.VolumeAttachment, old: storage_v1.VolumeAttachment, errors: Errors
    ) -> None:
        """Check the size of the data that the attacher reports."""
        self.check_update(ctx, obj, old, errors)


KINDS: Final = (
    Kind(
        "storage.k8s.io",
        "volumeattachments",
        VolumeAttachmentStrategy(),
        columns=lambda ages: (
            NAME,
            column("Attacher", at("spec", "attacher"), format="name"),
            column("PV", at("spec", "source", "persistentVolumeName")),
            column("Node", at("spec", "nodeName")),
            boolean("Attached", at("status", "attached", default=False)),
            ages.column,
        ),
    ),
)
