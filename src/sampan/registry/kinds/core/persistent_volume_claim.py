"""Rules for PersistentVolumeClaims: defaults, data sources, and the few fields that may change after creation.

Source: pkg/registry/core/persistentvolumeclaim/strategy.go, pkg/apis/core/validation/validation.go (1.36).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sampan.core.field import FieldError, Path, forbidden, invalid, required
from sampan.core.object import Object, set_or_drop
from sampan.core.validation.names import qualified_name_errors
from sampan.kinds import core_v1
from sampan.registry.columns.cells import EMPTY, NAME, at, column
from sampan.registry.columns.volumes import ATTRIBUTES_CLASS, STORAGE_CLASS, VOLUME_MODE, access_modes, phase
from sampan.registry.kind import Kind
from sampan.registry.kinds.pod_spec.defaults import default_claim_spec
from sampan.registry.kinds.pod_spec.persistent_volume_claim_spec import validate_claim_spec
from sampan.registry.kinds.pod_spec.resources import check_amount, check_basic_amount, is_native
from sampan.registry.kinds.pod_spec.warnings import claim_spec_warnings
from sampan.registry.old_versions.core import persistent_volume_claim
from sampan.registry.rules import feature_gates as gates
from sampan.registry.rules.fields import check_immutable, check_label_selector, difference, not_supported
from sampan.registry.rules.quantities import amount, round_up_to_milli
from sampan.registry.rules.semantics import same
from sampan.registry.strategy import Context, Strategy

Errors = list[FieldError]
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_SPEC = Path("spec")
_STATUS = Path("status")
_SIZE = _SPEC.child("resources", "requests", "storage")
_RESIZES = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
)


class PersistentVolumeClaimStrategy(Strategy):
    """Strategy of claims. Most fields are immutable, but a bound claim may grow."""

    has_generation = False
    returns_deleted_object = True
    keeps_status_on_create = True

    def default(self, obj: core_v1.PersistentVolumeClaim) -> None:
        default_claim_spec(obj.setdefault("spec", {}))
        status = obj.setdefault("status", {})
        if not status.get("phase"):
            status["phase"] = "Pending"
        for name in ("capacity", "allocatedResources"):
            if status.get(name):
                round_up_to_milli(status[name])

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj["status"] = {"phase": "Pending"}
        _prepare_sources(obj["spec"], None)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        _prepare_sources(obj["spec"], old.get("spec") or {})
        _normalize_sources(old.get("spec") or {})

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        validate_claim_spec(obj["spec"], _SPEC, errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        spec, old_spec = obj["spec"], old.get("spec") or {}
        faults: Errors = []
        check_label_selector(old_spec.get("selector"), Path(""), faults)
        sources = [old_spec.get(name) or {} for name in ("dataSource", "dataSourceRef")]
        validate_claim_spec(
            spec,
            _SPEC,
            errors,
            allow_invalid_selector_values=bool(faults),
            allow_invalid_api_group=any(source.get("apiGroup") is not None for source in sources),
        )
        _check_changes(obj, old, errors)

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        if not obj["metadata"].get("resourceVersion"):
            errors.append(required(Path("resourceVersion")))
        if not (obj.get("spec") or {}).get("accessModes"):
            errors.append(required(Path("Spec", "accessModes")))
        status = obj.get("status") or {}
        for name, text in (status.get("capacity") or {}).items():
            check_basic_amount(text, _STATUS.child("capacity").key(name), errors)
        at = _STATUS.child("allocatedResourceStatuses")
        for name, value in (status.get("allocatedResourceStatuses") or {}).items():
            _check_resource_key(name, at, errors)
            if value not in _RESIZES:
                errors.append(not_supported(at, name, _RESIZES))
        at = _STATUS.child("allocatedResources")
        for name, text in (status.get("allocatedResources") or {}).items():
            if _check_resource_key(name, at, errors):
                before = len(errors)
                check_basic_amount(text, at.key(name), errors)
                if len(errors) == before:
                    check_amount("storage", text, at.key(name), errors)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        warnings = []
        if BETA_CLASS in (obj["metadata"].get("annotations") or ()):
            text = 'deprecated since v1.8; use "storageClassName" attribute instead'
            warnings.append(f"metadata.annotations[{BETA_CLASS}]: {text}")
        spec: core_v1.PersistentVolumeClaimSpec = obj.get("spec") or {}
        return warnings + list(reversed(claim_spec_warnings(spec, _SPEC)))

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        return [] if ctx.subresource == "status" else self.warnings_on_create(ctx, obj)

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        return {"name": obj["metadata"].get("name", "")}


def _is_claim_or_snapshot(source: Object) -> bool:
    key = (source.get("apiGroup") or "", source.get("kind"))
    return key in (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))


def _prepare_sources(spec: Object, old_spec: Object | None) -> None:
    """Drop data sources that need disabled features, and make dataSource and dataSourceRef equal."""
    old = old_spec or {}
    reference = spec.get("dataSourceRef")
    crossing = not gates.CROSS_NAMESPACE_VOLUME_DATA_SOURCE and reference and reference.get("namespace")
    if crossing and old.get("dataSourceRef") is None:
        del spec["dataSourceRef"]
    in_use = old.get("dataSource") is not None or old.get("dataSourceRef") is not None
    source = spec.get("dataSource")
    if source is not None and not in_use and spec.get("dataSourceRef") is None and not _is_claim_or_snapshot(source):
        del spec["dataSource"]
    _normalize_sources(spec)


def _normalize_sources(spec: Object) -> None:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is None:
        spec["dataSourceRef"] = _reference(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = _reference(reference)


def _reference(source: Object) -> Object:
    return {name: source.get(name) for name in ("apiGroup", "kind", "name")}


def _check_resource_key(name: str, path: Path, errors: Errors) -> bool:
    texts = qualified_name_errors(name)
    errors.extend(invalid(path, name, text) for text in texts)
    if texts:
        return False
    if is_native(name) and name != "storage":
        errors.append(not_supported(path, name, ("storage",)))
        return False
    return True


def _check_changes(obj: Object, old: Object, errors: Errors) -> None:
    """Check that only mutable fields changed: the size and attributes class of a bound claim, or an unset storage
    class.
    """
    spec, old_spec, status = obj["spec"], old.get("spec") or {}, obj.get("status") or {}
    munged, base = dict(spec), dict(old_spec)
    if not old_spec.get("volumeName"):
        set_or_drop(base, "volumeName", munged.get("volumeName"))
    _allow_class(obj, old, munged, errors)
    bound = status.get("phase") == "Bound"
    old_size = ((old_spec.get("resources") or {}).get("requests") or {}).get("storage", "0")
    new_size = ((spec.get("resources") or {}).get("requests") or {}).get("storage", "0")
    if bound:
        if (spec.get("resources") or {}).get("requests") is not None:
            requests = {**spec["resources"]["requests"], "storage": old_size}
            munged["resources"] = {**spec["resources"], "requests": requests}
        set_or_drop(munged, "volumeAttributesClassName", old_spec.get("volumeAttributesClassName"))
    if not same(munged, base):
        text = (
            "spec is immutable after creation except resources.requests and volumeAttributesClassName "
            f"for bound claims\n{difference(base, munged)}"
        )
        errors.append(forbidden(_SPEC, text))
    if amount(new_size) < amount(old_size):
        current = ((old.get("status") or {}).get("capacity") or {}).get("storage", "0")
        if amount(new_size) <= amount(current):
            errors.append(forbidden(_SIZE, "field can not be less than status.capacity"))
    check_immutable(spec.get("volumeMode"), old_spec.get("volumeMode"), Path("volumeMode"), errors)
    _check_attributes_class(spec, old_spec, old.get("status") or {}, errors)


def _allow_class(obj: Object, old: Object, munged: Object, errors: Errors) -> None:
    annotations = obj["metadata"].get("annotations") or {}
    old_annotations = old["metadata"].get("annotations") or {}
    new_class, old_class = obj["spec"].get("storageClassName"), (old.get("spec") or {}).get("storageClassName")
    beta = old_annotations.get(BETA_CLASS)
    if beta is not None and old_class is None and new_class == beta and annotations.get(BETA_CLASS, beta) == beta:
        munged.pop("storageClassName", None)
        return
    if annotations.get(BETA_CLASS, "") != (beta or ""):
        at = Path("metadata", "annotations", BETA_CLASS)
        errors.append(invalid(at, annotations.get(BETA_CLASS, ""), "field is immutable"))
    if new_class is not None and old_class is None and (beta is None or new_class == beta):
        munged.pop("storageClassName", None)


def _check_attributes_class(
    spec: core_v1.PersistentVolumeClaimSpec,
    old_spec: Mapping[str, Any],
    old_status: core_v1.PersistentVolumeClaimStatus,
    errors: Errors,
) -> None:
    new, old = spec.get("volumeAttributesClassName"), old_spec.get("volumeAttributesClassName")
    if new == old or old_status.get("currentVolumeAttributesClassName") is None:
        return
    at = _SPEC.child("volumeAttributesClassName")
    if new is None:
        text = "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil"
        errors.append(forbidden(at, text))
    elif not new:
        text = "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil"
        errors.append(forbidden(at, text))


def _capacity(claim: core_v1.PersistentVolumeClaim) -> str:
    if not claim.get("spec", EMPTY).get("volumeName"):
        return ""
    return str(claim.get("status", EMPTY).get("capacity", EMPTY).get("storage", "0"))


def _modes(claim: core_v1.PersistentVolumeClaim) -> str:
    if not claim.get("spec", EMPTY).get("volumeName"):
        return ""
    return access_modes(claim.get("status", EMPTY).get("accessModes", ()))


KINDS: Final = (
    Kind(
        "",
        "persistentvolumeclaims",
        PersistentVolumeClaimStrategy(),
        old_versions={"v1": persistent_volume_claim},
        columns=lambda ages: (
            NAME,
            column("Status", phase),
            column("Volume", at("spec", "volumeName")),
            column("Capacity", _capacity),
            column("Access Modes", _modes),
            STORAGE_CLASS,
            ATTRIBUTES_CLASS,
            ages.column,
            VOLUME_MODE,
        ),
    ),
)
