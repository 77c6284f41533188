"""Tables of autoscalers and disruption budgets."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from sampan.core.object import Object
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import EMPTY, NAME, NONE, UNKNOWN, UNSET, Cell, at, column, integer
from sampan.registry.columns.tables import Tables
from sampan.registry.conversions.hpa import HorizontalPodAutoscalerConversion
from sampan.registry.definition import Column

_SHOWN_MAX = 2


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
    wanted = f"{target['averageUtilization']}%" if "averageUtilization" in target else "<auto>"
    return f"{resource}: {shown}/{wanted}"


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


def _targets(autoscaler: Object) -> str:
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


def _targets_v1() -> Cell:
    to_hub = HorizontalPodAutoscalerConversion().to_hub

    def targets(autoscaler: Object) -> str:
        hub = to_hub(copy.deepcopy(autoscaler))
        hub["spec"].setdefault(
            "metrics",
            [{"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}}],
        )
        return _targets(hub)

    return targets


def _reference(autoscaler: Object) -> str:
    target = autoscaler.get("spec", EMPTY).get("scaleTargetRef", EMPTY)
    return f"{target.get('kind', '')}/{target.get('name', '')}"


def _min_pods(autoscaler: Object) -> str:
    return str(autoscaler.get("spec", EMPTY).get("minReplicas", UNSET))


def _autoscaler_columns(ages: Ages, targets: Cell) -> tuple[Column, ...]:
    return (
        NAME,
        column("Reference", _reference),
        column("Targets", targets),
        column("MinPods", _min_pods),
        column("MaxPods", at("spec", "maxReplicas", default=0)),
        column("Replicas", at("status", "currentReplicas", default=0)),
        ages.column,
    )


def autoscaling_tables(ages: Ages) -> Tables:
    """Tables of autoscalers and disruption budgets."""
    minimum = at("spec", "minAvailable", default="N/A")
    maximum = at("spec", "maxUnavailable", default="N/A")
    return {
        ("autoscaling", "horizontalpodautoscalers", "v2"): _autoscaler_columns(ages, _targets),
        ("autoscaling", "horizontalpodautoscalers", "v1"): _autoscaler_columns(ages, _targets_v1()),
        ("policy", "poddisruptionbudgets", "v1"): (
            NAME,
            column("Min Available", lambda obj: str(minimum(obj))),
            column("Max Unavailable", lambda obj: str(maximum(obj))),
            integer("Allowed Disruptions", at("status", "disruptionsAllowed", default=0)),
            ages.column,
        ),
    }
