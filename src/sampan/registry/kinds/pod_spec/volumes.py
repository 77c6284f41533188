"""Volumes of a pod spec. Source: pkg/apis/core/validation/validation.go (1.36)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sampan.core.field import FieldError, Path, duplicate, forbidden, invalid, required
from sampan.core.validation.names import dns1123_subdomain_errors
from sampan.kinds import core_v1, meta_v1
from sampan.registry.kinds.pod_spec import volume_sources as sources
from sampan.registry.kinds.pod_spec.env import VOLUME_FIELDS, validate_field_reference, validate_resource_reference
from sampan.registry.kinds.pod_spec.options import PodOptions
from sampan.registry.kinds.pod_spec.persistent_volume_claim_spec import validate_claim_spec
from sampan.registry.rules.fields import (
    cached_label_errors,
    check_annotations,
    check_file_mode,
    check_labels,
    check_local_not_reserved,
    check_required,
    not_supported,
)
from sampan.registry.rules.quantities import ZERO, amount

Errors = list[FieldError]
Check = Callable[[Any, Path, Errors], None]
_ONE_TYPE = "may not specify more than 1 volume type"


def validate_volumes(
    volumes: list[core_v1.Volume], metadata: meta_v1.ObjectMeta | None, path: Path, errors: Errors, options: PodOptions
) -> dict[str, core_v1.Volume]:
    """Check all volumes, and return the valid ones by name.

    `metadata` is the metadata of a pod, or None for templates. The claim names of ephemeral volumes depend on it.
    """
    valid: dict[str, core_v1.Volume] = {}
    pod_name = (metadata or {}).get("name", "")
    made: set[str] = set()
    if pod_name:
        made = {f"{pod_name}-{v.get('name', '')}" for v in volumes if "ephemeral" in v}
    for i, volume in enumerate(volumes):
        before = len(errors)
        name = volume.get("name", "")
        _validate_source(volume, path, i, errors, options, pod_name)
        if not name:
            errors.append(required(path.index(i).child("name")))
        elif texts := cached_label_errors(name):
            errors.extend(invalid(path.index(i).child("name"), name, text) for text in texts)
        if name in valid:
            errors.append(duplicate(path.index(i).child("name"), name))
        if len(errors) == before:
            valid[name] = volume
        source = volume.get("persistentVolumeClaim")
        claim = source.get("claimName") if source else None
        if made and claim in made:
            at = path.index(i).child("persistentVolumeClaim", "claimName")
            errors.append(invalid(at, claim, "must not reference a PVC that gets created for an ephemeral volume"))
    return valid


def _validate_source(
    volume: core_v1.Volume, path: Path, i: int, errors: Errors, options: PodOptions, pod_name: str
) -> None:
    kinds = [kind for kind in volume if kind in _SOURCES]
    if not kinds:
        errors.append(required(path.index(i), "must specify a volume type"))
        return
    if len(kinds) > 1:
        kinds.sort(key=_ORDER.__getitem__)
    kind = kinds[0]
    given: Mapping[str, Any] = volume  # each kind of source has another type
    source = given[kind]
    if kind == "configMap":
        _check_config_map(source, path, i, errors)
    elif kind == "secret":
        _check_secret(source, path, i, errors)
    elif kind == "projected" and _is_service_account_projection(source):
        pass
    elif kind != "emptyDir" or source:
        at = path.index(i)
        _SOURCES[kind](source, at.child(_CHECKED_AT.get(kind, kind)), errors)
        if kind == "projected":
            _check_projected(source, at.child(kind), errors, options)
        elif kind == "image":
            _check_image(source, at.child(kind), errors, options)
        elif kind == "ephemeral" and pod_name and volume.get("name"):
            claim = f"{pod_name}-{volume['name']}"
            for text in dns1123_subdomain_errors(claim):
                errors.append(invalid(at.child("name"), volume["name"], f'PVC name "{claim}": {text}'))
        elif kind == "iscsi" and source.get("initiatorName") is not None:
            _check_iscsi_name(volume.get("name", ""), source, at, errors)
    for other in kinds[1:]:
        errors.append(forbidden(path.index(i).child(_FORBIDDEN_AT.get(other, other)), _ONE_TYPE))


def _check_iscsi_name(name: str, source: core_v1.ISCSIVolumeSource, path: Path, errors: Errors) -> None:
    if len(f"{name}:{source.get('targetPortal', '')}") > 64:
        errors.append(invalid(path.child("name"), name, sources.ISCSI_NAME_TOO_LONG))


def _check_empty_dir(source: core_v1.EmptyDirVolumeSource, path: Path, errors: Errors) -> None:
    limit = source.get("sizeLimit")
    if limit is not None and amount(limit) < ZERO:
        errors.append(forbidden(path.child("sizeLimit"), "SizeLimit field must be a valid resource quantity"))


def check_items(items: list[core_v1.KeyToPath], path: Path, errors: Errors) -> None:
    """Check a list of KeyToPath. `path` is the path of the list."""
    for i, item in enumerate(items):
        target = item.get("path", "")
        if not item.get("key"):
            errors.append(required(path.index(i).child("key")))
        if not target:
            errors.append(required(path.index(i).child("path")))
        if ".." in target or target.startswith("/"):
            check_local_not_reserved(target, path.index(i).child("path"), errors)
        if "mode" in item:
            check_file_mode(item, "mode", path.index(i), errors)


def _check_config_map(source: core_v1.ConfigMapVolumeSource, path: Path, i: int, errors: Errors) -> None:
    if not source.get("name"):
        errors.append(required(path.index(i).child("configMap", "name")))
    _check_mode_and_items(source, path, i, "configMap", errors)


def _check_secret(source: core_v1.SecretVolumeSource, path: Path, i: int, errors: Errors) -> None:
    if not source.get("secretName"):
        errors.append(required(path.index(i).child("secret", "secretName")))
    _check_mode_and_items(source, path, i, "secret", errors)


def _check_mode_and_items(
    source: core_v1.ConfigMapVolumeSource | core_v1.SecretVolumeSource, path: Path, i: int, kind: str, errors: Errors
) -> None:
    if not 0 <= source.get("defaultMode", 0) <= 0o777:
        check_file_mode(source, "defaultMode", path.index(i).child(kind), errors)
    items = source.get("items")
    if items:
        check_items(items, path.index(i).child(kind, "items"), errors)


def check_downward_item(item: core_v1.DownwardAPIVolumeFile, path: Path, errors: Errors) -> None:
    """Check a DownwardAPIVolumeFile. Kubernetes reports its faults at the path of the source."""
    if not item.get("path"):
        errors.append(required(path.child("path")))
    check_local_not_reserved(item.get("path", ""), path.child("path"), errors)
    field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    if field is not None:
        validate_field_reference(field, VOLUME_FIELDS, path.child("fieldRef"), errors)
        if resource is not None:
            text = "fieldRef and resourceFieldRef can not be specified simultaneously"
            errors.append(invalid(path, "resource", text))
    elif resource is not None:
        validate_resource_reference(resource, path.child("resourceFieldRef"), errors, volume=True)
    else:
        errors.append(required(path, "one of fieldRef and resourceFieldRef is required"))
    check_file_mode(item, "mode", path, errors)


def _check_downward_api(source: core_v1.DownwardAPIVolumeSource, path: Path, errors: Errors) -> None:
    check_file_mode(source, "defaultMode", path, errors)
    for item in source.get("items", ()):
        check_downward_item(item, path, errors)


def _check_claim(source: core_v1.PersistentVolumeClaimVolumeSource, path: Path, errors: Errors) -> None:
    check_required(source, ("claimName",), path, errors)


def _check_ephemeral(source: core_v1.EphemeralVolumeSource, path: Path, errors: Errors) -> None:
    template = source.get("volumeClaimTemplate")
    at = path.child("volumeClaimTemplate")
    if template is None:
        errors.append(required(at))
        return
    metadata = template.get("metadata") or {}
    check_annotations(metadata.get("annotations") or {}, at.child("metadata", "annotations"), errors)
    check_labels(metadata.get("labels") or {}, at.child("metadata", "labels"), errors)
    for name, value in metadata.items():
        if name not in ("annotations", "labels") and value:
            errors.append(forbidden(at.child("metadata", name), "cannot be set"))
    validate_claim_spec(template.get("spec") or {}, at.child("spec"), errors)


def _check_image(source: core_v1.ImageVolumeSource, path: Path, errors: Errors, options: PodOptions) -> None:
    if options.is_pod and not source.get("reference"):
        errors.append(required(path.child("reference")))
    policy = source.get("pullPolicy", "")
    supported = frozenset({"Always", "IfNotPresent", "Never"})
    if policy not in supported:
        at = path.child("pullPolicy")
        errors.append(not_supported(at, policy, supported) if policy else required(at))


def _is_service_account_projection(source: core_v1.ProjectedVolumeSource) -> bool:
    """Return True if a projected volume has the form that every pod's service account volume has.

    This is a fast path around the full check. False does not imply a fault.
    """
    if not 0 <= source.get("defaultMode", 0) <= 0o777:
        return False
    paths: set[str] = set()
    for projection in source.get("sources") or ():
        if len(projection) != 1:
            return False
        part: Any
        ((kind, part),) = projection.items()
        if kind == "serviceAccountToken":
            if not 600 <= part.get("expirationSeconds", 0) <= 1 << 32 or not _is_plain_path(part.get("path", "")):
                return False
        elif kind in ("configMap", "secret", "downwardAPI"):
            if not _are_plain_items(kind, part, paths):
                return False
        else:
            return False
    return True


def _is_plain_path(path: str) -> bool:
    return bool(path) and path[0] != "/" and ".." not in path


def _are_plain_items(kind: str, part: Mapping[str, Any], paths: set[str]) -> bool:
    if kind != "downwardAPI" and not part.get("name"):
        return False
    for item in part.get("items", ()):
        path = item.get("path", "")
        if path in paths or not _is_plain_path(path) or "mode" in item:
            return False
        paths.add(path)
        if kind != "downwardAPI":
            if not item.get("key"):
                return False
            continue
        field = item.get("fieldRef")
        if field is None or "resourceFieldRef" in item or field.get("apiVersion") != "v1":
            return False
        if field.get("fieldPath") not in VOLUME_FIELDS:
            return False
    return True


def _check_projected(source: core_v1.ProjectedVolumeSource, path: Path, errors: Errors, options: PodOptions) -> None:
    check_file_mode(source, "defaultMode", path, errors)
    paths: set[str] = set()
    for i, projection in enumerate(source.get("sources") or ()):
        at = path.child("sources").index(i)
        kinds = 0
        for kind in (
            "secret",
            "configMap",
            "downwardAPI",
            "serviceAccountToken",
            "clusterTrustBundle",
            "podCertificate",
        ):
            part: Any = projection.get(kind)  # each kind has another type
            if part is None:
                continue
            kinds += 1
            if kind == "serviceAccountToken":
                _check_token(part, path, at.child(kind), errors, options)
            else:
                _PROJECTIONS[kind](part, path, at.child(kind), paths, errors)
        if kinds > 1:
            errors.append(forbidden(at, "may not specify more than 1 volume type per source"))


def _claim_path(target: str, shown: str, paths: set[str], path: Path, errors: Errors) -> None:
    if target in paths:
        errors.append(invalid(path, shown, "conflicting duplicate paths"))
    paths.add(target)


def _project_keys(
    part: core_v1.ConfigMapProjection | core_v1.SecretProjection, path: Path, at: Path, paths: set[str], errors: Errors
) -> None:
    if not part.get("name"):
        errors.append(required(at.child("name")))
    items = part.get("items", ())
    if items:
        check_items(items, at.child("items"), errors)
    for item in items:
        if item.get("path"):
            _claim_path(item["path"], part.get("name", ""), paths, path, errors)


def _project_downward(
    part: core_v1.DownwardAPIProjection, path: Path, at: Path, paths: set[str], errors: Errors
) -> None:
    for item in part.get("items", ()):
        check_downward_item(item, at, errors)
        if item.get("path"):
            _claim_path(item["path"], item["path"], paths, path, errors)


def _check_token(
    part: core_v1.ServiceAccountTokenProjection, path: Path, at: Path, errors: Errors, options: PodOptions
) -> None:
    seconds = part.get("expirationSeconds", 0)
    if seconds < 600:
        text = "may not specify a duration less than 10 minutes"
        errors.append(invalid(at.child("expirationSeconds"), seconds, text))
    if seconds > 1 << 32:
        text = "may not specify a duration larger than 2^32 seconds"
        errors.append(invalid(at.child("expirationSeconds"), seconds, text))
    target = part.get("path", "")
    if not target:
        errors.append(required(path.child("path")))
    elif not options.allow_non_local_token_path:
        check_local_not_reserved(target, path.child("path"), errors)


def _project_bundle(
    part: core_v1.ClusterTrustBundleProjection, path: Path, at: Path, paths: set[str], errors: Errors
) -> None:
    sources.check_trust_bundle(part, at, errors)
    target = part.get("path", "")
    if not target:
        errors.append(required(at.child("path")))
    check_local_not_reserved(target, at.child("path"), errors)
    _claim_path(target, target, paths, path, errors)


def _project_certificate(
    part: core_v1.PodCertificateProjection, path: Path, at: Path, paths: set[str], errors: Errors
) -> None:
    sources.check_pod_certificate(part, at, errors)
    found = False
    for name in ("credentialBundlePath", "keyPath", "certificateChainPath"):
        target = part.get(name)
        if target:
            found = True
            check_local_not_reserved(target, at.child(name), errors)
            _claim_path(target, target, paths, path, errors)
    if not found:
        text = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"
        errors.append(required(at, text))


def _checked_elsewhere(source: Any, path: Path, errors: Errors) -> None:
    """Do nothing: this source is checked elsewhere, with the options of the pod."""


_PROJECTIONS: dict[str, Callable[[Any, Path, Path, set[str], Errors], None]] = {
    "secret": _project_keys,
    "configMap": _project_keys,
    "downwardAPI": _project_downward,
    "clusterTrustBundle": _project_bundle,
    "podCertificate": _project_certificate,
}
_SOURCES: dict[str, Check] = {
    "emptyDir": _check_empty_dir,
    "hostPath": sources.check_host_path,
    "gitRepo": sources.check_git_repo,
    "gcePersistentDisk": sources.check_gce_disk,
    "awsElasticBlockStore": sources.check_aws_disk,
    "secret": _checked_elsewhere,
    "nfs": sources.check_nfs,
    "iscsi": sources.check_iscsi,
    "glusterfs": sources.check_glusterfs,
    "flocker": sources.check_flocker,
    "persistentVolumeClaim": _check_claim,
    "rbd": sources.check_rbd,
    "cinder": sources.check_cinder,
    "cephfs": sources.check_cephfs,
    "quobyte": sources.check_quobyte,
    "downwardAPI": _check_downward_api,
    "fc": sources.check_fc,
    "flexVolume": sources.check_flex,
    "configMap": _checked_elsewhere,
    "azureFile": sources.check_azure_file,
    "vsphereVolume": sources.check_vsphere,
    "photonPersistentDisk": sources.check_photon,
    "portworxVolume": sources.check_portworx,
    "azureDisk": sources.check_azure_disk,
    "storageos": sources.check_storage_os,
    "projected": _checked_elsewhere,
    "scaleIO": sources.check_scale_io,
    "csi": sources.check_csi,
    "ephemeral": _check_ephemeral,
    "image": _checked_elsewhere,
}
_ORDER = {kind: i for i, kind in enumerate(_SOURCES)}
_CHECKED_AT = {"gcePersistentDisk": "persistentDisk"}
_FORBIDDEN_AT = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
