"""Schema of one version of a CRD, and everything that is compiled from it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import orjson

from sampan.core.object import Object
from sampan.schema.cel.rules.validation import Validator
from sampan.schema.compile import CompiledSchema, SchemaCompiler
from sampan.schema.definition.openapi import parse
from sampan.schema.definition.prune_defaults import prune_defaults
from sampan.schema.structural import Schema

CHECKS_OF_A_VALUE = 8
"""Number of times that an ordinary schema checks a value by `allOf`, `anyOf`, `oneOf` and `not`."""


def checks_of_a_value(node: dict[str, Any]) -> int:
    """Return the largest number of times that a schema checks one value."""
    own, deepest = 1, 1
    for key in ("allOf", "anyOf", "oneOf"):
        own += sum(checks_of_a_value(child) for child in node.get(key) or ())
    if isinstance(node.get("not"), dict):
        own += checks_of_a_value(node["not"])
    for below in _values_below(node):
        deepest = max(deepest, checks_of_a_value(below))
    return own * deepest if own > 1 else deepest


def _values_below(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from (node.get("properties") or {}).values()
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield node[key]


class VersionSchema:
    """Schema of one version. It is parsed and compiled on first use, and dropped together with its definition.

    `openapi` is the CRD's text. The root always has apiVersion, kind and a typed metadata. Without a schema (old CRDs)
    all fields are kept.
    """

    __slots__ = (
        "_checked",
        "_checks_of_a_value",
        "_compiled",
        "_compiled_status",
        "_compiler",
        "_object_meta",
        "_rules",
        "_schema",
        "_size_bytes",
        "openapi",
        "preserve",
        "used",
    )

    def __init__(
        self, openapi: dict[str, Any] | None, preserve: bool, object_meta: Schema, compiler: SchemaCompiler
    ) -> None:
        self.openapi = openapi
        self.preserve = preserve
        self._object_meta = object_meta
        self._compiler = compiler
        self._schema: Schema | None = None
        self._checked: Schema | None = None
        self._compiled: CompiledSchema | None = None
        self._compiled_status: CompiledSchema | None = None
        self._rules: Validator | None = None
        self._size_bytes = 0
        self._checks_of_a_value = 0
        self.used = False
        """Set when an object has been validated: then all parts are compiled."""

    def size_of_work(self, body_bytes: int) -> int:
        """Return the cost of validating a body, as the size of a body that costs as much with an ordinary schema.

        The cost of the first use includes compiling all parts. Nested `allOf` may check a value thousands of times.
        """
        if not self._checks_of_a_value:
            self.weigh()
        weighed = body_bytes * self._checks_of_a_value // CHECKS_OF_A_VALUE
        return weighed if self.used else weighed + self._size_bytes

    def weigh(self) -> None:
        """Compute the factor that `size_of_work` uses. For a large schema, call this in a thread; otherwise the first
        use computes it.
        """
        self._size_bytes = len(orjson.dumps(self.openapi))
        self._checks_of_a_value = checks_of_a_value(self.openapi or {})

    def get(self) -> Schema:
        """Return the root schema."""
        if self._schema is None:
            self._schema = self._build()
        return self._schema

    def checked(self) -> Schema:
        """Return the root schema that validation uses, which has the metadata only as the CRD declares it.

        So patterns of names are checked, and an object never equals its old one: errors at the root are not ratcheted.
        Source: apiserver pkg/cel/common/equality.go (1.36).
        """
        self.get()
        assert self._checked is not None
        return self._checked

    @property
    def compiled(self) -> CompiledSchema:
        """Return the compiled schema, which validates, prunes and applies defaults."""
        if self._compiled is None:
            self._compiled = CompiledSchema(self.get(), self._compiler, checked=self.checked())
        return self._compiled

    def prune(self, obj: Object) -> None:
        """Drop fields that the schema does not have."""
        self.compiled.prune(obj)

    @property
    def compiled_status(self) -> CompiledSchema | None:
        """Return the compiled schema of the status alone; None if the schema has no status."""
        if self._compiled_status is None:
            status = self.get().properties.get("status")
            if status is None:
                return None
            self._compiled_status = CompiledSchema(status, self._compiler)
        return self._compiled_status

    @property
    def rules(self) -> Validator:
        """Return the validator of the CEL rules."""
        if self._rules is None:
            self._rules = Validator(self.checked(), times=self._compiler.cel_times)
        return self._rules

    def same_as(self, other: "VersionSchema") -> bool:
        """Return True if the other schema has the same meaning."""
        return self.openapi == other.openapi and self.preserve == other.preserve

    def _build(self) -> Schema:
        root = parse(self.openapi) if self.openapi else Schema(type="object", preserve_unknown_fields=True)
        if self.preserve:
            _keep_everything(root)
        root.type = root.type or "object"
        text = Schema(type="string")
        declared = {"apiVersion": text, "kind": text, **root.properties}
        self._checked = replace(root, properties=declared)
        root.properties = {**declared, "metadata": self._object_meta}
        prune_defaults(root, self._compiler.object_meta())
        return root


def _keep_everything(schema: Schema) -> None:
    """Keep unknown fields everywhere, for `spec.preserveUnknownFields`."""
    schema.preserve_unknown_fields = True
    for child in schema.properties.values():
        _keep_everything(child)
    if schema.items is not None:
        _keep_everything(schema.items)
    if isinstance(schema.additional_properties, Schema):
        _keep_everything(schema.additional_properties)
