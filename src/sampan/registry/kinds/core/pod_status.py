"""Status of a pod, which kubelets and the scheduler write.

Source: pkg/registry/core/pod/strategy.go, pkg/apis/core/validation/validation.go ValidatePodStatusUpdate (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sampan.core.field import FieldError, Path, duplicate, forbidden, invalid, required, too_long
from sampan.core.object import Object
from sampan.core.validation.names import dns1123_label_errors
from sampan.kinds import core_v1
from sampan.registry.kinds.pod_spec.annotations import validate_annotation_changes, validate_pod_annotations
from sampan.registry.kinds.pod_spec.options import AnyContainer, containers_of, is_windows, options_for
from sampan.registry.rules.fields import check_qualified_name, check_subdomain, not_supported
from sampan.registry.rules.ip_addresses import are_dual_stack, check_ip

Errors = list[FieldError]
_STATUS = Path("status")
_ANNOTATIONS = Path("metadata", "annotations")
_KINDS: Final = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_SYSTEM_CONDITIONS = frozenset({"PodScheduled", "Ready", "Initialized"})
_NOT_NEGATIVE = "must be a non-negative integer"
_BACK_TO_LIFE = "may not be transitioned to non-terminated state"
_ID_RANGE = "must be between 0 and 2147483647, inclusive"
_HEALTHS = ("Healthy", "Unhealthy", "Unknown")


def prepare_status(pod: Object, old: Object) -> None:
    """Keep fields that older clients omit, and make `podIP` and `podIPs` consistent."""
    status = pod.setdefault("status", {})
    old_status = old.get("status") or {}
    if not status.get("qosClass") and old_status.get("qosClass"):
        status["qosClass"] = old_status["qosClass"]
    if not status.get("observedGeneration") and old_status.get("observedGeneration"):
        status["observedGeneration"] = old_status["observedGeneration"]
    generations: dict[str, list[int]] = {}
    for condition in old_status.get("conditions") or ():
        generations.setdefault(condition.get("type", ""), []).append(condition.get("observedGeneration", 0))
    for condition in status.get("conditions") or ():
        known = generations.get(condition.get("type", ""))
        generation = known.pop(0) if known else 0
        if not condition.get("observedGeneration") and generation:
            condition["observedGeneration"] = generation
    _align_addresses(status)


def _align_addresses(status: core_v1.PodStatus) -> None:
    address, addresses = status.get("podIP"), status.get("podIPs")
    if address and (not addresses or addresses[0].get("ip") != address):
        status["podIPs"] = [{"ip": address}]
    elif addresses and not address:
        status["podIP"] = addresses[0].get("ip", "")


def validate_pod_status_update(pod: Object, old: Object, errors: Errors) -> None:
    """Check an update of a pod's status."""
    spec: core_v1.PodSpec = pod["spec"]
    old_spec: core_v1.PodSpec = old["spec"]
    status: core_v1.PodStatus = pod.get("status") or {}
    old_status: core_v1.PodStatus = old.get("status") or {}
    annotations, old_annotations = pod["metadata"].get("annotations"), old["metadata"].get("annotations")
    if annotations or old_annotations:
        validate_annotation_changes(annotations or {}, old_annotations or {}, _ANNOTATIONS, errors)
        options = options_for(old_spec, old["metadata"], is_pod=True)
        validate_pod_annotations(annotations or {}, spec, _ANNOTATIONS, errors, options)
    _check_conditions(status.get("conditions") or (), errors)
    if spec.get("nodeName", "") != old_spec.get("nodeName", ""):
        errors.append(forbidden(_STATUS.child("nodeName"), "may not be changed directly"))
    nominated = status.get("nominatedNodeName")
    if nominated and nominated != old_status.get("nominatedNodeName"):
        check_subdomain(nominated, _STATUS.child("nominatedNodeName"), errors)
        if old_spec.get("nodeName"):
            text = "may not be set on pods that are already bound to a node"
            errors.append(forbidden(_STATUS.child("nominatedNodeName"), text))
    if status.get("observedGeneration", 0) < 0:
        at = _STATUS.child("observedGeneration")
        errors.append(invalid(at, status["observedGeneration"], _NOT_NEGATIVE))
    if status.get("qosClass", "") != old_status.get("qosClass", ""):
        errors.append(invalid(_STATUS.child("qosClass"), status.get("qosClass", ""), "field is immutable"))
    for kind in _KINDS:
        _check_transitions(kind, status.get(kind) or (), old_status.get(kind) or (), old_spec, errors)
    _check_claims(status, spec, errors)
    _check_addresses(status, old_status, errors)
    _check_container_statuses(status, spec, errors)


