"""HorizontalPodAutoscalers: conversion between autoscaling/v1 and the hub, v2.

v1 has one CPU percentage. The other fields of v2 are stored in the annotations that Kubernetes uses for them. A write
in v1 loses the order of metrics, a second CPU percentage and the type of a target, as in Kubernetes.

Source: pkg/apis/autoscaling/v1/conversion.go (1.36).
"""

from typing import Any

import orjson

from sampan.core.object import Object
from sampan.registry.api_version_conversion import ApiVersionConversion
from sampan.registry.kinds.autoscaling import v1_metrics
from sampan.wire import json

METRICS = "autoscaling.alpha.kubernetes.io/metrics"
CURRENT_METRICS = "autoscaling.alpha.kubernetes.io/current-metrics"
CONDITIONS = "autoscaling.alpha.kubernetes.io/conditions"
BEHAVIOR = "autoscaling.alpha.kubernetes.io/behavior"
_ROUND_TRIP = (
    METRICS,
    CURRENT_METRICS,
    CONDITIONS,
    BEHAVIOR,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
)

_WRONG_SHAPE = (ValueError, TypeError, KeyError, AttributeError)
"""Errors that reading a malformed annotation may raise. Clients can write any text there."""
_ORDERS = (
    ("type", "status", "lastTransitionTime", "reason", "message"),
    ("object", "pods", "resource", "containerResource", "external"),
    ("target", "kind", "name", "apiVersion", "metricName", "metricSelector", "targetValue", "currentValue"),
    ("targetAverageUtilization", "currentAverageUtilization", "targetAverageValue", "currentAverageValue"),
    ("selector", "averageValue", "container", "matchLabels", "matchExpressions", "key", "operator", "values"),
    ("ScaleUp", "ScaleDown", "StabilizationWindowSeconds", "SelectPolicy", "Policies", "Tolerance"),
    ("Type", "Value", "PeriodSeconds"),
)
_RANK = {name: place for place, name in enumerate(name for order in _ORDERS for name in order)}
"""Rank of each field: one order that fits all types in these annotations."""


def _is_cpu_utilization(metric: Object) -> bool:
    resource = metric.get("resource")
    return (
        metric.get("type") == "Resource"
        and resource is not None
        and resource.get("name") == "cpu"
        and "averageUtilization" in resource.get("target", {})
    )


def _cpu_metric(percentage: int) -> Object:
    target = {"type": "Utilization", "averageUtilization": percentage}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _metrics_to_v1(metrics: list[Object]) -> tuple[int | None, list[Object]]:
    """Return the first CPU percentage, and all other metrics in the form of v1."""
    percentage = next((m["resource"]["target"]["averageUtilization"] for m in metrics if _is_cpu_utilization(m)), None)
    others = [v1_metrics.spec_to_v1(metric) for metric in metrics if not _is_cpu_utilization(metric)]
    return percentage, others


def _metrics_to_hub(percentage: int | None, others: list[Object]) -> list[Object]:
    metrics = [v1_metrics.spec_to_hub(metric) for metric in others]
    if percentage is not None:
        metrics.append(_cpu_metric(percentage))
    return metrics


def _current_percentage(metrics: list[Object]) -> int | None:
    percentage = None
    for metric in metrics:
        resource = metric.get("resource")
        if metric.get("type") == "Resource" and resource is not None and resource.get("name") == "cpu":
            percentage = resource.get("current", {}).get("averageUtilization", percentage)
    return percentage


def _read_list(annotations: dict[str, str], key: str) -> list[Object] | None:
    text = annotations.get(key)
    if text is None:
        return None
    try:
        value = orjson.loads(text)
    except ValueError:
        return None
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return value
    return None


