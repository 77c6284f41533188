"""The schema of one version of a CRD, and all that is compiled from it."""

from typing import Any

from sampan.core.object import Object
from sampan.schema.cel.validation import Validator
from sampan.schema.compile import CompiledSchema, SchemaCompiler
from sampan.schema.openapi import parse
from sampan.schema.structural import Schema


class VersionSchema:
    """Parsed and compiled when it is first needed, and gone with the definition that it belongs to.

    `openapi` is the CRD's own text. The root always has apiVersion, kind and a typed metadata. Without a schema (old
    CRDs) every field is kept.
    """

    __slots__ = (
        "_compiled",
        "_compiled_status",
        "_compiler",
        "_object_meta",
        "_rules",
        "_schema",
        "openapi",
        "preserve",
    )

    def __init__(
        self, openapi: dict[str, Any] | None, preserve: bool, object_meta: Schema, compiler: SchemaCompiler
    ) -> None:
        self.openapi = openapi
        self.preserve = preserve
        self._object_meta = object_meta
        self._compiler = compiler
        self._schema: Schema | None = None
        self._compiled: CompiledSchema | None = None
        self._compiled_status: CompiledSchema | None = None
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
            self._compiled = CompiledSchema(self.get(), self._compiler)
        return self._compiled

    def prune(self, obj: Object) -> None:
        """Drop what the schema does not know."""
        self.compiled.prune(obj)

    @property
    def compiled_status(self) -> CompiledSchema | None:
        """Checks a status by itself; None: the schema says nothing about it."""
        if self._compiled_status is None:
            status = self.get().properties.get("status")
            if status is None:
                return None
            self._compiled_status = CompiledSchema(status, self._compiler)
        return self._compiled_status

    @property
    def rules(self) -> Validator:
        """The CEL rules."""
        if self._rules is None:
            self._rules = Validator(self.get(), times=self._compiler.cel_times)
        return self._rules

    def same_as(self, other: "VersionSchema") -> bool:
        """Whether both mean the same."""
        return self.openapi == other.openapi and self.preserve == other.preserve

    def _build(self) -> Schema:
        root = parse(self.openapi) if self.openapi else Schema(type="object", preserve_unknown_fields=True)
        if self.preserve:
            _keep_everything(root)
        root.type = root.type or "object"
        root.properties = {
            **root.properties,
            "apiVersion": Schema(type="string"),
            "kind": Schema(type="string"),
            "metadata": self._object_meta,
        }
        return root


def _keep_everything(schema: Schema) -> None:
    """`spec.preserveUnknownFields`: nothing is pruned anywhere."""
    schema.preserve_unknown_fields = True
    for child in schema.properties.values():
        _keep_everything(child)
    if schema.items is not None:
        _keep_everything(schema.items)
    if isinstance(schema.additional_properties, Schema):
        _keep_everything(schema.additional_properties)
