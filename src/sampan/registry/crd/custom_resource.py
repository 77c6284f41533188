"""Strategy of custom resources: the CRD's schema gives the rules, in the version of the request.

Source: apiextensions pkg/registry/customresource/{strategy,validator,status_strategy}.go (1.36).
"""

from typing import Any

from sampan.core.field import ErrorType, FieldError, Path
from sampan.core.go_text import NIL
from sampan.core.json.path import JsonPath
from sampan.core.json.values import same
from sampan.core.object import Object
from sampan.core.validation.metadata import finalizer_warnings
from sampan.registry.crd.hub.preserved import ANNOTATION as PRESERVED
from sampan.registry.crd.validation.scale import spec_faults, status_faults
from sampan.registry.crd.version_schema import VersionSchema
from sampan.registry.definition import ScalePaths
from sampan.registry.strategy import Context, Strategy
from sampan.schema.structural import UNSET

_FIELDS = frozenset({"metadata.name", "metadata.namespace"})
_BLOCKING = frozenset(
    {ErrorType.NOT_SUPPORTED, ErrorType.REQUIRED, ErrorType.TOO_LONG, ErrorType.TOO_MANY, ErrorType.TYPE_INVALID}
)
_NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


class CustomResourceStrategy(Strategy):
    """Strategy of one version of a custom resource."""

    standard_finalizers = False
    allow_unconditional_update = False

    def __init__(
        self, *, schema: VersionSchema, status: bool, scale: ScalePaths | None, selectable: tuple[str, ...]
    ) -> None:
        self.schema = schema
        self.status = status
        self.keeps_status_on_create = not status
        self.keeps_status_on_update = status
        self._scale = scale
        self._selectable = {path.lstrip("."): JsonPath(path) for path in selectable}

    def size_of_work(self, body_bytes: int) -> int:
        """Return the extra cost of an object, which depends on the schema. See `VersionSchema.size_of_work`."""
        return self.schema.size_of_work(body_bytes)

    def default(self, obj: Object) -> None:
        """Apply the schema's defaults."""
        self.schema.compiled.default(obj)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Keep the annotation of preserved fields if the client omits it: the client does not manage it."""
        kept = (old["metadata"].get("annotations") or {}).get(PRESERVED)
        if kept is not None and PRESERVED not in (obj["metadata"].get("annotations") or {}):
            annotations = {**(obj["metadata"].get("annotations") or {}), PRESERVED: kept}
            obj["metadata"] = {**obj["metadata"], "annotations": annotations}

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        """Check the schema and the scale fields. If the basic shape is right, also run the CEL rules."""
        faults = self.schema.compiled.validate(obj)
        if self._scale is not None:
            faults += [*spec_faults(self._scale, obj), *status_faults(self._scale, obj)]
        return self._with_rules(faults, obj, UNSET)

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """Check as for create, but accept faults of unchanged values (ratcheting)."""
        faults = self.schema.compiled.validate(obj, old=old)
        if self._scale is not None:
            faults += [*spec_faults(self._scale, obj), *status_faults(self._scale, obj)]
        return self._with_rules(faults, obj, old)

    def validate_status_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """Check only the schema of the status, and the CEL rules of the whole object."""
        faults: list[FieldError] = []
        compiled = self.schema.compiled_status
        if compiled is not None and "status" in obj:
            faults = compiled.validate(obj["status"], Path("status"), old.get("status", UNSET))
        if self._scale is not None:
            faults += status_faults(self._scale, obj)
        return self._with_rules(faults, obj, old)

    def _with_rules(self, faults: list[FieldError], obj: Object, old: Object) -> list[FieldError]:
        """Run the CEL rules if the object has the right shape. Else add a fault that the rules did not run."""
        rules = self.schema.rules
        self.schema.used = True
        if not rules.has_rules:
            return faults
        if any(fault.type in _BLOCKING for fault in faults):
            return [*faults, FieldError(ErrorType.INVALID, NIL, None, _NOT_CHECKED)]
        return faults + rules.validate(obj, old=old)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Warn of finalizers without a domain."""
        return finalizer_warnings(sorted({*(obj["metadata"].get("finalizers") or ())}))

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        """Warn of new finalizers without a domain."""
        before = old["metadata"].get("finalizers") or ()
        return finalizer_warnings(sorted({*(obj["metadata"].get("finalizers") or ())}.difference(before)))

    def keep_for_status_update(self, obj: Object, old: Object) -> None:
        """Copy everything but status and managedFields from the stored object."""
        status = obj.get("status")
        managed_fields = obj["metadata"].get("managedFields")
        version = obj["metadata"].get("resourceVersion")
        obj.clear()
        obj.update(old)
        obj["metadata"] = {**old["metadata"], "resourceVersion": version}
        if managed_fields is None:
            obj["metadata"].pop("managedFields", None)
        else:
            obj["metadata"]["managedFields"] = managed_fields
        if status is None:
            obj.pop("status", None)
        else:
            obj["status"] = status

    def spec_changed(self, obj: Object, old: Object) -> bool:
        """Return True for any change outside metadata. Ignore status if it is a subresource."""
        if not self.status and not same(obj.get("status"), old.get("status")):
            return True
        return super().spec_changed(obj, old)

    def field_labels(self, api_version: str) -> frozenset[str]:
        """Return metadata.name, metadata.namespace and the declared selectable fields."""
        return _FIELDS | self._selectable.keys()

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        """Return the values of the declared selectable fields, as text."""
        return {name: _text(path, obj) for name, path in self._selectable.items()}

    def reset_fields(self, status_served: bool) -> dict[str, dict[str, Any]]:
        """Return the fields that a writer cannot own: status for the main resource, all but status for /status."""
        if not status_served:
            return {}
        return {"": {"f:status": {}}, "status": {"f:spec": {}, "f:metadata": {}}}


def _text(path: JsonPath, obj: Object) -> str:
    values = path.find(obj)
    if not values:
        return ""
    value = values[0]
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
