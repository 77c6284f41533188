"""PersistentVolumes. Source: pkg/registry/core/persistentvolume/strategy.go (1.36)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from sampan.core.clock import utc_now
from sampan.core.field import FieldError, Path, forbidden, invalid, required
from sampan.core.object import Object
from sampan.core.time import format_time
from sampan.kinds import core_v1
from sampan.registry.columns.cells import EMPTY, NAME, at, column
from sampan.registry.columns.volumes import ATTRIBUTES_CLASS, STORAGE_CLASS, VOLUME_MODE, access_modes, phase
from sampan.registry.kind import Kind
from sampan.registry.kinds.core.persistent_volume_spec import SOURCES, validate_volume_spec
from sampan.registry.kinds.pod_spec.defaults import (
    default_azure_disk,
    default_iscsi,
    default_rbd,
    default_scale_io,
)
from sampan.registry.kinds.pod_spec.options import has_invalid_term_values
from sampan.registry.rules import feature_gates as gates
from sampan.registry.rules.fields import check_immutable, difference
from sampan.registry.rules.node_labels import term_warnings
from sampan.registry.rules.quantities import round_up_to_milli
from sampan.registry.rules.semantics import same
from sampan.registry.strategy import Context, Strategy

Errors = list[FieldError]
_SPEC = Path("spec")


def _default_azure_file(source: Object) -> None:
    source.setdefault("secretNamespace", None)  # always shown


_DEFAULTS: Final[Mapping[str, Callable[[Any], None]]] = {
    "azureFile": _default_azure_file,
    "rbd": default_rbd,
    "iscsi": default_iscsi,
    "azureDisk": default_azure_disk,
    "scaleIO": default_scale_io,
}
_MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options"
_ANNOTATIONS = {
    "volume.beta.kubernetes.io/storage-class": 'deprecated since v1.8; use "storageClassName" attribute instead',
    _MOUNT_OPTIONS: 'deprecated since v1.31; use "mountOptions" attribute instead',
}
_VOLUMES = {
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "photonPersistentDisk": ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    "scaleIO": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}
_MOUNTABLE = frozenset(
    {
        "gcePersistentDisk",
        "awsElasticBlockStore",
        "glusterfs",
        "nfs",
        "rbd",
        "quobyte",
        "iscsi",
        "cinder",
        "cephfs",
        "azureFile",
        "vsphereVolume",
        "azureDisk",
        "photonPersistentDisk",
    }
)
_GA_LABELS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}


def _utc_now() -> datetime:
    return utc_now()


class PersistentVolumeStrategy(Strategy):
    """Strategy of PersistentVolumes. `now` is the clock for the times of phase changes."""

    has_generation = False
    returns_deleted_object = True
    keeps_status_on_create = True

    def __init__(self, now: Callable[[], datetime] = _utc_now) -> None:
        self._now = now

    def default(self, obj: Object) -> None:
        status, spec = obj.setdefault("status", {}), obj.setdefault("spec", {})
        if not status.get("phase"):
            status["phase"] = "Pending"
        if not spec.get("persistentVolumeReclaimPolicy"):
            spec["persistentVolumeReclaimPolicy"] = "Retain"
        spec.setdefault("volumeMode", "Filesystem")
        if spec.get("capacity"):
            round_up_to_milli(spec["capacity"])
        if "hostPath" in spec:
            spec["hostPath"].setdefault("type", "")
        for kind, fill in _DEFAULTS.items():
            if kind in spec:
                fill(spec[kind])

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": format_time(self._now())}

    def prepare_for_status_update(self, ctx: Context, obj: Object, old: Object) -> None:
        status, old_status = obj.setdefault("status", {}), old.get("status") or {}
        changed, before = status.get("lastPhaseTransitionTime"), old_status.get("lastPhaseTransitionTime")
        if status.get("phase") == old_status.get("phase"):
            if changed is None and before is not None:
                status["lastPhaseTransitionTime"] = before
        elif changed is None or changed == before:
            status["lastPhaseTransitionTime"] = format_time(self._now())

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        _check(obj, errors, allow_invalid_values=False)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update. Kubernetes runs the checks of a new volume twice and reports each fault twice, so this does
        too.
        """
        spec, old_spec = obj["spec"], old.get("spec") or {}
        terms: core_v1.NodeSelector | None = (old_spec.get("nodeAffinity") or {}).get("required")
        for _ in range(2):
            _check(obj, errors, allow_invalid_values=terms is not None and has_invalid_term_values(terms))
        _check_source(spec, old_spec, errors)
        check_immutable(spec.get("volumeMode"), old_spec.get("volumeMode"), Path("volumeMode"), errors)
        if not gates.MUTABLE_PV_NODE_AFFINITY and old_spec.get("nodeAffinity") is not None:
            new = spec.get("nodeAffinity")
            if not same(new, old_spec["nodeAffinity"]) and not same(new, _renamed(old_spec["nodeAffinity"], new)):
                text = "field is immutable, except for updating from beta label to GA"
                errors.append(invalid(Path("nodeAffinity"), new, text))
        if old_spec.get("volumeAttributesClassName") is not None and spec.get("volumeAttributesClassName") is None:
            at = _SPEC.child("volumeAttributesClassName")
            errors.append(forbidden(at, "update from non-nil value to nil is forbidden"))

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        if not obj["metadata"].get("resourceVersion"):
            errors.append(required(Path("resourceVersion")))

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        spec, annotations = obj.get("spec") or {}, obj["metadata"].get("annotations") or ()
        warnings = [f"metadata.annotations[{key}]: {text}" for key, text in _ANNOTATIONS.items() if key in annotations]
        if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
            text = "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic"
            warnings.append(f"spec.persistentVolumeReclaimPolicy: {text} provisioning.")
        terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
        for i, term in enumerate(terms):
            at = _SPEC.child("nodeAffinity", "required", "nodeSelectorTerms").index(i)
            warnings.extend(term_warnings(term, at, check_values=False))
        warnings.extend(f"spec.{name}: {text}" for kind, (name, text) in _VOLUMES.items() if kind in spec)
        return warnings

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        return [] if ctx.subresource == "status" else self.warnings_on_create(ctx, obj)

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        return {"name": obj["metadata"].get("name", "")}


