"""Containers of a pod spec: init, regular and ephemeral.

Source: pkg/apis/core/validation/validation.go (1.36).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sampan.core.field import FieldError, Path, duplicate, forbidden, invalid, not_found, required, too_many
from sampan.kinds import core_v1
from sampan.registry.kinds.pod_spec.env import validate_env, validate_env_from
from sampan.registry.kinds.pod_spec.handlers import (
    PORT_RANGE,
    cached_port_name_errors,
    validate_lifecycle,
    validate_probes,
)
from sampan.registry.kinds.pod_spec.mounts import validate_devices, validate_mounts
from sampan.registry.kinds.pod_spec.options import AnyContainer, PodOptions
from sampan.registry.kinds.pod_spec.resources import is_trivially_valid, validate_requirements
from sampan.registry.kinds.pod_spec.security import is_trivial_context, validate_security_context
from sampan.registry.rules.fields import cached_label_errors, not_supported

Errors = list[FieldError]
_PROTOCOLS = frozenset({"TCP", "UDP", "SCTP"})
_PULL_POLICIES = frozenset({"Always", "IfNotPresent", "Never"})
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_RESTART_ACTIONS = ("Restart", "RestartAllContainers")
_NOT_FOR_INIT = "may not be set for init containers without restartPolicy=Always"
_NOT_FOR_EPHEMERAL: Final = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)


@dataclass(frozen=True, slots=True)
class PodScope:
    """Properties of the pod that its containers are checked against."""

    spec: core_v1.PodSpec
    volumes: dict[str, core_v1.Volume]
    """Valid volumes by name."""
    claim_names: Collection[str]
    options: PodOptions

    @property
    def grace_s(self) -> int | None:
        """Return the pod's terminationGracePeriodSeconds."""
        return self.spec.get("terminationGracePeriodSeconds")


def validate_containers(containers: list[core_v1.Container], scope: PodScope, path: Path, errors: Errors) -> None:
    """Check the regular containers. At least one is required."""
    if not containers:
        errors.append(required(path))
        return
    names: set[str] = set()
    for i, container in enumerate(containers):
        at = path.index(i)
        _validate_common(container, scope, at, errors)
        name = container.get("name", "")
        if name in names:
            errors.append(duplicate(at.child("name"), name))
        names.add(name)
        if "lifecycle" in container:
            lifecycle_path = at.child("lifecycle")
            validate_lifecycle(container["lifecycle"], scope.grace_s, scope.spec.get("os"), lifecycle_path, errors)
        validate_probes(container, at, errors)
        _validate_restart_policy(container, at, errors)
    _check_host_ports(containers, path, errors)


def validate_init_containers(containers: list[core_v1.Container], scope: PodScope, path: Path, errors: Errors) -> None:
    """Check the init containers, including sidecars, which always restart."""
    names = {c.get("name", "") for c in scope.spec.get("containers", ())}
    for i, container in enumerate(containers):
        at = path.index(i)
        _validate_common(container, scope, at, errors)
        _validate_restart_policy(container, at, errors)
        name = container.get("name", "")
        if name in names:
            errors.append(duplicate(at.child("name"), name))
        elif name:
            names.add(name)
        _check_host_ports([container], path, errors)
        if container.get("restartPolicy") == "Always":
            if "lifecycle" in container:
                os = scope.spec.get("os")
                validate_lifecycle(container["lifecycle"], scope.grace_s, os, at.child("lifecycle"), errors)
            validate_probes(container, at, errors)
            continue
        for field in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
            if container.get(field) is not None:
                errors.append(forbidden(at.child(field), _NOT_FOR_INIT))
        if not scope.options.allow_restart_container_for_init:
            _check_init_resize_policy(container, at, errors)


def _check_init_resize_policy(container: core_v1.Container, path: Path, errors: Errors) -> None:
    for j, policy in enumerate(container.get("resizePolicy", ())):
        if policy.get("restartPolicy") == "RestartContainer":
            at = path.child("resizePolicy").index(j).child("restartPolicy")
            text = "must not be set to 'RestartContainer' for non-sidecar initContainers"
            errors.append(invalid(at, "RestartContainer", text))


def validate_ephemeral_containers(
    containers: list[core_v1.EphemeralContainer], scope: PodScope, path: Path, errors: Errors
) -> None:
    """Check the ephemeral containers: required fields, and fields that they cannot have."""
    if not containers:
        return
    others = {c.get("name", "") for kind in ("containers", "initContainers") for c in scope.spec.get(kind, ())}
    names = set(others)
    for i, container in enumerate(containers):
        at = path.index(i)
        _validate_common(container, scope, at, errors)
        check_image_spaces(container, at, errors)
        name = container.get("name", "")
        if name in names:
            errors.append(duplicate(at.child("name"), name))
        names.add(name)
        target = container.get("targetContainerName")
        if target and target not in others:
            errors.append(not_found(at.child("targetContainerName"), target))
        for field in _NOT_FOR_EPHEMERAL:
            if container.get(field):
                errors.append(forbidden(at.child(field), "cannot be set for an Ephemeral Container"))
        for j, mount in enumerate(container.get("volumeMounts", ())):
            for field in ("subPath", "subPathExpr"):
                if mount.get(field):
                    where = at.child("volumeMounts").index(j).child(field)
                    errors.append(forbidden(where, "cannot be set for an Ephemeral Container"))


def check_image_spaces(container: AnyContainer, path: Path, errors: Errors) -> None:
    """Check that the image of a pod's container has no spaces around it. Templates are not checked."""
    image = container.get("image", "")
    if image != image.strip():
        errors.append(invalid(path.child("image"), image, "must not have leading or trailing whitespace"))


