"""Environment variables of containers and the sources of their values.

Source: pkg/apis/core/validation/validation.go (1.36).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from sampan.core.field import FieldError, Path, invalid, required
from sampan.core.validation.names import dns1123_label_errors, dns1123_subdomain_errors
from sampan.core.validation.values import config_map_key_errors, relaxed_environment_variable_name_errors
from sampan.kinds import core_v1
from sampan.registry.rules.fields import check_no_backsteps, check_qualified_name, not_supported
from sampan.registry.rules.quantities import amount

Errors = list[FieldError]
_ENV_FIELDS = frozenset(
    {
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    }
)
VOLUME_FIELDS = frozenset(
    {"metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid"}
)
_POD_FIELDS = _ENV_FIELDS | VOLUME_FIELDS | {"spec.restartPolicy", "spec.schedulerName", "status.phase"}
_RESOURCES = frozenset(
    f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "memory", "ephemeral-storage")
)
_HUGEPAGES = ("limits.hugepages-", "requests.hugepages-")
_CPU_DIVISORS = frozenset({"1m", "1"})
_BYTE_DIVISORS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_BYTE_RESOURCES = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}
_SOURCES: Final = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def validate_env(variables: list[core_v1.EnvVar], path: Path, errors: Errors) -> None:
    """Check the `env` of a container. `path` is the path of the container."""
    for i, variable in enumerate(variables):
        name = variable.get("name")
        if not name:
            errors.append(required(path.child("env").index(i).child("name")))
        elif not (name.isascii() and name.isprintable() and "=" not in name):
            at = path.child("env").index(i).child("name")
            errors.extend(invalid(at, name, text) for text in relaxed_environment_variable_name_errors(name))
        source = variable.get("valueFrom")
        if source is not None:
            _validate_source(variable, source, path.child("env").index(i).child("valueFrom"), errors)


def _validate_source(variable: core_v1.EnvVar, source: core_v1.EnvVarSource, path: Path, errors: Errors) -> None:
    count = 0
    for kind in _SOURCES:
        reference: Any = source.get(kind)  # each kind has another type
        if reference is None:
            continue
        count += 1
        if kind == "fieldRef":
            validate_field_reference(reference, _ENV_FIELDS, path.child(kind), errors)
        elif kind == "resourceFieldRef":
            validate_resource_reference(reference, path.child(kind), errors, volume=False)
        elif kind == "fileKeyRef":
            _validate_file_key(reference, path.child(kind), errors)
        else:
            _validate_key_selector(reference, path, kind, errors)
    if count == 0:
        text = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        errors.append(invalid(path, "", text))
    elif variable.get("value"):
        errors.append(invalid(path, "", "may not be specified when `value` is not empty"))
    elif count > 1:
        errors.append(invalid(path, "", "may not have more than one field specified at a time"))


def validate_field_reference(
    reference: core_v1.ObjectFieldSelector, known: Collection[str], path: Path, errors: Errors
) -> None:
    """Check a `fieldRef`, which must refer to one of the pod's fields in `known`."""
    version, name = reference.get("apiVersion", ""), reference.get("fieldPath", "")
    if not version:
        errors.append(required(path.child("apiVersion")))
        return
    if not name:
        errors.append(required(path.child("fieldPath")))
        return
    prefix, subscript = split_subscript(name)
    problem = _conversion_problem(version, name, prefix, subscript)
    if problem:
        errors.append(invalid(path.child("fieldPath"), name, f"error converting fieldPath: {problem}"))
    elif subscript is not None:
        check_qualified_name(subscript.lower() if prefix == "metadata.annotations" else subscript, path, errors)
    else:
        name = "spec.nodeName" if name == "spec.host" else name
        if name not in known:
            errors.append(not_supported(path.child("fieldPath"), name, sorted(known)))


def split_subscript(name: str) -> tuple[str, str | None]:
    """Split `metadata.labels['app']` into `metadata.labels` and `app`, or None if there is no subscript.

    Source: pkg/fieldpath/fieldpath.go (1.36).
    """
    if not name.endswith("']"):
        return name, None
    prefix, bracket, subscript = name[:-2].partition("['")
    if not bracket or not prefix:
        return name, None
    return prefix, subscript


