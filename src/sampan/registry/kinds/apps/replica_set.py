"""Replica sets. Source: pkg/registry/apps/replicaset, pkg/apis/apps/{v1,validation} (1.36)."""

from __future__ import annotations

from typing import Any, ClassVar, Final, TypedDict

from sampan.core.field import Path, forbidden, invalid
from sampan.core.object import Object
from sampan.kinds import apps_v1, core_v1
from sampan.registry.columns.cells import selector_column
from sampan.registry.columns.workloads import replica_columns
from sampan.registry.kind import Kind
from sampan.registry.kinds.apps.workload import SPEC, TEMPLATE, WorkloadStrategy
from sampan.registry.kinds.pod_spec import templates
from sampan.registry.old_versions.workloads import replica_set
from sampan.registry.rules.counts import check_counts
from sampan.registry.rules.fields import Errors, not_supported
from sampan.registry.rules.selectors import check_required_selector, check_selects_template, selector_or_none
from sampan.registry.strategy import Context


def check_always_restarts(spec: core_v1.PodSpec, kind: str, path: Path, errors: Errors) -> None:
    """Check that pods always restart and have no active deadline. `path` is the path of the pod spec."""
    policy = spec.get("restartPolicy", "")
    if policy != "Always":
        errors.append(not_supported(path.child("restartPolicy"), policy, ("Always",)))
    if "activeDeadlineSeconds" in spec:
        detail = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(forbidden(path.child("activeDeadlineSeconds"), detail))


def check_replicated_pods(
    spec: apps_v1.ReplicaSetSpec | apps_v1.DeploymentSpec | apps_v1.DaemonSetSpec,
    old: apps_v1.ReplicaSetSpec | apps_v1.DeploymentSpec | apps_v1.DaemonSetSpec | None,
    errors: Errors,
) -> None:
    """Check selector and template of a replica set or deployment. `old` is the stored spec."""
    check_required_selector(spec, "deployment", SPEC, errors)
    selector, template = selector_or_none(spec.get("selector")), spec.get("template", {})
    if selector is None:
        errors.append(invalid(SPEC.child("selector"), spec["selector"], "invalid label selector"))
        return
    if not selector.empty:
        check_selects_template(selector, template, TEMPLATE.child("metadata", "labels"), errors)
    templates.check_template(template, None if old is None else old.get("template"), TEMPLATE, errors)
    check_always_restarts(template.get("spec", {}), "ReplicaSet", TEMPLATE.child("spec"), errors)


class _Status(TypedDict, total=False):
    replicas: int


class _Part(TypedDict, total=False):
    """Fields that field selectors read."""

    status: _Status


class ReplicaSetStrategy(WorkloadStrategy):
    """Defaults, rules and warnings of replica sets."""

    status_counts = (
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    )
    counts_of_replicas = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")

    def default(self, obj: Object) -> None:
        """Set defaults: one replica."""
        spec: apps_v1.ReplicaSetSpec = obj.setdefault("spec", {})
        spec.setdefault("replicas", 1)
        templates.default_template(spec)

    def check_spec(self, spec: apps_v1.ReplicaSetSpec, old: apps_v1.ReplicaSetSpec | None, errors: Errors) -> None:
        """Check counts, selector and template."""
        check_counts(spec, ("replicas", "minReadySeconds"), SPEC, errors)
        check_replicated_pods(spec, old, errors)

    def warnings_on_create(self, ctx: Context, obj: apps_v1.ReplicaSet) -> list[str]:
        """Warn about names that are poor host names, and return the warnings of the template."""
        return [*templates.name_warnings(obj), *super().warnings_on_create(ctx, obj)]

    selectable_part: ClassVar[Any] = _Part

    def selectable_fields(self, obj: apps_v1.ReplicaSet) -> dict[str, str]:
        """Return `status.replicas`."""
        return {"status.replicas": str(obj.get("status", {}).get("replicas", 0))}


KINDS: Final = (
    Kind(
        "apps",
        "replicasets",
        ReplicaSetStrategy(),
        old_versions={"extensions/v1beta1": replica_set},
        columns=lambda ages: (*replica_columns(ages), selector_column("spec", "selector")),
    ),
)
