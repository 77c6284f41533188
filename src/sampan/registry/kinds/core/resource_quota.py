"""Rules for ResourceQuotas: amounts, and the scopes that fit the limited resources.

Source: pkg/registry/core/resourcequota/strategy.go, pkg/apis/core/validation/validation.go (1.36).
"""

from __future__ import annotations

from typing import Final

from sampan.core.field import FieldError, Path, invalid, required
from sampan.kinds import core_v1
from sampan.registry.columns.cells import EMPTY, NAME, column
from sampan.registry.kind import Kind
from sampan.registry.kinds.pod_spec.resources import (
    check_amount,
    check_quota_resource_name,
    is_standard_quota_resource,
)
from sampan.registry.rules.quantities import amount, round_up_to_milli
from sampan.registry.strategy import Context, Strategy

Errors = list[FieldError]
_SPEC = Path("spec")
_STATUS = Path("status")
_POD_RESOURCES = frozenset({"pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"})
_CLAIM_RESOURCES = frozenset({"persistentvolumeclaims", "requests.storage"})
_SCOPE_RESOURCES = {
    "Terminating": _POD_RESOURCES,
    "NotTerminating": _POD_RESOURCES,
    "NotBestEffort": _POD_RESOURCES,
    "PriorityClass": _POD_RESOURCES,
    "CrossNamespacePodAffinity": _POD_RESOURCES,
    "BestEffort": frozenset({"pods"}),
    "VolumeAttributesClass": _CLAIM_RESOURCES,
}
_EXISTS_ONLY = frozenset({"BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"})
_PAIRS = (frozenset({"BestEffort", "NotBestEffort"}), frozenset({"Terminating", "NotTerminating"}))
_EXISTS_TEXT = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


class ResourceQuotaStrategy(Strategy):
    """Strategy of ResourceQuotas, whose scopes are immutable."""

    has_generation = False
    returns_deleted_object = True

    def default(self, obj: core_v1.ResourceQuota) -> None:
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        for amounts in (spec.get("hard"), status.get("hard"), status.get("used")):
            if amounts:
                round_up_to_milli(amounts)

    def prepare_for_create(self, ctx: Context, obj: core_v1.ResourceQuota) -> None:
        obj["status"] = {}

    def check(self, ctx: Context, obj: core_v1.ResourceQuota, errors: Errors) -> None:
        _check_spec(obj.get("spec") or {}, errors)

    def check_update(
        self, ctx: Context, obj: core_v1.ResourceQuota, old: core_v1.ResourceQuota, errors: Errors
    ) -> None:
        self.check(ctx, obj, errors)
        new, before = ((o.get("spec") or {}).get("scopes") or [] for o in (obj, old))
        if set(new) != set(before):
            errors.append(invalid(_SPEC.child("scopes"), new or None, "field is immutable"))

    def check_status_update(
        self, ctx: Context, obj: core_v1.ResourceQuota, old: core_v1.ResourceQuota, errors: Errors
    ) -> None:
        if not obj["metadata"].get("resourceVersion"):
            errors.append(required(Path("resourceVersion")))
        status = obj.get("status") or {}
        for name in ("hard", "used"):
            _check_amounts(status.get(name) or {}, _STATUS.child(name), errors)

    def warnings_on_create(self, ctx: Context, obj: core_v1.ResourceQuota) -> list[str]:
        hard = (obj.get("spec") or {}).get("hard") or {}
        warnings = []
        for name in ("cpu", "memory", "storage", "ephemeral-storage"):
            request = f"requests.{name}"
            if request not in hard and name in ("cpu", "memory"):
                request = name
            limit = f"limits.{name}"
            if request in hard and limit in hard and amount(hard[request]) > amount(hard[limit]):
                warnings.append(
                    f"ResourceQuota {request} ({hard[request]}) should be less than {limit} ({hard[limit]})"
                )
        return warnings

    def warnings_on_update(self, ctx: Context, obj: core_v1.ResourceQuota, old: core_v1.ResourceQuota) -> list[str]:
        return []


def _check_amounts(amounts: dict[str, str], path: Path, errors: Errors) -> None:
    for name, text in amounts.items():
        at = path.key(name)
        check_quota_resource_name(name, at, errors)
        check_amount(name, text, at, errors)


def _check_spec(spec: core_v1.ResourceQuotaSpec, errors: Errors) -> None:
    hard = spec.get("hard") or {}
    _check_amounts(hard, _SPEC.child("hard"), errors)
    scopes = spec.get("scopes") or []
    at = _SPEC.child("scopes")
    for scope in scopes:
        if scope not in _SCOPE_RESOURCES:
            errors.append(invalid(at, scopes, "unsupported scope"))
        for _ in _misplaced(scope, hard):
            errors.append(invalid(at, scopes, "unsupported scope applied to resource"))
    for pair in _PAIRS:
        if pair <= set(scopes):
            errors.append(invalid(at, scopes, "conflicting scopes"))
    if spec.get("scopeSelector") is not None:
        _check_selector(spec, hard, errors)


def _misplaced(scope: str, hard: dict[str, str]) -> list[str]:
    allowed = _SCOPE_RESOURCES.get(scope)
    if allowed is None:
        return []
    return [name for name in sorted(hard) if is_standard_quota_resource(name) and name not in allowed]


def _check_selector(spec: core_v1.ResourceQuotaSpec, hard: dict[str, str], errors: Errors) -> None:
    selector = spec["scopeSelector"]
    at = _SPEC.child("scopeSelector", "matchExpressions")
    seen = set()
    for requirement in selector.get("matchExpressions") or ():
        scope, operator = requirement.get("scopeName", ""), requirement.get("operator", "")
        values = requirement.get("values") or []
        if scope not in _SCOPE_RESOURCES:
            errors.append(invalid(at.child("scopeName"), scope, "unsupported scope"))
        for _ in _misplaced(scope, hard):
            errors.append(invalid(at, selector, "unsupported scope applied to resource"))
        if scope in _EXISTS_ONLY and operator != "Exists":
            errors.append(invalid(at.child("operator"), operator, _EXISTS_TEXT))
        if operator in ("In", "NotIn"):
            if not values:
                text = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                errors.append(required(at.child("values"), text))
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                text = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                errors.append(invalid(at.child("values"), values, text))
        else:
            errors.append(invalid(at.child("operator"), operator, "not a valid selector operator"))
        seen.add(scope)
    for pair in _PAIRS:
        if pair <= seen:
            errors.append(invalid(at, spec.get("scopes"), "conflicting scopes"))


def _used_of_hard(obj: core_v1.ResourceQuota, *, limits: bool) -> str:
    status = obj.get("status", EMPTY)
    used = status.get("used", EMPTY)
    return ", ".join(
        f"{name}: {used.get(name, '0')}/{hard}"
        for name, hard in sorted(status.get("hard", EMPTY).items())
        if name.startswith("limits.") == limits
    )


KINDS: Final = (
    Kind(
        "",
        "resourcequotas",
        ResourceQuotaStrategy(),
        columns=lambda ages: (
            NAME,
            column("Request", lambda obj: _used_of_hard(obj, limits=False)),
            column("Limit", lambda obj: _used_of_hard(obj, limits=True)),
            ages.column,
        ),
    ),
)
