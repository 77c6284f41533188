"""The schema of one version of a CRD, and all that is compiled from it."""

from collections.abc import Iterator
from typing import Any

import orjson

from sampan.core.object import Object
from sampan.schema.cel.validation import Validator
from sampan.schema.compile import CompiledSchema, SchemaCompiler
from sampan.schema.openapi import parse
from sampan.schema.structural import Schema

CHECKS_OF_A_VALUE = 8
"""How often an ordinary schema checks a value by `allOf`, `anyOf`, `oneOf` and `not`."""


def checks_of_a_value(node: dict[str, Any]) -> int:
    """How often the busiest place of a schema checks its value."""
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
    """Parsed and compiled when it is first needed, and gone with the definition that it belongs to.

    `openapi` is the CRD's own text. The root always has apiVersion, kind and a typed metadata. Without a schema (old
    CRDs) every field is kept.
    """

    __slots__ = (
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
        self._compiled: CompiledSchema | None = None
        self._compiled_status: CompiledSchema | None = None
        self._rules: Validator | None = None
        self._size_bytes = 0
        self._checks_of_a_value = 0
        self.used = False
        """Whether an object was validated, so that all parts have been compiled."""

    def size_of_work(self, body_bytes: int) -> int:
        """What validating a body costs, as the size of a body that an ordinary schema would have to validate.

        Before the first use all has to be compiled. A value may be checked thousands of times, by `allOf` in `allOf`.
        """
        if not self._checks_of_a_value:
            self.weigh()
        weighed = body_bytes * self._checks_of_a_value // CHECKS_OF_A_VALUE
        return weighed if self.used else weighed + self._size_bytes

    def weigh(self) -> None:
        """Compute what `size_of_work` needs. In a thread for a large schema; otherwise on first use."""
        self._size_bytes = len(orjson.dumps(self.openapi))
        self._checks_of_a_value = checks_of_a_value(self.openapi or {})

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
