"""Deployments. Source: pkg/registry/apps/deployment, pkg/apis/apps/{v1,validation} (1.36)."""

from __future__ import annotations

from typing import ClassVar, Final

from sampan.core.field import Path, forbidden, invalid, required
from sampan.core.object import Object
from sampan.kinds import apps_v1
from sampan.registry.columns.cells import EMPTY, NAME, at, column, container_columns, selector_text
from sampan.registry.columns.workloads import ready_of_desired
from sampan.registry.kind import Kind
from sampan.registry.kinds.apps.replica_set import check_replicated_pods
from sampan.registry.kinds.apps.workload import SPEC, WorkloadStrategy
from sampan.registry.kinds.pod_spec import templates
from sampan.registry.old_versions.workloads import deployment, deployment_of_extensions
from sampan.registry.rules.amounts import check_at_most_100_percent, check_int_or_percent, int_or_percent_value
from sampan.registry.rules.counts import check_counts
from sampan.registry.rules.fields import Errors, not_supported
from sampan.registry.strategy import Context

_STRATEGY = Path("spec", "strategy")


def _check_rolling_update(update: apps_v1.RollingUpdateDeployment, path: Path, errors: Errors) -> None:
    unavailable, surge = update.get("maxUnavailable", 0), update.get("maxSurge", 0)
    check_int_or_percent(unavailable, path.child("maxUnavailable"), errors)
    check_int_or_percent(surge, path.child("maxSurge"), errors)
    if int_or_percent_value(unavailable) == 0 and int_or_percent_value(surge) == 0:
        errors.append(invalid(path.child("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0"))
    check_at_most_100_percent(unavailable, path.child("maxUnavailable"), errors)


def _check_strategy(strategy: apps_v1.DeploymentStrategy, path: Path, errors: Errors) -> None:
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
        case _:
            errors.append(not_supported(path, strategy, ("Recreate", "RollingUpdate")))


class DeploymentStrategy(WorkloadStrategy):
    """Defaults, rules and warnings of deployments."""

    kept_metadata = ("labels",)
    reset_metadata: ClassVar = {"f:labels": {}}
    status_counts = (
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    )
    counts_of_replicas = ("updatedReplicas", "readyReplicas", "availableReplicas")

    def default(self, obj: Object) -> None:
        """Set defaults: a rolling update by quarters, ten old revisions, a progress deadline of ten minutes."""
        spec: apps_v1.DeploymentSpec = obj.setdefault("spec", {})
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

    def spec_changed(self, obj: apps_v1.Deployment, old: apps_v1.Deployment) -> bool:
        """Return True also if annotations changed, because they are copied to replica sets."""
        return super().spec_changed(obj, old) or obj["metadata"].get("annotations", {}) != old["metadata"].get(
            "annotations", {}
        )

    def check_spec(self, spec: apps_v1.DeploymentSpec, old: apps_v1.DeploymentSpec | None, errors: Errors) -> None:
        """Check the fields of a replica set, and the deployment strategy."""
        check_counts(spec, ("replicas",), SPEC, errors)
        check_replicated_pods(spec, old, errors)
        _check_strategy(spec.get("strategy", {}), _STRATEGY, errors)
        ready = spec.get("minReadySeconds", 0)
        check_counts(spec, ("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"), SPEC, errors)
        deadline = spec.get("progressDeadlineSeconds")
        if deadline is not None and deadline <= ready:
            text = "must be greater than minReadySeconds"
            errors.append(invalid(SPEC.child("progressDeadlineSeconds"), deadline, text))

    def warnings_on_create(self, ctx: Context, obj: apps_v1.Deployment) -> list[str]:
        """Warn about names that are poor host names, and return the warnings of the template."""
        return [*templates.name_warnings(obj), *super().warnings_on_create(ctx, obj)]


def _selector_text(obj: apps_v1.Deployment) -> str:
    text = selector_text(obj.get("spec", EMPTY).get("selector"))
    return "<invalid>" if text is None else text


KINDS: Final = (
    Kind(
        "apps",
        "deployments",
        DeploymentStrategy(),
        old_versions={"apps/v1beta1": deployment, "extensions/v1beta1": deployment_of_extensions},
        columns=lambda ages: (
            NAME,
            column("Ready", ready_of_desired),
            column("Up-to-date", at("status", "updatedReplicas", default=0)),
            column("Available", at("status", "availableReplicas", default=0)),
            ages.column,
            *container_columns("spec", "template"),
            column("Selector", _selector_text, wide=True),
        ),
    ),
)
