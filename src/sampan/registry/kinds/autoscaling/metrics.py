"""Metrics of autoscalers. Source: pkg/apis/autoscaling/validation/validation.go (1.36)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from sampan.core.field import Path, forbidden, invalid, required
from sampan.core.gvk import GroupVersion
from sampan.core.numbers.quantity import Quantity
from sampan.core.validation.names import path_segment_errors
from sampan.kinds import autoscaling_v2
from sampan.registry.kinds.pod_spec.resources import check_container_resource_name
from sampan.registry.rules.fields import Errors, check_label, not_supported

_TYPES = ("ContainerResource", "External", "Object", "Pods", "Resource")
_ZERO = Quantity(0)
_NEEDED = "must populate information for the given metric source"


def api_version_problem(reference: Mapping[str, Any], *, allow_core: bool) -> str:
    """Return the problem of a reference's apiVersion, or an empty string."""
    try:
        parsed = GroupVersion.parse(reference.get("apiVersion", ""))
    except ValueError as error:
        return str(error)
    return "" if parsed.group or allow_core else "apiVersion must specify API group"


def check_reference(
    reference: Mapping[str, Any], path: Path, errors: Errors, *, allow_core: bool = False, any_version: bool = False
) -> None:
    """Check a reference to an object of any kind."""
    for name in ("kind", "name"):
        value = reference.get(name, "")
        if not value:
            errors.append(required(path.child(name)))
        errors.extend(invalid(path.child(name), value, text) for text in path_segment_errors(value))
    problem = "" if any_version else api_version_problem(reference, allow_core=allow_core)
    if problem:
        errors.append(invalid(path.child("apiVersion"), reference.get("apiVersion", ""), problem))


def _check_identifier(identifier: autoscaling_v2.MetricIdentifier, path: Path, errors: Errors) -> None:
    name = identifier.get("name", "")
    if not name:
        errors.append(required(path.child("name"), "must specify a metric name"))
    errors.extend(invalid(path.child("name"), name, text) for text in path_segment_errors(name))


def _check_target(target: autoscaling_v2.MetricTarget, path: Path, errors: Errors) -> None:
    kind = target.get("type", "")
    if not kind:
        errors.append(required(path.child("type"), "must specify a metric target type"))
    if kind not in ("Utilization", "Value", "AverageValue"):
        errors.append(invalid(path.child("type"), kind, "must be either Utilization, Value, or AverageValue"))
    for name in ("value", "averageValue"):
        if name in target and Quantity.parse(target[name]) <= _ZERO:
            errors.append(invalid(path.child(name), target[name], "must be positive"))
    utilization = target.get("averageUtilization")
    if utilization is not None and utilization < 1:
        errors.append(invalid(path.child("averageUtilization"), utilization, "must be greater than 0"))


def _check_object(source: autoscaling_v2.ObjectMetricSource, path: Path, errors: Errors, any_version: bool) -> None:
    check_reference(
        source.get("describedObject", {}),
        path.child("describedObject"),
        errors,
        allow_core=True,
        any_version=any_version,
    )
    _check_identifier(source.get("metric", {}), path.child("metric"), errors)
    target, at = source.get("target", {}), path.child("target")
    _check_target(target, at, errors)
    if "value" not in target and "averageValue" not in target:
        errors.append(required(at.child("averageValue"), "must set either a target value or averageValue"))


def _check_external(source: autoscaling_v2.ExternalMetricSource, path: Path, errors: Errors) -> None:
    _check_identifier(source.get("metric", {}), path.child("metric"), errors)
    target, at = source.get("target", {}), path.child("target")
    _check_target(target, at, errors)
    if "value" not in target and "averageValue" not in target:
        detail = "must set either a target value for metric or a per-pod target"
        errors.append(required(at.child("averageValue"), detail))
    if "value" in target and "averageValue" in target:
        detail = "may not set both a target value for metric and a per-pod target"
        errors.append(forbidden(at.child("value"), detail))


def _check_pods(source: autoscaling_v2.PodsMetricSource, path: Path, errors: Errors) -> None:
    _check_identifier(source.get("metric", {}), path.child("metric"), errors)
    target, at = source.get("target", {}), path.child("target")
    _check_target(target, at, errors)
    if "averageValue" not in target:
        errors.append(required(at.child("averageValue"), "must specify a positive target averageValue"))


def _check_utilization(target: autoscaling_v2.MetricTarget, path: Path, errors: Errors) -> None:
    _check_target(target, path, errors)
    if "averageUtilization" not in target and "averageValue" not in target:
        detail = "must set either a target raw value or a target utilization"
        errors.append(required(path.child("averageUtilization"), detail))
    if "averageUtilization" in target and "averageValue" in target:
        detail = "may not set both a target raw value and a target utilization"
        errors.append(forbidden(path.child("averageValue"), detail))


def _check_resource(source: autoscaling_v2.ResourceMetricSource, path: Path, errors: Errors) -> None:
    if not source.get("name"):
        errors.append(required(path.child("name"), "must specify a resource name"))
    _check_utilization(source.get("target", {}), path.child("target"), errors)


def _check_container_resource(source: autoscaling_v2.ContainerResourceMetricSource, path: Path, errors: Errors) -> None:
    name, container = source.get("name", ""), source.get("container", "")
    if name:
        check_container_resource_name(name, path.child("name"), errors)
    else:
        errors.append(required(path.child("name"), "must specify a resource name"))
    if container:
        check_label(container, path.child("container"), errors)
    else:
        errors.append(required(path.child("container"), "must specify a container"))
    _check_utilization(source.get("target", {}), path.child("target"), errors)


_CHECKS: dict[str, Callable[[Any, Path, Errors], None]] = {
    "external": _check_external,
    "pods": _check_pods,
    "resource": _check_resource,
    "containerResource": _check_container_resource,
}
_SOURCES: Final = ("object", "external", "pods", "resource", "containerResource")


def check_metric(metric: autoscaling_v2.MetricSpec, path: Path, errors: Errors, *, any_version: bool) -> None:
    """Check a metric: its type, and the one source that matches it."""
    kind = metric.get("type", "")
    if not kind:
        errors.append(required(path.child("type"), "must specify a metric source type"))
    if kind not in _TYPES:
        errors.append(not_supported(path.child("type"), kind, _TYPES))
    present = [name for name in _SOURCES if name in metric]
    for name in present[:1]:
        if name == "object":
            _check_object(metric["object"], path.child(name), errors, any_version)
        else:
            _CHECKS[name](metric.get(name), path.child(name), errors)
    expected = f"{kind[:1].lower()}{kind[1:]}"
    if kind not in _TYPES:
        errors.append(not_supported(path.child("type"), kind, _TYPES))
    elif expected not in metric:
        errors.append(required(path.child(expected), _NEEDED))
    if len(present) != 1:
        for name in present:
            if name != expected:
                errors.append(forbidden(path.child(name), "must populate the given metric source only"))
