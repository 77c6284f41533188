"""Annotations of autoscaling/v1, byte for byte as Go writes them.

The exact text matters: server-side apply makes the client that changes it the owner of the annotation.

Source: k8s.io/api autoscaling/v1/types.go; Go's encoding/json (1.36).
"""

from typing import Any

from sampan.wire import json

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


def annotation_text(value: Any) -> str:
    """Return metrics, conditions or behavior as the text of their annotation."""
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
