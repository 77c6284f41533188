"""Replica sets. Source: pkg/registry/apps/replicaset, pkg/apis/apps/{v1,validation} (1.36)."""

from sampan.core.field import FieldError, Path, forbidden, invalid
from sampan.core.object import Object
from sampan.registry.strategies import templates
from sampan.registry.strategies.core.fields import Errors, check_immutable, not_supported
from sampan.registry.strategies.counts import MORE_THAN_REPLICAS, check_at_most, check_counts
from sampan.registry.strategies.selectors import (
    LabelMatcher,
    check_required_selector,
    check_selects_template,
    selector_or_none,
)
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_STATUS = Path("status")
_TEMPLATE = Path("spec", "template")
_STATUS_COUNTS = (
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
)


def check_always_restarts(spec: Object, kind: str, path: Path, errors: Errors) -> None:
    """Pods of a workload that runs for ever: always restarted, without a deadline. `path` is the pod spec's."""
    policy = spec.get("restartPolicy", "")
    if policy != "Always":
        errors.append(not_supported(path.child("restartPolicy"), policy, ("Always",)))
    if "activeDeadlineSeconds" in spec:
        detail = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(forbidden(path.child("activeDeadlineSeconds"), detail))


def check_replica_template(
    template: Object, selector: LabelMatcher, old: Object | None, path: Path, *, errors: Errors
) -> None:
    """The template of a replica set or deployment; `old` is the stored template."""
    if not selector.empty:
        check_selects_template(selector, template, path.child("metadata", "labels"), errors)
    templates.check_template(template, old, path, errors)
    check_always_restarts(template.get("spec", {}), "ReplicaSet", path.child("spec"), errors)


def _check_spec(spec: Object, old: Object | None, errors: Errors) -> None:
    check_counts(spec, ("replicas", "minReadySeconds"), _SPEC, errors)
    check_required_selector(spec, "deployment", _SPEC, errors)
    selector = selector_or_none(spec.get("selector"))
    if selector is None:
        errors.append(invalid(_SPEC.child("selector"), spec["selector"], "invalid label selector"))
    else:
        check_replica_template(spec.get("template", {}), selector, old, _TEMPLATE, errors=errors)


class ReplicaSetStrategy(Strategy):
    """Defaults, rules and warnings of replica sets."""

    def default(self, obj: Object) -> None:
        """One replica."""
        spec = obj.setdefault("spec", {})
        spec.setdefault("replicas", 1)
        templates.default_template(spec)

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        """The rules of a new replica set."""
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
        return [*templates.name_warnings(obj), *templates.warnings(obj["spec"].get("template", {}), None, _TEMPLATE)]

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        """What the template says, if something changed."""
        return templates.warnings_on_update(obj, old, _TEMPLATE)

    def validate_status_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """Counters fit together."""
        errors: Errors = []
        status = obj.get("status", {})
        check_counts(status, _STATUS_COUNTS, _STATUS, errors)
        for name in ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"):
            check_at_most(status, name, "replicas", MORE_THAN_REPLICAS, path=_STATUS, errors=errors)
        check_at_most(
            status,
            "availableReplicas",
            "readyReplicas",
            "cannot be greater than readyReplicas",
            path=_STATUS,
            errors=errors,
        )
        return errors

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        """`status.replicas`."""
        return {"status.replicas": str(obj.get("status", {}).get("replicas", 0))}