def _check_conditions(conditions: Iterable[core_v1.PodCondition], errors: Errors) -> None:
    for i, condition in enumerate(conditions):
        generation, kind = condition.get("observedGeneration", 0), condition.get("type", "")
        if generation < 0:
            at = _STATUS.child("conditions").index(i).child("observedGeneration")
            errors.append(invalid(at, generation, _NOT_NEGATIVE))
        if kind not in _SYSTEM_CONDITIONS:
            check_qualified_name(kind, _STATUS.child("conditions").index(i).child("Type"), errors)


def _rule_matches(rule: core_v1.ContainerRestartRule, code: int) -> bool:
    codes = rule.get("exitCodes")
    if codes is None:
        return False
    found = code in (codes.get("values") or ())
    return found if codes.get("operator") == "In" else codes.get("operator") == "NotIn" and not found


def container_should_restart(container: AnyContainer, spec: core_v1.PodSpec, code: int) -> bool:
    """Return True if a container that exited with `code` is restarted.

    Source: pkg/api/v1/pod/util.go ContainerShouldRestart (1.36).
    """
    policy = container.get("restartPolicy")
    if policy is not None:
        if any(_rule_matches(rule, code) for rule in container.get("restartPolicyRules") or ()):
            return True
    else:
        policy = spec.get("restartPolicy")
    return policy == "Always" or (policy == "OnFailure" and code != 0)


def _all_could_restart(spec: core_v1.PodSpec) -> bool:
    return any(
        rule.get("action") == "RestartAllContainers"
        for container in containers_of(spec)
        for rule in container.get("restartPolicyRules") or ()
    )


def _check_transitions(
    kind: str,
    new: Iterable[core_v1.ContainerStatus],
    old: Iterable[core_v1.ContainerStatus],
    spec: core_v1.PodSpec,
    errors: Errors,
) -> None:
    """Check that a terminated container runs again only if its restart policy permits that."""
    ephemeral = kind == "ephemeralContainerStatuses"
    if not ephemeral and _all_could_restart(spec):
        return
    containers: dict[str, core_v1.Container] = (
        {}
        if ephemeral
        else {c.get("name", ""): c for c in spec.get("initContainers" if kind.startswith("init") else "containers", ())}
    )
    for i, status in enumerate(old):
        ended = (status.get("state") or {}).get("terminated")
        if ended is None:
            continue
        for other in new:
            if other.get("name") == status.get("name") and (other.get("state") or {}).get("terminated") is None:
                container = containers.get(status.get("name", ""))
                code = ended.get("exitCode", 0)
                if container is None or not container_should_restart(container, spec, code):
                    errors.append(forbidden(_STATUS.child(kind).index(i).child("state"), _BACK_TO_LIFE))
                break


def _check_claims(status: core_v1.PodStatus, spec: core_v1.PodSpec, errors: Errors) -> None:
    known = {claim.get("name") for claim in spec.get("resourceClaims") or ()}
    seen: set[str] = set()
    for i, claim in enumerate(status.get("resourceClaimStatuses") or ()):
        at, name = _STATUS.child("resourceClaimStatuses").index(i), claim.get("name", "")
        if name not in known:
            text = "must match the name of an entry in `spec.resourceClaims`"
            errors.append(invalid(at.child("name"), name, text))
        if name in seen:
            errors.append(duplicate(at.child("name"), name))
        seen.add(name)
        if claim.get("resourceClaimName") is not None:
            check_subdomain(claim["resourceClaimName"], at.child("resourceClaimName"), errors)
    extended = status.get("extendedResourceClaimStatus")
    if extended is not None:
        _check_extended(extended, spec, errors)


def _check_extended(extended: core_v1.PodExtendedResourceClaimStatus, spec: core_v1.PodSpec, errors: Errors) -> None:
    path = _STATUS.child("extendedResourceClaimStatus")
    containers = {c.get("name", ""): c for kind in ("initContainers", "containers") for c in spec.get(kind, ())}
    mappings = extended.get("requestMappings") or []
    if not mappings:
        errors.append(required(path.child("requestMappings"), "at least one request mapping is required"))
    seen: set[tuple[str, str, str]] = set()
    for i, mapping in enumerate(mappings):
        at = path.child("requestMappings").index(i)
        key = (mapping.get("containerName", ""), mapping.get("resourceName", ""), mapping.get("requestName", ""))
        container = containers.get(key[0])
        where = "spec.initContainers.{0} or spec.containers.{0}"
        if container is None:
            text = f"must match the name of an entry in {where.format('name')}"
            errors.append(invalid(at.child("containerName"), key[0], text))
        elif key[1] not in ((container.get("resources") or {}).get("requests") or ()):
            text = f"must match the extended resource name of an entry in {where.format('resources.requests')}"
            errors.append(invalid(at.child("resourceName"), key[1], text))
        errors.extend(invalid(path.child("requestName"), key[2], text) for text in dns1123_label_errors(key[2]))
        if key in seen:
            names = ("containerName", "resourceName", "requestName")
            errors.extend(duplicate(at.child(name), part) for name, part in zip(names, key, strict=True))
        seen.add(key)
    name = extended.get("resourceClaimName", "")
    if not name:
        errors.append(required(path.child("resourceClaimName")))
    else:
        check_subdomain(name, path.child("resourceClaimName"), errors)