def _validate_common(container: AnyContainer, scope: PodScope, path: Path, errors: Errors) -> None:
    name = container.get("name")
    if not name:
        errors.append(required(path.child("name")))
    elif texts := cached_label_errors(name):
        errors.extend(invalid(path.child("name"), name, text) for text in texts)
    if not container.get("image"):
        errors.append(required(path.child("image")))
    policy = container.get("terminationMessagePolicy")
    if policy not in _MESSAGE_POLICIES:
        at = path.child("terminationMessagePolicy")
        errors.append(not_supported(at, policy, _MESSAGE_POLICIES) if policy else required(at))
    if "ports" in container:
        _validate_ports(container["ports"], path, errors)
    if "env" in container:
        validate_env(container["env"], path, errors)
    if "envFrom" in container:
        validate_env_from(container["envFrom"], path.child("envFrom"), errors)
    if "volumeMounts" in container:
        validate_mounts(container, scope.volumes, path, errors)
    if "volumeDevices" in container:
        validate_devices(container, scope.volumes, path.child("volumeDevices"), errors)
    if container.get("imagePullPolicy") not in _PULL_POLICIES:
        check_pull_policy(container.get("imagePullPolicy", ""), path.child("imagePullPolicy"), errors)
    resources = container.get("resources")
    if resources and not is_trivially_valid(resources):
        validate_requirements(
            resources,
            scope.claim_names,
            path.child("resources"),
            errors,
            allow_indivisible_hugepages=scope.options.allow_indivisible_hugepages,
        )
    if "resizePolicy" in container:
        _validate_resize_policy(container["resizePolicy"], scope.spec, path.child("resizePolicy"), errors)
    context = container.get("securityContext")
    if context and not is_trivial_context(context):
        host_users = scope.spec.get("hostUsers") is not False
        validate_security_context(context, path.child("securityContext"), errors, host_users=host_users)


def check_pull_policy(policy: str, path: Path, errors: Errors) -> None:
    """Check an image pull policy."""
    if not policy:
        errors.append(required(path))
    elif policy not in _PULL_POLICIES:
        errors.append(not_supported(path, policy, _PULL_POLICIES))


def _validate_ports(ports: list[core_v1.ContainerPort], path: Path, errors: Errors) -> None:
    names: set[str] = set()
    for i, port in enumerate(ports):
        name = port.get("name")
        if name:
            texts = cached_port_name_errors(name)
            if texts:
                at = path.child("ports").index(i).child("name")
                errors.extend(invalid(at, name, text) for text in texts)
            elif name in names:
                errors.append(duplicate(path.child("ports").index(i).child("name"), name))
            else:
                names.add(name)
        number = port.get("containerPort", 0)
        if not 1 <= number <= 65535:
            at = path.child("ports").index(i).child("containerPort")
            errors.append(invalid(at, number, PORT_RANGE) if number else required(at))
        host_port = port.get("hostPort", 0)
        if host_port and not 1 <= host_port <= 65535:
            errors.append(invalid(path.child("ports").index(i).child("hostPort"), host_port, PORT_RANGE))
        protocol = port.get("protocol", "")
        if protocol not in _PROTOCOLS:
            at = path.child("ports").index(i).child("protocol")
            errors.append(not_supported(at, protocol, _PROTOCOLS) if protocol else required(at))


def _check_host_ports(containers: list[core_v1.Container], path: Path, errors: Errors) -> None:
    seen: set[str] = set()
    for i, container in enumerate(containers):
        for j, port in enumerate(container.get("ports", ())):
            if not port.get("hostPort"):
                continue
            text = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if text in seen:
                errors.append(duplicate(path.index(i).child("ports").index(j).child("hostPort"), text))
            seen.add(text)


def _validate_resize_policy(
    policies: list[core_v1.ContainerResizePolicy], spec: core_v1.PodSpec, path: Path, errors: Errors
) -> None:
    seen: set[str] = set()
    for i, policy in enumerate(policies):
        name, restart = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if name in seen:
            errors.append(duplicate(path.index(i), name))
        seen.add(name)
        if name not in ("cpu", "memory"):
            errors.append(not_supported(path, name, ("cpu", "memory")) if name else required(path))
        if restart not in ("NotRequired", "RestartContainer"):
            supported = ("NotRequired", "RestartContainer")
            errors.append(not_supported(path, restart, supported) if restart else required(path))
        if spec.get("restartPolicy") == "Never" and restart != "NotRequired":
            errors.append(invalid(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))


def _validate_restart_policy(container: core_v1.Container, path: Path, errors: Errors) -> None:
    policy = container.get("restartPolicy")
    rules = container.get("restartPolicyRules") or ()
    if policy is None:
        if not rules:
            return
        text = "must specify restartPolicy when restart rules are used"
        errors.append(required(path.child("restartPolicy"), text))
    elif policy not in _RESTART_POLICIES:
        errors.append(not_supported(path.child("restartPolicy"), policy, _RESTART_POLICIES))
    if len(rules) > 20:
        errors.append(too_many(path.child("restartPolicyRules"), len(rules), 20))
    for i, rule in enumerate(rules):
        at = path.child("restartPolicyRules").index(i)
        if rule.get("action") not in _RESTART_ACTIONS:
            errors.append(not_supported(at.child("action"), rule.get("action", ""), _RESTART_ACTIONS))
        codes = rule.get("exitCodes")
        if codes is None:
            errors.append(required(at.child("exitCodes"), "must be specified"))
            continue
        if codes.get("operator") not in ("In", "NotIn"):
            operator = codes.get("operator", "")
            errors.append(not_supported(at.child("exitCodes", "operator"), operator, ("In", "NotIn")))
        values = codes.get("values") or ()
        if len(values) > 255:
            errors.append(too_many(at.child("exitCodes", "values"), len(values), 255))
