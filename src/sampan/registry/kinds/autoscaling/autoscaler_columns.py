"""Cells of the table of HorizontalPodAutoscalers: current and target values of the metrics."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from sampan.core.object import Object
from sampan.registry.columns.cells import EMPTY, NONE, UNKNOWN, UNSET
from sampan.registry.kinds.autoscaling.v1_conversion import HorizontalPodAutoscalerConversion

_SHOWN_MAX = 2
_V1 = HorizontalPodAutoscalerConversion()


def _value_or_average(name: str, spec: Mapping[str, Any], current: Mapping[str, Any] | None) -> str:
    target = spec[name].get("target", EMPTY)
    if "averageValue" in target:
        return f"{(current or EMPTY).get('averageValue', UNKNOWN)}/{target['averageValue']} (avg)"
    shown = UNKNOWN if current is None else current.get("value", NONE)
    return f"{shown}/{target.get('value', NONE)}"


def _average(spec: Mapping[str, Any], current: Mapping[str, Any] | None) -> str:
    shown = UNKNOWN if current is None else current.get("averageValue", NONE)
    return f"{shown}/{spec['pods'].get('target', EMPTY).get('averageValue', NONE)}"


def _utilization(name: str, spec: Mapping[str, Any], current: Mapping[str, Any] | None) -> str:
    target = spec[name].get("target", EMPTY)
    resource = spec[name].get("name", "")
    if "averageValue" in target:
        shown = UNKNOWN if current is None else current.get("averageValue", NONE)
        return f"{resource}: {shown}/{target['averageValue']}"
    utilization = (current or EMPTY).get("averageUtilization")
    shown = UNKNOWN if utilization is None else f"{utilization}%"
    target_text = f"{target['averageUtilization']}%" if "averageUtilization" in target else "<auto>"
    return f"{resource}: {shown}/{target_text}"


_FIELDS = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def _metric(spec: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    name = _FIELDS.get(spec["type"], "")
    if name not in spec:
        return "<unknown type>"
    current = status[name].get("current", EMPTY) if name in status else None
    if name in ("external", "object"):
        return _value_or_average(name, spec, current)
    return _average(spec, current) if name == "pods" else _utilization(name, spec, current)


def targets(autoscaler: Object) -> str:
    """Return the current and target values of the first metrics."""
    specs: Sequence[Mapping[str, Any]] = autoscaler.get("spec", EMPTY).get("metrics", ())
    if not specs:
        return NONE
    statuses = autoscaler.get("status", EMPTY).get("currentMetrics") or ()
    texts = [
        _metric(spec, statuses[index] if index < len(statuses) else EMPTY)
        for index, spec in enumerate(specs[:_SHOWN_MAX])
    ]
    shown = ", ".join(texts)
    return f"{shown} + {len(specs) - _SHOWN_MAX} more..." if len(specs) > _SHOWN_MAX else shown


def targets_v1(autoscaler: Object) -> str:
    """Return the targets of an object in v1."""
    hub = _V1.to_hub(copy.deepcopy(autoscaler))
    hub["spec"].setdefault(
        "metrics",
        [{"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}}],
    )
    return targets(hub)


def reference(autoscaler: Object) -> str:
    """Return the kind and name of the scaled object, as `Deployment/web`."""
    target = autoscaler.get("spec", EMPTY).get("scaleTargetRef", EMPTY)
    return f"{target.get('kind', '')}/{target.get('name', '')}"


def min_pods(autoscaler: Object) -> str:
    """Return the lower limit of the replicas."""
    return str(autoscaler.get("spec", EMPTY).get("minReplicas", UNSET))
