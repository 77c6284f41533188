"""Changes of a pod before validation: disabled features, selectors and profiles.

Source: pkg/registry/core/pod/strategy.go, pkg/api/pod/util.go (1.36).
"""

from __future__ import annotations

from typing import Any

from sampan.core.field import FieldError, Path
from sampan.core.object import Object
from sampan.kinds import core_v1, meta_v1
from sampan.registry.kinds.pod_spec.annotations import APPARMOR_CONTAINER, apparmor_profile
from sampan.registry.kinds.pod_spec.options import affinity_terms, containers_of, is_windows
from sampan.registry.kinds.pod_spec.security import check_apparmor_profile
from sampan.registry.rules import feature_gates as gates

_GATED = "Scheduling is blocked due to non-empty scheduling gates"


def drop_disabled_fields(spec: Any, old_spec: Any) -> None:
    """Remove fields of disabled features, unless the stored object has them."""
    if not gates.GENERIC_WORKLOAD and "schedulingGroup" in spec and "schedulingGroup" not in (old_spec or ()):
        del spec["schedulingGroup"]
    if not gates.CONTAINER_STOP_SIGNALS:
        _drop_stop_signals(spec, old_spec)
    for field, enabled in (
        ("clusterTrustBundle", gates.CLUSTER_TRUST_BUNDLE_PROJECTION),
        ("podCertificate", gates.POD_CERTIFICATE_REQUEST),
    ):
        if not enabled and "volumes" in spec and _projects(spec, field) and not _projects(old_spec or {}, field):
            for volume in spec["volumes"]:
                for source in (volume.get("projected") or {}).get("sources") or ():
                    source.pop(field, None)


def _projects(spec: Object, field: str) -> bool:
    return any(
        field in source
        for volume in spec.get("volumes", ())
        if "projected" in volume
        for source in volume["projected"].get("sources") or ()
    )


def _has_stop_signal(spec: core_v1.PodSpec) -> bool:
    return any("stopSignal" in container["lifecycle"] for container in containers_of(spec) if "lifecycle" in container)


def _drop_stop_signals(spec: core_v1.PodSpec, old_spec: core_v1.PodSpec | None) -> None:
    if not _has_stop_signal(spec) or (old_spec and _has_stop_signal(old_spec)):
        return
    for container in containers_of(spec):
        lifecycle = container.get("lifecycle")
        if lifecycle is not None and lifecycle.pop("stopSignal", None) is not None and not lifecycle:
            del container["lifecycle"]


def apply_label_keys(spec: core_v1.PodSpec, labels: dict[str, str]) -> None:
    """Convert matchLabelKeys and mismatchLabelKeys to expressions for the labels of this pod."""
    if "affinity" in spec:
        for term in affinity_terms(spec):
            _extend_selector(term, term.get("matchLabelKeys"), "In", labels)
            _extend_selector(term, term.get("mismatchLabelKeys"), "NotIn", labels)
    for constraint in spec.get("topologySpreadConstraints", ()):
        _extend_selector(constraint, constraint.get("matchLabelKeys"), "In", labels)


def _extend_selector(
    term: core_v1.PodAffinityTerm | core_v1.TopologySpreadConstraint,
    keys: list[str] | None,
    operator: str,
    labels: dict[str, str],
) -> None:
    selector = term.get("labelSelector")
    if selector is None:
        return
    for key in keys or ():
        if key in labels:
            expression: meta_v1.LabelSelectorRequirement = {"key": key, "operator": operator, "values": [labels[key]]}
            selector.setdefault("matchExpressions", []).append(expression)


def new_status(pod: Object, qos: str) -> Object:
    """Return the phase Pending, the class of its quality of service, and a condition for scheduling gates."""
    status: Object = {"phase": "Pending", "qosClass": qos}
    if pod["spec"].get("schedulingGates"):
        now = pod["metadata"].get("creationTimestamp")
        set_condition(status, "PodScheduled", "False", now, reason="SchedulingGated", message=_GATED)
    return status


def set_condition(
    status: Object, kind: str, value: str, now: str | None, *, reason: str = "", message: str = ""
) -> None:
    """Set a condition. Its transition time changes only with its value."""
    condition: Object = {"type": kind, "status": value, "lastProbeTime": None, "lastTransitionTime": now}
    if reason:
        condition["reason"] = reason
    if message:
        condition["message"] = message
    conditions = status.setdefault("conditions", [])
    for i, old in enumerate(conditions):
        if old.get("type") == kind:
            if old.get("status") == value:
                condition["lastTransitionTime"] = old.get("lastTransitionTime")
            if "lastProbeTime" in old:
                condition["lastProbeTime"] = old["lastProbeTime"]
            conditions[i] = condition
            return
    conditions.append(condition)


def apply_apparmor_annotations(pod: Object) -> None:
    """Convert the deprecated AppArmor annotations to fields."""
    annotations: dict[str, str] | None = pod["metadata"].get("annotations")
    spec: core_v1.PodSpec = pod["spec"]
    if not annotations or is_windows(spec):
        return
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    for container in containers_of(spec):
        annotation = annotations.get(f"{APPARMOR_CONTAINER}{container.get('name', '')}")
        context = container.get("securityContext")
        if annotation is None or (context and "appArmorProfile" in context):
            continue
        profile = valid_apparmor_profile(annotation)
        if profile is not None and profile != of_pod:
            container.setdefault("securityContext", {})["appArmorProfile"] = profile


def valid_apparmor_profile(annotation: str) -> core_v1.AppArmorProfile | None:
    """Return the profile of an annotation, or None if it is invalid."""
    profile = apparmor_profile(annotation)
    errors: list[FieldError] = []
    if profile is not None:
        check_apparmor_profile(profile, Path(""), errors)
    return None if errors else profile


def apparmor_warnings(pod: Object) -> list[str]:
    """Return warnings for AppArmor annotations, both converted and invalid ones."""
    annotations: dict[str, str] | None = pod["metadata"].get("annotations")
    spec: core_v1.PodSpec = pod["spec"]
    if not annotations or is_windows(spec):
        return []
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    found = []
    for container in containers_of(spec):
        key = f"{APPARMOR_CONTAINER}{container.get('name', '')}"
        if key not in annotations:
            continue
        profile = valid_apparmor_profile(annotations[key])
        own = (container.get("securityContext") or {}).get("appArmorProfile")
        if (profile is None and own is None) or (profile is not None and own == profile and profile != of_pod):
            text = 'deprecated since v1.30; use the "appArmorProfile" field instead'
            found.append(f"metadata.annotations[{key}]: {text}")
    return found
