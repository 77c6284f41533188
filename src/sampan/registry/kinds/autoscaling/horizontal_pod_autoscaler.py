"""Horizontal pod autoscalers, in v2. Source: pkg/apis/autoscaling/{v2,validation} (1.36)."""

from typing import Final

from sampan.core.field import Path, forbidden, invalid, required
from sampan.core.numbers.quantity import Quantity
from sampan.core.object import Object
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import NAME, Cell, at, column
from sampan.registry.definition import Column
from sampan.registry.kind import Kind, KindVersion
from sampan.registry.kinds.autoscaling.autoscaler_columns import min_pods, reference, targets, targets_v1
from sampan.registry.kinds.autoscaling.metrics import api_version_problem, check_metric, check_reference
from sampan.registry.kinds.autoscaling.v1_conversion import HorizontalPodAutoscalerConversion
from sampan.registry.rules.counts import check_counts
from sampan.registry.rules.fields import NOT_NEGATIVE, Errors, not_supported
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_STATUS = Path("status")
_PERIOD_S_MAX = 1800
_STABILIZATION_S_MAX = 3600
_CPU_PERCENT = 80
_ZERO = Quantity(0)
_DEFAULT_RULES: dict[str, Object] = {
    "scaleUp": {
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ],
    },
    "scaleDown": {
        "selectPolicy": "Max",
        "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
    },
}


def _copy_rules(rules: Object) -> Object:
    return {name: [dict(policy) for policy in value] if name == "policies" else value for name, value in rules.items()}


def _check_policy(policy: Object, path: Path, errors: Errors) -> None:
    kind, value, period = policy.get("type", ""), policy.get("value", 0), policy.get("periodSeconds", 0)
    if kind not in ("Pods", "Percent"):
        errors.append(not_supported(path.child("type"), kind, ("Percent", "Pods")))
    if value <= 0:
        errors.append(invalid(path.child("value"), value, "must be greater than zero"))
    if period <= 0:
        errors.append(invalid(path.child("periodSeconds"), period, "must be greater than zero"))
    if period > _PERIOD_S_MAX:
        detail = f"must be less than or equal to {_PERIOD_S_MAX}"
        errors.append(invalid(path.child("periodSeconds"), period, detail))


def _check_rules(rules: Object, path: Path, errors: Errors) -> None:
    window = rules.get("stabilizationWindowSeconds", 0)
    if window < 0:
        detail = "must be greater than or equal to zero"
        errors.append(invalid(path.child("stabilizationWindowSeconds"), window, detail))
    if window > _STABILIZATION_S_MAX:
        detail = f"must be less than or equal to {_STABILIZATION_S_MAX}"
        errors.append(invalid(path.child("stabilizationWindowSeconds"), window, detail))
    select = rules.get("selectPolicy")
    if select is not None and select not in ("Max", "Min", "Disabled"):
        errors.append(not_supported(path.child("selectPolicy"), select, ("Disabled", "Max", "Min")))
    policies = rules.get("policies", ())
    if not policies:
        errors.append(required(path.child("policies"), "must specify at least one Policy"))
    for index, policy in enumerate(policies):
        _check_policy(policy, path.child("policies").index(index), errors)
    tolerance = rules.get("tolerance")
    if tolerance is not None and Quantity.parse(tolerance) < _ZERO:
        errors.append(invalid(path.child("tolerance"), tolerance, NOT_NEGATIVE))


def _check_replicas(spec: Object, old: Object | None, errors: Errors) -> None:
    smallest, largest = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    bound = 0 if old is not None and old.get("minReplicas") == 0 else 1
    if smallest is not None and smallest < bound:
        detail = f"must be greater than or equal to {bound}"
        errors.append(invalid(_SPEC.child("minReplicas"), smallest, detail))
    if largest == 0:
        errors.append(required(_SPEC.child("maxReplicas"), "must be set and greater than 0"))
    elif largest < 0:
        errors.append(invalid(_SPEC.child("maxReplicas"), largest, "must be greater than or equal to 1"))
    if smallest is not None and largest < smallest:
        detail = "must be greater than or equal to `minReplicas`"
        errors.append(invalid(_SPEC.child("maxReplicas"), largest, detail))


