"""Strategy of CustomResourceDefinitions.

Source: apiextensions pkg/registry/customresourcedefinition/{strategy,etcd}.go, pkg/apis/apiextensions/v1/defaults.go
(1.36).
"""

from typing import Any

from sampan.core.field import FieldError, Path
from sampan.core.object import Object
from sampan.registry.crd.conditions import make_condition, set_condition
from sampan.registry.crd.provider import CLEANUP_FINALIZER
from sampan.registry.crd.validation.schemas import unrecognized_formats
from sampan.registry.crd.validation.validation import names_faults, validate_crd
from sampan.registry.strategy import Context, Strategy


class CustomResourceDefinitionStrategy(Strategy):
    """Strategy of CRDs. `legacy` is for writes through apiextensions.k8s.io/v1beta1."""

    standard_finalizers = False
    allow_unconditional_update = False
    marks_before_deletion = True
    first_delete_propagates = False

    def __init__(self, *, legacy: bool = False) -> None:
        self._legacy = legacy

    def default(self, obj: Object) -> None:
        """Set the singular name, listKind and conversion None. Absent values of columns and scale paths stay absent."""
        spec = obj.setdefault("spec", {})
        names = spec.setdefault("names", {})
        if names.get("kind"):
            if not names.get("singular"):
                names["singular"] = names["kind"].lower()
            if not names.get("listKind"):
                names["listKind"] = f"{names['kind']}List"
        if not spec.get("scope") and self._legacy:
            spec["scope"] = "Namespaced"
        conversion = spec.setdefault("conversion", {"strategy": "None"})
        service = ((conversion.get("webhook") or {}).get("clientConfig") or {}).get("service")
        if service is not None:
            service.setdefault("port", 443)
        for version in spec.get("versions") or ():
            version.setdefault("served", False)
            version.setdefault("storage", False)
        status = obj.get("status")
        if status is not None:
            _fill_status(status)
            if not status.get("storedVersions"):
                _add_stored_version(obj)

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        """Reset the status of a new CRD, except for its storage version."""
        obj["status"] = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": []}
        _add_stored_version(obj)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Add a new storage version to the stored ones."""
        if "status" in obj:
            obj["status"] = {**obj["status"]}
        _add_stored_version(obj)

    def prepare_for_deletion(self, obj: Object) -> None:
        """Add the finalizer that guards the CRD's objects, and a condition that announces their deletion."""
        metadata = obj["metadata"]
        if CLEANUP_FINALIZER not in metadata.get("finalizers", ()):
            metadata["finalizers"] = [*metadata.get("finalizers", ()), CLEANUP_FINALIZER]
        text = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
        condition = make_condition("Terminating", True, "InstanceDeletionPending", text)
        set_condition(obj, condition, metadata["deletionTimestamp"])

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        """Check all rules."""
        return validate_crd(obj, legacy=self._legacy)

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """Check all rules, but accept what was accepted before where Kubernetes does."""
        return validate_crd(obj, old, legacy=self._legacy)

    def validate_status_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """Check the accepted names. The stored versions are checked by the next update of the CRD itself.

        Source: apiextensions pkg/apis/apiextensions/validation ValidateUpdateCustomResourceDefinitionStatus (1.36).
        """
        accepted = (obj.get("status") or {}).get("acceptedNames") or {}
        return names_faults(accepted, Path("status", "acceptedNames"))

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Warn of unrecognized formats."""
        return [f'unrecognized format "{name}"' for name in unrecognized_formats(obj)]

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        """Warn of unrecognized formats that the old CRD does not have."""
        before = set(unrecognized_formats(old))
        return [f'unrecognized format "{name}"' for name in unrecognized_formats(obj) if name not in before]


def _add_stored_version(obj: Object) -> None:
    status = obj.setdefault("status", {})
    stored = status.get("storedVersions") or []
    for version in obj["spec"].get("versions") or ():
        if version.get("storage"):
            if version.get("name") not in stored:
                status["storedVersions"] = [*stored, version.get("name", "")]
            return


def _fill_status(status: dict[str, Any]) -> None:
    status.setdefault("conditions", None)
    status.setdefault("acceptedNames", {"plural": "", "kind": ""})
    status.setdefault("storedVersions", [])
