"""ReplicationControllers. Source: pkg/registry/core/replicationcontroller/strategy.go (1.36)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from sampan.core.field import FieldError, Path, forbidden, invalid, required
from sampan.core.object import Object
from sampan.core.validation.names import dns1123_label_errors
from sampan.kinds import core_v1
from sampan.registry.columns.cells import EMPTY, column, labels_text
from sampan.registry.columns.workloads import replica_columns
from sampan.registry.kind import Kind
from sampan.registry.kinds.pod_spec.defaults import default_pod_template
from sampan.registry.kinds.pod_spec.prepare import drop_disabled_fields
from sampan.registry.kinds.pod_spec.spec import validate_pod_template_spec
from sampan.registry.kinds.pod_spec.warnings import template_warnings
from sampan.registry.rules.fields import check_not_negative, not_supported
from sampan.registry.strategy import Context, Strategy

Errors = list[FieldError]
_SPEC = Path("spec")
_TEMPLATE = Path("spec", "template")
_STATUS = Path("status")
_COUNTS = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")


class ReplicationControllerStrategy(Strategy):
    """Strategy of ReplicationControllers. By default, a deletion orphans their dependents."""

    default_propagation = "Orphan"
    labels: ClassVar[Sequence[str]] = ("status.replicas",)

    def default(self, obj: core_v1.ReplicationController) -> None:
        spec = obj.setdefault("spec", {})
        spec.setdefault("replicas", 1)
        template = spec.get("template")
        if template is None:
            return
        labels = (template.get("metadata") or {}).get("labels")
        if labels:
            if not spec.get("selector"):
                spec["selector"] = dict(labels)
            if not obj["metadata"].get("labels"):
                obj["metadata"]["labels"] = dict(labels)
        default_pod_template(template)

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj["status"] = {"replicas": 0}
        drop_disabled_fields((obj["spec"].get("template") or {}).get("spec") or {}, None)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        old_template = (old.get("spec") or {}).get("template") or {}
        drop_disabled_fields((obj["spec"].get("template") or {}).get("spec") or {}, old_template.get("spec"))

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        _check_spec(obj.get("spec") or {}, None, errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        _check_spec(obj.get("spec") or {}, (old.get("spec") or {}).get("template"), errors)

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        status = obj.get("status") or {}
        total = status.get("replicas", 0)
        for name in _COUNTS:
            check_not_negative(status.get(name, 0), _STATUS.child(name), errors)
        for name in ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"):
            if status.get(name, 0) > total:
                errors.append(invalid(_STATUS.child(name), status[name], "cannot be greater than status.replicas"))
        available = status.get("availableReplicas", 0)
        if available > status.get("readyReplicas", 0):
            text = "cannot be greater than readyReplicas"
            errors.append(invalid(_STATUS.child("availableReplicas"), available, text))

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        warnings = []
        if texts := dns1123_label_errors(obj["metadata"].get("name", "")):
            warnings.append(
                "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
                f"a DNS label is recommended: [{' '.join(texts)}]"
            )
        template = obj["spec"].get("template")
        return warnings + (template_warnings(template, _TEMPLATE) if template else [])

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        if obj["metadata"].get("generation") == old["metadata"].get("generation"):
            return []
        template = (old.get("spec") or {}).get("template")
        return template_warnings(template, _TEMPLATE) if template else []

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        return {"status.replicas": str((obj.get("status") or {}).get("replicas", 0))}


def _check_spec(spec: Object, old_template: core_v1.PodTemplateSpec | None, errors: Errors) -> None:
    check_not_negative(spec.get("minReadySeconds", 0), _SPEC.child("minReadySeconds"), errors)
    selector = spec.get("selector") or {}
    if not selector:
        errors.append(required(_SPEC.child("selector")))
    if spec.get("replicas") is None:
        errors.append(required(_SPEC.child("replicas")))
    else:
        check_not_negative(spec["replicas"], _SPEC.child("replicas"), errors)
    template = spec.get("template")
    if template is None:
        errors.append(required(_TEMPLATE))
        return
    labels = (template.get("metadata") or {}).get("labels") or {}
    if any(labels.get(key) != value for key, value in selector.items()):
        text = "`selector` does not match template `labels`"
        errors.append(invalid(_TEMPLATE.child("metadata", "labels"), labels or None, text))
    errors.extend(validate_pod_template_spec(template, _TEMPLATE, old_template=old_template))
    pod_spec = template.get("spec") or {}
    restart = pod_spec.get("restartPolicy", "")
    if restart != "Always":
        errors.append(not_supported(_TEMPLATE.child("spec", "restartPolicy"), restart, ("Always",)))
    if pod_spec.get("activeDeadlineSeconds") is not None:
        text = "activeDeadlineSeconds in ReplicationController is not Supported"
        errors.append(forbidden(_TEMPLATE.child("spec", "activeDeadlineSeconds"), text))


KINDS: Final = (
    Kind(
        "",
        "replicationcontrollers",
        ReplicationControllerStrategy(),
        columns=lambda ages: (
            *replica_columns(ages),
            column("Selector", lambda obj: labels_text(obj.get("spec", EMPTY).get("selector")), wide=True),
        ),
        storage_prefix="controllers",
    ),
)
