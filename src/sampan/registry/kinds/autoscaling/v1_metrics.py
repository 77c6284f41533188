"""Metrics of HorizontalPodAutoscalers in two forms: as fields of v2, and as annotations of v1.

Source: pkg/apis/autoscaling/v1/conversion.go (1.36).
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from sampan.core.numbers import quantity
from sampan.core.object import Object

_ZERO = "0"


class _Source(NamedTuple):
    """Mapping of one kind of metric: v1 fields by v2 fields, for target, current value and other references."""

    target: dict[str, str]
    current: dict[str, str]
    required_target: str = ""
    required_current: str = ""
    identified: bool = False
    selector: str = "selector"
    described: bool = False
    plain: tuple[str, ...] = ()


_UTILIZATION_TARGET = {"averageUtilization": "targetAverageUtilization", "averageValue": "targetAverageValue"}
_UTILIZATION_CURRENT = {"averageUtilization": "currentAverageUtilization", "averageValue": "currentAverageValue"}

_SOURCES = {
    "resource": _Source(
        _UTILIZATION_TARGET, _UTILIZATION_CURRENT, required_current="currentAverageValue", plain=("name",)
    ),
    "containerResource": _Source(
        _UTILIZATION_TARGET, _UTILIZATION_CURRENT, required_current="currentAverageValue", plain=("name", "container")
    ),
    "pods": _Source(
        {"averageValue": "targetAverageValue"},
        {"averageValue": "currentAverageValue"},
        required_target="targetAverageValue",
        required_current="currentAverageValue",
        identified=True,
    ),
    "object": _Source(
        {"value": "targetValue", "averageValue": "averageValue"},
        {"value": "currentValue", "averageValue": "averageValue"},
        required_target="targetValue",
        required_current="currentValue",
        identified=True,
        described=True,
    ),
    "external": _Source(
        {"value": "targetValue", "averageValue": "targetAverageValue"},
        {"value": "currentValue", "averageValue": "currentAverageValue"},
        required_current="currentValue",
        identified=True,
        selector="metricSelector",
    ),
}


def _moved(value: Object, names: Iterable[tuple[str, str]]) -> Object:
    return {new: value[old] for old, new in names if value.get(old) is not None}


def _named_to_v1(source: Object, kind: _Source) -> Object:
    result = _moved(source, ((name, name) for name in kind.plain))
    if kind.described:
        result["target"] = source.get("describedObject", {})
    if kind.identified:
        result |= _moved(source.get("metric", {}), (("name", "metricName"), ("selector", kind.selector)))
    return result


def _named_to_hub(source: Object, kind: _Source) -> Object:
    result = _moved(source, ((name, name) for name in kind.plain))
    if kind.described:
        result["describedObject"] = source.get("target", {})
    if kind.identified:
        result["metric"] = _moved(source, (("metricName", "name"), (kind.selector, "selector")))
    return result


def _to_v1(metric: Object, part: str) -> Object:
    result: Object = {"type": metric["type"]}
    for name, kind in _SOURCES.items():
        source = metric.get(name)
        if source is None:
            continue
        names = kind.target if part == "target" else kind.current
        required = kind.required_target if part == "target" else kind.required_current
        converted = _named_to_v1(source, kind) | _moved(source.get(part, {}), names.items())
        if required:
            converted.setdefault(required, _ZERO)
        result[name] = converted
    return result


def _target_type(name: str, target: Object) -> str:
    if name in ("resource", "containerResource"):
        return "Utilization" if "averageUtilization" in target else "AverageValue"
    if name == "object":
        return "AverageValue" if "averageValue" in target else "Value"
    return "Value" if "value" in target else "AverageValue"


def check(value: Any, key: str = "") -> None:
    """Check the types of values that were read from an annotation, which clients can write. Raises `ValueError`."""
    if isinstance(value, dict):
        for name, each in value.items():
            check(each, "label" if key == "matchLabels" else name)
    elif isinstance(value, list):
        if key not in ("values", "matchExpressions"):
            raise ValueError(f"{key} is a list")
        for each in value:
            check(each)
    elif key == "averageUtilization":
        _int(value)
    elif key in ("value", "averageValue"):
        quantity.parse(_str(value))
    else:
        _str(value)


def _str(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("not a string")
    return value


def _int(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError("not a whole number")
    return value


def _to_hub(metric: Object, part: str) -> Object:
    result: Object = {"type": metric["type"]}
    for name, kind in _SOURCES.items():
        source = metric.get(name)
        if source is None:
            continue
        names = kind.target if part == "target" else kind.current
        values: dict[str, Any] = _moved(source, ((old, new) for new, old in names.items()))
        if part == "target":
            if name == "object" and "averageValue" in values and values.get("value") == _ZERO:
                del values["value"]
            values = {"type": _target_type(name, values), **values}
        result[name] = _named_to_hub(source, kind) | {part: values}
    check(result)
    return result


def spec_to_v1(metric: Object) -> Object:
    """Convert a metric of `spec.metrics` to the form of v1's annotation."""
    return _to_v1(metric, "target")


