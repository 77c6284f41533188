"""`PodOptions`: strictness of the validation of a pod spec. Faults of the stored object are tolerated in the new one.

Source: pkg/api/pod/util.go GetValidationOptionsFromPodSpecAndMeta (1.36).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from sampan.core.field import Path
from sampan.core.numbers.integers import integer_or
from sampan.core.validation.names import label_value_errors
from sampan.kinds import core_v1, meta_v1
from sampan.registry.kinds.pod_spec.resources import is_whole_pages
from sampan.registry.rules import feature_gates as gates

AnyContainer: TypeAlias = "core_v1.Container | core_v1.EphemeralContainer"
"""Container of any kind."""
CONTAINER_KINDS: Final = ("initContainers", "containers", "ephemeralContainers")
"""Kinds of containers, in the order in which Kubernetes visits them."""
_NAMESPACED_SYSCTLS = ("net.", "fs.mqueue.", "kernel.msg", "kernel.sem", "kernel.shm")


@dataclass(frozen=True, slots=True)
class PodOptions:
    """Faults that are tolerated because the stored object has them. `is_pod`: a Pod, not a template."""

    is_pod: bool = False
    allow_invalid_deletion_cost: bool = False
    allow_invalid_selector_values: bool = False
    allow_invalid_affinity_values: bool = False
    allow_invalid_spread_selector: bool = False
    allow_non_local_token_path: bool = False
    allow_host_sysctls: bool = False
    allow_indivisible_hugepages: bool = False
    allow_comparison_tolerations: bool = gates.TAINT_TOLERATION_COMPARISON_OPERATORS
    allow_host_users_with_host_network: bool = gates.USER_NAMESPACES_HOST_NETWORK_SUPPORT
    allow_host_users_with_devices: bool = False
    allow_restart_container_for_init: bool = False
    old_spread_violates_keys: bool = False


STRICT_POD = PodOptions(is_pod=True)
STRICT_TEMPLATE = PodOptions()


def is_windows(spec: core_v1.PodSpec) -> bool:
    """Return True if the pod runs on Windows."""
    os = spec.get("os")
    return os is not None and os.get("name") == "windows"


def containers_of(spec: core_v1.PodSpec) -> Iterator[AnyContainer]:
    """Yield all containers of a pod spec."""
    for kind in CONTAINER_KINDS:
        yield from spec.get(kind, ())


def containers_with_path(spec: core_v1.PodSpec, path: Path) -> Iterator[tuple[AnyContainer, Path]]:
    """Yield all containers of a pod spec with their paths. `path` is the path of the spec."""
    for kind in CONTAINER_KINDS:
        for i, container in enumerate(spec.get(kind, ())):
            yield container, path.child(kind).index(i)


def options_for(
    old_spec: core_v1.PodSpec | None, old_metadata: meta_v1.ObjectMeta | None, *, is_pod: bool
) -> PodOptions:
    """Return the options for an update of `old_spec`, or for a create if it is None."""
    if old_spec is None:
        return STRICT_POD if is_pod else STRICT_TEMPLATE
    sysctls = (old_spec.get("securityContext") or {}).get("sysctls", ())
    return PodOptions(
        is_pod=is_pod,
        allow_invalid_deletion_cost=bool(old_metadata) and has_invalid_deletion_cost(old_metadata or {}),
        allow_invalid_selector_values=_invalid_affinity_selector(old_spec),
        allow_invalid_affinity_values=_invalid_node_affinity(old_spec),
        allow_invalid_spread_selector=_invalid_spread_selector(old_spec),
        allow_non_local_token_path=_non_local_token_path(old_spec),
        allow_host_sysctls=any(host_sysctl_problem(s.get("name", ""), old_spec) for s in sysctls),
        allow_indivisible_hugepages=_indivisible_hugepages(old_spec),
        allow_comparison_tolerations=gates.TAINT_TOLERATION_COMPARISON_OPERATORS
        or any(t.get("operator") in ("Lt", "Gt") for t in old_spec.get("tolerations", ())),
        allow_host_users_with_host_network=gates.USER_NAMESPACES_HOST_NETWORK_SUPPORT
        or (old_spec.get("hostUsers") is False and bool(old_spec.get("hostNetwork"))),
        allow_host_users_with_devices=old_spec.get("hostUsers") is False
        and any(c.get("volumeDevices") for c in containers_of(old_spec)),
        allow_restart_container_for_init=_restart_container_for_init(old_spec),
        old_spread_violates_keys=_spread_violates_keys(old_spec),
    )


def has_invalid_deletion_cost(metadata: meta_v1.ObjectMeta) -> bool:
    """Return True if the annotation of the deletion cost is not a 32-bit integer."""
    text = (metadata.get("annotations") or {}).get("controller.kubernetes.io/pod-deletion-cost")
    if text is None:
        return False
    digits = text[1:] if text[:1] == "-" else text
    if not digits.isascii() or not digits.isdigit() or (text[0] == "0" and text != "0"):
        return True
    return integer_or(text, 2**31) not in range(-(2**31), 2**31)


def host_sysctl_problem(name: str, spec: core_v1.PodSpec) -> str:
    """Return the reason why a sysctl conflicts with the host namespaces of the pod, or an empty string."""
    if spec.get("hostNetwork") and name.replace("/", ".").startswith("net."):
        return "may not be specified when 'hostNetwork' is true"
    if spec.get("hostIPC") and name.replace("/", ".").startswith(_NAMESPACED_SYSCTLS[1:]):
        return "may not be specified when 'hostIPC' is true"
    return ""


def affinity_terms(spec: core_v1.PodSpec) -> Iterator[core_v1.PodAffinityTerm]:
    """Yield all PodAffinityTerms of a spec."""
    affinity = spec.get("affinity") or {}
    for rules in (affinity.get("podAffinity") or {}, affinity.get("podAntiAffinity") or {}):
        yield from rules.get("requiredDuringSchedulingIgnoredDuringExecution", ())
        for weighted in rules.get("preferredDuringSchedulingIgnoredDuringExecution", ()):
            if weighted.get("podAffinityTerm"):
                yield weighted["podAffinityTerm"]


def _invalid_values(selector: meta_v1.LabelSelector | core_v1.NodeSelectorTerm | None) -> bool:
    return any(
        label_value_errors(value)
        for requirement in (selector or {}).get("matchExpressions", ())
        for value in requirement.get("values") or ()
    )


def _invalid_affinity_selector(spec: core_v1.PodSpec) -> bool:
    if "affinity" not in spec:
        return False
    return any(
        _invalid_values(term.get("labelSelector")) or _invalid_values(term.get("namespaceSelector"))
        for term in affinity_terms(spec)
    )


def has_invalid_term_values(node_selector: core_v1.NodeSelector) -> bool:
    """Return True if a NodeSelector contains values that no label can have."""
    return any(_invalid_values(term) for term in node_selector.get("nodeSelectorTerms", ()))


def _invalid_node_affinity(spec: core_v1.PodSpec) -> bool:
    node_affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is not None and has_invalid_term_values(required)


def _invalid_spread_selector(spec: core_v1.PodSpec) -> bool:
    return any(_invalid_values(c.get("labelSelector")) for c in spec.get("topologySpreadConstraints", ()))


def _non_local_token_path(spec: core_v1.PodSpec) -> bool:
    for volume in spec.get("volumes", ()):
        for source in (volume.get("projected") or {}).get("sources") or ():
            token = source.get("serviceAccountToken")
            path = token.get("path", "") if token else ""
            if path.startswith(("/", "..")) or ".." in path.split("/"):
                return True
    return False


def _indivisible_hugepages(spec: core_v1.PodSpec) -> bool:
    for container in containers_of(spec):
        resources = container.get("resources") or {}
        for amounts in (resources.get("limits"), resources.get("requests")):
            for name, text in (amounts or {}).items():
                if name.startswith("hugepages-") and not is_whole_pages(name, text):
                    return True
    return False


def _restart_container_for_init(spec: core_v1.PodSpec) -> bool:
    return any(
        policy.get("restartPolicy") == "RestartContainer"
        for container in spec.get("initContainers", ())
        if container.get("restartPolicy") != "Always"
        for policy in container.get("resizePolicy", ())
    )


def _spread_violates_keys(spec: core_v1.PodSpec) -> bool:
    for constraint in spec.get("topologySpreadConstraints", ()):
        selector = constraint.get("labelSelector") or {}
        keys = [*(selector.get("matchLabels") or {})]
        match = constraint.get("matchLabelKeys") or ()
        for requirement in selector.get("matchExpressions", ()):
            if requirement.get("key") in match and requirement.get("key") in keys:
                return True
            keys.append(requirement.get("key", ""))
    return False