class HorizontalPodAutoscalerConversion(ApiVersionConversion):
    """Conversion between one CPU percentage (v1) and a list of metrics (v2)."""

    def __init__(self) -> None:
        super().__init__("autoscaling/v1", "autoscaling/v2")

    def to_hub(self, obj: Object) -> Object:
        """Return the object in v2. Malformed annotations are dropped."""
        metadata = super().to_hub(obj).setdefault("metadata", {})
        annotations: dict[str, str] = metadata.get("annotations", {})
        self._spec_to_hub(obj, annotations)
        self._status_to_hub(obj, annotations)
        for key in _ROUND_TRIP:
            annotations.pop(key, None)
        if not annotations:
            metadata.pop("annotations", None)
        return obj

    def from_hub(self, obj: Object) -> Object:
        """Return the object in v1."""
        metadata = super().from_hub(obj).setdefault("metadata", {})
        annotations: dict[str, str] = metadata.pop("annotations", {})
        for key in _ROUND_TRIP:
            annotations.pop(key, None)
        self._spec_from_hub(obj.get("spec", {}), annotations)
        self._status_from_hub(obj.get("status", {}), annotations)
        if annotations:
            metadata["annotations"] = annotations
        return obj

    def _spec_to_hub(self, obj: Object, annotations: dict[str, str]) -> None:
        spec = obj.get("spec", {})
        percentage = spec.pop("targetCPUUtilizationPercentage", None)
        others = _read_list(annotations, METRICS) or []
        try:
            spec["metrics"] = _metrics_to_hub(percentage, others)
        except _WRONG_SHAPE:
            spec["metrics"] = _metrics_to_hub(percentage, [])
        if not spec["metrics"]:
            del spec["metrics"]
        try:
            behavior = v1_metrics.behavior_to_hub(orjson.loads(annotations.get(BEHAVIOR, "{}")))
        except _WRONG_SHAPE:
            behavior = {}
        if behavior:
            spec["behavior"] = behavior

    def _status_to_hub(self, obj: Object, annotations: dict[str, str]) -> None:
        status = obj.get("status", {})
        if not status.get("currentReplicas"):
            status.pop("currentReplicas", None)
        percentage = status.pop("currentCPUUtilizationPercentage", None)
        metrics: list[Object] = []
        if percentage is not None:
            current = {"averageUtilization": percentage}
            metrics = [{"type": "Resource", "resource": {"name": "cpu", "current": current}}]
        others = _read_list(annotations, CURRENT_METRICS)
        try:
            if others is not None:
                metrics = [v1_metrics.status_to_hub(metric) for metric in others]
        except _WRONG_SHAPE:
            metrics = []
        if metrics:
            status["currentMetrics"] = metrics
        try:
            conditions = [v1_metrics.condition_to_hub(each) for each in _read_list(annotations, CONDITIONS) or ()]
        except _WRONG_SHAPE:
            conditions = []
        if conditions:
            status["conditions"] = conditions
        if status:
            obj["status"] = status

    def _spec_from_hub(self, spec: Object, annotations: dict[str, str]) -> None:
        metrics = spec.pop("metrics", [])
        percentage, others = _metrics_to_v1(metrics)
        if percentage is not None:
            spec["targetCPUUtilizationPercentage"] = percentage
        if others:
            annotations[METRICS] = _annotation_text(others)
        behavior = spec.pop("behavior", None)
        if behavior is not None:
            annotations[BEHAVIOR] = _annotation_text(v1_metrics.behavior_to_v1(behavior))

    def _status_from_hub(self, status: Object, annotations: dict[str, str]) -> None:
        status.setdefault("currentReplicas", 0)  # v1 always shows it; v2 omits zero
        metrics = status.pop("currentMetrics", None) or []  # may be null: Go writes an empty list so
        percentage = _current_percentage(metrics)
        if percentage is not None:
            status["currentCPUUtilizationPercentage"] = percentage
        if metrics:
            annotations[CURRENT_METRICS] = _annotation_text([v1_metrics.status_to_v1(metric) for metric in metrics])
        conditions = status.pop("conditions", None)
        if conditions:
            annotations[CONDITIONS] = _annotation_text(conditions)


def _annotation_text(value: Any) -> str:
    """Return metrics, conditions or behavior as the text of their annotation, byte for byte as Go writes it.

    The exact text matters: server-side apply makes the client that changes it the owner of the annotation.
    Source: k8s.io/api autoscaling/v1/types.go; Go's encoding/json (1.36).
    """
    return json.escaped(json.encode(_ordered(value))).decode()


def _ordered(value: Any) -> Any:
    if isinstance(value, list):
        return [_ordered(item) for item in value]
    if not isinstance(value, dict):
        return value
    names = sorted(value, key=lambda name: _RANK.get(name, len(_RANK)))
    return {name: _sorted(value[name]) if name == "matchLabels" else _ordered(value[name]) for name in names}


def _sorted(labels: Any) -> Any:
    return dict(sorted(labels.items())) if isinstance(labels, dict) else labels
