"""The strategy of custom resources: rules come from the CRD's schema, in the version of the request.

Source: apiextensions pkg/registry/customresource/{strategy,validator,status_strategy}.go (1.36).
"""

from typing import Any

from sampan.core.field import FieldError, Path, invalid
from sampan.core.json_path import JsonPath
from sampan.core.metadata import finalizer_warnings
from sampan.core.object import Object
from sampan.registry.definition import ScalePaths
from sampan.registry.strategy import Context, Strategy
from sampan.schema.cel.validation import Validator
from sampan.schema.compile import CompiledSchema, SchemaCompiler
from sampan.schema.openapi import parse
from sampan.schema.structural import Schema

_FIELDS = frozenset({"metadata.name", "metadata.namespace"})


class VersionSchema:
    """The schema of one version, parsed and compiled when it is first needed.

    The root always has apiVersion, kind and a typed metadata. Without a schema (old CRDs) every field is kept.
    """

    __slots__ = ("_compiled", "_compiler", "_object_meta", "_openapi", "_preserve", "_rules", "_schema")

    def __init__(
        self, openapi: dict[str, Any] | None, preserve: bool, object_meta: Schema, compiler: SchemaCompiler
    ) -> None:
        self._openapi = openapi
        self._preserve = preserve
        self._object_meta = object_meta
        self._compiler = compiler
        self._schema: Schema | None = None
        self._compiled: CompiledSchema | None = None
        self._rules: Validator | None = None

    def get(self) -> Schema:
        """The root schema."""
        if self._schema is None:
            self._schema = self._build()
        return self._schema

    @property
    def compiled(self) -> CompiledSchema:
        """Checks, prunes and defaults."""
        if self._compiled is None:
            self._compiled = self._compiler.compile(self.get())
        return self._compiled

    @property
    def rules(self) -> Validator:
        """The CEL rules."""
        if self._rules is None:
            self._rules = Validator(self.get())
        return self._rules

    def _build(self) -> Schema:
        root = parse(self._openapi) if self._openapi else Schema(type="object", preserve_unknown_fields=True)
        if self._preserve:
            root.preserve_unknown_fields = True
        root.type = root.type or "object"
        root.properties = {
            **root.properties,
            "apiVersion": Schema(type="string"),
            "kind": Schema(type="string"),
            "metadata": self._object_meta,
        }
        return root


class CustomResourceStrategy(Strategy):
    """One version of one custom resource."""

    allow_unconditional_update = False

    def __init__(
        self, *, kind: str, schema: VersionSchema, status: bool, scale: ScalePaths | None, selectable: tuple[str, ...]
    ) -> None:
        self.kind = kind
        self.schema = schema
        self.status = status
        self.keeps_status_on_create = not status
        self._scale = scale
        self._selectable = {path.lstrip("."): JsonPath(path) for path in selectable}

    def default(self, obj: Object) -> None:
        """The schema's defaults."""
        self.schema.compiled.default(obj)

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        """The schema, then (only where it holds) the CEL rules."""
        faults = self.schema.compiled.validate(obj)
        faults += self._scale_faults(obj)
        return faults or self.schema.rules.validate(obj)

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """As for create; faults of values that did not change are let through (ratcheting)."""
        faults = self.schema.compiled.validate(obj, old=old)
        faults += self._scale_faults(obj)
        return faults or self.schema.rules.validate(obj, old=old)

    def validate_status_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """The rules of the whole object; what was stored before is let through."""
        faults = self.schema.compiled.validate(obj, old=old)
        return faults or self.schema.rules.validate(obj, old=old)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Finalizers without a domain."""
        return finalizer_warnings(obj["metadata"].get("finalizers"))

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        """Finalizers without a domain, when they are new."""
        finalizers = obj["metadata"].get("finalizers")
        return [] if finalizers == old["metadata"].get("finalizers") else finalizer_warnings(finalizers)

    def keep_for_status_update(self, obj: Object, old: Object) -> None:
        """Everything but status and managedFields is taken from the stored object."""
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
        """Any change outside metadata counts, and status too where it is no subresource."""
        if not self.status and obj.get("status") != old.get("status"):
            return True
        return super().spec_changed(obj, old)

    def field_labels(self, api_version: str) -> frozenset[str]:
        """metadata.name, metadata.namespace and the declared selectable fields."""
        return _FIELDS | self._selectable.keys()

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        """Values of the declared selectable fields, as text."""
        return {name: _text(path, obj) for name, path in self._selectable.items()}

    def reset_fields(self, status_served: bool) -> dict[str, dict[str, Any]]:
        """Status is not owned by writers of the object; nothing but status is owned by writers of /status."""
        if not status_served:
            return {}
        return {"": {"f:status": {}}, "status": {"f:spec": {}, "f:metadata": {}}}

    def _scale_faults(self, obj: Object) -> list[FieldError]:
        if self._scale is None:
            return []
        value: Any = obj
        for name in self._scale.spec_replicas.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, int) and value < 0:
            path = Path(*self._scale.spec_replicas.split("."))
            return [invalid(path, value, "should be a non-negative integer")]
        return []


def _text(path: JsonPath, obj: Object) -> str:
    values = path.find(obj)
    if not values:
        return ""
    value = values[0]
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