def _check_addresses(status: core_v1.PodStatus, old_status: core_v1.PodStatus, errors: Errors) -> None:
    for kind in ("podIPs", "hostIPs"):
        entries, path = status.get(kind) or [], _STATUS.child(kind)
        addresses = [entry.get("ip", "") for entry in entries]
        if kind == "hostIPs" and addresses and addresses[0] != status.get("hostIP", ""):
            errors.append(invalid(path.index(0).child("ip"), addresses[0], "must be equal to `hostIP`"))
        stored = [entry.get("ip", "") for entry in old_status.get(kind) or ()]
        for i, address in enumerate(addresses):
            check_ip(address, path.index(i), errors, stored)
        if len(addresses) > 1 and (len(addresses) > 2 or not are_dual_stack(addresses)):
            errors.append(invalid(path, entries, "may specify no more than one IP for each IP family"))


def _check_container_statuses(status: core_v1.PodStatus, spec: core_v1.PodSpec, errors: Errors) -> None:
    windows = is_windows(spec)
    for kind in _KINDS:
        for i, container in enumerate(status.get(kind) or ()):
            user = container.get("user")
            if user and user.get("linux") is not None:
                at = _STATUS.child(kind).index(i).child("user", "linux")
                if windows:
                    errors.append(forbidden(at, "cannot be set for a windows pod"))
                else:
                    _check_linux_user(user["linux"], at, errors)
            allocated = container.get("allocatedResourcesStatus")
            if allocated:
                at = _STATUS.child(kind).index(i).child("allocatedResourcesStatus")
                _check_allocated(kind, container.get("name", ""), allocated, spec, at, errors)


def _check_linux_user(user: core_v1.LinuxContainerUser, path: Path, errors: Errors) -> None:
    for name in ("uid", "gid"):
        if not 0 <= user.get(name, 0) <= 2147483647:
            errors.append(invalid(path.child(name), user[name], _ID_RANGE))
    for i, group in enumerate(user.get("supplementalGroups") or ()):
        if not 0 <= group <= 2147483647:
            errors.append(invalid(path.child("supplementalGroups").index(i), group, _ID_RANGE))


def _check_allocated(
    kind: str, name: str, allocated: list[core_v1.ResourceStatus], spec: core_v1.PodSpec, path: Path, errors: Errors
) -> None:
    """Check that device health is reported only for devices that the container requests."""
    if kind == "ephemeralContainerStatuses":
        errors.append(forbidden(path, "must not be specified in container status"))
        return
    containers = spec.get("initContainers" if kind.startswith("init") else "containers") or ()
    container = next((c for c in containers if c.get("name") == name), None)
    for j, entry in enumerate(allocated):
        if container is not None:
            _check_allocated_name(container, entry.get("name", ""), path.index(j).child("name"), errors)
        seen: set[str] = set()
        for k, resource in enumerate(entry.get("resources") or ()):
            at = path.index(j).child("resources").index(k)
            if resource.get("health") not in _HEALTHS:
                errors.append(not_supported(at.child("health"), resource.get("health", ""), _HEALTHS))
            message = resource.get("message")
            if message == "":
                errors.append(required(at.child("message"), "must be non-empty if specified"))
            elif message is not None and len(message) > 1024:
                errors.append(too_long(at.child("message"), message, 1024))
            identity = resource.get("resourceID", "")
            if identity in seen:
                errors.append(duplicate(at.child("resourceID"), identity))
            seen.add(identity)


def _check_allocated_name(container: AnyContainer, name: str, path: Path, errors: Errors) -> None:
    resources = container.get("resources") or {}
    if not name.startswith("claim:"):
        if name not in (resources.get("requests") or ()):
            errors.append(invalid(path, name, "must match one of the container's resource requests"))
        return
    known = set()
    for claim in resources.get("claims") or ():
        request = f"/{claim['request']}" if claim.get("request") else ""
        known.add(f"claim:{claim.get('name', '')}{request}")
    if name not in known:
        text = (
            "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' "
            "or 'claim:<claimName>' if request is empty"
        )
        errors.append(invalid(path, name, text))
