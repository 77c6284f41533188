"""Spec of a PersistentVolumeClaim, in claims and in the templates of ephemeral volumes.

Source: pkg/apis/core/validation/validation.go ValidatePersistentVolumeClaimSpec (1.36).
"""

from __future__ import annotations

from sampan.core.field import FieldError, Path, Shown, forbidden, invalid, required
from sampan.core.validation.names import dns1123_label_errors, dns1123_subdomain_errors
from sampan.kinds import core_v1
from sampan.registry.kinds.pod_spec.resources import check_positive_amount
from sampan.registry.rules.fields import check_label_selector, check_required, check_subdomain, not_supported

Errors = list[FieldError]
_PATH = Shown("{}")
"""Text that error messages show as the invalid value where Kubernetes passes a path instead of the value."""
ACCESS_MODES = frozenset({"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"})
VOLUME_MODES = frozenset({"Block", "Filesystem"})


def check_access_modes(modes: list[str], path: Path, errors: Errors) -> None:
    """Check that modes are valid, and that ReadWriteOncePod is the only one. `path` is the path of the spec."""
    for mode in modes:
        if mode not in ACCESS_MODES:
            errors.append(not_supported(path.child("accessModes"), mode, ACCESS_MODES))
    if "ReadWriteOncePod" in modes and any(m in ACCESS_MODES and m != "ReadWriteOncePod" for m in modes):
        text = "may not use ReadWriteOncePod with other access modes"
        errors.append(forbidden(path.child("accessModes"), text))


def validate_claim_spec(
    spec: core_v1.PersistentVolumeClaimSpec,
    path: Path,
    errors: Errors,
    *,
    allow_invalid_selector_values: bool = False,
    allow_invalid_api_group: bool = False,
) -> None:
    """Check the spec of a claim. The options tolerate faults that the stored claim has."""
    modes = spec.get("accessModes") or []
    if not modes:
        errors.append(required(path.child("accessModes"), "at least 1 access mode is required"))
    if spec.get("selector"):
        at = path.child("selector")
        check_label_selector(spec["selector"], at, errors, allow_invalid_values=allow_invalid_selector_values)
    check_access_modes(modes, path, errors)
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if storage is None:
        errors.append(required(path.child("resources").key("storage")))
    else:
        check_positive_amount(storage, path.child("resources").key("storage"), errors)
    if spec.get("storageClassName"):
        check_subdomain(spec["storageClassName"], path.child("storageClassName"), errors)
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        errors.append(not_supported(path.child("volumeMode"), mode, VOLUME_MODES))
    _check_sources(spec, path, errors, allow_invalid_api_group)
    if spec.get("volumeAttributesClassName"):
        name = spec["volumeAttributesClassName"]
        check_subdomain(name, path.child("volumeAttributesClassName"), errors)


def _check_sources(
    spec: core_v1.PersistentVolumeClaimSpec, path: Path, errors: Errors, allow_invalid_api_group: bool
) -> None:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None:
        _check_source(source, path.child("dataSource"), errors, allow_invalid_api_group)
    if reference is None:
        return
    at = path.child("dataSourceRef")
    _check_source(reference, at, errors, allow_invalid_api_group)
    namespace = reference.get("namespace")
    if namespace:
        texts = dns1123_label_errors(namespace)
        errors.extend(invalid(at.child("namespace"), namespace, text) for text in texts)
    if source is None:
        return
    if namespace:
        errors.append(invalid(path, _PATH, "may not be specified when dataSourceRef.namespace is specified"))
    elif any(source.get(name) != reference.get(name) for name in ("apiGroup", "kind", "name")):
        errors.append(invalid(path, _PATH, "must match dataSourceRef"))


def _check_source(
    source: core_v1.TypedLocalObjectReference | core_v1.TypedObjectReference,
    path: Path,
    errors: Errors,
    allow_invalid_api_group: bool,
) -> None:
    check_required(source, ("name", "kind"), path, errors)
    group, kind = source.get("apiGroup") or "", source.get("kind", "")
    if not group and kind != "PersistentVolumeClaim":
        text = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        errors.append(invalid(path, kind, text))
    if group and not allow_invalid_api_group:
        errors.extend(invalid(path.child("apiGroup"), group, text) for text in dns1123_subdomain_errors(group))
