"""Deployments. Source: pkg/registry/apps/deployment, pkg/apis/apps/{v1,validation} (1.36)."""

from typing import Any

from sampan.core.field import FieldError, Path, forbidden, invalid, quote, required
from sampan.core.object import Object
from sampan.registry.strategies import templates
from sampan.registry.strategies.amounts import check_at_most_100_percent, check_int_or_percent, int_or_percent_value
from sampan.registry.strategies.apps.replicaset import check_replica_template
from sampan.registry.strategies.core.fields import Errors, check_immutable, not_supported
from sampan.registry.strategies.counts import (
    MORE_THAN_REPLICAS,
    check_at_most,
    check_collision_count,
    check_counts,
)
from sampan.registry.strategies.selectors import check_required_selector, selector_or_none
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_STATUS = Path("status")
_STRATEGY = Path("spec", "strategy")
_TEMPLATE = Path("spec", "template")
_STATUS_COUNTS = (
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
)


class _Shown:
    """A value that a message shows as Go prints its internal form."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _check_rolling_update(update: Object, path: Path, errors: Errors) -> None:
    unavailable, surge = update.get("maxUnavailable", 0), update.get("maxSurge", 0)
    check_int_or_percent(unavailable, path.child("maxUnavailable"), errors)
    check_int_or_percent(surge, path.child("maxSurge"), errors)
    if int_or_percent_value(unavailable) == 0 and int_or_percent_value(surge) == 0:
        errors.append(invalid(path.child("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0"))
    check_at_most_100_percent(unavailable, path.child("maxUnavailable"), errors)


def _check_strategy(strategy: Object, path: Path, errors: Errors) -> None:
    rolling_update = strategy.get("rollingUpdate")
    match strategy.get("type", ""):
        case "Recreate":
            if rolling_update is not None:
                detail = "may not be specified when strategy `type` is 'Recreate'"
                errors.append(forbidden(path.child("rollingUpdate"), detail))
        case "RollingUpdate":
            if rolling_update is None:
                errors.append(required(path.child("rollingUpdate"), "this should be defaulted and never be nil"))
            else:
                _check_rolling_update(rolling_update, path.child("rollingUpdate"), errors)
        case other:
            shown = _Shown(f'{{"Type":{quote(other)},"RollingUpdate":null}}')
            errors.append(not_supported(path, shown, ("Recreate", "RollingUpdate")))


def _check_spec(spec: Object, old: Object | None, errors: Errors) -> None:
    check_counts(spec, ("replicas",), _SPEC, errors)
    check_required_selector(spec, "deployment", _SPEC, errors)
    selector = selector_or_none(spec.get("selector"))
    if selector is None:
        errors.append(invalid(_SPEC.child("selector"), spec["selector"], "invalid label selector"))
    else:
        check_replica_template(spec.get("template", {}), selector, old, _TEMPLATE, errors=errors)
    _check_strategy(spec.get("strategy", {}), _STRATEGY, errors)
    ready = spec.get("minReadySeconds", 0)
    check_counts(spec, ("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"), _SPEC, errors)
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= ready:
        errors.append(invalid(_SPEC.child("progressDeadlineSeconds"), deadline, "must be greater than minReadySeconds"))


class DeploymentStrategy(Strategy):
    """Defaults, rules and warnings of deployments."""

    def default(self, obj: Object) -> None:
        """A rolling update by quarters, ten old revisions, ten minutes of patience."""
        spec = obj.setdefault("spec", {})
        spec.setdefault("replicas", 1)
        strategy = spec.setdefault("strategy", {})
        if not strategy.get("type"):
            strategy["type"] = "RollingUpdate"
        if strategy["type"] == "RollingUpdate":
            update = strategy.setdefault("rollingUpdate", {})
            update.setdefault("maxUnavailable", "25%")
            update.setdefault("maxSurge", "25%")
        spec.setdefault("revisionHistoryLimit", 10)
        spec.setdefault("progressDeadlineSeconds", 600)
        templates.default_template(spec)

    def spec_changed(self, obj: Object, old: Object) -> bool:
        """Annotations count as well: they are copied to replica sets."""
        return super().spec_changed(obj, old) or obj["metadata"].get("annotations", {}) != old["metadata"].get(
            "annotations", {}
        )

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        """The rules of a new deployment."""
        errors: Errors = []
        _check_spec(obj.get("spec", {}), None, errors)
        return errors

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """The same; the selector stays as it is."""
        errors: Errors = []
        spec, old_spec = obj.get("spec", {}), old.get("spec", {})
        _check_spec(spec, old_spec.get("template"), errors)
        check_immutable(spec.get("selector"), old_spec.get("selector"), _SPEC.child("selector"), errors)
        return errors

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Names that make poor host names, and what the template says."""
        return [*templates.name_warnings(obj), *templates.warnings(obj["spec"]["template"], None, _TEMPLATE)]

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        """What the template says, if something changed."""
        return templates.warnings_on_update(obj, old, _TEMPLATE)

    def keep_for_status_update(self, obj: Object, old: Object) -> None:
        """Labels stay as well."""
        super().keep_for_status_update(obj, old)
        templates.keep_labels(obj, old)

    def validate_status_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """Counters fit together."""
        errors: Errors = []
        status = obj.get("status", {})
        check_counts(status, _STATUS_COUNTS, _STATUS, errors)
        for name in ("updatedReplicas", "readyReplicas", "availableReplicas"):
            check_at_most(status, name, "replicas", MORE_THAN_REPLICAS, path=_STATUS, errors=errors)
        check_at_most(
            status,
            "availableReplicas",
            "readyReplicas",
            "cannot be greater than readyReplicas",
            path=_STATUS,
            errors=errors,
        )
        check_collision_count(status, old.get("status", {}), _STATUS, errors)
        return errors

    def reset_fields(self, status_served: bool) -> dict[str, dict[str, Any]]:
        """Who writes the status owns no labels."""
        return {"": {"f:status": {}}, "status": {"f:metadata": {"f:labels": {}}, "f:spec": {}}}
