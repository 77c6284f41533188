"""Annotations of pods that Kubernetes interprets.

Source: pkg/apis/core/validation/validation.go ValidatePodSpecificAnnotations (1.36).
"""

from __future__ import annotations

from typing import Any

import msgspec

from sampan.core.field import FieldError, Path, forbidden, invalid
from sampan.kinds import core_v1
from sampan.registry.kinds.pod_spec.options import (
    PodOptions,
    containers_of,
    containers_with_path,
    has_invalid_deletion_cost,
    is_windows,
)
from sampan.registry.kinds.pod_spec.scheduling import validate_tolerations
from sampan.registry.rules.fields import check_local_descending
from sampan.wire.json import UNREADABLE

Errors = list[FieldError]
MIRROR = "kubernetes.io/config.mirror"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
APPARMOR_CONTAINER = "container.apparmor.security.beta.kubernetes.io/"


def validate_pod_annotations(
    annotations: dict[str, str], spec: core_v1.PodSpec, path: Path, errors: Errors, options: PodOptions
) -> None:
    """Check the annotations of a pod or template that have rules."""
    if MIRROR in annotations and not spec.get("nodeName"):
        text = "must set spec.nodeName if mirror pod annotation is set"
        errors.append(invalid(path.key(MIRROR), annotations[MIRROR], text))
    if annotations.get(TOLERATIONS):
        _check_tolerations(annotations[TOLERATIONS], path, errors, options)
    if not options.allow_invalid_deletion_cost and has_invalid_deletion_cost({"annotations": annotations}):
        errors.append(invalid(path.key(DELETION_COST), annotations[DELETION_COST], "must be a 32bit integer"))
    for key, value in annotations.items():
        if key == SECCOMP_POD or key.startswith(SECCOMP_CONTAINER):
            _check_seccomp(value, path.child(key), errors)
        elif key.startswith(APPARMOR_CONTAINER):
            _check_apparmor(key, value, spec, path, errors)


def _check_tolerations(text: str, path: Path, errors: Errors, options: PodOptions) -> None:
    try:
        tolerations: Any = msgspec.json.decode(text, type=list[dict[str, Any]])
    except UNREADABLE as error:
        errors.append(invalid(path, TOLERATIONS, str(error)))
        return
    validate_tolerations(tolerations, path.child(TOLERATIONS), errors, options)


def _check_seccomp(profile: str, path: Path, errors: Errors) -> None:
    if profile in ("runtime/default", "docker/default", "unconfined"):
        return
    if profile.startswith("localhost/"):
        check_local_descending(profile.removeprefix("localhost/"), path, errors)
    else:
        errors.append(invalid(path, profile, "must be a valid seccomp profile"))


def _check_apparmor(key: str, profile: str, spec: core_v1.PodSpec, path: Path, errors: Errors) -> None:
    name = key.removeprefix(APPARMOR_CONTAINER)
    if not any(container.get("name") == name for container in containers_of(spec)):
        errors.append(invalid(path.key(key), name, "container not found"))
    if profile not in ("", "runtime/default", "unconfined") and not profile.startswith("localhost/"):
        errors.append(invalid(path.key(key), profile, f'invalid AppArmor profile name: "{profile}"'))


def check_profiles_match_annotations(
    annotations: dict[str, str], spec: core_v1.PodSpec, path: Path, errors: Errors
) -> None:
    """Check that annotations and fields for the same seccomp or AppArmor profile agree. `path` is the spec's path."""
    of_pod = spec.get("securityContext") or {}
    if "seccompProfile" in of_pod and SECCOMP_POD in annotations:
        at = path.child("securityContext", "seccompProfile")
        _check_match("seccomp", annotations[SECCOMP_POD], of_pod["seccompProfile"], at, errors)
    windows = is_windows(spec)
    for container, at in containers_with_path(spec, path):
        context, name = container.get("securityContext") or {}, container.get("name", "")
        annotation = annotations.get(f"{SECCOMP_CONTAINER}{name}")
        if annotation is not None and "seccompProfile" in context:
            where = at.child("securityContext", "seccompProfile")
            _check_match("seccomp", annotation, context["seccompProfile"], where, errors)
    for container, at in () if windows else containers_with_path(spec, path):
        context, name = container.get("securityContext") or {}, container.get("name", "")
        profile = context.get("appArmorProfile", of_pod.get("appArmorProfile"))
        annotation = annotations.get(f"{APPARMOR_CONTAINER}{name}")
        if annotation is not None and profile is not None:
            where = at.child("securityContext", "appArmorProfile")
            _check_match("apparmor", annotation, profile, where, errors)


def _check_match(
    what: str, annotation: str, profile: core_v1.SeccompProfile | core_v1.AppArmorProfile, path: Path, errors: Errors
) -> None:
    kind = profile.get("type")
    defaults = ("runtime/default", "docker/default") if what == "seccomp" else ("runtime/default",)
    if kind == "Localhost" and annotation.startswith("localhost/"):
        if annotation.removeprefix("localhost/") != profile.get("localhostProfile"):
            text = f"{what} profile in annotation and field must match"
            errors.append(forbidden(path.child("localhostProfile"), text))
        return
    fine = {"Unconfined": annotation == "unconfined", "RuntimeDefault": annotation in defaults, "Localhost": False}
    if not fine.get(str(kind), True):
        errors.append(forbidden(path.child("type"), f"{what} type in annotation and field must match"))


def apparmor_profile(annotation: str) -> core_v1.AppArmorProfile | None:
    """Return the profile of an annotation in the form of the field."""
    if annotation == "unconfined":
        return {"type": "Unconfined"}
    if annotation == "runtime/default":
        return {"type": "RuntimeDefault"}
    name = annotation.removeprefix("localhost/")
    if name != annotation and name:
        return {"type": "Localhost", "localhostProfile": name}
    return None


def validate_annotation_changes(new: dict[str, str], old: dict[str, str], path: Path, errors: Errors) -> None:
    """Check that immutable annotations of a pod did not change."""
    for key, value in old.items():
        if new.get(key) == value:
            continue
        if key.startswith(APPARMOR_CONTAINER):
            errors.append(forbidden(path.key(key), "may not remove or update AppArmor annotations"))
        if key == MIRROR:
            errors.append(forbidden(path.key(key), "may not remove or update mirror pod annotation"))
    for key in new.keys() - old.keys():
        if key.startswith(APPARMOR_CONTAINER):
            errors.append(forbidden(path.key(key), "may not add AppArmor annotations"))
        if key == MIRROR:
            errors.append(forbidden(path.key(key), "may not add mirror pod annotation"))
