"""LimitRanges. Source: pkg/registry/core/limitrange/strategy.go, pkg/apis/core/validation/validation.go (1.36)."""

import uuid
from typing import Final

from sampan.core.field import FieldError, Path, duplicate, forbidden, invalid, required
from sampan.core.object import Object
from sampan.core.validation.names import qualified_name_errors
from sampan.registry.kind import Kind
from sampan.registry.kinds.pod_spec.resources import (
    check_container_resource_name,
    check_resource_name,
    is_overcommit_allowed,
)
from sampan.registry.rules.quantities import ONE, amount, round_up_to_milli
from sampan.registry.strategy import Context, Strategy

Errors = list[FieldError]
_LIMITS = Path("spec", "limits")
_TYPES = frozenset({"Pod", "Container", "PersistentVolumeClaim"})
_MILLI_MAX = (2**63 - 1) // 1000
"""Largest value that Kubernetes compares in thousandths. It compares larger ones in whole units, rounded up."""
_LISTS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")


class LimitRangeStrategy(Strategy):
    """Strategy of LimitRanges. Container defaults are derived from the limits."""

    has_generation = False
    allow_create_on_update = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("limits", None)  # always shown
        for limit in spec["limits"] or ():
            if limit.get("type") == "Container":
                _default_limits(limit)
            for name in _LISTS:
                if limit.get(name):
                    round_up_to_milli(limit[name])

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        if not obj["metadata"].get("name"):
            obj["metadata"]["name"] = str(uuid.uuid4())

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        types: set[str] = set()
        for i, limit in enumerate((obj.get("spec") or {}).get("limits") or ()):
            _check_limit(limit, types, _LIMITS.index(i), errors)


def _default_limits(limit: Object) -> None:
    limits = limit.setdefault("default", {})
    requests = limit.setdefault("defaultRequest", {})
    for name, text in (limit.get("max") or {}).items():
        limits.setdefault(name, text)
    for name, text in limits.items():
        requests.setdefault(name, text)
    for name, text in (limit.get("min") or {}).items():
        requests.setdefault(name, text)
    for name in ("default", "defaultRequest"):
        if not limit[name]:
            del limit[name]


def _check_limit(limit: Object, types: set[str], path: Path, errors: Errors) -> None:
    kind = limit.get("type", "")
    texts = qualified_name_errors(kind)
    errors.extend(invalid(path.child("type"), kind, text) for text in texts)
    if not texts and "/" not in kind and kind not in _TYPES:
        errors.append(invalid(path.child("type"), kind, "must be a standard limit type or fully qualified"))
    if kind in types:
        errors.append(duplicate(path.child("type"), kind))
    types.add(kind)
    check = check_container_resource_name if kind in ("Pod", "Container") else check_resource_name
    amounts = {name: dict(limit.get(name) or {}) for name in _LISTS}
    for name in _LISTS:
        if kind == "Pod" and name in ("default", "defaultRequest"):
            if amounts[name]:
                errors.append(forbidden(path.child(name), "may not be specified when `type` is 'Pod'"))
            amounts[name] = {}
        for resource in amounts[name]:
            check(resource, path.child(name).key(resource), errors)
    if kind == "PersistentVolumeClaim" and "storage" not in amounts["min"] and "storage" not in amounts["max"]:
        text = "either minimum or maximum storage value is required, but neither was provided"
        errors.append(required(path.child("limits"), text))
    for resource in sorted(set().union(*amounts.values())):
        _check_resource(resource, {name: amounts[name].get(resource) for name in _LISTS}, path, errors)


def _check_resource(resource: str, of: dict[str, str | None], path: Path, errors: Errors) -> None:
    """Check the limits and defaults of one resource against each other."""

    def order(low: str, high: str, field: str, shown: str, text: str) -> None:
        one, other = of[low], of[high]
        if one is not None and other is not None and amount(one) > amount(other):
            errors.append(invalid(path.child(field).key(resource), of[shown], text.format(one, other)))

    order("min", "max", "min", "min", "min value {} is greater than max value {}")
    text = "min value {} is greater than default request value {}"
    order("min", "defaultRequest", "defaultRequest", "defaultRequest", text)
    text = "default request value {} is greater than max value {}"
    order("defaultRequest", "max", "defaultRequest", "defaultRequest", text)
    text = "default request value {} is greater than default limit value {}"
    order("defaultRequest", "default", "defaultRequest", "defaultRequest", text)
    order("min", "default", "default", "min", "min value {} is greater than default value {}")
    order("default", "max", "default", "max", "default value {} is greater than max value {}")
    ratio = of["maxLimitRequestRatio"]
    if ratio is not None:
        _check_ratio(ratio, of["min"], of["max"], path.child("maxLimitRequestRatio").key(resource), errors)
    limit, request = of["default"], of["defaultRequest"]
    if limit is None or request is None or is_overcommit_allowed(resource):
        return
    if amount(limit) != amount(request):
        text = f"default value {limit} must equal to defaultRequest value {request} in {resource}"
        errors.append(invalid(path.child("defaultRequest").key(resource), request, text))


def _check_ratio(ratio: str, low: str | None, high: str | None, path: Path, errors: Errors) -> None:
    value = amount(ratio)
    if value < ONE:
        errors.append(invalid(path, ratio, f"ratio {ratio} is less than 1"))
    smallest = amount(low).value() if low is not None else 0
    if high is None or not smallest:
        return
    largest = amount(high).value() / smallest
    bound = value.value() if value.value() > _MILLI_MAX else value.scaled_value(-3) / 1000
    if bound > largest:
        errors.append(invalid(path, ratio, f"ratio {ratio} is greater than max/min = {largest:f}"))


KINDS: Final = (Kind("", "limitranges", LimitRangeStrategy()),)