def spec_to_hub(metric: Object) -> Object:
    """Convert a metric of v1's annotation to one of `spec.metrics`. Raises on malformed values."""
    return _to_hub(metric, "target")


def status_to_v1(metric: Object) -> Object:
    """Convert a metric of `status.currentMetrics` to the form of v1's annotation."""
    return _to_v1(metric, "current")


def status_to_hub(metric: Object) -> Object:
    """Convert a metric of v1's annotation to one of `status.currentMetrics`. Raises on malformed values."""
    return _to_hub(metric, "current")


def _go_name(name: str) -> str:
    return name[0].upper() + name[1:]


def _rules_to_v1(rules: Object | None) -> Object | None:
    if rules is None:
        return None
    result: Object = {
        _go_name(name): rules.get(name)
        for name in ("stabilizationWindowSeconds", "selectPolicy", "policies", "tolerance")
    }
    if result["Policies"] is not None:
        result["Policies"] = [{_go_name(key): value for key, value in policy.items()} for policy in result["Policies"]]
    return result


def behavior_to_v1(behavior: Object) -> Object:
    """Convert `spec.behavior` to Go's field names, as Kubernetes writes this annotation."""
    return {_go_name(name): _rules_to_v1(behavior.get(name)) for name in ("scaleUp", "scaleDown")}


_RULE_FIELDS = {"stabilizationWindowSeconds": _int, "selectPolicy": _str, "tolerance": quantity.canonical}
_POLICY_FIELDS = {"type": _str, "value": _int, "periodSeconds": _int}


def _read(value: Object, fields: dict[str, Any]) -> Object:
    return {name: read(value[_go_name(name)]) for name, read in fields.items() if value.get(_go_name(name)) is not None}


def _rules_to_hub(rules: Object) -> Object:
    result = _read(rules, _RULE_FIELDS)
    policies = rules.get("Policies")
    if policies is not None:
        result["policies"] = [_read(policy, _POLICY_FIELDS) for policy in policies]
    return result


def behavior_to_hub(value: Any) -> Object:
    """Convert v1's annotation to `spec.behavior`, without nulls. Raises on malformed values."""
    return _read(value, {"scaleUp": _rules_to_hub, "scaleDown": _rules_to_hub})


def condition_to_hub(condition: Object) -> Object:
    """Convert a condition of v1's annotation. Raises on malformed values."""
    texts = {name: _str(condition[name]) for name in ("reason", "message") if condition.get(name) is not None}
    since = condition.get("lastTransitionTime")
    time = {"lastTransitionTime": None if since is None else _str(since)}
    return {"type": _str(condition["type"]), "status": _str(condition["status"]), **time, **texts}
