"""Stateful sets. Source: pkg/registry/apps/statefulset, pkg/apis/apps/{v1,validation} (1.36)."""

from __future__ import annotations

from typing import Final

from sampan.core.field import Path, forbidden, invalid, required
from sampan.core.object import Object
from sampan.core.validation.names import dns1123_label_errors
from sampan.kinds import apps_v1, core_v1
from sampan.registry.columns.cells import NAME, column, container_columns
from sampan.registry.columns.workloads import ready_of_desired
from sampan.registry.kind import Kind
from sampan.registry.kinds.apps.replica_set import check_always_restarts
from sampan.registry.kinds.apps.workload import SPEC, TEMPLATE, WorkloadStrategy
from sampan.registry.kinds.pod_spec import templates
from sampan.registry.old_versions.workloads import stateful_set
from sampan.registry.rules import feature_gates as gates
from sampan.registry.rules.amounts import check_at_most_100_percent, check_int_or_percent, int_or_percent_value
from sampan.registry.rules.counts import check_counts
from sampan.registry.rules.fields import (
    Errors,
    check_annotations,
    check_label,
    check_labels,
    check_not_negative,
    not_supported,
)
from sampan.registry.rules.selectors import check_required_selector, check_selects_template, selector_or_none
from sampan.registry.strategy import Context

_CLAIMS = Path("spec", "volumeClaimTemplates")
_MUTABLE = (
    "replicas",
    "template",
    "updateStrategy",
    "minReadySeconds",
    "ordinals",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
)
_FORBIDDEN_UPDATE = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
_NEGATIVE_HISTORY = (
    "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
)


def _drop_disabled_fields(spec: apps_v1.StatefulSetSpec, old: apps_v1.StatefulSetSpec | None) -> None:
    """Drop `maxUnavailable` if its feature is off, unless the stored object has it."""
    update = spec.get("updateStrategy", {}).get("rollingUpdate")
    old_update = (old.get("updateStrategy", {}).get("rollingUpdate") if old else None) or {}
    if not gates.MAX_UNAVAILABLE_STATEFUL_SET and update is not None and "maxUnavailable" not in old_update:
        update.pop("maxUnavailable", None)


def _check_rolling_update(update: apps_v1.RollingUpdateStatefulSetStrategy, path: Path, errors: Errors) -> None:
    check_not_negative(update.get("partition", 0), path.child("partition"), errors)
    unavailable = update.get("maxUnavailable")
    if unavailable is not None:
        at = path.child("maxUnavailable")
        check_int_or_percent(unavailable, at, errors)
        if int_or_percent_value(unavailable) == 0:
            errors.append(invalid(at, unavailable, "cannot be 0"))
        check_at_most_100_percent(unavailable, at, errors)


