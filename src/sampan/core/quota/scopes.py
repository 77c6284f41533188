"""Scopes of quotas: they select the objects that a quota counts.

Source: kubernetes pkg/quota/v1/evaluator/core/{pods,persistent_volume_claims}.go; staging k8s.io/apiserver
pkg/quota/v1/generic/evaluator.go (1.36).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sampan.core.label_selectors import selector_from_label_selector
from sampan.core.object import Object

_EXISTS: Final = "Exists"


def scope_selectors(quota: Mapping[str, Any]) -> list[Object]:
    """Return the requirements that an object must match to be counted. Plain scopes become `Exists` requirements."""
    spec = quota.get("spec") or {}
    selectors: list[Object] = [{"scopeName": scope, "operator": _EXISTS} for scope in spec.get("scopes") or ()]
    return selectors + list((spec.get("scopeSelector") or {}).get("matchExpressions") or ())


def pod_is_in_scope(pod: Object, selector: Object) -> bool:
    """Report whether a Pod matches a requirement."""
    spec = pod.get("spec") or {}
    scope: str = selector["scopeName"]
    if scope in ("Terminating", "NotTerminating"):
        return is_terminating(pod) is (scope == "Terminating")
    if scope in ("BestEffort", "NotBestEffort"):
        return is_best_effort(pod) is (scope == "BestEffort")
    if scope == "PriorityClass":
        return _matches(selector, [spec["priorityClassName"]] if spec.get("priorityClassName") else [])
    return scope == "CrossNamespacePodAffinity" and _crosses_namespaces(spec)


def claim_is_in_scope(claim: Object, selector: Object) -> bool:
    """Report whether a PersistentVolumeClaim matches a requirement."""
    if selector["scopeName"] != "VolumeAttributesClass":
        return False
    status = claim.get("status") or {}
    names = (
        (claim.get("spec") or {}).get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    )
    return _matches(selector, [name for name in names if name])


def is_terminating(pod: Object) -> bool:
    """Report whether a Pod has a deadline after which it ends."""
    deadline_s = (pod.get("spec") or {}).get("activeDeadlineSeconds")
    return deadline_s is not None and deadline_s >= 0


def is_best_effort(pod: Object) -> bool:
    """Report whether a Pod requests no resources."""
    qos_class = (pod.get("status") or {}).get("qosClass")
    if qos_class:
        return bool(qos_class == "BestEffort")
    spec = pod.get("spec") or {}
    parts = [spec, *(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    requested = [(part.get("resources") or {}).get(kind) or {} for part in parts for kind in ("requests", "limits")]
    return not any(each.get(name) not in (None, "0", 0) for each in requested for name in ("cpu", "memory"))


def _matches(selector: Object, names: list[str]) -> bool:
    if selector.get("operator") == _EXISTS:
        return bool(names)
    scope = selector["scopeName"]
    expression = {"key": scope, "operator": selector.get("operator"), "values": selector.get("values") or []}
    matches = selector_from_label_selector({"matchExpressions": [expression]}).matches
    return any(matches({scope: name}) for name in names) if names else matches({})


def _crosses_namespaces(spec: Object) -> bool:
    affinity = spec.get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        required: Iterable[Object] = rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        preferred = rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        for term in (*required, *(each["podAffinityTerm"] for each in preferred)):
            if term.get("namespaces") or term.get("namespaceSelector") is not None:
                return True
    return False