def _check(obj: Object, errors: Errors, *, allow_invalid_values: bool) -> None:
    spec = obj["spec"]
    name = obj["metadata"].get("name", "")
    validate_volume_spec(spec, name, _SPEC, errors, allow_invalid_values=allow_invalid_values)
    if _MOUNT_OPTIONS in (obj["metadata"].get("annotations") or ()) and not _MOUNTABLE & spec.keys():
        at = Path("metadata", "annotations", _MOUNT_OPTIONS)
        errors.append(forbidden(at, "may not specify mount options for this volume type"))


def _check_source(spec: Object, old_spec: Object, errors: Errors) -> None:
    """Check that the source did not change. Only a CSI source may get a secret for expansion."""
    new = {kind: spec[kind] for kind in SOURCES if kind in spec}
    old = {kind: old_spec[kind] for kind in SOURCES if kind in old_spec}
    csi, old_csi = new.get("csi"), old.get("csi")
    if csi and old_csi is not None and old_csi.get("controllerExpandSecretRef") is None:
        new["csi"] = {name: value for name, value in csi.items() if name != "controllerExpandSecretRef"}
    if not same(new, old):
        text = f"spec.persistentvolumesource is immutable after creation\n{difference(old, new)}"
        errors.append(forbidden(_SPEC.child("persistentvolumesource"), text))


def _renamed(affinity: Any, new: Any) -> Any:
    """Return the stored affinity, with the beta labels renamed that the new affinity has renamed."""
    if isinstance(affinity, dict) and isinstance(new, dict):
        renamed = {name: _renamed(value, new.get(name)) for name, value in affinity.items()}
        key = affinity.get("key")
        if isinstance(key, str) and _GA_LABELS.get(key) == new.get("key"):
            renamed["key"] = new["key"]
        return renamed
    if isinstance(affinity, list) and isinstance(new, list) and len(affinity) == len(new):
        return [_renamed(one, other) for one, other in zip(affinity, new, strict=True)]
    return affinity


def _claim(volume: core_v1.PersistentVolume) -> str:
    claim = volume.get("spec", EMPTY).get("claimRef")
    return "" if claim is None else f"{claim.get('namespace', '')}/{claim.get('name', '')}"


KINDS: Final = (
    Kind(
        "",
        "persistentvolumes",
        PersistentVolumeStrategy(),
        columns=lambda ages: (
            NAME,
            column("Capacity", at("spec", "capacity", "storage", default="0")),
            column("Access Modes", lambda obj: access_modes(obj.get("spec", EMPTY).get("accessModes", ()))),
            column("Reclaim Policy", at("spec", "persistentVolumeReclaimPolicy")),
            column("Status", phase),
            column("Claim", _claim),
            STORAGE_CLASS,
            ATTRIBUTES_CLASS,
            column("Reason", at("status", "reason")),
            ages.column,
            VOLUME_MODE,
        ),
    ),
)
