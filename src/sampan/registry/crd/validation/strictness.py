"""Strictness of the validation of a CRD. An update may keep what was valid when it was stored.

Source: apiextensions pkg/apis/apiextensions/validation/validation.go (1.36; for v1beta1: 1.21).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from sampan.core.field import Path
from sampan.core.object import Object
from sampan.registry.crd.validation.schemas import schemas_of, walk
from sampan.schema.definition.structural_validation import structural_errors

_EXTENSIONS = (
    "x-kubernetes-embedded-resource",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-validations",
)


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules for the schemas of a CRD.

    `schema`: each version needs one. `structural`: schemas must be structural. `defaults`: schemas may have defaults.
    """

    schema: bool = True
    structural: bool = True
    defaults: bool = True

    @classmethod
    def of(cls, spec: dict[str, Any], old: Object | None, *, legacy: bool) -> Self:
        """Return the rules for a new spec that replaces `old`. `legacy`: it is written through v1beta1."""
        before = None if old is None else old["spec"]
        schema = not legacy and (before is None or all(found is not None for found in schemas_of(before)))
        structural = not legacy and (before is None or not _has_non_structural(before))
        if not spec.get("preserveUnknownFields") or has_schema_with(spec, _is_extended):
            structural = True
        defaults = not legacy or (before is not None and has_defaults(before))
        if defaults and not structural and has_defaults(spec):
            structural = True
        return cls(schema, structural, defaults)


def _is_extended(node: dict[str, Any]) -> bool:
    """Return True if a node uses a feature that requires a structural schema."""
    return any(node.get(key) not in (None, False, []) for key in _EXTENSIONS)


def has_schema_with(spec: dict[str, Any], holds: Callable[[dict[str, Any]], bool]) -> bool:
    """Return True if `holds` is true for any node of any version's schema."""
    return any(holds(node) for schema in schemas_of(spec) if schema is not None for node in walk(schema))


def has_defaults(spec: dict[str, Any]) -> bool:
    """Return True if any schema has a default."""
    return has_schema_with(spec, lambda node: node.get("default") is not None)


def _has_non_structural(spec: dict[str, Any]) -> bool:
    """Return True if a schema is not structural. Only CRDs that keep unknown fields can have one."""
    if not spec.get("preserveUnknownFields"):
        return False
    return any(schema and structural_errors(schema, Path()) for schema in schemas_of(spec))
