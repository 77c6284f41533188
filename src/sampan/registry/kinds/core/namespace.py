"""Namespaces. Source: pkg/registry/core/namespace/strategy.go, storage/storage.go (1.36)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from sampan.core.field import FieldError, Path, invalid
from sampan.core.object import Object
from sampan.core.validation.metadata import validate_standard_finalizer
from sampan.core.validation.names import dns1123_label_errors, qualified_name_errors
from sampan.kinds import core_v1
from sampan.registry.columns.cells import NAME, at, column
from sampan.registry.kind import Kind
from sampan.registry.strategy import Context, Strategy

Errors = list[FieldError]
KUBERNETES = "kubernetes"
"""Finalizer that the namespace controller removes when the namespace is empty."""
_NAME_LABEL = "kubernetes.io/metadata.name"
_FINALIZERS = Path("spec", "finalizers")
_PHASE = Path("status", "Phase")


def check_finalizer(name: str, path: Path, errors: Errors) -> None:
    """Check a finalizer of a namespace: a qualified name, with a domain unless Kubernetes defines it."""
    errors.extend(invalid(path, name, text) for text in qualified_name_errors(name))
    errors.extend(validate_standard_finalizer(name, path))


class NamespaceStrategy(Strategy):
    """Strategy of namespaces, which are deleted in two steps by the finalizers in their spec."""

    has_generation = False
    returns_deleted_object = True
    marks_before_deletion = True
    keeps_status_on_create = True
    labels: ClassVar[Sequence[str]] = ("status.phase",)
    selects_namespace = False

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        return dns1123_label_errors(name, prefix=prefix)

    def default(self, obj: core_v1.Namespace) -> None:
        metadata = obj["metadata"]
        name = metadata.get("name")
        if name:
            labels = metadata.get("labels")
            if labels is None:
                metadata["labels"] = {_NAME_LABEL: name}
            elif labels.get(_NAME_LABEL) != name:
                labels[_NAME_LABEL] = name
        obj.setdefault("spec", {})
        status = obj.setdefault("status", {})
        if not status.get("phase"):
            status["phase"] = "Active"

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj["status"] = {"phase": "Active"}
        finalizers = obj.setdefault("spec", {}).setdefault("finalizers", [])
        if KUBERNETES not in finalizers:
            finalizers.append(KUBERNETES)
        obj["metadata"].setdefault("labels", {})[_NAME_LABEL] = obj["metadata"].get("name", "")

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        _keep_finalizers(obj, old)
        obj["metadata"].setdefault("labels", {})[_NAME_LABEL] = obj["metadata"].get("name", "")

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        for name in (obj.get("spec") or {}).get("finalizers") or ():
            check_finalizer(name, _FINALIZERS, errors)

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        phase = (obj.get("status") or {}).get("phase", "")
        if obj["metadata"].get("deletionTimestamp"):
            if phase != "Terminating":
                text = "may only be 'Terminating' if `deletionTimestamp` is not empty"
                errors.append(invalid(_PHASE, phase, text))
        elif phase != "Active":
            errors.append(invalid(_PHASE, phase, "may only be 'Active' if `deletionTimestamp` is empty"))

    def pending_finalizers(self, obj: Object) -> bool:
        return bool((obj.get("spec") or {}).get("finalizers")) or super().pending_finalizers(obj)

    def prepare_for_deletion(self, obj: Object) -> None:
        obj.setdefault("status", {})["phase"] = "Terminating"

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        phase = (obj.get("status") or {}).get("phase", "")
        return {"status.phase": phase, "name": obj["metadata"].get("name", "")}

    def reset_fields(self, status_served: bool) -> dict[str, dict[str, Any]]:
        return super().reset_fields(status_served) | {"finalize": {"f:status": {}}}


def _keep_finalizers(obj: Object, old: Object) -> None:
    finalizers = (old.get("spec") or {}).get("finalizers")
    spec = obj.setdefault("spec", {})
    if finalizers is None:
        spec.pop("finalizers", None)
    else:
        spec["finalizers"] = finalizers


def prepare_finalize(obj: Object, old: Object) -> None:
    """Restore the stored status for the finalize subresource, in place."""
    if "status" in old:
        obj["status"] = old["status"]
    else:
        obj.pop("status", None)


def validate_finalize_update(obj: Object, old: Object) -> list[FieldError]:
    """Return the faults of an update of the finalize subresource."""
    errors: Errors = []
    for i, name in enumerate((obj.get("spec") or {}).get("finalizers") or ()):
        check_finalizer(name, _FINALIZERS.index(i), errors)
    return errors


class FinalizeStrategy(NamespaceStrategy):
    """Strategy of PUT `namespaces/NAME/finalize`."""

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        prepare_finalize(obj, old)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        errors.extend(validate_finalize_update(obj, old))


KINDS: Final = (
    Kind(
        "",
        "namespaces",
        NamespaceStrategy(),
        columns=lambda ages: (NAME, column("Status", at("status", "phase")), ages.column),
        subresources={"finalize": FinalizeStrategy()},
    ),
)
