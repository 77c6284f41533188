"""Mounts of volumes and devices in containers. Source: pkg/apis/core/validation/validation.go (1.36)."""

from __future__ import annotations

from sampan.core.field import FieldError, Path, forbidden, invalid, not_found, required
from sampan.kinds import core_v1
from sampan.registry.kinds.pod_spec.options import AnyContainer
from sampan.registry.rules.fields import check_local_descending, not_supported

Errors = list[FieldError]
_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_PLAIN_MOUNT = frozenset({"name", "mountPath", "readOnly"})
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")


def validate_mounts(container: AnyContainer, volumes: dict[str, core_v1.Volume], path: Path, errors: Errors) -> None:
    """Check the `volumeMounts` of a container. `path` is the path of the container."""
    paths: set[str] = set()
    devices = container.get("volumeDevices") or ()
    for i, mount in enumerate(container["volumeMounts"]):
        name, target = mount.get("name", ""), mount.get("mountPath", "")
        if name in volumes and target and target not in paths and not devices and _PLAIN_MOUNT.issuperset(mount):
            paths.add(target)
            continue
        at = path.child("volumeMounts")
        if not name:
            errors.append(required(at.index(i).child("name")))
        if name not in volumes:
            errors.append(not_found(at.index(i).child("name"), name))
        if not target:
            errors.append(required(at.index(i).child("mountPath")))
        if target in paths:
            errors.append(invalid(at.index(i).child("mountPath"), target, "must be unique"))
        paths.add(target)
        if devices:
            _check_devices(name, target, devices, at.index(i), errors)
        _check_options(mount, container, at, i, errors)


def _check_options(mount: core_v1.VolumeMount, container: AnyContainer, path: Path, i: int, errors: Errors) -> None:
    if mount.get("subPath"):
        check_local_descending(mount["subPath"], path.child("subPath"), errors)
    if mount.get("subPathExpr"):
        if mount.get("subPath"):
            text = "subPathExpr and subPath are mutually exclusive"
            errors.append(invalid(path.index(i).child("subPathExpr"), mount["subPathExpr"], text))
        check_local_descending(mount["subPathExpr"], path.child("subPathExpr"), errors)
    if "mountPropagation" in mount:
        _check_propagation(mount["mountPropagation"], container, path.child("mountPropagation"), errors)
    if "recursiveReadOnly" in mount:
        _check_recursive(mount, path.child("recursiveReadOnly"), errors)


def _check_devices(name: str, target: str, devices: list[core_v1.VolumeDevice], path: Path, errors: Errors) -> None:
    if any(device.get("name", "") == name for device in devices):
        errors.append(invalid(path.child("name"), name, "must not already exist in volumeDevices"))
    if any(device.get("devicePath", "") == target for device in devices):
        text = "must not already exist as a path in volumeDevices"
        errors.append(invalid(path.child("mountPath"), target, text))


def _check_propagation(propagation: str, container: AnyContainer, path: Path, errors: Errors) -> None:
    if propagation not in _PROPAGATIONS:
        errors.append(not_supported(path, propagation, _PROPAGATIONS))
    privileged = (container.get("securityContext") or {}).get("privileged")
    if propagation == "Bidirectional" and not privileged:
        text = "Bidirectional mount propagation is available only to privileged containers"
        errors.append(forbidden(path, text))


def _check_recursive(mount: core_v1.VolumeMount, path: Path, errors: Errors) -> None:
    value = mount["recursiveReadOnly"]
    if value not in _RECURSIVE:
        errors.append(not_supported(path, value, _RECURSIVE))
    elif value != "Disabled":
        if not mount.get("readOnly"):
            errors.append(forbidden(path, "may only be specified when readOnly is true"))
        if mount.get("mountPropagation", "None") != "None":
            errors.append(forbidden(path, "may only be specified when mountPropagation is None or not specified"))


def validate_devices(container: AnyContainer, volumes: dict[str, core_v1.Volume], path: Path, errors: Errors) -> None:
    """Check the `volumeDevices` of a container. `path` is the path of the list."""
    mounts = container.get("volumeMounts") or ()
    mount_names = {mount.get("name", "") for mount in mounts}
    mount_paths = {mount.get("mountPath", "") for mount in mounts}
    names: set[str] = set()
    paths: set[str] = set()
    for i, device in enumerate(container["volumeDevices"]):
        at = path.index(i)
        name, target = device.get("name", ""), device.get("devicePath", "")
        source = volumes.get(name)
        if not name:
            errors.append(required(at.child("name")))
        if name in names:
            errors.append(invalid(at.child("name"), name, "must be unique"))
        if source is None:
            errors.append(not_found(at.child("name"), name))
        elif "persistentVolumeClaim" not in source and "ephemeral" not in source:
            text = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            errors.append(invalid(at.child("name"), name, text))
        if not target:
            errors.append(required(at.child("devicePath")))
        if target in paths:
            errors.append(invalid(at.child("devicePath"), target, "must be unique"))
        if ".." in target.split("/"):
            errors.append(invalid(at.child("devicePath"), target, "can not contain backsteps ('..')"))
        else:
            paths.add(target)
        if name in mount_names:
            errors.append(invalid(at.child("name"), name, "must not already exist in volumeMounts"))
        if target in mount_paths:
            text = "must not already exist as a path in volumeMounts"
            errors.append(invalid(at.child("devicePath"), target, text))
        if name:
            names.add(name)