def _conversion_problem(version: str, name: str, prefix: str, subscript: str | None) -> str:
    if version != "v1":
        return f"unsupported pod version: {version}"
    if subscript is not None:
        if prefix in ("metadata.annotations", "metadata.labels"):
            return ""
        return f"field label does not support subscript: {name}"
    return "" if name in _POD_FIELDS or name == "spec.host" else f"field label not supported: {name}"


def validate_resource_reference(
    reference: core_v1.ResourceFieldSelector, path: Path, errors: Errors, *, volume: bool
) -> None:
    """Check a `resourceFieldRef`: an amount of a container's resources, and its divisor."""
    resource = reference.get("resource", "")
    if volume and not reference.get("containerName"):
        errors.append(required(path.child("containerName")))
    elif not resource:
        errors.append(required(path.child("resource")))
    elif resource not in _RESOURCES and not resource.startswith(_HUGEPAGES):
        errors.append(not_supported(path.child("resource"), resource, _RESOURCES))
    divisor = reference.get("divisor", "0")
    if amount(divisor):
        _check_divisor(resource, divisor, path.child("divisor"), errors)


def _check_divisor(resource: str, divisor: str, path: Path, errors: Errors) -> None:
    name = resource.partition(".")[2]
    if resource in ("limits.cpu", "requests.cpu"):
        if divisor not in _CPU_DIVISORS:
            text = "only divisor's values 1m and 1 are supported with the cpu resource"
            errors.append(invalid(path, resource, text))
        return
    what = "hugepages" if resource.startswith(_HUGEPAGES) else _BYTE_RESOURCES.get(name)
    if what and (resource in _RESOURCES or what == "hugepages") and divisor not in _BYTE_DIVISORS:
        text = f"only divisor's values {', '.join(_BYTE_DIVISORS)} are supported with the {what} resource"
        errors.append(invalid(path, resource, text))


def _validate_key_selector(
    reference: core_v1.ConfigMapKeySelector | core_v1.SecretKeySelector, path: Path, kind: str, errors: Errors
) -> None:
    name, key = reference.get("name", ""), reference.get("key", "")
    for text in dns1123_subdomain_errors(name):
        errors.append(invalid(path.child(kind, "name"), name, text))
    if not key:
        errors.append(required(path.child(kind, "key")))
    else:
        for text in config_map_key_errors(key):
            errors.append(invalid(path.child(kind, "key"), key, text))


def _validate_file_key(reference: core_v1.FileKeySelector, path: Path, errors: Errors) -> None:
    key, volume, file = reference.get("key", ""), reference.get("volumeName", ""), reference.get("path", "")
    if not key:
        errors.append(required(path.child("key")))
    for text in relaxed_environment_variable_name_errors(key) if key else ():
        errors.append(invalid(path.child("key"), key, text))
    if not volume:
        errors.append(required(path.child("volumeName")))
    for text in dns1123_label_errors(volume) if volume else ():
        errors.append(invalid(path.child("volumeName"), volume, text))
    if not file:
        errors.append(required(path.child("path")))
    else:
        check_no_backsteps(file, path.child("path"), errors)


def validate_env_from(sources: list[core_v1.EnvFromSource], path: Path, errors: Errors) -> None:
    """Check the `envFrom` of a container. `path` is the path of the list."""
    for i, source in enumerate(sources):
        prefix = source.get("prefix", "")
        for text in relaxed_environment_variable_name_errors(prefix) if prefix else ():
            errors.append(invalid(path.index(i).child("prefix"), prefix, text))
        count = 0
        for kind in ("configMapRef", "secretRef"):
            reference = source.get(kind)
            if reference is None:
                continue
            count += 1
            name = reference.get("name", "")
            if not name:
                errors.append(required(path.index(i).child(kind, "name")))
            for text in dns1123_subdomain_errors(name, prefix=True) if name else ():
                errors.append(invalid(path.index(i).child(kind, "name"), name, text))
        if count == 0:
            errors.append(invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif count > 1:
            errors.append(invalid(path, "", "may not have more than one field specified at a time"))