def _has_invalid_object_metric(spec: Object) -> bool:
    """Return True if a stored object metric refers to a version that today's rules reject."""
    return any(
        api_version_problem(metric["object"].get("describedObject", {}), allow_core=True)
        for metric in spec.get("metrics", ())
        if metric.get("type") == "Object" and "object" in metric
    )


def _check_spec(spec: Object, old: Object | None, errors: Errors) -> None:
    _check_replicas(spec, old, errors)
    target = spec.get("scaleTargetRef", {})
    old_target = {} if old is None else old.get("scaleTargetRef", {})
    same = old is not None and all(target.get(n, "") == old_target.get(n, "") for n in ("apiVersion", "kind"))
    check_reference(
        target,
        _SPEC.child("scaleTargetRef"),
        errors,
        allow_core=target.get("kind") == "ReplicationController",
        any_version=same,
    )
    metrics, path = spec.get("metrics", ()), _SPEC.child("metrics")
    any_version = old is not None and _has_invalid_object_metric(old)
    for index, metric in enumerate(metrics):
        check_metric(metric, path.index(index), errors, any_version=any_version)
    if spec.get("minReplicas") == 0 and not any(m.get("type") in ("Object", "External") for m in metrics):
        detail = "must specify at least one Object or External metric to support scaling to zero replicas"
        errors.append(forbidden(path, detail))
    for name in ("scaleUp", "scaleDown"):
        rules = spec.get("behavior", {}).get(name)
        if rules is not None:
            _check_rules(rules, _SPEC.child("behavior", name), errors)


class HorizontalPodAutoscalerStrategy(Strategy):
    """Defaults and rules of autoscalers."""

    has_generation = False

    def default(self, obj: Object) -> None:
        """Set defaults: at least one replica, 80% CPU, and scaling rules if a behavior is set.

        `metrics` is always present.
        """
        obj.setdefault("status", {}).setdefault("currentMetrics", None)
        spec = obj.setdefault("spec", {})
        spec.setdefault("minReplicas", 1)
        if not spec.get("metrics"):
            target = {"type": "Utilization", "averageUtilization": _CPU_PERCENT}
            spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
        behavior = spec.get("behavior")
        if behavior is not None:
            for name, rules in _DEFAULT_RULES.items():
                behavior[name] = {**_copy_rules(rules), **behavior.get(name, {})}

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        """Reset the status, so that it contains no metrics."""
        super().prepare_for_create(ctx, obj)
        obj.setdefault("status", {})["currentMetrics"] = None

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        _check_spec(obj.get("spec", {}), None, errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update. Some faults of the stored object are tolerated."""
        _check_spec(obj.get("spec", {}), old.get("spec", {}), errors)

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check that counters are not negative."""
        check_counts(obj.get("status", {}), ("currentReplicas", "desiredReplicas"), _STATUS, errors)


def _columns(ages: Ages, targets_cell: Cell) -> tuple[Column, ...]:
    return (
        NAME,
        column("Reference", reference),
        column("Targets", targets_cell),
        column("MinPods", min_pods),
        column("MaxPods", at("spec", "maxReplicas", default=0)),
        column("Replicas", at("status", "currentReplicas", default=0)),
        ages.column,
    )


KINDS: Final = (
    Kind(
        "autoscaling",
        "horizontalpodautoscalers",
        HorizontalPodAutoscalerStrategy(),
        columns=lambda ages: _columns(ages, targets),
        versions={
            "v1": KindVersion(
                conversion=HorizontalPodAutoscalerConversion(), columns=lambda ages: _columns(ages, targets_v1)
            )
        },
    ),
)
