"""Daemon sets. Source: pkg/registry/apps/daemonset, pkg/apis/apps/{v1,validation} (1.36)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sampan.core.field import Path, invalid, required
from sampan.core.json.values import same
from sampan.core.numbers.integers import integer_or
from sampan.core.object import Object
from sampan.kinds import apps_v1
from sampan.registry.columns.cells import (
    EMPTY,
    NAME,
    at,
    column,
    container_columns,
    integer,
    labels_text,
    selector_column,
)
from sampan.registry.kind import Kind
from sampan.registry.kinds.apps.replica_set import check_always_restarts
from sampan.registry.kinds.apps.workload import SPEC, TEMPLATE, WorkloadStrategy
from sampan.registry.kinds.pod_spec import templates
from sampan.registry.old_versions.workloads import daemon_set
from sampan.registry.rules.amounts import check_at_most_100_percent, check_int_or_percent, int_or_percent_value
from sampan.registry.rules.counts import check_counts
from sampan.registry.rules.fields import (
    Errors,
    check_label_selector,
    check_not_negative,
    not_supported,
)
from sampan.registry.rules.selectors import check_selects_template, has_invalid_selector, selector_or_none
from sampan.registry.strategy import Context


def _check_rolling_update(update: apps_v1.RollingUpdateDaemonSet, path: Path, errors: Errors) -> None:
    unavailable, surge = update.get("maxUnavailable", 0), update.get("maxSurge", 0)
    for check in (check_int_or_percent, check_at_most_100_percent):
        check(unavailable, path.child("maxUnavailable"), errors)
        check(surge, path.child("maxSurge"), errors)
    has_unavailable, has_surge = int_or_percent_value(unavailable) != 0, int_or_percent_value(surge) != 0
    if has_unavailable and has_surge:
        errors.append(invalid(path.child("maxSurge"), surge, "may not be set when maxUnavailable is non-zero"))
    elif not has_unavailable and not has_surge:
        errors.append(required(path.child("maxUnavailable"), "cannot be 0 when maxSurge is 0"))


def _check_update_strategy(strategy: apps_v1.DaemonSetUpdateStrategy, path: Path, errors: Errors) -> None:
    match strategy.get("type"):
        case "OnDelete":
            pass
        case "RollingUpdate":
            update = strategy.get("rollingUpdate")
            if update is None:
                errors.append(required(path.child("rollingUpdate")))
            else:
                _check_rolling_update(update, path.child("rollingUpdate"), errors)
        case _:
            errors.append(not_supported(path, strategy, ("RollingUpdate", "OnDelete")))


_GENERATION = "deprecated.daemonset.template.generation"
"""Annotation that counts the changes of the template. It was a field in older API versions."""


def _template_generation(obj: Mapping[str, Any]) -> int:
    text = obj["metadata"].get("annotations", {}).get(_GENERATION, "")
    return integer_or(text, 0)


class DaemonSetStrategy(WorkloadStrategy):
    """Defaults, rules and warnings of daemon sets."""

    selector_first = True
    status_counts = (
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    )

    def default(self, obj: Object) -> None:
        """Set defaults: a rolling update of one node at a time, ten old revisions, template generation 0."""
        obj.setdefault("metadata", {}).setdefault("annotations", {})[_GENERATION] = str(_template_generation(obj))
        spec: apps_v1.DaemonSetSpec = obj.setdefault("spec", {})
        strategy = spec.setdefault("updateStrategy", {})
        if not strategy.get("type"):
            strategy["type"] = "RollingUpdate"
        if strategy["type"] == "RollingUpdate":
            update = strategy.setdefault("rollingUpdate", {})
            update.setdefault("maxUnavailable", 1)
            update.setdefault("maxSurge", 0)
        spec.setdefault("revisionHistoryLimit", 10)
        templates.default_template(spec)

    def prepare_for_create(self, ctx: Context, obj: apps_v1.DaemonSet) -> None:
        """Set the template generation to at least 1."""
        super().prepare_for_create(ctx, obj)
        generation = max(_template_generation(obj), 1)
        obj["metadata"]["annotations"][_GENERATION] = str(generation)

    def prepare_for_update(self, ctx: Context, obj: apps_v1.DaemonSet, old: apps_v1.DaemonSet) -> None:
        """Increment the template generation if the template changed."""
        super().prepare_for_update(ctx, obj, old)
        changed = not same(obj["spec"].get("template"), old["spec"].get("template"))
        generation = _template_generation(old) + changed
        obj["metadata"]["annotations"][_GENERATION] = str(generation)

    def keep_for_status_update(self, obj: apps_v1.DaemonSet, old: apps_v1.DaemonSet) -> None:
        """Keep the template generation too: in the internal type it is part of the spec."""
        super().keep_for_status_update(obj, old)
        obj["metadata"].setdefault("annotations", {})[_GENERATION] = str(_template_generation(old))

    def check_spec(self, spec: apps_v1.DaemonSetSpec, old: apps_v1.DaemonSetSpec | None, errors: Errors) -> None:
        """Check selector, template and update strategy."""
        selector, template = spec.get("selector"), spec.get("template", {})
        lenient = old is not None and has_invalid_selector(old.get("selector"))
        check_label_selector(selector, SPEC.child("selector"), errors, allow_invalid_values=lenient)
        compiled = selector_or_none(selector)
        if compiled is not None:
            check_selects_template(compiled, template, TEMPLATE.child("metadata", "labels"), errors)
        if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
            errors.append(invalid(SPEC.child("selector"), selector, "empty selector is invalid for daemonset"))
        templates.check_template(template, None if old is None else old.get("template"), TEMPLATE, errors)
        check_always_restarts(template.get("spec", {}), "DaemonSet", TEMPLATE.child("spec"), errors)
        check_not_negative(spec.get("minReadySeconds", 0), SPEC.child("minReadySeconds"), errors)
        _check_update_strategy(spec.get("updateStrategy", {}), SPEC.child("updateStrategy"), errors)
        check_counts(spec, ("revisionHistoryLimit",), SPEC, errors)

    def warnings_on_update(self, ctx: Context, obj: apps_v1.DaemonSet, old: apps_v1.DaemonSet) -> list[str]:
        """Return the warnings of the template if it changed."""
        template, old_template = obj["spec"]["template"], old["spec"]["template"]
        return [] if template == old_template else templates.warnings(template, old_template, TEMPLATE)


def _node_selector(obj: apps_v1.DaemonSet) -> str:
    template = obj.get("spec", EMPTY).get("template", EMPTY)
    return labels_text(template.get("spec", EMPTY).get("nodeSelector"))


KINDS: Final = (
    Kind(
        "apps",
        "daemonsets",
        DaemonSetStrategy(),
        old_versions={"extensions/v1beta1": daemon_set},
        columns=lambda ages: (
            NAME,
            integer("Desired", at("status", "desiredNumberScheduled", default=0)),
            integer("Current", at("status", "currentNumberScheduled", default=0)),
            integer("Ready", at("status", "numberReady", default=0)),
            integer("Up-to-date", at("status", "updatedNumberScheduled", default=0)),
            integer("Available", at("status", "numberAvailable", default=0)),
            column("Node Selector", _node_selector),
            ages.column,
            *container_columns("spec", "template"),
            selector_column("spec", "selector"),
        ),
    ),
)