def _check_update_strategy(strategy: apps_v1.StatefulSetUpdateStrategy, path: Path, errors: Errors) -> None:
    update = strategy.get("rollingUpdate")
    match strategy.get("type", ""):
        case "":
            errors.append(required(path))
        case "OnDelete":
            if update is not None:
                detail = "only allowed for updateStrategy 'RollingUpdate'"
                errors.append(invalid(path.child("rollingUpdate"), update, detail))
        case "RollingUpdate":
            if update is not None:
                _check_rolling_update(update, path.child("rollingUpdate"), errors)
        case _:
            errors.append(invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'"))


def _check_pod_management(policy: str, path: Path, errors: Errors) -> None:
    if not policy:
        errors.append(required(path))
    elif policy not in ("OrderedReady", "Parallel"):
        errors.append(invalid(path, policy, "must be 'OrderedReady' or 'Parallel'"))


def _check_retention(
    policy: apps_v1.StatefulSetPersistentVolumeClaimRetentionPolicy, path: Path, errors: Errors
) -> None:
    for name in ("whenDeleted", "whenScaled"):
        value = policy.get(name, "")
        if value not in ("Retain", "Delete"):
            errors.append(not_supported(path.child(name), value, ("Retain", "Delete")))


def _template_with_claims(spec: apps_v1.StatefulSetSpec) -> core_v1.PodTemplateSpec:
    """Return the template as pods get it: with a volume for each claim, without hostname and subdomain."""
    template = spec.get("template", {})
    pod_spec = template.get("spec", {})
    claims = [claim.get("metadata", {}).get("name", "") for claim in spec.get("volumeClaimTemplates", ())]
    if not claims and "subdomain" not in pod_spec and "hostname" not in pod_spec:
        return template
    pod_spec = pod_spec.copy()
    pod_spec.pop("subdomain", None)
    pod_spec.pop("hostname", None)
    if claims:
        named = dict.fromkeys(claims)
        of_claims: list[core_v1.Volume] = [
            {"name": name, "persistentVolumeClaim": {"claimName": name}} for name in named
        ]
        pod_spec["volumes"] = [
            *of_claims,
            *(volume for volume in pod_spec.get("volumes", ()) if volume["name"] not in named),
        ]
    return {**template, "spec": pod_spec}


def _check_template(
    spec: apps_v1.StatefulSetSpec, old: core_v1.PodTemplateSpec | None, errors: Errors, *, skip: bool
) -> None:
    selector = selector_or_none(spec.get("selector"))
    if selector is None:
        errors.append(invalid(SPEC.child("selector"), spec["selector"], ""))
        return
    template = _template_with_claims(spec)
    if not selector.empty:
        check_selects_template(selector, template, TEMPLATE.child("metadata", "labels"), errors)
    if not skip:
        templates.check_template(template, old, TEMPLATE, errors)
    metadata = template.get("metadata", {})
    check_labels(metadata.get("labels", {}), TEMPLATE.child("labels"), errors)
    check_annotations(metadata.get("annotations", {}), TEMPLATE.child("annotations"), errors)


def _check_spec(
    spec: apps_v1.StatefulSetSpec, old: apps_v1.StatefulSetSpec | None, errors: Errors, *, skip_template: bool = False
) -> None:
    """Check a spec. With a stored spec `old`, some immutable fields are not checked again."""
    _check_pod_management(spec.get("podManagementPolicy", ""), SPEC.child("podManagementPolicy"), errors)
    _check_update_strategy(spec.get("updateStrategy", {}), SPEC.child("updateStrategy"), errors)
    if "persistentVolumeClaimRetentionPolicy" in spec:
        at = SPEC.child("persistentVolumeClaimRetentionPolicy")
        _check_retention(spec["persistentVolumeClaimRetentionPolicy"], at, errors)
    if old is None:
        for index, claim in enumerate(spec.get("volumeClaimTemplates", ())):
            templates.check_claim_spec(claim.get("spec", {}), _CLAIMS.index(index).child("spec"), errors)
    check_counts(spec, ("replicas", "minReadySeconds"), SPEC, errors)
    check_not_negative(spec.get("ordinals", {}).get("start", 0), SPEC.child("ordinals.start"), errors)
    if old is None and spec.get("serviceName"):
        check_label(spec["serviceName"], SPEC.child("serviceName"), errors)
    check_required_selector(spec, "statefulset", SPEC, errors)
    _check_template(spec, None if old is None else old.get("template"), errors, skip=skip_template)
    check_always_restarts(spec.get("template", {}).get("spec", {}), "StatefulSet", TEMPLATE.child("spec"), errors)


class StatefulSetStrategy(WorkloadStrategy):
    """Defaults, rules and warnings of stateful sets."""

    status_counts = (
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    )
    counts_of_replicas = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    ready_count = "status.readyReplicas"

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        """Check that the name is a DNS label, because pods are named after it."""
        return dns1123_label_errors(name, prefix=prefix)

    def default(self, obj: Object) -> None:
        """Set defaults: one replica, ordered pods, rolling updates; claims are retained."""
        spec: apps_v1.StatefulSetSpec = obj.setdefault("spec", {})
        if not spec.get("podManagementPolicy"):
            spec["podManagementPolicy"] = "OrderedReady"
        strategy = spec.setdefault("updateStrategy", {})
        if not strategy.get("type"):
            strategy["type"] = "RollingUpdate"
            strategy.setdefault("rollingUpdate", {})
        update = strategy.get("rollingUpdate")
        if strategy["type"] == "RollingUpdate" and update is not None:
            update.setdefault("partition", 0)
            if gates.MAX_UNAVAILABLE_STATEFUL_SET:
                update.setdefault("maxUnavailable", 1)
        retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
        for name in ("whenDeleted", "whenScaled"):
            if not retention.get(name):
                retention[name] = "Retain"
        spec.setdefault("replicas", 1)
        spec.setdefault("revisionHistoryLimit", 10)
        templates.default_template(spec)
        for claim in spec.get("volumeClaimTemplates", ()):
            templates.default_claim_template(claim)

    def prepare_for_create(self, ctx: Context, obj: apps_v1.StatefulSet) -> None:
        """Drop fields of disabled features."""
        super().prepare_for_create(ctx, obj)
        _drop_disabled_fields(obj["spec"], None)

    def prepare_for_update(self, ctx: Context, obj: apps_v1.StatefulSet, old: apps_v1.StatefulSet) -> None:
        """Drop fields of disabled features, unless the stored object has them."""
        super().prepare_for_update(ctx, obj, old)
        _drop_disabled_fields(obj["spec"], old["spec"])

    def check_spec(self, spec: apps_v1.StatefulSetSpec, old: apps_v1.StatefulSetSpec | None, errors: Errors) -> None:
        """Check the spec of a new object or of a replacement."""
        _check_spec(spec, old, errors)

    def check_update(self, ctx: Context, obj: apps_v1.StatefulSet, old: apps_v1.StatefulSet, errors: Errors) -> None:
        """Check an update. Most fields other than replicas, template and update strategy are immutable."""
        faults_before: Errors = []
        spec, old_spec = obj.get("spec", {}), old.get("spec", {})
        _check_spec(old_spec, old_spec, faults_before)
        _check_spec(spec, old_spec, errors, skip_template=bool(faults_before))
        for name in spec.keys() | old_spec.keys():
            if name not in _MUTABLE and spec.get(name) != old_spec.get(name):
                errors.append(forbidden(SPEC, _FORBIDDEN_UPDATE))
                break

    def warnings_on_create(self, ctx: Context, obj: apps_v1.StatefulSet) -> list[str]:
        """Return warnings of the template and of the claims, and warn about a negative history limit."""
        return super().warnings_on_create(ctx, obj) + self._more_warnings(obj, "")

    def warnings_on_update(self, ctx: Context, obj: apps_v1.StatefulSet, old: apps_v1.StatefulSet) -> list[str]:
        """Return the warnings as on create, but warnings of the template only if the spec changed."""
        return super().warnings_on_update(ctx, obj, old) + self._more_warnings(obj, "Spec")

    def _more_warnings(self, obj: apps_v1.StatefulSet, child: str) -> list[str]:
        spec = obj["spec"]
        warnings: list[str] = []
        for index, claim in enumerate(spec.get("volumeClaimTemplates", ())):
            path = _CLAIMS.index(index)
            warnings += templates.claim_warnings(claim.get("spec", {}), path.child(child) if child else path)
        if spec.get("revisionHistoryLimit", 0) < 0:
            warnings.append(_NEGATIVE_HISTORY)
        return warnings


KINDS: Final = (
    Kind(
        "apps",
        "statefulsets",
        StatefulSetStrategy(),
        old_versions={"apps/v1beta1": stateful_set},
        columns=lambda ages: (
            NAME,
            column("Ready", ready_of_desired),
            ages.column,
            *container_columns("spec", "template"),
        ),
    ),
)
