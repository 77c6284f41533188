"""Validation of the spec of a PersistentVolume: exactly one source, a capacity, access modes.

Source: pkg/apis/core/validation/validation.go ValidatePersistentVolumeSpec (1.36).
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any, Final

from sampan.core.field import FieldError, Path, forbidden, invalid, required
from sampan.core.object import Object
from sampan.core.validation.names import dns1123_label_errors
from sampan.kinds import core_v1
from sampan.registry.kinds.pod_spec import volume_sources as sources
from sampan.registry.kinds.pod_spec.persistent_volume_claim_spec import VOLUME_MODES, check_access_modes
from sampan.registry.kinds.pod_spec.resources import check_basic_amount, check_positive_amount
from sampan.registry.kinds.pod_spec.scheduling import check_node_selector
from sampan.registry.rules.fields import (
    check_label,
    check_no_backsteps,
    check_required,
    check_subdomain,
    not_supported,
)
from sampan.registry.rules.table import Check, all_of, one_of, requires, within

Errors = list[FieldError]
_RECLAIM_POLICIES = frozenset({"Delete", "Recycle", "Retain"})
_MODE = one_of("volumeMode", VOLUME_MODES)


def validate_volume_spec(
    spec: Object, name: str, path: Path, errors: Errors, *, allow_invalid_values: bool = False
) -> None:
    """Check the spec of the PersistentVolume `name`.

    `allow_invalid_values` tolerates label values in the node affinity that no label can have.
    """
    modes = spec.get("accessModes") or []
    if not modes:
        errors.append(required(path.child("accessModes")))
    check_access_modes(modes, path, errors)
    _check_capacity(spec.get("capacity") or {}, path.child("capacity"), errors)
    policy = spec.get("persistentVolumeReclaimPolicy", "")
    if policy and policy not in _RECLAIM_POLICIES:
        errors.append(not_supported(path.child("persistentVolumeReclaimPolicy"), policy, _RECLAIM_POLICIES))
    affinity = spec.get("nodeAffinity")
    if affinity is not None:
        at = path.child("nodeAffinity", "required")
        if affinity.get("required") is None:
            errors.append(required(at, "must specify required node constraints"))
        else:
            check_node_selector(affinity["required"], at, errors, allow_invalid_values=allow_invalid_values)
    _check_source(spec, name, path, errors)
    if "hostPath" in spec and policy == "Recycle" and _is_root(spec["hostPath"].get("path", "")):
        text = "may not be 'recycle' for a hostPath mount of '/'"
        errors.append(forbidden(path.child("persistentVolumeReclaimPolicy"), text))
    if spec.get("storageClassName"):
        check_subdomain(spec["storageClassName"], path.child("storageClassName"), errors)
    _MODE(spec, path, errors)
    attributes = spec.get("volumeAttributesClassName")
    if attributes is not None:
        at = path.child("volumeAttributesClassName")
        if attributes:
            check_subdomain(attributes, at, errors)
        else:
            errors.append(required(at, "an empty string is disallowed"))
        if "csi" not in spec:
            errors.append(required(path.child("csi"), "has to be specified when using volumeAttributesClassName"))


def _is_root(path: str) -> bool:
    # POSIX permits `//` to differ from `/`, so `normpath` keeps it. In Linux and Go they are equal.
    return path.startswith("/") and posixpath.normpath(path).strip("/") == ""


def _check_capacity(capacity: dict[str, str], path: Path, errors: Errors) -> None:
    if not capacity:
        errors.append(required(path))
    if capacity.keys() != {"storage"}:
        errors.append(not_supported(path, capacity or None, ("storage",)))
    for resource, text in capacity.items():
        check_basic_amount(text, path.key(resource), errors)
        check_positive_amount(text, path.key(resource), errors)


def _check_source(spec: Any, name: str, path: Path, errors: Errors) -> None:
    found = False
    for kind, check in SOURCES.items():
        source = spec.get(kind)
        if source is None:
            continue
        if found and kind != "flexVolume":
            errors.append(forbidden(path.child("cephFS" if kind == "cephfs" else kind), _ONE_TYPE))
            continue
        found = True
        check(source, path.child("persistentDisk" if kind == "gcePersistentDisk" else kind), errors)
        if kind == "iscsi" and source.get("initiatorName") is not None:
            portal = source.get("targetPortal", "")
            if len(f"{name}:{portal}") > 64:
                at = path.child("iscsi", "targetportal")
                errors.append(invalid(at, portal, sources.ISCSI_NAME_TOO_LONG))
        if kind == "local" and spec.get("nodeAffinity") is None:
            errors.append(required(path.child("nodeAffinity"), "Local volume requires node affinity"))
    if not found:
        errors.append(required(path, "must specify a volume type"))


def _check_glusterfs(source: core_v1.GlusterfsPersistentVolumeSource, path: Path, errors: Errors) -> None:
    sources.check_glusterfs(source, path, errors)
    namespace = source.get("endpointsNamespace")
    at = path.child("endpointsNamespace")
    if namespace == "":
        text = "if the endpointnamespace is set, it must be a valid namespace name"
        errors.append(invalid(at, namespace, text))
    elif namespace is not None:
        errors.extend(invalid(at, namespace, text) for text in dns1123_label_errors(namespace))


def _check_iscsi(source: core_v1.ISCSIPersistentVolumeSource, path: Path, errors: Errors) -> None:
    sources.check_iscsi(source, path, errors, persistent=True)


_SECRET_NAMESPACE = within("secretRef", requires("namespace"))
_check_cinder = all_of(sources.check_cinder, _SECRET_NAMESPACE)
_check_storage_os = all_of(sources.check_storage_os, _SECRET_NAMESPACE)


def _check_azure_file(source: core_v1.AzureFilePersistentVolumeSource, path: Path, errors: Errors) -> None:
    sources.check_azure_file(source, path, errors)
    if source.get("secretNamespace") == "":
        errors.append(required(path.child("secretNamespace")))


def _check_local(source: core_v1.LocalVolumeSource, path: Path, errors: Errors) -> None:
    if not source.get("path"):
        errors.append(required(path.child("path")))
    else:
        check_no_backsteps(source["path"], path.child("path"), errors)


def _check_csi(source: Object, path: Path, errors: Errors) -> None:
    sources.check_csi_driver_name(source.get("driver", ""), path.child("driver"), errors)
    check_required(source, ("volumeHandle",), path, errors)
    for field in (
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ):
        secret = source.get(field)
        if secret is None:
            continue
        at = path.child(field)
        check_required(secret, ("name",), at, errors)
        if secret.get("name"):
            check_subdomain(secret["name"], at.child("name"), errors)
        check_required(secret, ("namespace",), at, errors)
        if secret.get("namespace"):
            check_label(secret["namespace"], at.child("namespace"), errors)


_ONE_TYPE = "may not specify more than 1 volume type"
SOURCES: Final[Mapping[str, Check]] = {
    "hostPath": sources.check_host_path,
    "gcePersistentDisk": sources.check_gce_disk,
    "awsElasticBlockStore": sources.check_aws_disk,
    "glusterfs": _check_glusterfs,
    "flocker": sources.check_flocker,
    "nfs": sources.check_nfs,
    "rbd": sources.check_rbd,
    "quobyte": sources.check_quobyte,
    "cephfs": sources.check_cephfs,
    "iscsi": _check_iscsi,
    "cinder": _check_cinder,
    "fc": sources.check_fc,
    "flexVolume": sources.check_flex,
    "azureFile": _check_azure_file,
    "vsphereVolume": sources.check_vsphere,
    "photonPersistentDisk": sources.check_photon,
    "portworxVolume": sources.check_portworx,
    "azureDisk": sources.check_azure_disk,
    "scaleIO": sources.check_scale_io,
    "local": _check_local,
    "storageos": _check_storage_os,
    "csi": _check_csi,
}
"""Check of each kind of source, in the order in which Kubernetes runs them."""
